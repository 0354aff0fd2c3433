// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/lane_sums.h"

#include <utility>

#include "generator/ir/build.h"
#include "generator/lower/stream_windows.h"

namespace esc {

Node define_place_of_lane() {
  const Expression lane = index("row_set") * index("column_pairs") + index("pair");
  return define("place_of_lane", index("place") * index("lane_products") * 128 + lane * 4);
}

Node each_four(Node node) { return unrolled_loop("t", "lane_products", Role::none, {std::move(node)}); }

Access four_sums() { return element("sums", {Affine::of("t", 4)}); }

/// Four sums of a lane, a part of a strip, stand beside those of the other lanes.
Access left_sums(const std::string& array, const Affine& who) {
  return element(array, {who, Affine::of("place_of_lane") + Affine::of("t", 128)});
}

Node add_left_sums(const std::string& array, const std::string& others) {
  return unrolled_loop("other", others, Role::none, {each_four(perform("add_vector", {four_sums(), left_sums(array, Affine::of("other")), 4}))});
}

void declare_left_sums(LoopNest& nest, const std::string& array, const std::string& others, ArrayRole role) {
  if (!nest.has_constant("block_sums")) {
    nest.constants.push_back({"block_sums", index("block_panels") * index("lane_products") * 128, "of each warp of all panels"});
  }
  nest.arrays.push_back({array, {Affine::of(others), Affine::of("block_sums")}, role, nest.sum()});
}

Expression number_of_warp(const LoopNest& nest) {
  return shares_windows(nest) ? index("member") * index("turn_windows") + index("part") : index("part");
}

}  // namespace esc
