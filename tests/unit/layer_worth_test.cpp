// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/layer_worth.h"

#include <gmock/gmock.h>

namespace esc {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

MeasuredRatios ratio(double over, std::optional<double> library = std::nullopt) {
  return {.over_exact = over, .exact_microseconds = library, .where = "here"};
}

TEST(LayerWorth, OfOneThatIsLargerForEachNumberOfColumnsIsNone) {
  EXPECT_THAT(why_dense(1000, {{1, 1001}, {16, 2000}}), HasSubstr("1.00 of the dense bytes at least"));
  EXPECT_EQ(why_dense(1000, {{1, 1001}, {16, 1000}}), "") << "one is not larger";
  EXPECT_EQ(why_dense(1000, {{1, 600}, {16, 600}}), "") << "both together are, which does not count";
  EXPECT_EQ(why_dense(1000, {}), "");
  EXPECT_THAT(why_dense(1000, {{1, 1500, ratio(3, 5)}}), HasSubstr("1.50 of the dense bytes")) << "though faster";
}

TEST(LayerWorth, IsTheSumOfTheTimesThatAreKnown) {
  EXPECT_EQ(why_dense(1000, {{1, 500, ratio(2, 10)}, {16, 500, ratio(0.5, 4)}}), "") << "13 us in place of 14";
  EXPECT_THAT(why_dense(1000, {{1, 500, ratio(2, 4)}, {16, 500, ratio(0.5, 10)}}),
              StartsWith("0.64 x a library's speed where that is known, 2 of 2"));
  EXPECT_THAT(why_dense(1000, {{1, 500}, {16, 500, ratio(0.9, 10)}}), HasSubstr("1 of 2 numbers of columns"));
  EXPECT_EQ(why_dense(1000, {{1, 500}, {16, 500}}), "") << "nothing is known";
  EXPECT_EQ(why_dense(1000, {{1, 500, ratio(1, 10)}}), "") << "level";
}

TEST(LayerWorth, TakesRatiosWhereTimesAreNotKnown) {
  EXPECT_THAT(why_dense(1000, {{64, 500, ratio(0.76)}}), StartsWith("0.76 x a library's speed"));
  EXPECT_THAT(why_dense(1000, {{1, 500, ratio(1.5, 10)}, {256, 500, ratio(0.31)}}), HasSubstr("2 of 2"));
  EXPECT_EQ(why_dense(1000, {{1, 500, ratio(1.9, 10)}, {64, 500, ratio(0.8)}}), "");
}

TEST(LayerWorth, TakesPredictedTimesOfWhatWasNotMeasured) {
  const DenseComparison slower = {.kernel = 8, .dense = 4};
  EXPECT_EQ(why_dense(1000, {{1, 500, ratio(2, 10)}, {16, 500, {}, slower}}), "") << "13 us in place of 14";
  EXPECT_EQ(why_dense(1000, {{1, 500, ratio(2, 4)}, {16, 500, {}, slower}}),
            "0.80 x a library's speed where that is known, 2 of 2 numbers of columns, 1 predicted");
}

PlannedKernel planned(std::int64_t bcol, double weight, std::optional<MeasuredRatios> measured) {
  return {.bcol = bcol, .bytes = 500, .measured = std::move(measured), .weight = weight};
}

TEST(LayerWorth, WeighsTimesByHowOftenProductsAre) {
  const auto why = [](double weight_of_1, double weight_of_16) {
    return why_dense(1000, {planned(1, weight_of_1, ratio(2, 4)), planned(16, weight_of_16, ratio(0.5, 10))});
  };
  EXPECT_EQ(why(1, 1), "0.64 x a library's speed where that is known, 2 of 2 numbers of columns");
  EXPECT_EQ(why(10, 1), "") << "40 us in place of 50";
  EXPECT_EQ(why(5, 1), "") << "level";
  EXPECT_EQ(why(1, 0.2), "") << "weights count beside each other alone";
  EXPECT_EQ(why(4, 1), "0.93 x a library's speed where that is known, 2 of 2 numbers of columns, weighted");
  EXPECT_THAT(why(1, 2), StartsWith("0.57 x "));
}

TEST(LayerWorth, WeighsRatiosWhereTimesAreNotKnown) {
  const auto why = [](double weight_of_1) {
    return why_dense(1000, {planned(1, weight_of_1, ratio(2, 10)), planned(256, 1, ratio(0.5))});
  };
  EXPECT_THAT(why(1), StartsWith("0.80 x "));
  EXPECT_EQ(why(3), "");
}

TEST(LayerWorth, IsNotAskedForWhereSomebodyWantsTheLayer) {
  const std::vector<PlannedKernel> larger{{1, 2000}};
  ModelRequest request;
  EXPECT_EQ(why_dense("a.weight", 1000, larger, request),
            "stays dense: 2.00 of the dense bytes at least (--all makes it)");
  request.exceptions = {{.tensor = "b.*", .skip = false, .bcols = {4}, .schedule = {}}};
  EXPECT_NE(why_dense("a.weight", 1000, larger, request), "");
  EXPECT_EQ(why_dense("b.weight", 1000, larger, request), "") << "a spec says how it is made";
  request.tensors = {"a.*"};
  EXPECT_EQ(why_dense("a.weight", 1000, larger, request), "");
  request.tensors.clear();
  request.all = true;
  EXPECT_EQ(why_dense("a.weight", 1000, larger, request), "");
}

}  // namespace
}  // namespace esc
