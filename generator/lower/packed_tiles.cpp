// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/packed_tiles.h"

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/performed_instructions.h"
#include "generator/lower/lane_sums.h"
#include "generator/lower/mainloop.h"
#include "generator/lower/refusals.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

constexpr int group_columns = 32;

/// The loop over the iterations of a block, in which each warp takes a K tile.
Node iterations_of_k_tiles(const PackedTileSteps& steps) {
  Block tile = steps.find;
  const Node load_bits =
      perform("load_bits", {of_packed_tile(steps.bits), index("half"), 0, 0, index("lane"), element("bits")});
  tile.push_back(unrolled("half", 2, {load_bits, unrolled("block_of_pair", pair_blocks, steps.multiply_block)}));
  const Expression is_there = steps.has_warpgroups
                                  ? is_k_tile(index("k_tile"))
                                  : all_of({is_k_tile(index("k_tile")), less(index("row_tile"), index("row_tiles"))});
  return sequential_loop(
      "iteration", 0, Affine::of("iterations"), 1, Role::reduction,
      {define("k_tile", k_tile_of(index("iteration")), ScalarType::u32), Node{Branch{is_there, std::move(tile), {}}}});
}

}  // namespace

void check_lanes(const LoopNest& nest, const ThreadNest& parts, const Directive& directive) {
  refuse_if(
      parts.thread("part") == nullptr || nest.find_array("sums") == nullptr ||
          find_place(parts.body, Role::reduction) == parts.body.size(),
      directive, "the lanes have no sums of a tensor core",
      "stream the rows and give the lanes their columns first: mainloop(i, row_tiles=2, warps=8); fragment(j, 8)");
  refuse_if(!is_half(nest.element()), directive, "the words of registers hold two elements of 16 bits",
            "choose --dtype f16 or bf16");
  refuse_if(nest.constant("row_tile_height") != BitmapSchedule::row_tile_rows || shares_k_tiles(nest) ||
                has_own_columns(nest),
            directive, "a warp does not have all columns of C in 16 rows",
            "write mainloop(i, row_tiles=2, warps=8); fragment(j, 8)");
}

LoopNest with_packed_tiles(const LoopNest& nest, ThreadNest parts, PackedTileSteps steps) {
  const std::size_t at = find_place(parts.body, Role::reduction);
  LoopNest result = nest;
  Block front{define("lane", lane_of_warp(nest)), define("first_k_tile", index("part")),
              define("packed_tile_row_tile",
                     steps.has_warpgroups ? choose(less(index("row_tile"), index("row_tiles")), index("row_tile"),
                                                   index("row_tiles") - 1)
                                          : index("row_tile"),
                     ScalarType::u32)};
  for (ArrayDeclaration& one : steps.registers) {
    front.push_back(Node{Declare{one.name, one.name == "pair_sums"}});
    result.arrays.push_back(std::move(one));
  }
  parts.body[at] = iterations_of_k_tiles(steps);
  insert(parts.body, at + 1, {steps.complete_sums});
  insert(parts.body, at, front);

  result = put_together(result, parts);
  result.derived_sizes.push_back({"row_tiles", Affine::of("M"), BitmapSchedule::row_tile_rows});
  result.derived_sizes.push_back(
      {"iterations", Affine::of("K"), BitmapSchedule::tile_columns_of_a * nest.constant("iteration_k_tiles")});
  result.constants.push_back({"k_tiles_of_iteration", index("iteration_k_tiles"),
                              "that all warps with the same rows and columns take in an iteration"});
  result.constants.push_back({"tile_rows", (steps.has_warpgroups ? 1 : pair_blocks) * BitmapSchedule::block_columns,
                              "columns of A, and rows of B, that are multiplied between two barriers"});
  result.constants.push_back({"packed_tile_blocks", BitmapSchedule::tile_columns_of_a / BitmapSchedule::block_columns,
                              "of 64 columns of a K tile, of which a lane has 32 bits each"});
  replace_sparse(result, std::move(steps.arrays));
  result.packed.height = nest.constant("row_tile_height");
  return result;
}

Access of_packed_tile(const char* array, std::vector<Affine> more) {
  more.insert(more.begin(), {Affine::of("packed_tile_row_tile"), Affine::of("k_tile")});
  return element(array, more);
}

ArrayDeclaration of_packed_tiles(const char* name, std::vector<Affine> extents, ArrayRole role, ScalarType type) {
  extents.insert(extents.begin(), {Affine::of("row_tiles"), Affine::of("k_tiles")});
  return {name, std::move(extents), role, type};
}

ArrayDeclaration register_pairs(const char* name, std::vector<Affine> extents, ScalarType type) {
  extents.emplace_back(2);
  return {name, std::move(extents), ArrayRole::registers, type, "unsigned int"};
}

Node multiply_by_n8_tiles(const Block& multiply) {
  const Expression row = index("group") * group_columns + row_of_block();
  Block of_group{
      perform("load_b", {element("B"), first_row_of_pair(), row, index("tile") * index("tile_columns"),
                         index("n8_tile"), index("K"), index("N"), 0, index("part"), index("lane"), element("b")})};
  append(of_group, multiply);
  return unrolled_loop("n8_tile", "n8_tiles", Role::column, {unrolled("group", block_groups, std::move(of_group))});
}

Node add_pair_sums() {
  const Node add = statement(
      Update{element("sums", {Affine::of("e")}), element("pair_sums", {Affine::of("block_of_pair"), Affine::of("e")})});
  return unrolled_loop("e", "lane_sums", Role::none, {unrolled("block_of_pair", pair_blocks, {add})});
}

ArrayDeclaration pair_sums(const LoopNest& nest) {
  return {"pair_sums", {pair_blocks, Affine::of("lane_sums")}, ArrayRole::registers, nest.sum()};
}

Expression first_row_of_pair() {
  return index("k_tile") * index("k_tile_columns") + index("half") * pair_blocks * BitmapSchedule::block_columns;
}
Expression row_of_block() { return index("block_of_pair") * BitmapSchedule::block_columns; }

Expression k_tile_of(const Expression& iteration) {
  return iteration * index("k_tiles_of_iteration") + index("first_k_tile");
}

Expression is_k_tile(const Expression& number) {
  return choose(less(0, remainder(index("k_tiles"), index("k_tiles_of_iteration"))), less(number, index("k_tiles")), 1);
}

bool has_warpgroups(const LoopNest& nest) { return performs(nest, "wgmma"); }

bool is_bitmap(const LoopNest& nest) { return nest.packed.kind == PackedForm::Kind::bitmap; }

}  // namespace esc
