// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "generator/emit/sources.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/matrix/sample.h"
#include "generator/support/error.h"
#include "generator/verify/emulated_transformer.h"
#include "generator/verify/transformer_check.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/random_case.h"
#include "transformer/packed.h"

namespace esc {
namespace {

using tests::awkward_bcol;
using tests::awkward_streamed_matrix;
using tests::bursting_matrix;
using tests::EmulatedKernel;
using tests::JudgedProduct;
using tests::layer_of;
using tests::legal_stream_schedule;
using tests::product_case;
using tests::transformer_problem;
using tests::wide_streamed_matrix;
using tests::windowed_matrix;

/// How B and C lie: K x N and M x N, or both transposed.
enum class Lies { in_rows, transposed };

/// The layer, or nothing where the stages of the matrix do not fit into shared memory.
std::optional<GeneratedLayer> legal_layer(const SparseMatrix& matrix, std::int64_t bcol, const StreamSchedule& schedule,
                                          Lies lies) {
  try {
    return lies == Lies::in_rows ? layer_of(matrix, bcol, schedule)
                                 : layer_of(matrix, bcol, schedule, linear_nk_nest(matrix.element));
  } catch (const ScheduleError&) {
    RC_ASSERT(schedule.stages * schedule.warps * (schedule.row_tiles * 8 + schedule.columns) > 64);
    return std::nullopt;
  }
}

/// The same with as many stages, or then warps, as there is room for.
GeneratedLayer fitting_layer(const SparseMatrix& matrix, std::int64_t bcol, StreamSchedule schedule,
                             Lies lies = Lies::in_rows) {
  while (true) {
    if (std::optional<GeneratedLayer> layer = legal_layer(matrix, bcol, schedule, lies)) {
      return *layer;
    }
    int& most = schedule.stages > 2      ? schedule.stages
                : schedule.warps > 1     ? schedule.warps
                : schedule.row_tiles > 1 ? schedule.row_tiles
                                         : schedule.columns;
    most = schedule.stages > 2 ? most - 1 : most / 2;
  }
}

const transformer::FragmentFormat& format_of(const GeneratedLayer& generated) {
  return std::get<transformer::FragmentFormat>(generated.layer.format);
}

/// The kernel emitted for each schedule agrees with the float64 product in whatever order its blocks and threads run,
/// and does nothing that the emulator forbids.
GeneratedLayer check_kernel(const SparseMatrix& matrix, std::int64_t bcol, const StreamSchedule& schedule) {
  const int major = schedule.cluster > 1 ? 9 : *rc::gen::element(8, 9, 9).as("major compute capability");
  const bool has_features =
      !schedule.is_placed() || *rc::gen::arbitrary<bool>().as("compiled for the very architecture");
  const auto order = *rc::gen::arbitrary<std::uint64_t>().as("order of blocks and threads");
  const auto products = *rc::gen::container<std::vector<ProductCase>>(2, product_case(bcol)).as("products");
  const GeneratedLayer layer = fitting_layer(matrix, bcol, schedule);
  RC_CLASSIFY(!format_of(layer).regular(), "irregular rounds");
  RC_CLASSIFY(format_of(layer).shape.residuals > 0, "residuals");
  RC_CLASSIFY(format_of(layer).is_dense(), "dense steps");
  RC_CLASSIFY(format_of(layer).is_listed(), "listed values");
  RC_CLASSIFY(format_of(layer).is_placed(), "placed values");
  RC_CLASSIFY(schedule.copies == StreamSchedule::Copies::tma, "bulk copies");
  RC_CLASSIFY(schedule.cluster > 1, "clusters");
  const EmulatedKernel kernel(layer);
  for (const ProductCase& product : products) {
    const JudgedProduct judged = kernel.multiply(
        matrix, KernelCall{.product = product, .compute_major = major, .has_features = has_features}, order);
    RC_LOG() << print(schedule) << ", " << print(product) << ": " << tests::print(judged) << "\n";
    RC_ASSERT(judged.passed());
  }
  return layer;
}

GeneratedLayer check_kernel(const SparseMatrix& matrix, std::int64_t bcol) {
  return check_kernel(matrix, bcol, *legal_stream_schedule(bcol, matrix).as("schedule"));
}

RC_GTEST_PROP(EmittedStreamKernel, AgreesWithTheReference, ()) {
  check_kernel(*windowed_matrix(60).as("matrix"), *awkward_bcol(257).as("bCol"));
}

RC_GTEST_PROP(EmittedStreamKernel, OfSmallMatricesAgreesWithTheReference, ()) {
  check_kernel(*awkward_streamed_matrix(60).as("matrix"), *awkward_bcol(257).as("bCol"));
}

RC_GTEST_PROP(EmittedStreamKernel, OfManyColumnsAgreesWithTheReference, ()) {
  check_kernel(*wide_streamed_matrix().as("matrix"), *awkward_bcol(9).as("bCol"));
}

RC_GTEST_PROP(EmittedStreamKernel, OfSeveralRoundsOfAWindowAgreesWithTheReference, ()) {
  const GeneratedLayer layer = check_kernel(*bursting_matrix().as("matrix"), *awkward_bcol(33).as("bCol"));
  const transformer::FragmentFormat& format = format_of(layer);
  // Whole dense steps have room for everything; lists are as long as takes the least time, with further rounds or
  // without.
  RC_ASSERT(format.is_listed() || format.regular() == format.is_dense());
}

/// The same of B and C that are transposed, with leading dimensions that begin columns anywhere, or all at multiples of
/// 16 bytes.
void check_transposed_kernel(const SparseMatrix& matrix, std::int64_t bcol) {
  const auto schedule = *legal_stream_schedule(bcol, matrix).as("schedule");
  const auto order = *rc::gen::arbitrary<std::uint64_t>().as("order of blocks and threads");
  const auto products = *rc::gen::container<std::vector<ProductCase>>(2, product_case(bcol)).as("products");
  const bool whole = *rc::gen::arbitrary<bool>().as("columns of B begin at multiples of 16 bytes");
  const EmulatedKernel kernel(fitting_layer(matrix, bcol, schedule, Lies::transposed));
  for (const ProductCase& drawn : products) {
    ProductCase product = drawn;
    product.ldb = matrix.columns + drawn.ldb - drawn.n;
    product.ldb = whole ? (product.ldb + 3) / 4 * 4 : product.ldb;
    product.ldc = matrix.rows + drawn.ldc - drawn.n;
    const JudgedProduct judged = kernel.multiply(matrix, product, order);
    RC_LOG() << print(schedule) << ", " << print(product) << ": " << tests::print(judged) << "\n";
    RC_ASSERT(judged.passed());
  }
}

RC_GTEST_PROP(EmittedStreamKernel, OfTransposedMatricesAgreesWithTheReference, ()) {
  check_transposed_kernel(*windowed_matrix(60).as("matrix"), *awkward_bcol(257).as("bCol"));
}

RC_GTEST_PROP(EmittedStreamKernel, OfSmallTransposedMatricesAgreesWithTheReference, ()) {
  check_transposed_kernel(*awkward_streamed_matrix(60).as("matrix"), *awkward_bcol(257).as("bCol"));
}

RC_GTEST_PROP(EmittedStreamKernel, OfManyRowsOfATransposedBAgreesWithTheReference, ()) {
  check_transposed_kernel(*wide_streamed_matrix().as("matrix"), *awkward_bcol(9).as("bCol"));
}

RC_GTEST_PROP(EmittedStreamKernel, OfSeveralRoundsOfATransposedWindowAgreesWithTheReference, ()) {
  check_transposed_kernel(*bursting_matrix().as("matrix"), *awkward_bcol(33).as("bCol"));
}

RC_GTEST_PROP(EmittedStreamTransformer, WritesTheBytesOfThePackedMatrix, ()) {
  const auto matrix = *rc::gen::oneOf(awkward_streamed_matrix(24), windowed_matrix(40), bursting_matrix()).as("matrix");
  const auto schedule = *legal_stream_schedule(32, matrix).as("schedule");
  const std::string problem = transformer_problem(fitting_layer(matrix, 32, schedule), matrix);
  RC_LOG() << print(schedule) << ": " << problem << "\n";
  RC_ASSERT(problem.empty());
}

/// Of the sums that blocks of a cluster leave there are more than copies and placed values beneath them.
TEST(EmittedStreamKernel, LeavesSumsOfClustersBesideItsBarriers) {
  const SparseMatrix matrix = sample_matrix({.rows = 70, .columns = 300, .sparsity = 0.7, .seed = 5});
  for (const int cluster : {4, 8}) {
    const StreamSchedule schedule{.columns = 64,
                                  .row_tiles = 2,
                                  .warps = 2,
                                  .stages = 2,
                                  .share = 2,
                                  .rows = 32,
                                  .copies = StreamSchedule::Copies::tma,
                                  .cluster = cluster,
                                  .dense = StreamSchedule::Dense::placed};
    const JudgedProduct judged =
        EmulatedKernel(layer_of(matrix, 64, schedule))
            .multiply(matrix,
                      KernelCall{.product = {.n = 64, .ldb = 64, .ldc = 64}, .compute_major = 9, .has_features = true});
    EXPECT_TRUE(judged.passed()) << print(schedule) << ": " << tests::print(judged);
  }
}

/// In each of these texts a meeting of both roles lacks something: no order of the threads may hide it.
TEST(EmittedStreamKernel, NeedsAllOfTheMeetingsOfItsRoles) {
  const SparseMatrix matrix = sample_matrix({.rows = 90, .columns = 400, .sparsity = 0.7, .seed = 6});
  const GeneratedLayer layer = layer_of(matrix, 64,
                                        StreamSchedule{.columns = 64,
                                                       .row_tiles = 1,
                                                       .warps = 8,
                                                       .stages = 3,
                                                       .share = 4,
                                                       .rows = 48,
                                                       .copies = StreamSchedule::Copies::tma,
                                                       .ahead = true,
                                                       .dense = StreamSchedule::Dense::placed});
  const std::string text = tests::kernel_text(layer);
  const auto judged = [&](const EmulatedKernel& kernel, std::uint64_t order) {
    return kernel.multiply(
        matrix, KernelCall{.product = {.n = 64, .ldb = 64, .ldc = 64}, .compute_major = 9, .has_features = true},
        order);
  };
  constexpr std::uint64_t orders = 3;
  const EmulatedKernel whole(layer, text);
  for (std::uint64_t order = 0; order < orders; ++order) {
    EXPECT_TRUE(judged(whole, order).passed()) << tests::print(judged(whole, order));
  }
  for (const auto& [right, wrong] : {std::pair("  arrive_as(0, part, iteration);", ""),
                                     {"  arrive_as(1, part, iteration);", ""},
                                     {"  wait_for_role(1, part, iteration);", ""},
                                     {"  wait_for_role(0, part, iteration);", ""},
                                     {"iteration % 2 * roles", "0 * roles"},
                                     {"roles + role", "roles"},
                                     {"role) * iteration_k_tiles", "role) * 0"}}) {
    const std::size_t at = text.find(right);
    ASSERT_NE(at, text.npos) << right;
    const EmulatedKernel changed(layer, std::string(text).replace(at, std::string(right).size(), wrong));
    for (std::uint64_t order = 0; order < orders; ++order) {
      EXPECT_FALSE(judged(changed, order).passed()) << right << " -> " << wrong << ", order " << order;
    }
  }
}

/// Where rows have half of a K tile's columns, places for them are searched for long: no limit that ends endless loops
/// may end that.
TEST(EmittedStreamTransformer, SearchesForAsLongAsItTakes) {
  const SparseMatrix matrix = sample_matrix({.rows = 256, .columns = 2048, .sparsity = 0.6, .seed = 3});
  const GeneratedLayer generated = fitting_layer(matrix, 16, {.columns = 16, .row_tiles = 1, .warps = 1, .stages = 2});
  const std::string& name = generated.layer.name;
  EmulatedTransformer transformer(transformer_source(generated.layer), name, matrix, false);
  std::vector<std::byte> packed(generated.bytes().size());
  const TypedElements dense = dense_elements(matrix);
  EXPECT_EQ(transformer.functions().transform(dense.data(), matrix.columns, packed.data()), 0)
      << transformer.device().describe_faults();
  EXPECT_TRUE(std::ranges::equal(packed, generated.bytes()));
}

}  // namespace
}  // namespace esc
