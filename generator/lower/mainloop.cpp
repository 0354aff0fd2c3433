// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/mainloop.h"

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

/// The loops over the columns of a K tile, the rows of a row tile and the columns of C around the product's statement.
Node k_tile_loop(const Statement& product, bool shared, int share, const Affine& columns) {
  Statement own = product;
  std::get<Update>(own.action).atomic = shared;
  own.guard.insert(own.guard.begin(), {less(index("i"), index("M")), less(index("k"), index("K"))});
  Loop column{"j", 0, columns, 1, Role::column, Mapping::sequential, {Node{std::move(own)}}};
  const Expression row = index("row_tile") * index("row_tile_height") + index("u");
  const Expression entry = index("k_tile") * index("k_tile_columns") + index("slot");
  const Node rows{mapped_loop(Mapping::sequential, "u", Affine::of("row_tile_height"), Role::none,
                              {define("i", row, ScalarType::u32), Node{std::move(column)}})};
  Loop slots = mapped_loop(Mapping::sequential, "slot", Affine::of("k_tile_columns"), Role::none,
                           {define("k", entry, ScalarType::u32), rows});
  if (share > 1) {
    slots.lower = Affine::of("member");
    slots.step = Affine::of("k_tile_warps");
  }
  return sequential_loop("k_tile", Affine::of("part"), Affine::of("k_tiles"), Affine::of("iteration_k_tiles"),
                         Role::reduction, {Node{std::move(slots)}});
}

}  // namespace

LoopNest mainloop(const LoopNest& nest, const Mainloop& directive) {
  const Loop& row = loop_of_role(nest.body, directive.loop, Role::row, directive);
  const Loop* const column = find_loop(nest.body, Role::column);
  const Loop* const reduction = find_loop(nest.body, Role::reduction);
  const auto* const product = reduction == nullptr || reduction->body.size() != 1
                                  ? nullptr
                                  : std::get_if<Statement>(&reduction->body.front().content);
  refuse_if(row.step != Affine(1) || column == nullptr || product == nullptr, directive,
            "the rows are already in row tiles, or enumerated", "stream the nest as it is read, before anything else");
  check_between(directive, "row_tiles", directive.row_tiles, StreamSchedule::max_row_tiles);
  check_between(directive, "warps", directive.warps, StreamSchedule::max_row_tiles / directive.row_tiles, "of a block");
  refuse_if(
      directive.share < 1 || directive.share > StreamSchedule::max_share || directive.warps % directive.share != 0,
      directive,
      fmt::format("warps={} cannot be divided into groups of split_k={} that share a K tile", directive.warps,
                  directive.share),
      fmt::format("write a divisor of the warps, {} at most", StreamSchedule::max_share));
  const int most_rows = directive.k_tile == 0 ? StreamSchedule::max_rows : StreamSchedule::max_placed_rows;
  refuse_if(directive.rows < StreamSchedule::m16_tile_rows || directive.rows > most_rows ||
                directive.rows % StreamSchedule::m16_tile_rows != 0,
            directive, fmt::format("warp_m={} is no row tile of the tensor core", directive.rows),
            fmt::format("it multiplies {} rows at once: write a multiple of {}, {} at most",
                        StreamSchedule::m16_tile_rows, StreamSchedule::m16_tile_rows, most_rows));
  refuse_if(
      directive.k_tile != 0 && directive.k_tile != StreamSchedule::placed_columns, directive,
      fmt::format("tile_k={} is none that values are stored for", directive.k_tile),
      fmt::format("leave it out, or write tile_k={} before transform(A, decompress)", StreamSchedule::placed_columns));

  ThreadNest parts{{mapped_loop(Mapping::grid, "block", Affine::of("blocks"), Role::row)}, {}, {}};
  parts.add_warps("place", "block_row_tiles", Role::row);
  const bool beside_each_other =
      directive.k_tile != 0;  // warps that multiply the same K tiles, of which the tensor core takes four that are
  if (!beside_each_other) {
    parts.add_warps("part", "iteration_k_tiles", Role::reduction);
  }
  if (directive.share > 1) {
    parts.add_warps("member", "k_tile_warps", Role::reduction);
  }
  if (beside_each_other) {
    parts.add_warps("part", "iteration_k_tiles", Role::reduction);
  }
  const std::int64_t k_tile_columns =
      directive.k_tile != 0 ? directive.k_tile : StreamSchedule::k_tile_bytes / bytes_of(nest.element());
  parts.body = {define("row_tile", index("block") * index("block_row_tiles") + index("place"), ScalarType::u32),
                k_tile_loop(*product, directive.warps > 1, directive.share, column->upper)};

  LoopNest result = put_together(nest, parts);
  result.constants.push_back(
      {"row_tile_height", directive.rows, "rows of a row tile; the tensor core multiplies 16 at once"});
  result.constants.push_back({"block_row_tiles", directive.row_tiles, "row tiles of a block"});
  result.constants.push_back({"iteration_k_tiles", directive.warps / directive.share,
                              "K tiles of an iteration: each warp of a row tile takes one"});
  if (directive.share > 1) {
    result.constants.push_back({"k_tile_warps", directive.share, "split_k: warps of a row tile that share a K tile"});
  }
  result.constants.push_back({"k_tile_columns", k_tile_columns, "columns of A in a K tile"});
  const Expression warps =
      directive.share > 1 ? index("iteration_k_tiles") * index("k_tile_warps") : index("iteration_k_tiles");
  result.constants.push_back({"threads_per_block", 32 * index("block_row_tiles") * warps, ""});
  result.constants.push_back({"consumer_group_threads",
                              quotient(index("threads_per_block"), index("iteration_k_tiles")),
                              "threads that multiply the same K tiles"});
  result.derived_sizes.push_back({"blocks", row.upper, std::int64_t{directive.rows} * directive.row_tiles});
  result.derived_sizes.push_back({"k_tiles", reduction->upper, k_tile_columns});
  result.zeroed = Zeroed::output;
  result.description.push_back(
      fmt::format("{} consecutive rows of A are a row tile, {} consecutive columns a K tile. A thread block owns whole "
                  "row tiles and goes through all K tiles, so that it stores C once and needs no partial sums of other "
                  "blocks; the warps of a row tile take K tiles in turn.",
                  directive.rows, k_tile_columns));
  return result;
}

std::int64_t row_tile_warps(const LoopNest& nest) {
  return nest.constant("threads_per_block") / (32 * nest.constant("block_row_tiles"));
}

bool shares_k_tiles(const LoopNest& nest) { return nest.has_constant("k_tile_warps"); }

bool waits_in_consumer_groups(const LoopNest& nest) {
  constexpr std::int64_t most_consumer_groups = 15;
  const std::int64_t consumer_groups = nest.constant("iteration_k_tiles");
  return consumer_groups > 1 && consumer_groups <= most_consumer_groups;
}

}  // namespace esc
