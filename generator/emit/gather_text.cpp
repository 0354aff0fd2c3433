// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/gather_text.h"

#include "generator/emit/c_constant.h"
#include "generator/ir/performed_instructions.h"
#include "generator/schedule/gather_schedule.h"

namespace esc {
namespace {

// What the steps of the lowering and the packed bytes both know.
static_assert(GatherSchedule::set_rows == transformer::gather_set_rows);
static_assert(GatherSchedule::k_tile_columns == transformer::gather_columns);
static_assert(GatherSchedule::stages == transformer::gather_k_tiles);
static_assert(GatherSchedule::columns * sizeof(float) == transformer::gather_row_bytes);

constexpr std::uint64_t line_bytes = 128;

std::int64_t ring_k_tile_bytes(const LoopNest& nest) {
  return nest.constant("k_tile_columns") * nest.constant("tile_columns") * bytes_of(nest.element());
}

/// The room of an iteration's lists.
std::int64_t ring_list_bytes(const transformer::GatherFormat& format) {
  return static_cast<std::int64_t>(
      transformer::round_up(std::uint64_t{format.shape.list_pieces} * transformer::piece_bytes, line_bytes));
}

/// Of K tiles and lists, after which the barriers are.
std::int64_t ring_bytes(const LoopNest& nest, std::int64_t list_bytes) {
  return nest.constant("stages") * ring_k_tile_bytes(nest) + nest.constant("list_stages") * list_bytes;
}

}  // namespace

Environment gather_sizes(const transformer::GatherFormat& format) {
  return {{"most_steps", format.shape.steps},
          {"tile_slots", static_cast<std::int64_t>(format.tile_slots())},
          {"list_begins", static_cast<std::int64_t>(format.lists()) + 1},
          {"list_bytes", ring_list_bytes(format)}};
}

std::vector<std::string> gather_constants(const LoopNest& nest, const transformer::GatherFormat& format) {
  const std::int64_t list_bytes = ring_list_bytes(format);
  return {c_constant("unsigned int", "M", format.shape.rows, "rows of C"),
          c_constant("unsigned int", "K", format.shape.columns, "rows of B"),
          c_constant("unsigned int", "k_tiles", format.k_tiles(), "of A's columns"),
          c_constant("size_t", "rows_at", transformer::header_bytes, "which row is in a tile slot"),
          c_constant("size_t", "begins_at", format.begins_at, "where lists begin"),
          c_constant("size_t", "lists_at", format.lists_at, "the lists"),
          c_constant("int", "list_bytes", list_bytes, "bytes of shared memory for the lists of an iteration"),
          c_constant("int", "k_tile_bytes", ring_k_tile_bytes(nest), "of B"),
          c_constant("int", "barriers_at", ring_bytes(nest, list_bytes), "in shared memory, after K tiles and lists")};
}

bool gathers_rows(const LoopNest& nest) { return performs(nest, "multiply_gathered"); }

std::uint64_t gathered_bytes(const LoopNest& nest, const Environment& sizes) {
  constexpr std::int64_t barrier = 8;
  const auto barriers = static_cast<std::uint64_t>(nest.constant("list_stages") * barrier);
  return static_cast<std::uint64_t>(ring_bytes(nest, sizes.at("list_bytes"))) +
         transformer::round_up(barriers, line_bytes);
}

}  // namespace esc
