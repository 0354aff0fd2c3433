// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/estimate_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

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
      .token_counts = {{4}},
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

/// What is in the row of a layer.
std::string row_of(const std::string& name) {
  const std::string page = estimate_page(estimate(), false);
  const std::size_t begin = page.find("\n" + name + " ") + 1;
  return page.substr(begin, page.find('\n', begin) - begin);
}

TEST(EstimatePage, SaysWhetherALayerCanWinAndHowThatIsKnown) {
  EXPECT_THAT(row_of("smaller"), HasSubstr("  0.50  <2.0 x"));
  EXPECT_THAT(row_of("larger"), HasSubstr("  1.10  -"));
  EXPECT_THAT(row_of("faster"), HasSubstr("  0.50  ~2.00 x"));
  EXPECT_THAT(row_of("slower"), HasSubstr("  0.50  ~0.50 x"));
  EXPECT_THAT(row_of("ratio alone"), HasSubstr("  0.50  1.50 x"));
  EXPECT_THAT(row_of("bias"), HasSubstr("64       has 1 dimensions"));
  EXPECT_THAT(estimate_page(estimate(), false), HasSubstr("             stays dense: why\n"));
}

TEST(EstimatePage, BeginsWithTheAnswer) {
  const std::string page = estimate_page(estimate(), false);
  EXPECT_THAT(page, testing::StartsWith("model      net.safetensors, elements of f32, on h200\nN = 4  "));
  EXPECT_THAT(page, AllOf(HasSubstr("4 of 6 tensors get kernels: 2 faster than a library, 1 slower, 1 not measured\n"),
                          HasSubstr("about 7.0 us in place of 8.0 for 2 of them"),
                          HasSubstr("weights 16 KB in place of 33 KB (0.50 of dense)\n")));
}

TEST(EstimatePage, HasARowForEachNumberOfColumns) {
  ModelEstimate two = estimate();
  two.token_counts = {{4}, {16}};
  two.is_named = false;
  two.note = "types differ";
  two.layers.resize(1);
  two.layers[0].kernels.push_back(kernel(5000));
  two.layers[0].kernels[1].bcol = 16;
  two.layers[0].kernels[1].notes = {"dense is faster"};
  const std::string page = estimate_page(two, false);
  EXPECT_THAT(page, AllOf(HasSubstr("smaller  64 x 32    75.00       4      0.50  <2.0 x\n"),
                          HasSubstr("\n                               16      0.61  <1.6 x\n"),
                          HasSubstr("elements of f32, on h200 (no --gpu was named)\n"),
                          HasSubstr("\nnote       types differ\nnote       dense is faster\n")));
  const nlohmann::json all = nlohmann::json::parse(estimate_json(two));
  EXPECT_EQ(all["bcols"], nlohmann::json({4, 16}));
  EXPECT_EQ(all["layers"][0]["kernels"][1]["bytes"]["packed_about"], 5000);
  EXPECT_EQ(all["totals"][1]["bytes"]["packed_about"], 5000);
  EXPECT_EQ(all["gpu_named"], false);
  EXPECT_EQ(all["notes"], nlohmann::json({"types differ"}));
}

/// `faster` and `slower`, of which times are known, and `smaller`, of which they are not, each for two numbers of
/// columns.
ModelEstimate weighted(double weight_of_4, double weight_of_16) {
  ModelEstimate two = estimate();
  two.token_counts = {{4, weight_of_4}, {16, weight_of_16}};
  for (LayerEstimate& layer : two.layers) {
    if (layer.why_not.empty()) {
      layer.kernels[0].weight = weight_of_4;
      layer.kernels.push_back(layer.kernels[0]);
      layer.kernels[1].bcol = 16;
      layer.kernels[1].weight = weight_of_16;
    }
  }
  two.layers[0].kernels[1].beside_dense = DenseComparison{.kernel = 5, .dense = 10};
  return two;
}

TEST(EstimatePage, WeighsNumbersOfColumns) {
  EXPECT_THAT(estimate_page(weighted(10, 0.5), false),
              HasSubstr("(0.50 of dense)\nweighted   10 x N = 4, 0.5 x N = 16: about 76.0 us in place of 89.0 (1.17 x) "
                        "for 5 of 8 kernels, 1\n           predicted\n"));
  const nlohmann::json all = nlohmann::json::parse(estimate_json(weighted(10, 0.5)));
  EXPECT_EQ(all["weighted_total"], (nlohmann::json{{"kernel_count", 8},
                                                   {"known_count", 5},
                                                   {"predicted_count", 1},
                                                   {"library_microseconds", 89.0},
                                                   {"microseconds", 76.0}}));
  EXPECT_EQ(all["bcols"], nlohmann::json({4, 16}));
  EXPECT_EQ(all["weight"], 10);
  EXPECT_EQ(all["totals"][1]["weight"], 0.5);
  EXPECT_EQ(all["totals"][0]["expected"]["microseconds"], 7.0) << "of one product each";
  EXPECT_EQ(all["layers"][0]["kernels"][1]["weight"], 0.5);
}

TEST(EstimatePage, SaysNothingOfWeightsWhereThereAreNone) {
  EXPECT_THAT(estimate_page(weighted(1, 1), true), Not(HasSubstr("weighted")));
  EXPECT_THAT(estimate_json(weighted(1, 1)), Not(HasSubstr("\"weight")));
}

/// The page with every line that was broken for its width in one piece.
std::string unbroken(const ModelEstimate& estimate) {
  std::string page = estimate_page(estimate, true);
  for (std::size_t at = page.find("\n           "); at != page.npos; at = page.find("\n           ", at)) {
    page.replace(at, 12, " ");
  }
  return page;
}

TEST(EstimatePage, SaysWhereItsNumbersAreFrom) {
  EXPECT_THAT(
      unbroken(estimate()),
      AllOf(HasSubstr("kernel     smaller, N = 4: dense 8192 bytes, CSR 4356, packed about 4096; bound by bytes "),
            HasSubstr("(dense/CSR/packed) 4-7-1-32\n"), HasSubstr("the 4800 GB/s that the maker of H200 SXM says"),
            HasSubstr("in the L2 cache: the class of such on one H200\nmeasured "),
            HasSubstr("in the L2 cache: this very layer on one H200\n")));
  EXPECT_THAT(estimate_page(estimate(), false), Not(HasSubstr("GB/s"))) << "without --verbose the answer alone";
  ModelEstimate unknown = estimate();
  unknown.ceilings.reset();
  unknown.layers.resize(2);
  EXPECT_THAT(unbroken(unknown), AllOf(HasSubstr("bound      none: the bandwidth of h200 is not known here\n"),
                                       Not(HasSubstr("\nmeasured "))));
}

TEST(EstimatePage, StaysWithinAPageWhateverTheNames) {
  ModelEstimate wide = estimate();
  for (LayerEstimate& layer : wide.layers) {
    layer.name = "model.language_model.layers.17.mlp.experts.103.gate_and_up_projection." + layer.name;
  }
  wide.layers[1].why_dense = "stays dense: " + std::string(40, 'a') + " " + std::string(40, 'b');
  std::istringstream lines(estimate_page(wide, false));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100U) << line;
  }
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
