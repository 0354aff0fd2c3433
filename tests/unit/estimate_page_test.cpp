// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/estimate_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace esc {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

KernelEstimate kernel(double packed, std::optional<MeasuredRatios> measured = std::nullopt) {
  return {.bcol = 4,
          .bytes = {.dense = 8192, .csr = 4356, .packed = packed, .b_and_c = 1536},
          .schedule = "4-7-1-32",
          .measured = std::move(measured),
          .not_measured = "no layers like it are known"};
}

LayerEstimate layer(const std::string& name, std::vector<KernelEstimate> kernels, const std::string& why_dense = "") {
  return {.name = name, .shape = "64 x 32", .sparsity = 0.75, .kernels = std::move(kernels), .why_dense = why_dense};
}

ModelEstimate estimate() {
  const std::string where = "the class of such on one H200";
  return {
      .model = "net.safetensors",
      .gpu = "h200",
      .bcols = {4},
      .dtype = "f32",
      .ceilings = DeviceCeilings{.name = "H200 SXM", .memory_gigabytes = 4800, .l2_gigabytes = 0, .source = ""},
      .layers = {
          layer("smaller", {kernel(4096)}),
          layer("larger", {kernel(9000)}, "stays dense: why"),
          layer("faster", {kernel(4096, MeasuredRatios{.over_exact = 2, .exact_microseconds = 6, .where = where})}),
          layer("slower", {kernel(4096, MeasuredRatios{.over_exact = 0.5, .exact_microseconds = 2, .where = where})}),
          layer("ratio alone",
                {kernel(4096, MeasuredRatios{.over_exact = 1.5, .where = "this very layer on one H200"})}),
          {.name = "bias", .shape = "64", .why_not = "has 1 dimensions"}}};
}

/// What stands in the row of a layer.
std::string row_of(const std::string& name) {
  const std::string page = estimate_page(estimate());
  const std::size_t begin = page.find("\n" + name + " ") + 1;
  return page.substr(begin, page.find('\n', begin) - begin);
}

TEST(EstimatePage, SaysWhetherALayerCanWinAndHowThatIsKnown) {
  EXPECT_THAT(row_of("smaller"), HasSubstr("   -  may be: 0.50 of dense bytes, not measured"));
  EXPECT_THAT(row_of("larger"), HasSubstr("   -  unlikely: 1.10 of dense bytes, not measured"));
  EXPECT_THAT(row_of("faster"), HasSubstr("  6.0/3.0  yes: 2.00 x, measured"));
  EXPECT_THAT(row_of("slower"), HasSubstr("  2.0/4.0  no: 0.50 x, measured"));
  EXPECT_THAT(row_of("ratio alone"), HasSubstr("   -  yes: 1.50 x, measured"));
  EXPECT_THAT(row_of("bias"), HasSubstr("64       has 1 dimensions"));
  EXPECT_THAT(row_of("total"),
              AllOf(HasSubstr("total        4 of 6 "), HasSubstr("  8.0/7.0  2 yes, 1 no, 1 not measured")));
  EXPECT_THAT(estimate_page(estimate()), HasSubstr("             stays dense: why\n"));
}

TEST(EstimatePage, HasARowForEachNumberOfColumns) {
  ModelEstimate two = estimate();
  two.bcols = {4, 16};
  two.is_named = false;
  two.note = "types differ";
  two.layers.resize(1);
  two.layers[0].kernels.push_back(kernel(5000));
  two.layers[0].kernels[1].bcol = 16;
  two.layers[0].kernels[1].notes = {"dense is faster"};
  const std::string page = estimate_page(two);
  EXPECT_THAT(page, AllOf(HasSubstr("smaller  64 x 32    75.00          8192          4356     4          4096"),
                          HasSubstr("\n                                                         16          5000"),
                          HasSubstr("made for   bCol 4, 16, elements of f32, h200 (no --gpu was named)\n"),
                          HasSubstr("\nnote       types differ\nnote       dense is faster\n")));
  const nlohmann::json all = nlohmann::json::parse(estimate_json(two));
  EXPECT_EQ(all["bcols"], nlohmann::json({4, 16}));
  EXPECT_EQ(all["layers"][0]["kernels"][1]["bytes"]["packed_about"], 5000);
  EXPECT_EQ(all["totals"][1]["bytes"]["packed_about"], 5000);
  EXPECT_EQ(all["gpu_named"], false);
  EXPECT_EQ(all["notes"], nlohmann::json({"types differ"}));
}

TEST(EstimatePage, SaysWhereItsNumbersAreFrom) {
  const std::string page = estimate_page(estimate());
  EXPECT_THAT(page, AllOf(HasSubstr("\nmade for   bCol 4, elements of f32, h200\n"),
                          HasSubstr("the 4800 GB/s that the maker of H200 SXM says"),
                          HasSubstr("of this schedule: the class of such on one H200\nmeasured "),
                          HasSubstr("of this schedule: this very layer on one H200\n"),
                          HasSubstr("the total of bCol 4 is of 2 layers\n")));
  ModelEstimate unknown = estimate();
  unknown.ceilings.reset();
  unknown.layers.resize(2);
  EXPECT_THAT(estimate_page(unknown), AllOf(HasSubstr("bound      none: the bandwidth of h200 is not known here\n"),
                                            Not(HasSubstr("\nmeasured ")), Not(HasSubstr("\nabout "))));
}

TEST(EstimatePage, HasAllOfItForMachines) {
  const nlohmann::json all = nlohmann::json::parse(estimate_json(estimate()));
  EXPECT_EQ(all["total"]["expected_microseconds"], (nlohmann::json{{"layers", 2}, {"library", 8.0}, {"ours", 7.0}}));
  EXPECT_EQ(all["layers"][2]["measured"], (nlohmann::json{{"over_exact", 2.0},
                                                          {"exact_microseconds", 6.0},
                                                          {"expected_microseconds", 3.0},
                                                          {"where", "the class of such on one H200"}}));
  EXPECT_EQ(all["layers"][4]["measured"],
            (nlohmann::json{{"over_exact", 1.5}, {"where", "this very layer on one H200"}}));
  EXPECT_FALSE(all["layers"][0].contains("measured"));
  EXPECT_EQ(all["layers"][0]["not_measured"], "no layers like it are known");
  EXPECT_EQ(all["layers"][1]["left_out"], "stays dense: why");
  EXPECT_EQ(all["layers"][5], (nlohmann::json{{"name", "bias"}, {"shape", "64"}, {"no_estimate", "has 1 dimensions"}}));
}

}  // namespace
}  // namespace esc
