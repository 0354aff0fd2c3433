// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/lane_sums.h"

#include <utility>

#include "generator/ir/build.h"
#include "generator/lower/mainloop.h"

namespace esc {

bool has_own_columns(const LoopNest& nest) { return nest.has_constant("warp_columns"); }

Expression lane_of_warp(const LoopNest& nest) {
  return has_own_columns(nest) ? index("column_pair") * index("row_pairs") + index("row_pair")
                               : index("row_set") * index("column_pairs") + index("pair");
}

Node define_place_of_lane(const LoopNest& nest) {
  return define("place_of_lane",
                index(has_own_columns(nest) ? "consumer_group_warp" : "place") * index("lane_products") * 128 +
                    lane_of_warp(nest) * 4);
}

Node each_four(Node node) { return unrolled_loop("t", "lane_products", Role::none, {std::move(node)}); }

Access four_sums() { return element("sums", {Affine::of("t", 4)}); }

/// Four sums of a lane, a part of an m16 tile, are beside those of the other lanes.
Affine place_of_four() { return Affine::of("place_of_lane") + Affine::of("t", 128); }

Access left_sums(const std::string& array, const Affine& who) { return element(array, {who, place_of_four()}); }

Node add_left_sums(const std::string& array, const std::string& others) {
  return unrolled_loop("other", others, Role::none,
                       {each_four(perform("add_vector", {four_sums(), left_sums(array, Affine::of("other")), 4}))});
}

void declare_block_sums(LoopNest& nest) {
  if (!nest.has_constant("block_sums")) {
    const bool own = has_own_columns(nest);
    nest.constants.push_back({"block_sums",
                              index(own ? "consumer_group_warps" : "block_row_tiles") * index("lane_products") * 128,
                              own ? "sums of a consumer group" : "sums of one warp of every row tile"});
  }
}

void declare_left_sums(LoopNest& nest, const std::string& array, const std::string& others) {
  declare_block_sums(nest);
  nest.arrays.push_back({array, {Affine::of(others), Affine::of("block_sums")}, ArrayRole::shared, nest.sum()});
}

Expression number_of_warp(const LoopNest& nest) {
  return shares_k_tiles(nest) && !has_own_columns(nest) ? index("member") * index("iteration_k_tiles") + index("part")
                                                        : index("part");
}

std::int64_t adding_warps(const LoopNest& nest) {
  return has_own_columns(nest) ? nest.constant("iteration_k_tiles") : row_tile_warps(nest);
}

}  // namespace esc
