// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/fragment_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/lane_sums.h"
#include "generator/lower/mainloop.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/bitmap_schedule.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

/// How the sums of a block are dealt to its lanes.
enum class Sums {
  of_row_tile,  ///< a warp has all columns of C, in the rows of its row tile
  of_columns    ///< a warp has columns of its own, in the rows of all row tiles
};

/// The row and the first of the two columns of C whose sums are number 2 * e and 2 * e + 1 of a lane.
Block place_of_sums(Sums sums) {
  const bool own_columns = sums == Sums::of_columns;
  const Expression row = own_columns
                             ? index("block") * index("block_rows") + quotient(index("e"), 2) * 8 +
                                   index("row_pair") * 2 + remainder(index("e"), 2)
                             : index("row_tile") * index("row_tile_height") +
                                   remainder(index("e"), index("lane_rows")) * index("row_sets") + index("row_set");
  const Expression tile = index("tile") * index("tile_columns");
  const Expression column = own_columns
                                ? tile + index("consumer_group_warp") * index("warp_columns") + index("column_pair") * 2
                                : tile + quotient(index("e"), index("lane_rows")) * 8 + index("pair") * 2;
  return {define("i", row, ScalarType::u32), define("j", column, ScalarType::u32)};
}

/// The updates of a slot, each for a lane's own elements of C.
Block own_updates(const Loop& column, Sums sums) {
  return rewrite(
      column.body, {.statement = [&](const Statement& statement) -> Block {
        Statement copy = substitute(statement, column.iterator, Affine::of(column.iterator) + Affine::of("v"));
        auto& update = std::get<Update>(copy.action);
        copy.guard.insert(copy.guard.begin(), less(Affine::of("j") + Affine::of("v"), column.upper));
        update = {element("sums", {Affine::of("e", 2) + Affine::of("v")}), update.value, false};
        Block result = place_of_sums(sums);
        result.push_back(Node{mapped_loop(Mapping::unrolled, "v", 2, Role::column, {Node{std::move(copy)}})});
        return result;
      }});
}

/// The loop over K tiles, in which a lane adds to its own sums. Warps with columns of their own have all slots of a
/// K tile.
Node k_tiles_loop(const Node& k_tiles, const Loop& column, Sums sums) {
  const Node own = unrolled_loop("e", "row_vectors", Role::none, own_updates(column, sums));
  Node result = replace_loop({k_tiles}, "u", own).front();
  auto& slots = std::get<Loop>(std::get<Loop>(result.content).body.front().content);
  if (sums == Sums::of_columns) {
    slots.lower = 0;
    slots.step = 1;
  }
  return result;
}

Block share_sums_of_warps(const LoopNest& nest) {
  const bool own_columns = has_own_columns(nest);
  const bool has_digits = shares_k_tiles(nest) && !own_columns;
  const char* const worker = has_digits ? "worker" : "part";
  const Node leave =
      each_four(perform("store_vector", {left_sums("partial_sums", Affine::of(worker) - 1), four_sums(), 4}));
  Block leaving = has_digits ? Block{define(worker, number_of_warp(nest))} : Block{};
  leaving.push_back(leave);
  return {Node{Note{"All operands have been read, so sums may take their places."}}, Node{Barrier{Scope::block}},
          define_place_of_lane(nest), Node{Branch{less(0, number_of_warp(nest)), std::move(leaving), {}}},
          Node{Barrier{Scope::block}}};
}

/// Stores a lane's sums.
Node store_sums(Sums sums) {
  const Perform store{"store_columns",
                      {element("C", {Affine::of("i"), Affine::of("j")}), element("sums", {Affine::of("e", 2)}), 2,
                       choose(less(index("j"), index("N")), index("N") - index("j"), 0)}};
  Block body = place_of_sums(sums);
  body.push_back(Node{Statement{{less(index("i"), index("M"))}, store}});
  return unrolled_loop("e", "row_vectors", Role::none, std::move(body));
}

/// Which rows and columns lanes have, in the rows of their warp's row tile.
void give_rows_of_row_tile(LoopNest& nest) {
  nest.constants.push_back({"row_sets", 8, "lane 4 g + c of a warp has rows g, g + 8, .. of a row tile"});
  nest.constants.push_back({"column_pairs", 4, "and columns 2 c and 2 c + 1 of every 8"});
  nest.constants.push_back({"n8_tiles", quotient(index("tile_columns"), 8), ""});
  nest.constants.push_back({"lane_rows", quotient(index("row_tile_height"), index("row_sets")), ""});
  nest.constants.push_back(
      {"row_vectors", index("lane_rows") * index("n8_tiles"), "pairs of consecutive sums of a lane"});
}

/// And in columns of their warp's own.
void give_columns_of_warp(LoopNest& nest, int columns) {
  nest.constants.push_back({"warp_columns", columns, "of C, that a warp has in all rows of the block"});
  nest.constants.push_back(
      {"consumer_group_warps", quotient(index("consumer_group_threads"), 32), "warps that multiply the same K tiles"});
  nest.constants.push_back({"block_rows", index("block_row_tiles") * index("row_tile_height"), ""});
  nest.constants.push_back({"row_sets", 8, "row groups of a row tile: rows that differ modulo 8"});
  nest.constants.push_back({"n8_tiles", quotient(index("tile_columns"), 8), ""});
  nest.constants.push_back({"row_pairs", 4, "lane 4 g + c of a warp has rows 2 c and 2 c + 1 of every 8"});
  nest.constants.push_back(
      {"warp_pairs", quotient(index("warp_columns"), 2), "and columns 2 g and 2 g + 1 of the warp's"});
  nest.constants.push_back(
      {"row_vectors", quotient(index("block_rows"), index("row_pairs")), "pairs of consecutive sums of a lane"});
}

void check_columns(const LoopNest& nest, const FragmentColumns& directive) {
  if (directive.warp == 0) {
    check_between(directive, "columns", directive.columns, BitmapSchedule::max_columns);
    check_power_of_two(directive, "columns", directive.columns);
    refuse_if(directive.columns < 8, directive, "the tensor core multiplies 8 columns at once", nearest(8));
    return;
  }
  const std::int64_t warps = nest.constant("consumer_group_threads") / 32;
  refuse_if(directive.warp != StreamSchedule::warp_columns, directive,
            "the tensor core gives a warp 16 of the columns that four warps multiply at once",
            nearest(StreamSchedule::warp_columns));
  refuse_if(warps % StreamSchedule::product_warps != 0 ||
                warps * StreamSchedule::warp_columns > StreamSchedule::max_placed_columns,
            directive,
            fmt::format("{} warps multiply the same K tiles, and the tensor core takes what four of them have at once",
                        warps),
            "choose row_tiles and split_k so that their product is 4 or 8");
  refuse_if(directive.columns != StreamSchedule::warp_columns * warps, directive,
            fmt::format("{} warps with {} columns each multiply the same K tiles", warps, directive.warp),
            nearest(static_cast<int>(StreamSchedule::warp_columns * warps)));
}

}  // namespace

LoopNest fragment_columns(const LoopNest& nest, const FragmentColumns& directive) {
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  const Loop* const column = find_loop(nest.body, Role::column);
  const Loop* const rows = find_loop(nest.body, "u");
  refuse_if(parts.thread("part") == nullptr || at == parts.body.size() || column == nullptr || rows == nullptr ||
                column->iterator != directive.loop || nest.find_array("sums") != nullptr,
            directive, "the nest has no K tiles whose row tiles are multiplied",
            "stream the rows first: mainloop(i, row_tiles=4, warps=2)");
  check_columns(nest, directive);

  const bool own_columns = directive.warp != 0;
  const Sums sums = own_columns ? Sums::of_columns : Sums::of_row_tile;
  LoopNest result = nest;
  result.constants.push_back({"tile_columns", directive.columns, "columns of C that a block computes"});
  result.constants.push_back(
      {"vector_width", 16 / bytes_of(nest.element()), "consecutive elements of B that are copied at once"});
  if (own_columns) {
    give_columns_of_warp(result, directive.warp);
  } else {
    give_rows_of_row_tile(result);
  }
  result.constants.push_back({"lane_sums", 2 * index("row_vectors"), ""});
  result.constants.push_back(
      {"lane_products", quotient(index("lane_sums"), 4), "products of the tensor core, each with four sums in a lane"});
  result.derived_sizes.push_back({"tiles", column->upper, directive.columns});
  result.arrays.push_back({"sums", {Affine::of("lane_sums")}, ArrayRole::registers, nest.sum()});

  parts.body[at] = k_tiles_loop(parts.body[at], *column, sums);
  insert(parts.body, at, {Node{Declare{"sums", true}}});
  if (own_columns) {
    const Expression number =
        shares_k_tiles(nest) ? index("member") * index("block_row_tiles") + index("place") : index("place");
    parts.body[find_definition(parts.body, "row_tile")] = define("consumer_group_warp", number);
  }
  if (adding_warps(result) > 1) {
    append(parts.body, share_sums_of_warps(result));
    Block adding{add_left_sums("partial_sums", "other_warps"), store_sums(sums)};
    append(parts.body, {Node{Branch{less(number_of_warp(result), 1), std::move(adding), {}}}});
    const Expression all =
        own_columns ? index("iteration_k_tiles") : quotient(index("threads_per_block"), 32 * index("block_row_tiles"));
    result.constants.push_back(
        {"other_warps", all - 1, own_columns ? "other warps with the same columns" : "other warps of a row tile"});
    declare_left_sums(result, "partial_sums", "other_warps");
    result.description.emplace_back("In the end their sums are added in shared memory.");
  } else {
    parts.body.push_back(store_sums(sums));
  }
  parts.grid.push_back(mapped_loop(Mapping::grid_y, "tile", Affine::of("tiles"), Role::column));
  if (own_columns) {
    parts.threads.push_back(mapped_loop(Mapping::lane_digit, "column_pair", Affine::of("warp_pairs"), Role::column));
    parts.threads.push_back(mapped_loop(Mapping::lane_digit, "row_pair", Affine::of("row_pairs"), Role::row));
  } else {
    parts.add_lanes("pair", "column_pairs", Role::column);
    parts.add_lanes("row_set", "row_sets", Role::row);
  }

  result = put_together(result, parts);
  result.zeroed = Zeroed::nothing;
  result.vectors = true;
  return result;
}

}  // namespace esc
