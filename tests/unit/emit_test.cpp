// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "generator/emit/dispatch.h"
#include "generator/emit/generate.h"
#include "generator/emit/launch_plan.h"
#include "generator/emit/sources.h"
#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/matrix/sample.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/temporary_folder.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::Not;

GeneratedLayer layer_of(const SparseMatrix& matrix, const std::string& schedule, std::int64_t bcol = 64) {
  return generate_layer(matrix, spmm_nest(),
                        {.name = "ffn1",
                         .source_file = "ffn1.npy",
                         .bcol = bcol,
                         .architectures = {80, 90},
                         .choice = {parse_schedule(schedule), "user"}});
}

/// 4 x 3 whose row tiles of 4 rows have the patterns 0b0101 and 0b0010 only.
const SparseMatrix two_patterns{4, 3, {0, 1, 2, 3, 3}, {0, 1, 0}, {1, 2, 3}};

std::string as_is(const std::string&, const std::string& text) { return text; }

TEST(KernelSource, HoldsTheConstantsOfTheLayer) {
  const std::string text = kernel_source(layer_of(two_patterns, "4-2-1-64").layer);
  EXPECT_THAT(text, HasSubstr("constexpr unsigned int tuned_columns = 64;"));
  EXPECT_THAT(text, HasSubstr("constexpr unsigned int blocks_of_grid = 2;"));
  EXPECT_THAT(text, HasSubstr("cudaMemsetAsync(c, 0, row_bytes * 4, stream)"));
  EXPECT_THAT(text, HasSubstr("constexpr int threads_per_block = 64;"));
  EXPECT_THAT(text, HasSubstr("pattern " + layer_of(two_patterns, "4-2-1-64").layer.fingerprint.pattern.substr(0, 12)));
}

TEST(Dispatch, SaysHowManyColumnsThreadsTakeInATurn) {
  const auto iteration = [](const std::string& schedule) {
    return dispatch_of(layer_of(two_patterns, schedule).layer).iteration_columns;
  };
  EXPECT_EQ(iteration("4-2-2-64"), 128);
  EXPECT_EQ(iteration("4-2-1-32"), 32);
  EXPECT_EQ(iteration("rows: tile=1x8, thread=1x2, unroll_k=2, task=32, light=8, warps=2, pdl=on"), 0)
      << "blocks have tiles of columns";
}

TEST(Dispatch, TunesForColumnsThatAreNoWholeVectorsWithoutThem) {
  const auto tuned = [](const std::string& schedule, std::int64_t bcol) {
    const GeneratedLayer made = layer_of(two_patterns, schedule, bcol);
    EXPECT_TRUE(dispatch_of(made.layer).vectors);
    return launch_plan(made.layer).kernel;
  };
  const std::string streamed = "stream:columns=8,panels=1,warps=8,stages=3";
  EXPECT_EQ(tuned(streamed, 64), "ffn1_kernel<true, true>");
  EXPECT_EQ(tuned(streamed, 1), "ffn1_kernel<true, false>") << "a row of B has no vector of 4";
  EXPECT_EQ(tuned(streamed, 6), "ffn1_kernel<true, false>");
  EXPECT_THAT(
      kernel_source(layer_of(two_patterns, streamed, 1).layer),
      HasSubstr("const auto kernel = tuned ? ffn1_kernel<true, false> : vectors ? ffn1_kernel<false, true> : "));
}

TEST(KernelSource, LeavesOutWhatTheLayerDoesNotHave) {
  const std::string compacted = kernel_source(layer_of(two_patterns, "4-2-1-32").layer);
  EXPECT_THAT(compacted, HasSubstr("multiply_2_rows"));
  EXPECT_THAT(compacted, Not(HasSubstr("multiply_3_rows")));
  const std::string plain =
      kernel_source(layer_of(two_patterns, "atomic: thread=4x1, unroll_k=2, threads=32, compaction=off").layer);
  EXPECT_THAT(plain, HasSubstr("multiply_pattern_0101"));
  EXPECT_THAT(plain, HasSubstr("multiply_pattern_0010"));
  EXPECT_THAT(plain, Not(HasSubstr("multiply_pattern_0001")));
}

TEST(KernelSource, TakesTheTypeOfColumnsFromTheFormat) {
  EXPECT_THAT(kernel_source(layer_of(two_patterns, "4-2-1-32").layer),
              HasSubstr("const unsigned short* __restrict__ Cols"));
  const SparseMatrix wide{1, 70001, {0, 1}, {70000}, {1}};
  EXPECT_THAT(kernel_source(layer_of(wide, "1-1-1-32").layer), HasSubstr("const unsigned int* __restrict__ Cols"));
}

TEST(KernelSource, OfZerosOnlySetsCToZero) {
  const std::string text = kernel_source(layer_of({2, 2, {0, 0, 0}, {}, {}}, "4-2-1-32").layer);
  EXPECT_THAT(text, HasSubstr("cudaMemset2DAsync"));
  EXPECT_THAT(text, Not(HasSubstr("__global__")));
}

TEST(KernelSource, IsTheSameForProgramsThatMeanTheSame) {
  // The same product with other names, loops in the order j, k, i, and no guard.
  LoopNest other = spmm_nest();
  const auto element = [](const char* array, const char* row, const char* column) {
    return Access{array, {{"", Affine::of(row)}, {"", Affine::of(column)}}};
  };
  other.arrays = {{"W", {Affine::of("out"), Affine::of("in")}, ArrayRole::sparse},
                  {"X", {Affine::of("in"), Affine::of("batch")}, ArrayRole::dense},
                  {"Y", {Affine::of("out"), Affine::of("batch")}, ArrayRole::output}};
  const Node update{
      Statement{{}, Update{element("Y", "o", "b"), product({element("W", "o", "d"), element("X", "d", "b")})}}};
  const Node rows{Loop{"o", 0, Affine::of("out"), 1, Role::row, Mapping::sequential, {update}}};
  const Node reduction{Loop{"d", 0, Affine::of("in"), 1, Role::reduction, Mapping::sequential, {rows}}};
  other.body = {Node{Loop{"b", 0, Affine::of("batch"), 1, Role::column, Mapping::sequential, {reduction}}}};
  const GenerateOptions options{.name = "ffn1",
                                .source_file = "ffn1.npy",
                                .bcol = 64,
                                .architectures = {80, 90},
                                .choice = {parse_schedule("4-2-1-32"), "user"}};
  EXPECT_EQ(kernel_source(generate_layer(two_patterns, other, options).layer),
            kernel_source(layer_of(two_patterns, "4-2-1-32").layer));
}

/// Why the 4 x 3 matrix has no kernel of this nest.
std::string refusal_of(const LoopNest& nest, std::int64_t bcol) {
  try {
    generate_layer(two_patterns, nest,
                   {.name = "x",
                    .source_file = "x",
                    .bcol = bcol,
                    .architectures = {90},
                    .choice = {parse_schedule("4-1-1-32"), "user"}});
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST(GenerateLayer, RefusesANestOfAnotherSize) {
  LoopNest nest = spmm_nest();
  nest.body = substitute(nest.body, "M", 5);
  nest.arrays[0].extents[0] = nest.arrays[2].extents[0] = 5;
  EXPECT_THAT(refusal_of(nest, 8), HasSubstr("has 5 rows, but the matrix has 4"));
}

/// Y[b][f][t] += W[f][c][r] * X[b][c][2*t + r]: a convolution in one direction.
LoopNest convolution(std::int64_t channels, std::int64_t kernel, std::int64_t pixels) {
  const auto loop = [](const std::string& iterator, const Affine& extent, Role role, Node body) {
    return sequential_loop(iterator, 0, extent, 1, role, {std::move(body)});
  };
  const Access w = element("W", {Affine::of("f"), Affine::of("c"), Affine::of("r")});
  const Access x = element("X", {Affine::of("b"), Affine::of("c"), Affine::of("t", 2) + Affine::of("r")});
  const Access y = element("Y", {Affine::of("b"), Affine::of("f"), Affine::of("t")});
  const Affine f = Affine::of("F");
  const Affine b = Affine::of("batches");
  LoopNest nest;
  nest.arrays = {{"W", {f, channels, kernel}, ArrayRole::sparse},
                 {"X", {b, channels, 2 * pixels + kernel}, ArrayRole::dense},
                 {"Y", {b, f, pixels}, ArrayRole::output}};
  const Node update = statement(Update{y, product({w, x})});
  const Node inner = loop("c", channels, Role::reduction, loop("r", kernel, Role::reduction, update));
  nest.body = {loop("b", b, Role::column, loop("f", f, Role::row, loop("t", pixels, Role::column, inner)))};
  return nest;
}

TEST(GenerateLayer, CountsAllLoopsOfARole) {
  EXPECT_THAT(refusal_of(convolution(2, 3, 4), 8), HasSubstr("has 6 columns, but the matrix has 3"));
  LoopNest two_images = convolution(1, 3, 5);
  two_images.body = substitute(two_images.body, "batches", 2);
  EXPECT_THAT(refusal_of(two_images, 5), HasSubstr("has 2 columns of B, but the matrix has 5"));
}

TEST(GenerateLayer, RefusesAScheduleThatIsIllegalForBCol) {
  EXPECT_THROW(layer_of(two_patterns, "4-1-2-32", 33), ScheduleError);
}

TEST(Manifest, SaysWhereTheBundleCameFrom) {
  const GeneratedLayer generated = layer_of(two_patterns, "4-2-1-32");
  const nlohmann::json manifest = nlohmann::json::parse(manifest_json(generated.layer, std::nullopt, std::nullopt));
  EXPECT_EQ(manifest["name"], "ffn1");
  EXPECT_EQ(manifest["m"], 4);
  EXPECT_EQ(manifest["k"], 3);
  EXPECT_EQ(manifest["nnz"], 3);
  EXPECT_EQ(manifest["bcol"], 64);
  EXPECT_EQ(manifest["architectures"], nlohmann::json({"sm_80", "sm_90"}));
  EXPECT_EQ(manifest["schedule"]["text"], "atomic: thread=4x1, unroll_k=2, threads=32");
  EXPECT_EQ(manifest["schedule"]["directives"].size(), 7U);
  EXPECT_EQ(manifest["schedule"]["directives"][1], "enumerate()");
  EXPECT_EQ(manifest["verification"], nullptr);
  EXPECT_EQ(manifest["resources"], nullptr);
  EXPECT_EQ(manifest["pattern_sha256"], generated.layer.fingerprint.pattern);
}

TEST(Manifest, RoundTripsAndRefusesOthers) {
  const std::string text = manifest_json(layer_of(two_patterns, "4-2-1-32").layer, std::nullopt, std::nullopt);
  EXPECT_EQ(parse_manifest(text, "manifest.json").bcol, 64);
  for (const char* wrong : {"", "{}", "[1]", "{\"format_version\": 99}"}) {
    EXPECT_THROW(parse_manifest(wrong, "manifest.json"), UserError) << wrong;
  }
}

TEST(Bundle, IsWrittenWholeComparedAndLeftAlone) {
  const TemporaryFolder folder;
  const KernelBundle bundle = make_bundle(layer_of(two_patterns, "4-2-1-32"), as_is);
  EXPECT_THAT(compare_bundle(bundle, folder.path()), HasSubstr("is missing"));
  EXPECT_EQ(write_bundle(bundle, folder.path(), false), WriteOutcome::written);
  EXPECT_EQ(compare_bundle(bundle, folder.path()), "");
  EXPECT_EQ(write_bundle(bundle, folder.path(), false), WriteOutcome::unchanged);
}

TEST(Bundle, ThatDiffersIsReplacedOnlyByForce) {
  const TemporaryFolder folder;
  write_bundle(make_bundle(layer_of(two_patterns, "4-2-1-32"), as_is), folder.path(), false);
  const KernelBundle other = make_bundle(layer_of(two_patterns, "2-2-1-32"), as_is);
  EXPECT_THAT(compare_bundle(other, folder.path()), HasSubstr("--- ffn1.cu (on disk)"));
  EXPECT_THROW(write_bundle(other, folder.path(), false), UserError);
  EXPECT_EQ(write_bundle(other, folder.path(), true), WriteOutcome::written);
  EXPECT_EQ(compare_bundle(other, folder.path()), "");
}

TEST(Bundle, KeepsTheTimesOfFilesThatStayTheSame) {
  const TemporaryFolder folder;
  const KernelBundle bundle = make_bundle(layer_of(two_patterns, "4-2-1-32"), as_is);
  write_bundle(bundle, folder.path(), false);
  const std::filesystem::path header = folder.path() / "ffn1" / "ffn1.h";
  const std::filesystem::path kernel = folder.path() / "ffn1" / "ffn1.cu";
  const std::filesystem::file_time_type earlier = std::filesystem::last_write_time(kernel) - std::chrono::hours(1);
  std::filesystem::last_write_time(header, earlier);
  std::filesystem::last_write_time(kernel, earlier);
  KernelBundle other = bundle;
  const auto text = std::ranges::find(other.files, "ffn1.cu", &BundleFile::name);
  ASSERT_NE(text, other.files.end());
  text->text += "// another\n";
  write_bundle(other, folder.path(), true);
  EXPECT_EQ(std::filesystem::last_write_time(header), earlier);
  EXPECT_NE(std::filesystem::last_write_time(kernel), earlier);
}

TEST(Bundle, LeavesNothingWhereItCannotWrite) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "not a folder";
  const KernelBundle bundle = make_bundle(layer_of(two_patterns, "4-2-1-32"), as_is);
  EXPECT_THROW(write_bundle(bundle, folder.path() / "file" / "below", false), UserError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator()),
            1);
}

}  // namespace
}  // namespace esc
