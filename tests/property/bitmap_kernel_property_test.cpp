// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "generator/emit/bitmap_text.h"
#include "generator/emit/block_memory.h"
#include "generator/emit/dispatch.h"
#include "generator/emit/generate.h"
#include "generator/emit/launch_plan.h"
#include "generator/emit/shared_kernel.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/matrix/round_values.h"
#include "generator/matrix/sample.h"
#include "generator/matrix/statistics.h"
#include "generator/schedule/target.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/nest_memory.h"
#include "tests/support/random_case.h"

namespace esc {
namespace {

using tests::awkward_bcol;
using tests::awkward_half_matrix;
using tests::EmulatedKernel;
using tests::half_product_case;
using tests::JudgedProduct;
using tests::layer_of;
using tests::transformer_problem;
using tests::wide_half_matrix;

/// How B and C lie: K x N and M x N, or both transposed.
enum class Lies { in_rows, transposed };

/// A schedule of a warpgroup or two, whose columns are legal for more than 16.
rc::Gen<BitmapSchedule> warpgroup_schedule(std::int64_t bcol) {
  const auto depth = rc::gen::inRange(2, 5);
  return rc::gen::map(
      rc::gen::tuple(rc::gen::element(32, 64, 128), rc::gen::inRange(1, 3), depth, depth, rc::gen::arbitrary<bool>()),
      [bcol](const std::tuple<int, int, int, int, bool>& drawn) {
        const auto& [columns, warps, stages, packed_tiles, pdl] = drawn;
        return BitmapSchedule{.columns = std::min(columns, widest_bitmap_tile(bcol)),
                              .row_tiles = BitmapSchedule::warpgroup_warps,
                              .warps = warps,
                              .stages = stages + 1,
                              .packed_tiles = packed_tiles,
                              .mma = BitmapSchedule::Mma::warpgroup,
                              .pdl = pdl};
      });
}

/// A schedule of a few warps that multiply by themselves, whose columns are legal for bCol.
rc::Gen<BitmapSchedule> warp_schedule(std::int64_t bcol) {
  const auto depth = rc::gen::inRange(2, 5);
  return rc::gen::map(rc::gen::tuple(rc::gen::element(8, 16, 32, 64), rc::gen::inRange(1, 4), rc::gen::inRange(1, 4),
                                     depth, depth, rc::gen::arbitrary<bool>()),
                      [bcol](const std::tuple<int, int, int, int, int, bool>& drawn) {
                        const auto& [columns, row_tiles, warps, stages, packed_tiles, pdl] = drawn;
                        return BitmapSchedule{.columns = std::min(columns, widest_stream(bcol)),
                                              .row_tiles = row_tiles,
                                              .warps = warps,
                                              .stages = stages,
                                              .packed_tiles = packed_tiles,
                                              .pdl = pdl};
                      });
}

rc::Gen<BitmapSchedule> small_schedule(std::int64_t bcol) {
  const rc::Gen<BitmapSchedule> schedules =
      bcol <= 16 ? warp_schedule(bcol) : rc::gen::oneOf(warp_schedule(bcol), warpgroup_schedule(bcol));
  return rc::gen::map(rc::gen::pair(schedules, rc::gen::element(1, 1, 2, 3)),
                      [](const std::pair<BitmapSchedule, int>& drawn) {
                        BitmapSchedule schedule = drawn.first;
                        schedule.cluster = drawn.second;
                        return schedule;
                      });
}

/// The layer of the schedule with as many warps as have room for their tiles.
GeneratedLayer fitting_layer(const SparseMatrix& matrix, std::int64_t bcol, BitmapSchedule schedule, Lies lies) {
  for (;;) {
    try {
      return lies == Lies::in_rows ? layer_of(matrix, bcol, schedule)
                                   : layer_of(matrix, bcol, schedule, linear_nk_nest(matrix.element));
    } catch (const UnsuitableSchedule&) {
      RC_ASSERT(schedule.warps > 1);
      --schedule.warps;
    }
  }
}

/// Of a matrix that the sparse tensor core takes, either format.
BitmapSchedule in_either_format(BitmapSchedule schedule, const SparseMatrix& matrix) {
  const bool sparse24 = is_sparse24(matrix) && !schedule.has_warpgroups() &&
                        *rc::gen::arbitrary<bool>().as("two of each four elements are stored");
  schedule.format = sparse24 ? BitmapSchedule::Format::sparse24 : BitmapSchedule::Format::bitmap;
  return schedule;
}

/// The kernel agrees with the float64 product in whatever order its blocks and threads run, on devices with an engine
/// for bulk copies and without, and does nothing that the emulator forbids.
void check_kernel(const SparseMatrix& matrix, std::int64_t bcol, Lies lies) {
  const BitmapSchedule schedule = in_either_format(*small_schedule(bcol).as("schedule"), matrix);
  const int major = schedule.cluster > 1 ? 9 : *rc::gen::element(8, 9, 12).as("major compute capability");
  const auto order = *rc::gen::arbitrary<std::uint64_t>().as("order of blocks and threads");
  const auto products = *rc::gen::container<std::vector<ProductCase>>(2, half_product_case(bcol)).as("products");
  const bool whole =
      lies == Lies::transposed && *rc::gen::arbitrary<bool>().as("columns of B begin at multiples of 16 bytes");
  const EmulatedKernel kernel(fitting_layer(matrix, bcol, schedule, lies));
  RC_CLASSIFY(matrix.columns > BitmapSchedule::tile_columns_of_a * schedule.warps, "several iterations");
  for (const ProductCase& drawn : products) {
    ProductCase product = drawn;
    if (lies == Lies::transposed) {
      product.ldb = matrix.columns + drawn.ldb - drawn.n;
      product.ldb = whole ? (product.ldb + 7) / 8 * 8 : product.ldb;
      product.ldc = matrix.rows + drawn.ldc - drawn.n;
    }
    const JudgedProduct judged = kernel.multiply(matrix, KernelCall{.product = product, .compute_major = major}, order);
    RC_LOG() << print(schedule) << ", " << print(product) << ": " << tests::print(judged) << "\n";
    RC_ASSERT(judged.passed());
  }
}
/// Columns of one K tile to ten, which a K tile, a K step or a K block divides or not.
SparseMatrix matrix_of_tiles() {
  SparseMatrix matrix = sample_matrix(
      {.rows = *rc::gen::inRange(1, 70).as("rows"),
       .columns =
           *rc::gen::element<std::int64_t>(1, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1024, 1160, 2500).as("columns"),
       .sparsity = *rc::gen::element(0.0, 0.3, 0.5, 0.7, 0.95).as("sparsity"),
       .structure = *rc::gen::element(SampleStructure::uniform, SampleStructure::powerlaw).as("structure"),
       .seed = *rc::gen::inRange<std::uint64_t>(1, 1000).as("seed")});
  round_values(matrix, *rc::gen::element(ScalarType::f16, ScalarType::bf16).as("element"));
  return *rc::gen::arbitrary<bool>().as("two of four") ? tests::with_two_of_four(matrix) : matrix;
}

RC_GTEST_PROP(EmittedBitmapKernel, AgreesWithTheReference, ()) {
  check_kernel(*awkward_half_matrix(60).as("matrix"), *awkward_bcol(257).as("bCol"), Lies::in_rows);
}

RC_GTEST_PROP(EmittedBitmapKernel, OfSeveralTilesAgreesWithTheReference, ()) {
  check_kernel(matrix_of_tiles(), *awkward_bcol(70).as("bCol"), Lies::in_rows);
}

RC_GTEST_PROP(EmittedBitmapKernel, OfManyColumnsAgreesWithTheReference, ()) {
  check_kernel(*wide_half_matrix().as("matrix"), *awkward_bcol(9).as("bCol"), Lies::in_rows);
}

RC_GTEST_PROP(EmittedBitmapKernel, OfTransposedMatricesAgreesWithTheReference, ()) {
  check_kernel(*awkward_half_matrix(60).as("matrix"), *awkward_bcol(257).as("bCol"), Lies::transposed);
}

RC_GTEST_PROP(EmittedBitmapKernel, OfSeveralTransposedTilesAgreesWithTheReference, ()) {
  check_kernel(matrix_of_tiles(), *awkward_bcol(70).as("bCol"), Lies::transposed);
}

RC_GTEST_PROP(EmittedBitmapTransformer, WritesThePackedFile, ()) {
  const auto lies = *rc::gen::element(Lies::in_rows, Lies::transposed).as("lies");
  const SparseMatrix matrix = matrix_of_tiles();
  const BitmapSchedule schedule = in_either_format(*small_schedule(32).as("schedule"), matrix);
  RC_ASSERT(transformer_problem(fitting_layer(matrix, 32, schedule, lies), matrix) == "");
}

SparseMatrix drawn_halves(std::int64_t rows, std::int64_t columns, double sparsity, std::uint64_t seed) {
  SparseMatrix matrix = sample_matrix({.rows = rows, .columns = columns, .sparsity = sparsity, .seed = seed});
  round_values(matrix, ScalarType::f16);
  return matrix;
}

constexpr BitmapSchedule of_warps{.columns = 8, .row_tiles = 2, .warps = 2, .stages = 3, .packed_tiles = 2};
constexpr BitmapSchedule of_warpgroups{
    .columns = 64, .row_tiles = 4, .warps = 1, .stages = 3, .packed_tiles = 2, .mma = BitmapSchedule::Mma::warpgroup};

/// Packed matrices of any pattern whose packed tiles it has room for, of fewer bytes and of more than its own.
TEST(EmittedBitmapKernel, MultipliesByOtherPatterns) {
  const SparseMatrix own = drawn_halves(70, 900, 0.5, 1);
  SparseMatrix emptier = own;  // but for its first row tile, which has the fullest packed tile
  emptier.offsets.assign(71, own.offsets[16]);
  std::copy_n(own.offsets.begin(), 16, emptier.offsets.begin());
  emptier.column_of.resize(static_cast<std::size_t>(own.offsets[16]));
  emptier.values.resize(emptier.column_of.size());
  for (const BitmapSchedule& schedule : {of_warps, of_warpgroups}) {
    const int bcol = schedule.columns;
    const GeneratedLayer of_half = layer_of(own, bcol, schedule), of_row_tile = layer_of(emptier, bcol, schedule);
    const KernelCall call{.product = {.n = bcol, .ldb = bcol, .ldc = bcol}};
    for (const SparseMatrix& other : {drawn_halves(70, 900, 0.7, 2), drawn_halves(70, 900, 0.97, 3), emptier}) {
      EmulatedKernel kernel(of_half);
      kernel.take_packed(layer_of(other, bcol, schedule).bytes());
      EXPECT_TRUE(kernel.multiply(other, call).passed()) << tests::print(kernel.multiply(other, call));
      EXPECT_EQ(kernel.unpacking_problem(other, kernel.unpackings(other).front()), "");
    }
    EmulatedKernel kernel(of_row_tile);
    const SparseMatrix larger = drawn_halves(70, 900, 0.6, 4);
    ASSERT_GT(layer_of(larger, bcol, schedule).bytes().size(), of_row_tile.bytes().size());
    kernel.take_packed(layer_of(larger, bcol, schedule).bytes());
    EXPECT_TRUE(kernel.multiply(larger, call).passed()) << tests::print(kernel.multiply(larger, call));
  }
}

/// Nothing in the text of a kernel that layers share is a number of its matrix, but of its shape.
TEST(EmittedBitmapKernel, IsTheSameForAllLayersOfAShape) {
  for (const BitmapSchedule& schedule : {of_warps, of_warpgroups}) {
    const auto shared = [&](double sparsity, std::uint64_t seed, std::int64_t columns = 900) {
      return shared_kernel(layer_of(drawn_halves(70, columns, sparsity, seed), schedule.columns, schedule).layer, "m");
    };
    const SharedKernel one = shared(0.5, 1);
    for (const SharedKernel& other : {shared(0.5, 2), shared(0.8, 3), shared(0.999, 4)}) {
      EXPECT_EQ(one.name, other.name);
      EXPECT_EQ(one.text, other.text);
    }
    EXPECT_NE(one.name, shared(0.5, 1, 901).name);
  }
}

/// As much shared memory for packed tiles as costs no block of a multiprocessor, and makes nothing necessary that was
/// not.
TEST(EmittedBitmapKernel, HasRoomForFullerUnitsWhereThatIsFree) {
  const SparseMatrix matrix = drawn_halves(70, 900, 0.6, 1);
  for (BitmapSchedule schedule : {of_warps, of_warpgroups}) {
    for (schedule.stages = 3; schedule.stages <= 8; ++schedule.stages) {
      const GeneratedLayer made = layer_of(matrix, schedule.columns, schedule);
      const Layer& layer = made.layer;
      const std::uint32_t needed = std::get<transformer::BitmapFormat>(layer.format).shape.most_words;
      const std::uint32_t words = dispatch_of(layer).packed_tile_words;
      EXPECT_GE(words, needed);
      const auto bytes = [&](std::uint32_t of_packed_tile) {
        return shared_bytes(layer.lowered, {{"packed_tile_room", room_for_words(of_packed_tile)}});
      };
      const auto cost = [&](std::uint32_t of_packed_tile) {
        const std::uint64_t of_multiprocessor = shared_bytes_per_block(layer.architectures.front()) + 1024;
        return std::pair(of_multiprocessor / (bytes(of_packed_tile) + 1024),
                         bytes(of_packed_tile) > unprepared_shared_bytes);
      };
      EXPECT_EQ(launch_plan(layer).shared_bytes, bytes(words));
      EXPECT_EQ(cost(words), cost(needed));
      EXPECT_TRUE(words == transformer::max_bitmap_words || cost(words + 1) != cost(needed));
    }
  }
}

/// What a transformer does wrong with other patterns alone, or says wrongly of them.
TEST(EmittedBitmapTransformer, IsJudgedByOtherPatterns) {
  const SparseMatrix matrix = drawn_halves(40, 600, 0.5, 5);
  const GeneratedLayer layer = layer_of(matrix, 8, of_warps);
  const std::string text = tests::transformer_text(layer);
  EXPECT_EQ(transformer_problem(layer, matrix, text), "");
  const std::string own = fmt::format("{}", matrix.nonzeros());
  const std::string own_digest =
      fmt::format("{}", std::get<transformer::BitmapFormat>(layer.layer.format).counts.pattern);
  const std::pair<const char*, std::string> faults[] = {
      // The last element of the matrix is lost where it is another.
      {"const Offset end = source.offsets[first_row + r + 1];",
       "const Offset end = source.offsets[first_row + r + 1] - (source.offsets[40] != " + own +
           " && source.offsets[first_row + r + 1] == source.offsets[40] ? 1 : 0);"},
      {"? static_cast<size_t>(need.format.bytes)", "? static_cast<size_t>(need.format.bytes - 32)"},
      {"need.format.bytes > bytes ||", "need.format.bytes > bytes + 32 ||"},
      {"if (part.needed > part.room) {", "if (part.needed > part.room + 64) {"},
      {"fits = fits && tally.pieces <= room / bitmap_piece_bytes;",
       "fits = fits && tally.pieces <= room / bitmap_piece_bytes + 4;"},
      {"memset(to + need.format.bytes, 0, static_cast<size_t>(bytes - need.format.bytes));", ""},
      {"const BitmapNeed need{tally.format_of(shape), tally.fullest};",
       "BitmapNeed need{tally.format_of(shape), tally.fullest}; need.format.counts.pattern = " + own_digest + ";"},
  };
  for (const auto& [right, wrong] : faults) {
    const std::size_t at = text.find(right);
    ASSERT_NE(at, text.npos) << right;
    const std::string changed = std::string(text).replace(at, std::string(right).size(), wrong);
    EXPECT_NE(transformer_problem(layer, matrix, changed), "") << right << " -> " << wrong;
  }
}

/// Without one of its waits a kernel is wrong in whatever order its threads run, with an engine for bulk copies and
/// without.
TEST(EmittedBitmapKernel, NeedsAllOfItsWaits) {
  SparseMatrix matrix = sample_matrix({.rows = 40, .columns = 1500, .sparsity = 0.5, .seed = 6});
  round_values(matrix, ScalarType::f16);
  const GeneratedLayer layer =
      layer_of(matrix, 8, BitmapSchedule{.columns = 8, .row_tiles = 2, .warps = 2, .stages = 4, .packed_tiles = 2});
  const std::string text = tests::kernel_text(layer);
  const auto judged = [&](const EmulatedKernel& kernel, int major, std::uint64_t order) {
    return kernel.multiply(matrix, KernelCall{.product = {.n = 8, .ldb = 8, .ldc = 8}, .compute_major = major}, order);
  };
  struct Wait {
    int major;  ///< of a device that needs it
    const char* right;
    const char* wrong;
  };
  const Wait waits[] = {
      {9, "wait_for_phase(barrier_of_packed_tile(memory, stage, copy), iteration / packed_tile_stages);", ""},
      {9, "iteration / packed_tile_stages)", "iteration)"},
      // Either of the two fences is enough for the emulator.
      {9,
       "      asm volatile(\"fence.mbarrier_init.release.cluster;\" : : : \"memory\");\n"
       "      asm volatile(\"fence.proxy.async.shared::cta;\" : : : \"memory\");\n",
       ""},
      {8, "__pipeline_wait_prior(commits_behind_packed_tile);", ""},
      {8, "k_tile_steps * early_packed_tiles;", "k_tile_steps * early_packed_tiles + 1;"},
      {9, "__pipeline_wait_prior(early_tiles - 1);", ""},
      {9, "    sync_consumer_group(part);", ""}};
  constexpr std::uint64_t orders = 3;
  const EmulatedKernel whole(layer, text);
  for (std::uint64_t order = 0; order < orders; ++order) {
    for (const int major : {8, 9}) {
      EXPECT_TRUE(judged(whole, major, order).passed()) << tests::print(judged(whole, major, order));
    }
  }
  for (const Wait& wait : waits) {
    const std::size_t at = text.find(wait.right);
    ASSERT_NE(at, text.npos) << wait.right << "\n" << text;
    const EmulatedKernel changed(layer, std::string(text).replace(at, std::string(wait.right).size(), wait.wrong));
    for (std::uint64_t order = 0; order < orders; ++order) {
      EXPECT_FALSE(judged(changed, wait.major, order).passed())
          << wait.right << " -> " << wait.wrong << ", order " << order;
    }
  }
}

/// The same of what producer warps and consumer warps wait for, of each other's stages.
TEST(EmittedBitmapKernel, NeedsAllWaitsOfItsProducers) {
  SparseMatrix matrix = sample_matrix({.rows = 70, .columns = 1700, .sparsity = 0.5, .seed = 7});
  round_values(matrix, ScalarType::f16);
  BitmapSchedule two_groups = of_warpgroups;  // of which one has no K tile in the last iteration
  two_groups.warps = 2;
  const GeneratedLayer layer = layer_of(matrix, 64, two_groups);
  const std::string text = tests::kernel_text(layer);
  const auto judged = [&](const EmulatedKernel& kernel, std::uint64_t order) {
    return kernel.multiply(matrix, KernelCall{.product = {.n = 64, .ldb = 64, .ldc = 64}, .compute_major = 9}, order);
  };
  const std::pair<const char*, const char*> waits[] = {
      {"wait_for_phase(barrier_of_tile(memory, stage, part), number / tile_stages);", ""},
      {"wait_for_phase(release_of_tile(memory, stage, part), number / tile_stages - 1);", ""},
      {"wait_for_phase(release_of_packed_tile(memory, stage, copy), iteration / packed_tile_stages);", ""},
      {"number / tile_stages - 1)", "number / tile_stages)"},
      {"release_tile(shared_memory, (step - 1) % tile_stages, part, lane)",
       "release_tile(shared_memory, step % tile_stages, part, lane)"},
      {"initialise_barrier(release_of_tile(memory, 0, i), block_row_tiles);",
       "initialise_barrier(release_of_tile(memory, 0, i), 1);"},
      {"int tiles_ahead = tile_stages - 1;", "int tiles_ahead = tile_stages + 1;"},
      {"0 < step &&", "4 < step &&"},
      {"0 < step && (0 < k_tiles % k_tiles_of_iteration ? k_tile < k_tiles : 1)", "0 < step"}};
  constexpr std::uint64_t orders = 3;
  const EmulatedKernel whole(layer, text);
  for (std::uint64_t order = 0; order < orders; ++order) {
    EXPECT_TRUE(judged(whole, order).passed()) << tests::print(judged(whole, order));
  }
  for (const auto& [right, wrong] : waits) {
    const std::size_t at = text.find(right);
    ASSERT_NE(at, text.npos) << right << "\n" << text;
    const EmulatedKernel changed(layer, std::string(text).replace(at, std::string(right).size(), wrong));
    for (std::uint64_t order = 0; order < orders; ++order) {
      EXPECT_FALSE(judged(changed, order).passed()) << right << " -> " << wrong << ", order " << order;
    }
  }
}

}  // namespace
}  // namespace esc
