// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/store_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/joined_digits.h"
#include "generator/ir/performed_instructions.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/cluster_sums.h"
#include "generator/lower/lane_sums.h"
#include "generator/lower/refusals.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

constexpr int n8_tile_columns = 8;
constexpr int tile_columns = 2 * n8_tile_columns;

bool stores_columns(const Node& node, const std::string& array) {
  const auto* const perform = action<Perform>(node);
  return perform != nullptr && perform->instruction == "store_columns" &&
         perform->arguments.front().access()->array == array;
}

/// Whether the loop stores pairs of a lane's sums.
bool stores_pairs(const Node& node, const std::string& array) {
  const auto* const loop = std::get_if<Loop>(&node.content);
  return loop != nullptr && !loop->body.empty() && stores_columns(loop->body.back(), array);
}

Expression first_row() { return index("row_tile") * index("row_tile_height"); }
Expression first_column(const LoopNest& nest) { return stored_tile(nest) * index(stored_columns(nest)); }

Node store_each_tile(const LoopNest& nest, const std::string& array) {
  Loop tiles = mapped_loop(
      Mapping::unrolled, "t", Affine::of(stored_products(nest)), Role::none,
      {perform("store_tile", {element(array), first_row(), first_column(nest) + index("t") * n8_tile_columns,
                              index("M"), index("N"), lane_of_warp(nest), four_sums()})});
  tiles.step = 2;
  return Node{std::move(tiles)};
}

/// Asked for once before all tiles: what is not done would be between their stores otherwise, and be fetched.
Node ask_for_tiles(const LoopNest& nest, const std::string& array) {
  return perform("takes_tiles",
                 {element(array), first_row() + index("row_tile_height"),
                  first_column(nest) + index(stored_columns(nest)), index("M"), index("N")},
                 {"whole"});
}

/// What a loop over pairs of sums does before their stores, and the stores by themselves.
struct PairLoop {
  explicit PairLoop(const Loop& loop) : finish(loop), stores(loop) {
    finish.body.pop_back();
    std::erase_if(stores.body,
                  [&](const Node& node) { return action<Define>(node) == nullptr && !(node == loop.body.back()); });
  }
  bool finishes() const {
    return !std::ranges::all_of(finish.body, [](const Node& one) { return action<Define>(one) != nullptr; });
  }

  Loop finish;
  Loop stores;
};

/// The same with stores of tiles, where these can be, in place of stores of pairs.
Block with_tiles(const LoopNest& nest, const Block& block, const std::string& array) {
  Block result;
  for (const Node& node : block) {
    if (!stores_pairs(node, array)) {
      Node copy = node;
      if (auto* const branch = std::get_if<Branch>(&copy.content)) {
        branch->then = with_tiles(nest, branch->then, array);
        branch->otherwise = with_tiles(nest, branch->otherwise, array);
      } else if (auto* const loop = std::get_if<Loop>(&copy.content)) {
        loop->body = with_tiles(nest, loop->body, array);
      }
      result.push_back(std::move(copy));
      continue;
    }
    const PairLoop pairs(std::get<Loop>(node.content));
    if (pairs.finishes()) {
      result.push_back(Node{pairs.finish});
    }
    append(result, {ask_for_tiles(nest, array),
                    Node{Branch{less(0, index("whole")), {store_each_tile(nest, array)}, {Node{pairs.stores}}}}});
  }
  return result;
}

}  // namespace

LoopNest store_tiles(const LoopNest& nest, const StoreTiles& directive) {
  refuse_if(performs(nest, "store_tile"), directive, "tiles are stored already", "store once");
  const ArrayDeclaration& output = nest.array(ArrayRole::output);
  refuse_if(output.name != directive.array, directive, "the sums are stored elsewhere",
            fmt::format("write store({})", output.name));
  refuse_if(!is_half(nest.element()), directive, "sums of other than 16 bits fill sectors as lanes have them",
            "leave store(C) out");
  refuse_if(!nest.has_constant("lane_products") || has_own_columns(nest) ||
                nest.constant("row_tile_height") != BitmapSchedule::row_tile_rows,
            directive, "lanes do not have the sums of tiles of 16 rows",
            "give it after mainloop(i, row_tiles=2, warps=8); fragment(j, 8)");
  if ((output.layout && !has_whole_columns(*output.layout)) || nest.constant("tile_columns") % tile_columns != 0) {
    return nest;
  }
  LoopNest result = nest;
  result.body = with_tiles(nest, nest.body, directive.array);
  refuse_if(!performs(result, "store_tile"), directive, "no lane stores sums of its own",
            "give it after fragment(j, 16)");
  return result;
}

}  // namespace esc
