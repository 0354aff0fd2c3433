// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/expected_speed.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace esc {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

SpeedEvidence measured(const std::string& where) {
  return {.measured = MeasuredRatios{.over_exact = 1.75, .exact_microseconds = 3.5, .where = where, .device = "GPU"},
          .packed_bytes = 100,
          .dense_bytes = 400};
}

TEST(ExpectedSpeed, SaysWhetherThisLayerWasMeasuredOrOnesLikeIt) {
  const ExpectedSpeed same = expected_speed(measured("this very layer on one GPU"));
  const ExpectedSpeed like = expected_speed(measured("the class of such"));
  EXPECT_THAT(speed_lines(same), AllOf(StartsWith("speed      1.75 x "), HasSubstr("2.0 us in place of 3.5"),
                                       HasSubstr("; measured with this")));
  EXPECT_THAT(speed_lines(like), AllOf(StartsWith("speed      about 1.75 x "), HasSubstr("layers like it")));
  EXPECT_EQ(speed_cell(same), "1.75 x");
  EXPECT_EQ(speed_cell(like), "~1.75 x");
  EXPECT_EQ(speed_json(same)["known_from"], "this layer");
  EXPECT_EQ(speed_json(like)["microseconds"], 2.0);
}

TEST(ExpectedSpeed, IsPredictedWhereNothingWasMeasured) {
  const ExpectedSpeed speed = expected_speed({.not_measured = "nobody has",
                                              .beside_dense = DenseComparison{.kernel = 4, .dense = 6, .device = "GPU"},
                                              .packed_bytes = 100,
                                              .dense_bytes = 400});
  EXPECT_THAT(
      speed_lines(speed),
      StartsWith("speed      not measured: nobody has\n"
                 "predicted  about 1.5 x dense (cuBLASLt), 4.0 us in place of 6.0; both times by a model of the GPU"));
  EXPECT_EQ(speed_cell(speed), "(1.5 x)");
  EXPECT_EQ(speed_json(speed)["known_from"], "model");
  EXPECT_EQ(speed_json(speed)["library_microseconds"], 6.0);
  EXPECT_FALSE(speed.is_measured());
}

TEST(ExpectedSpeed, IsABoundByBytesWhereNothingIsPredictedEither) {
  const ExpectedSpeed smaller = expected_speed({.not_measured = "nobody has", .packed_bytes = 100, .dense_bytes = 400});
  const ExpectedSpeed larger = expected_speed({.packed_bytes = 400, .dense_bytes = 100});
  EXPECT_THAT(speed_lines(smaller), AllOf(StartsWith("speed      not measured: nobody has\npredicted  up to 4.0 x "),
                                          HasSubstr("0.25 of the bytes")));
  EXPECT_THAT(speed_lines(larger), HasSubstr("predicted  not faster than dense"));
  EXPECT_EQ(speed_cell(smaller), "<4.0 x");
  EXPECT_EQ(speed_cell(larger), "-");
  EXPECT_EQ(speed_json(smaller)["known_from"], "bytes");
  EXPECT_EQ(speed_json(smaller)["not_measured"], "nobody has");
}

TEST(ExpectedSpeed, BytesStandBesideDense) {
  EXPECT_EQ(bytes_text(135488, 524288, 106908), "135 KB in place of 524 KB (0.26 of dense, 1.27 of CSR)");
  EXPECT_EQ(bytes_text(50, 100), "50 B in place of 100 B (0.50 of dense)");
}

}  // namespace
}  // namespace esc
