// SPDX-License-Identifier: Apache-2.0
#include "tests/support/emulated_sweep.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "generator/emit/generate.h"
#include "tests/support/emulated_layer.h"

namespace esc::tests {
namespace {

/// Whether the matrix may be what the schedule is illegal for: staged regions, lists or bitmaps that do not fit into
/// shared memory, sums over too many columns or tasks.
bool may_be_unsuitable(const SparseMatrix& matrix, const Schedule& schedule) {
  if (const auto* row_tile = std::get_if<PanelSchedule>(&schedule)) {
    return row_tile->stage || matrix.columns > 512;
  }
  if (std::holds_alternative<GatherSchedule>(schedule) || std::holds_alternative<BitmapSchedule>(schedule)) {
    return true;
  }
  const auto* rows = std::get_if<RowsSchedule>(&schedule);
  return rows != nullptr && rows->task < 8 && matrix.columns > 1024;
}

/// The layer, or nothing where the schedule is illegal for the matrix.
std::optional<GeneratedLayer> legal_layer(const SparseMatrix& matrix, const ScheduleFor& one, const LoopNest& nest) {
  try {
    return layer_of(matrix, one.bcol, one.schedule, nest);
  } catch (const UnsuitableSchedule& refused) {
    EXPECT_TRUE(may_be_unsuitable(matrix, one.schedule)) << refused.what();
    return std::nullopt;
  }
}

}  // namespace

EmulatedSweep::EmulatedSweep(std::vector<NamedMatrix> shapes, std::size_t part, LoopNest (*nest)(ScalarType))
    : nest_(nest), turns_(std::move(shapes)), next_product_(5 * part) {
  std::ranges::rotate(turns_, turns_.begin() + static_cast<std::ptrdiff_t>(part % turns_.size()));
}

void EmulatedSweep::check(const ScheduleFor& one) {
  EXPECT_TRUE(checks(one)) << print(one.schedule) << " is legal for no shape";
}

void EmulatedSweep::check_if_legal(const ScheduleFor& one) { checks(one); }

bool EmulatedSweep::checks(const ScheduleFor& one) {
  std::optional<GeneratedLayer> layer;
  const auto turn = std::ranges::find_if(turns_, [&](const NamedMatrix& shape) {
    layer = legal_layer(shape.matrix, one, nest_(shape.matrix.element));
    return layer.has_value();
  });
  if (turn == turns_.end()) {
    return false;
  }
  std::rotate(turn, turn + 1, turns_.end());
  const NamedMatrix& shape = turns_.back();
  const EmulatedKernel kernel(*layer);
  const std::vector<KernelCall> calls = kernel.calls(shape.matrix);
  for (const KernelCall& call : {calls.front(), calls[next_product_++ % calls.size()]}) {
    const JudgedProduct judged = kernel.multiply(shape.matrix, call);
    EXPECT_TRUE(judged.passed()) << print(one.schedule) << " on '" << shape.name << "', bCol " << one.bcol << ", "
                                 << print(call) << ": " << print(judged);
    worst_share_ = std::max(worst_share_, judged.error / judged.tolerance);
  }
  if (kernels_++ % 4 == 0) {
    EXPECT_EQ(transformer_problem(*layer, shape.matrix), "") << print(one.schedule) << " on '" << shape.name << "'";
  }
  return true;
}

void check_without_nonzeros(std::int64_t columns, const Schedule& schedule, ScalarType element) {
  const SparseMatrix zero{5, columns, {0, 0, 0, 0, 0, 0}, {}, {}, element};
  const GeneratedLayer layer = layer_of(zero, 33, schedule);
  const EmulatedKernel kernel(layer);
  for (const ProductCase& product : {ProductCase{33, 33, 33}, ProductCase{7, 8, 9, 1, 1}}) {
    const JudgedProduct judged = kernel.multiply(zero, product);
    EXPECT_TRUE(judged.passed()) << print(product) << ": " << print(judged);
  }
  EXPECT_EQ(transformer_problem(layer, zero), "");
}

std::string EmulatedSweep::summary() const {
  return fmt::format("{} kernels on {} shapes, at worst {:.2f} of the tolerance", kernels_, turns_.size(),
                     worst_share_);
}

}  // namespace esc::tests
