// SPDX-License-Identifier: Apache-2.0
// What a page about a model's bundle is made of.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

#include "generator/matrix/density_raster.h"
#include "generator/matrix/sample.h"
#include "generator/report/grey_png.h"
#include "generator/report/measured_times.h"
#include "generator/report/model_page.h"
#include "generator/report/model_tables.h"
#include "generator/support/error.h"
#include "tests/support/page_structure.h"
#include "tests/support/refusals.h"

namespace esc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// 3 x 5, with non-zeros at (0,0), (0,4), (2,1) and (2,2).
SparseMatrix some_matrix() { return {3, 5, {0, 2, 2, 4}, {0, 4, 1, 2}, {1, 2, 3, 4}, ScalarType::f32}; }

TEST(DensityRaster, HasACellForEachElementOfASmallMatrix) {
  const DensityRaster raster = density_raster(some_matrix(), 3, 5);
  EXPECT_EQ(raster.rows, 3);
  EXPECT_EQ(raster.columns, 5);
  EXPECT_THAT(raster.shares, ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0));
}

TEST(DensityRaster, CountsOverTheElementsOfACell) {
  // Rows 0 and 1, and row 2; columns 0 to 2, and 3 and 4.
  EXPECT_THAT(density_raster(some_matrix(), 2, 2).shares, ElementsAre(1.0 / 6, 1.0 / 4, 2.0 / 3, 0));
}

TEST(DensityRaster, LosesNoElement) {
  const SparseMatrix matrix =
      sample_matrix({.rows = 77, .columns = 203, .sparsity = 0.7, .structure = SampleStructure::rows, .seed = 1});
  for (const int most : {1, 7, 77}) {
    const DensityRaster raster = density_raster(matrix, most, most);
    double found = 0;
    for (int row = 0; row < raster.rows; ++row) {
      for (int column = 0; column < raster.columns; ++column) {
        const auto begin = [](int cell, int cells, int all) { return (cell * all + cells - 1) / cells; };
        const int height = begin(row + 1, raster.rows, 77) - begin(row, raster.rows, 77);
        const int width = begin(column + 1, raster.columns, 203) - begin(column, raster.columns, 203);
        const double share = raster.shares[static_cast<std::size_t>(row * raster.columns + column)];
        EXPECT_LE(share, 1);
        found += share * height * width;
      }
    }
    EXPECT_NEAR(found, static_cast<double>(matrix.nonzeros()), 1e-6) << most;
  }
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t next = at; next < at + 4; ++next) {
    number = number << 8U | static_cast<unsigned char>(bytes.at(next));
  }
  return number;
}

/// What is in the chunk of a PNG that begins at `at`, whose checksum must be right; `at` is moved after it.
std::string take_chunk(const std::string& png, const std::string& name, std::size_t& at) {
  const std::size_t bytes = big_endian(png, at);
  EXPECT_EQ(png.substr(at + 4, 4), name);
  EXPECT_EQ(big_endian(png, at + 8 + bytes),
            crc32(0, reinterpret_cast<const Bytef*>(png.data() + at + 4), static_cast<uInt>(bytes + 4)));
  const std::string content = png.substr(at + 8, bytes);
  at += bytes + 12;
  return content;
}

TEST(GreyPng, HasAPixelForEachCell) {
  const std::string png = grey_png({2, 3, {0, 0.1, 0.2, 0.4, 0.4, 0}});
  EXPECT_EQ(png.substr(0, 8), std::string("\x89PNG\r\n\x1a\n", 8));
  std::size_t at = 8;
  EXPECT_EQ(take_chunk(png, "IHDR", at), std::string("\0\0\0\3\0\0\0\2\x08\0\0\0\0", 13));
  const std::string packed = take_chunk(png, "IDAT", at);
  EXPECT_EQ(take_chunk(png, "IEND", at), "");
  EXPECT_EQ(at, png.size());
  std::vector<unsigned char> lines(8);
  uLongf bytes = lines.size();
  ASSERT_EQ(uncompress(lines.data(), &bytes, reinterpret_cast<const Bytef*>(packed.data()),
                       static_cast<uLong>(packed.size())),
            Z_OK);
  EXPECT_EQ(bytes, lines.size());
  EXPECT_THAT(lines, ElementsAre(0, 255, 191, 127, 0, 0, 0, 255));
}

TEST(GreyPng, OfNothingIsWhite) { EXPECT_EQ(grey_png({1, 1, {0}}).size(), grey_png({1, 1, {1}}).size()); }

TEST(Base64, FillsUp) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("a"), "YQ==");
  EXPECT_EQ(base64("ab"), "YWI=");
  EXPECT_EQ(base64(std::string("\0\xff\x10", 3)), "AP8Q");
}

constexpr const char* two_layers =
    R"({"kind": "measured layers", "format_version": 1, "status": "done", "gpu": "G", "layers_by_name": {
  "a": {"kept": null, "dense_above": 1, "products": [
    {"bcol": 1, "dense_microseconds": 4, "esc_microseconds": 2}, {"bcol": 16, "dense_microseconds": 5, "esc_microseconds": 6}]},
  "b": {"kept": "dense is faster", "dense_above": null, "products": [
    {"bcol": 16, "dense_microseconds": 3, "esc_microseconds": 4}]}}})";

/// The same as the release before wrote it.
constexpr const char* two_layers_before = R"({"kind": "measured layers", "format_version": 1, "gpu": "G", "layers": {
  "a": {"kept": null, "dense_above": 1, "products": [{"columns": 1, "dense_us": 4, "esc_us": 2}, {"columns": 16, "dense_us": 5, "esc_us": 6}]},
  "b": {"kept": "dense is faster", "dense_above": null, "products": [{"columns": 16, "dense_us": 3, "esc_us": 4}]}}})";

TEST(MeasuredTimes, AddUpWhatTheNetworkDoesNow) {
  const MeasuredTimes times = parse_measured_times(two_layers, "times.json");
  EXPECT_THAT(times.columns(), ElementsAre(1, 16));
  const Table table = total_table(times);
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("1", "1", "4.00", "2.00", "2.00"),
                                      ElementsAre("16", "2", "8.00", "8.00", "1.00")));
  EXPECT_THAT(total_table({}).rows, IsEmpty());
}

TEST(MeasuredTimes, OfTheReleaseBeforeAreRead) {
  const MeasuredTimes times = parse_measured_times(two_layers_before, "times.json");
  EXPECT_EQ(total_table(times).rows, total_table(parse_measured_times(two_layers, "times.json")).rows);
}

ModelVariant variant(std::int64_t bcol, int capability, std::optional<MeasuredRatios> measured) {
  ModelVariant result;
  result.bcol = bcol;
  result.capability = capability;
  result.measured = std::move(measured);
  return result;
}

ModelLayer layer(const std::string& name, std::vector<ModelVariant> variants) {
  return {.name = name,
          .rows = 8,
          .columns = 4,
          .nonzeros = 8,
          .fingerprint = {},
          .packings = {{}},
          .variants = std::move(variants)};
}

TEST(ModelTables, SayWhatLayersLikeMeasuredOnesAreExpectedToTake) {
  const MeasuredRatios fast{.over_exact = 2, .exact_microseconds = 6, .where = "H200"};
  const MeasuredRatios slow{.over_exact = 0.5, .exact_microseconds = 1, .where = "H200"};
  const MeasuredRatios ratio{.over_exact = 1.5, .where = "H200"};
  ModelBundle model;
  model.kernels[""] = {};
  model.layers = {layer("a", {variant(1, 80, {}), variant(1, 90, fast), variant(16, 90, slow)}),
                  layer("b", {variant(1, 90, slow), variant(16, 90, ratio)}), layer("c", {variant(1, 90, {})})};
  EXPECT_THAT(expected_table(model).rows, ElementsAre(ElementsAre("sm_90", "1", "2", "7.00", "5.00", "1.40"),
                                                      ElementsAre("sm_90", "16", "1", "1.00", "2.00", "0.50")));
  const Table table = layer_table(model, {});
  EXPECT_EQ(table.columns.back().name, "N: expected over a library");
  EXPECT_EQ(table.rows[0].back(), "sm_90 1: 2.00 x, sm_90 16: 0.50 x");
  EXPECT_EQ(table.rows[1].back(), "1: 0.50 x, 16: 1.50 x");
  EXPECT_EQ(table.rows[2].back(), "not known");
  model.layers.erase(model.layers.begin(), model.layers.begin() + 2);
  EXPECT_THAT(expected_table(model).rows, IsEmpty());
  EXPECT_EQ(layer_table(model, {}).columns.back().name, "verified");
}

/// Layers a and b of 8 x 4 elements of 16 bits, packed into 32 and 80 bytes, and a tensor without a kernel.
ModelBundle small_model() {
  ModelBundle model;
  model.name = "m";
  model.source = "m.safetensors";
  model.dtype = "f16";
  model.layout = "nk";
  model.layers = {layer("a", {}), layer("b", {})};
  model.layers[0].packings.front().bytes = 32;
  model.layers[1].packings.front().bytes = 80;
  model.left_out["c"] = "is an embedding";
  return model;
}

TEST(ModelPage, AnswersFirst) {
  const std::string page = model_page(small_model(), {{"a", {1, 1, {0.5}}}}, {});
  EXPECT_THAT(test::page_problems(page), IsEmpty());
  EXPECT_THAT(page, HasSubstr("2 layers of m.safetensors have a kernel, and their packed weights take "
                              "112\u00a0B in place of 128\u00a0B."));
  EXPECT_THAT(page, HasSubstr("<strong>0.88</strong><span class=\"bar\""));
  EXPECT_THAT(page, HasSubstr("<strong>not measured</strong>"));
  EXPECT_THAT(page, HasSubstr("<strong>2 of 3</strong><span>layers are replaced; 1 stay dense</span>"));
  EXPECT_THAT(page,
              HasSubstr("<span class=\"bar over\" aria-hidden=\"true\"><span style=\"width:100.0%\"></span></span>"
                        "<span>1.25, "))
      << "b is larger than the dense layer";
}

TEST(ModelPage, SaysHowFastByTheSurestSource) {
  ModelBundle model = small_model();
  model.kernels[""] = {};
  model.layers[0].variants = {variant(1, 90, {})};
  model.layers[0].variants.front().beside_dense = DenseComparison{.kernel = 4, .dense = 5, .device = "H200 SXM"};
  EXPECT_THAT(model_page(model, {}, {}),
              HasSubstr("<strong>1.25 x</strong><span>as fast as dense, as it is predicted for the H200 SXM;"));
  model.layers[1].variants = {variant(
      1, 90, MeasuredRatios{.over_exact = 2, .exact_microseconds = 6, .where = "H200", .device = "NVIDIA H200"})};
  EXPECT_THAT(model_page(model, {}, {}), HasSubstr("<strong>about 2.00 x</strong><span>as fast as the faster of cuBLAS "
                                                   "and cuSPARSE at N = 1, by measurements of 1 layer like these on"));
  const std::string page = model_page(model, {}, parse_measured_times(two_layers, "times.json"));
  EXPECT_THAT(page, HasSubstr("<strong>2.00 x</strong><span>as fast as dense at N = 1, measured in a network on G; "
                              "1.00 x at N = 16</span>"));
  EXPECT_THAT(page, HasSubstr("<strong>1 of 3</strong>")) << "b was faster as a dense layer";
  EXPECT_THAT(test::page_problems(page), IsEmpty());
}

TEST(PageProblems, AreFound) {
  const std::string page = model_page(small_model(), {}, {});
  const auto problem = [&page](const std::string& from, const std::string& to) {
    std::string other = page;
    other.replace(other.find(from), from.size(), to);
    return test::page_problems(other);
  };
  EXPECT_THAT(problem("name=\"viewport\"", "name=\"other\""), SizeIs(1));
  EXPECT_THAT(problem("<div class=\"answer\">", "<table></table><div class=\"answer\">"), SizeIs(2));
  EXPECT_THAT(problem("<p>", "<p style=\"width: 401px\">"), SizeIs(1));
  EXPECT_THAT(problem("<p>", "<p style=\"width: 399px\">"), IsEmpty());
  EXPECT_THAT(problem("<p>", "<div width=\"300\">"), SizeIs(1));
  EXPECT_THAT(problem("width:87.5%", "width:80.0%"), SizeIs(1));
}

TEST(MeasuredTimes, OfOtherFilesAreRefused) {
  const auto refusal = [](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    return test::refusal_of([&] { parse_measured_times(text, "times.json"); });
  };
  for (const char* const from : {"measured layers", "format_version\": 1"}) {
    EXPECT_THAT(refusal(two_layers, from, "other"), HasSubstr("times.json")) << from;
  }
  EXPECT_THAT(refusal(two_layers, "\"dense_microseconds\": 4", "\"dense_microseconds\": 0"),
              HasSubstr("layers_by_name.a: cannot be read: 'dense_microseconds' is no time"));
  EXPECT_THAT(refusal(two_layers, "\"kept\": null, ", ""), HasSubstr("layers_by_name.a: cannot be read"));
  EXPECT_THAT(refusal(two_layers, "\"gpu\": \"G\"", "\"gpu\": 3"), HasSubstr("times.json: cannot be read"));
  EXPECT_THAT(refusal(two_layers, "{", "["), HasSubstr("times.json: cannot be read"));
  EXPECT_THAT(refusal(two_layers, "\"a\"", "\"b\""), HasSubstr("times.json"));
}

}  // namespace
}  // namespace esc
