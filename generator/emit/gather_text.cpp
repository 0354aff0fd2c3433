// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/gather_text.h"

#include "generator/emit/c_constant.h"
#include "generator/ir/performed_instructions.h"
#include "generator/schedule/gather_schedule.h"

namespace esc {
namespace {

// What the steps of the lowering and the packed bytes both know.
static_assert(GatherSchedule::set_rows == transformer::gather_set_rows);
static_assert(GatherSchedule::window_columns == transformer::gather_columns);
static_assert(GatherSchedule::stages == transformer::gather_windows);
static_assert(GatherSchedule::columns * sizeof(float) == transformer::gather_row_bytes);

std::int64_t ring_window_bytes(const LoopNest& nest) {
  return nest.constant("window_columns") * nest.constant("tile_columns") * bytes_of(nest.element());
}

/// Of windows and lists, behind which the barriers stand.
std::int64_t ring_bytes(const LoopNest& nest, std::int64_t list_bytes) {
  return nest.constant("stages") * (ring_window_bytes(nest) + nest.constant("block_sets") * list_bytes);
}

}  // namespace

Environment gather_sizes(const transformer::GatherFormat& format) {
  return {{"most_steps", format.shape.steps},
          {"seats", static_cast<std::int64_t>(format.seats())},
          {"list_bytes", static_cast<std::int64_t>(format.unit_bytes())}};
}

std::vector<std::string> gather_constants(const LoopNest& nest, const transformer::GatherFormat& format) {
  const auto list_bytes = static_cast<std::int64_t>(format.unit_bytes());
  return {c_constant("unsigned int", "M", format.shape.rows, "rows of C"),
          c_constant("unsigned int", "K", format.shape.columns, "rows of B"),
          c_constant("unsigned int", "windows", format.windows(), "of A's columns"),
          c_constant("size_t", "rows_at", transformer::header_bytes, "which row has a seat"),
          c_constant("size_t", "lists_at", format.units_at, "where the first list begins"),
          c_constant("int", "list_bytes", list_bytes, "of a warp's rows for a window"),
          c_constant("int", "entries_at", transformer::entries_at, "in a list, behind the number of its steps"),
          c_constant("int", "window_bytes", ring_window_bytes(nest), "of B"),
          c_constant("int", "barriers_at", ring_bytes(nest, list_bytes), "in shared memory, behind windows and lists")};
}

std::map<std::string, std::string> gather_holes() {
  return {{"ARRIVING_THREADS", "vectors ? block_sets + 1 : block_sets"}};
}

bool gathers_rows(const LoopNest& nest) { return performs(nest, "multiply_gathered"); }

std::uint64_t gathered_bytes(const LoopNest& nest, const Environment& sizes) {
  constexpr std::int64_t barrier = 8, line = 128;
  const std::int64_t barriers = (nest.constant("stages") * barrier + line - 1) / line * line;
  return static_cast<std::uint64_t>(ring_bytes(nest, sizes.at("list_bytes")) + barriers);
}

}  // namespace esc
