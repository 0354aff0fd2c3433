// SPDX-License-Identifier: Apache-2.0
// Kernels of products whose matrices are made of arrays of any dimensions, of every family: each call that a
// verification makes of them agrees with what the nest says, in whatever order blocks and threads run.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "generator/emit/dispatch.h"
#include "generator/emit/generate.h"
#include "generator/ir/product_digits.h"
#include "generator/lower/assign_roles.h"
#include "generator/matrix/block_diagonal.h"
#include "generator/matrix/drawn_value.h"
#include "tests/support/awkward_shapes.h"
#include "tests/support/drawn_nest.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/random_case.h"

namespace esc {
namespace {

using tests::DrawnNest;
using tests::EmulatedKernel;
using tests::JudgedProduct;

/// A product and how many items its kernel is made for.
struct Case {
  LoopNest nest;
  SparseMatrix matrix;
  std::int64_t bcol = 1;
  std::int64_t columns = 1;  ///< of so many items
};

/// W as it is stored, in which every row has none, some or all of its elements.
SparseMatrix draw_matrix(const DrawnNest& drawn, ScalarType element, std::uint64_t seed) {
  constexpr std::uint64_t densities[] = {0, 30, 50, 100};
  SparseMatrix matrix{drawn.rows, drawn.stored, {0}, {}, {}, element};
  for (std::int64_t row = 0; row < drawn.rows; ++row) {
    const std::uint64_t density = densities[mix_bits(seed + static_cast<std::uint64_t>(row)) % 4];
    for (std::int64_t column = 0; column < drawn.stored; ++column) {
      if (mix_bits(seed ^ static_cast<std::uint64_t>((row + 1) * drawn.stored + column)) % 100 < density) {
        matrix.column_of.push_back(static_cast<std::int32_t>(column));
        matrix.values.push_back(drawn_value(seed, row, column, element));
      }
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

/// What is drawn, and the same without what follows the product.
enum class Follows { anything, nothing };

/// A nest of such elements, whose lanes may move vectors one time out of two.
Case draw_case(const rc::Gen<ScalarType>& elements, Follows follows = Follows::anything) {
  const bool wide = *rc::gen::arbitrary<bool>().as("wide");
  const DrawnNest drawn = *(wide ? tests::drawn_wide_nest() : tests::drawn_nest()).as("nest");
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed of the matrix");
  const ScalarType element = *elements;
  const bool single = drawn.item_columns == 1;
  const auto bcol =
      *(single ? rc::gen::element<std::int64_t>(1, 2, 5, 8, 36) : rc::gen::element<std::int64_t>(1, 2, 5)).as("bCol");
  LoopNest nest = drawn.nest;
  if (follows == Follows::nothing) {
    constexpr std::size_t arrays_of_product = 3;
    nest.body.erase(nest.body.begin() + 1, nest.body.end());
    nest.arrays.erase(nest.arrays.begin() + arrays_of_product, nest.arrays.end());
  }
  for (ArrayDeclaration& array : nest.arrays) {
    array.type = element;
  }
  nest = assign_roles(nest);
  RC_CLASSIFY(drawn.groups > 1, "has groups");
  return {nest, block_diagonal(draw_matrix(drawn, element, seed), digits_of(nest)), bcol, bcol * drawn.item_columns};
}

/// The layer; nothing where the schedule is none for this matrix.
std::optional<GeneratedLayer> suitable_layer(const Case& drawn, const Schedule& schedule) {
  try {
    return tests::layer_of(drawn.matrix, drawn.bcol, schedule, drawn.nest);
  } catch (const UnsuitableSchedule&) {
    return std::nullopt;
  }
}

void check_all_calls(const Case& drawn, const Schedule& schedule) {
  const auto order = *rc::gen::arbitrary<std::uint64_t>().as("order of blocks and threads");
  const std::optional<GeneratedLayer> layer = suitable_layer(drawn, schedule);
  RC_PRE(layer.has_value());
  RC_CLASSIFY(dispatch_of(layer->layer).vectors, "moves vectors");
  const EmulatedKernel kernel(*layer);
  for (const KernelCall& call : kernel.calls(drawn.matrix)) {
    const JudgedProduct judged = kernel.multiply(drawn.matrix, call, order);
    if (!judged.passed()) {
      RC_LOG() << print(schedule) << ", bCol " << drawn.bcol << ", " << print(call) << ": " << tests::print(judged)
               << "\n";
    }
    RC_ASSERT(judged.passed());
  }
}

rc::Gen<ScalarType> whole_numbers() { return rc::gen::element(ScalarType::f32, ScalarType::f32, ScalarType::f64); }
rc::Gen<ScalarType> half_numbers() { return rc::gen::element(ScalarType::f16, ScalarType::f16, ScalarType::bf16); }

void check_row_tiles(const Case& drawn) {
  PanelSchedule schedule = *tests::legal_panel_schedule(drawn.columns).as("schedule");
  schedule.pdl = *rc::gen::arbitrary<bool>();
  check_all_calls(drawn, schedule);
}

RC_GTEST_PROP(LayoutKernel, OfFamilyPanelAgreesWithTheNest, ()) { check_row_tiles(draw_case(whole_numbers())); }
RC_GTEST_PROP(LayoutKernel, OfFamilyPanelAndSixteenBitsAgreesWithTheNest, ()) {
  check_row_tiles(draw_case(half_numbers()));
}

void check_rows(const Case& drawn) {
  RowsSchedule schedule = *tests::legal_rows_schedule(drawn.columns).as("schedule");
  if (drawn.nest.finishes_sums()) {
    // They are those of whole rows.
    schedule.task = std::max(schedule.task, 32);
  }
  check_all_calls(drawn, schedule);
}

RC_GTEST_PROP(LayoutKernel, OfFamilyRowsAgreesWithTheNest, ()) { check_rows(draw_case(whole_numbers())); }
RC_GTEST_PROP(LayoutKernel, OfFamilyRowsAndSixteenBitsAgreesWithTheNest, ()) { check_rows(draw_case(half_numbers())); }

void check_streams(const Case& drawn) {
  StreamSchedule schedule = *tests::legal_stream_schedule(drawn.columns, drawn.matrix).as("schedule");
  // So that there is room whatever the matrix.
  if (schedule.is_placed()) {
    schedule.warps = schedule.share;
  } else {
    schedule.columns = std::min(schedule.columns, drawn.matrix.element == ScalarType::f32 ? 32 : 16);
    schedule.row_tiles = std::min(schedule.row_tiles, schedule.rows == StreamSchedule::m16_tile_rows ? 4 : 2);
    schedule.warps = std::min(schedule.warps, 2);
    schedule.share = std::min(schedule.share, schedule.warps);
  }
  schedule.stages = schedule.ahead ? StreamSchedule::least_stages_ahead : 2;
  check_all_calls(drawn, schedule);
}

RC_GTEST_PROP(LayoutKernel, OfFamilyStreamAgreesWithTheNest, ()) {
  check_streams(draw_case(rc::gen::just(ScalarType::f32)));
}
RC_GTEST_PROP(LayoutKernel, OfFamilyStreamAndTf32AgreesWithTheNest, ()) {
  check_streams(draw_case(rc::gen::just(ScalarType::tf32)));
}

RC_GTEST_PROP(LayoutKernel, OfFamilyBitmapAgreesWithTheNest, ()) {
  const Case drawn = draw_case(half_numbers());
  const auto from = [](int least, int most) { return rc::gen::inRange(least, most + 1); };
  const BitmapSchedule schedule{
      .columns = std::min(*rc::gen::element(8, 16).as("columns of a tile"), widest_stream(drawn.columns)),
      .row_tiles = *from(1, 3).as("row tiles"),
      .warps = *from(1, 2).as("warps"),
      .stages = *from(2, 3).as("stages"),
      .packed_tiles = 2,
      .pdl = *rc::gen::arbitrary<bool>()};
  check_all_calls(drawn, schedule);
}

RC_GTEST_PROP(LayoutKernel, OfFamilyAtomicAgreesWithTheNest, ()) {
  // An epilogue needs sums that one thread has the whole of.
  const Case drawn = draw_case(whole_numbers(), Follows::nothing);
  const AtomicSchedule schedule = *tests::legal_schedule(drawn.columns).as("schedule");
  check_all_calls(drawn, schedule);
}

}  // namespace
}  // namespace esc
