// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <tuple>
#include <utility>
#include <vector>

#include "generator/emit/generate.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/matrix/round_values.h"
#include "generator/matrix/sample.h"
#include "tests/support/emulated_layer.h"
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

/// A schedule of a warpgroup or two, whose columns are legal for more than 32.
rc::Gen<BitmapSchedule> warpgroup_schedule(std::int64_t bcol) {
  const auto depth = rc::gen::inRange(2, 5);
  return rc::gen::map(
      rc::gen::tuple(rc::gen::element(64, 128), rc::gen::inRange(1, 3), depth, depth, rc::gen::arbitrary<bool>()),
      [bcol](const std::tuple<int, int, int, int, bool>& drawn) {
        const auto& [columns, warps, stages, units, pdl] = drawn;
        return BitmapSchedule{.columns = bcol > 64 ? columns : 64,
                              .panels = BitmapSchedule::warpgroup_warps,
                              .warps = warps,
                              .stages = stages + 1,
                              .units = units,
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
                        const auto& [columns, panels, warps, stages, units, pdl] = drawn;
                        return BitmapSchedule{.columns = std::min(columns, widest_stream(bcol)),
                                              .panels = panels,
                                              .warps = warps,
                                              .stages = stages,
                                              .units = units,
                                              .pdl = pdl};
                      });
}

rc::Gen<BitmapSchedule> small_schedule(std::int64_t bcol) {
  const rc::Gen<BitmapSchedule> schedules =
      bcol <= 32 ? warp_schedule(bcol) : rc::gen::oneOf(warp_schedule(bcol), warpgroup_schedule(bcol));
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

/// The kernel agrees with the float64 product in whatever order its blocks and threads run, on devices with an engine
/// for bulk copies and without, and does nothing that the emulator forbids.
void check_kernel(const SparseMatrix& matrix, std::int64_t bcol, Lies lies) {
  const auto schedule = *small_schedule(bcol).as("schedule");
  const int major = schedule.cluster > 1 ? 9 : *rc::gen::element(8, 9, 12).as("major compute capability");
  const auto order = *rc::gen::arbitrary<std::uint64_t>().as("order of blocks and threads");
  const auto products = *rc::gen::container<std::vector<ProductCase>>(2, half_product_case(bcol)).as("products");
  const bool whole =
      lies == Lies::transposed && *rc::gen::arbitrary<bool>().as("columns of B begin at multiples of 16 bytes");
  const EmulatedKernel kernel(fitting_layer(matrix, bcol, schedule, lies));
  RC_CLASSIFY(matrix.columns > BitmapSchedule::tile_columns_of_a * schedule.warps, "several turns");
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
  return matrix;
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
  RC_ASSERT(transformer_problem(fitting_layer(matrix, 32, *small_schedule(32).as("schedule"), lies), matrix) == "");
}

/// Without one of its waits a kernel is wrong in whatever order its threads run, with an engine for bulk copies and
/// without.
TEST(EmittedBitmapKernel, NeedsAllOfItsWaits) {
  SparseMatrix matrix = sample_matrix({.rows = 40, .columns = 1500, .sparsity = 0.5, .seed = 6});
  round_values(matrix, ScalarType::f16);
  const GeneratedLayer layer =
      layer_of(matrix, 8, BitmapSchedule{.columns = 8, .panels = 2, .warps = 2, .stages = 4, .units = 2});
  const std::string text = tests::kernel_text(layer);
  const auto judged = [&](const std::string& changed, int major, std::uint64_t order) {
    return EmulatedKernel(layer, changed)
        .multiply(matrix, KernelCall{.product = {.n = 8, .ldb = 8, .ldc = 8}, .compute_major = major}, order);
  };
  struct Wait {
    int major;  ///< of a device that needs it
    const char* right;
    const char* wrong;
  };
  const Wait waits[] = {{9, "wait_for_phase(barrier_of_unit(memory, stage, copy), turn / unit_stages);", ""},
                        {9, "turn / unit_stages)", "turn)"},
                        // Either of the two fences is enough for the emulator.
                        {9,
                         "      asm volatile(\"fence.mbarrier_init.release.cluster;\" : : : \"memory\");\n"
                         "      asm volatile(\"fence.proxy.async.shared::cta;\" : : : \"memory\");\n",
                         ""},
                        {8, "__pipeline_wait_prior(commits_behind_unit);", ""},
                        {8, "window_steps * early_units;", "window_steps * early_units + 1;"},
                        {9, "__pipeline_wait_prior(early_tiles - 1);", ""},
                        {9, "    meet_team(part);", ""}};
  for (std::uint64_t order = 0; order < 3; ++order) {
    for (const int major : {8, 9}) {
      EXPECT_TRUE(judged(text, major, order).passed()) << tests::print(judged(text, major, order));
    }
    for (const Wait& wait : waits) {
      const std::size_t at = text.find(wait.right);
      ASSERT_NE(at, text.npos) << wait.right << "\n" << text;
      const std::string changed = std::string(text).replace(at, std::string(wait.right).size(), wait.wrong);
      EXPECT_FALSE(judged(changed, wait.major, order).passed())
          << wait.right << " -> " << wait.wrong << ", order " << order;
    }
  }
}

}  // namespace
}  // namespace esc
