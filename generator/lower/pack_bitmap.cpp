// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/pack_bitmap.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/ir/performed_instructions.h"
#include "generator/lower/lane_sums.h"
#include "generator/lower/mainloop.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

constexpr int block_registers = 16;  ///< of a lane in a K block
constexpr int tile_registers = 4;    ///< of them in a 16 x 16 tile
constexpr int block_groups = 2;      ///< of two such tiles, whose fragments of B are loaded at once
constexpr int group_columns = 32;
constexpr int pair_blocks = 2;  ///< K blocks whose words are in a column: the second one's from the bottom

/// What the packed tile of a warp's row tile and K tile has in this array.
Access of_bitmap(const char* array, std::vector<Affine> more = {}) {
  more.insert(more.begin(), {Affine::of("packed_tile_row_tile"), Affine::of("k_tile")});
  return element(array, more);
}

/// Where a tile of a K block of A is in registers. Products that are under way read theirs, so that warpgroups have two
/// such blocks.
Access tile_of_a(bool has_warpgroups, const Affine& tile) {
  return has_warpgroups ? element("a", {Affine::of("block_of_pair"), tile}) : element("a", {tile});
}

/// The fragments of a K block of A.
Block load_block(bool has_warpgroups) {
  const Node load =
      perform("load_a", {of_bitmap("Values"), of_bitmap("OddColumns"), element("places"), direction_of_words(),
                         index("t") * tile_registers, index("lane"), tile_of_a(has_warpgroups, Affine::of("t"))});
  return {perform("find_places", {element("bits", {Affine::of("block_of_pair")}), direction_of_words(),
                                  element("places"), element("word_at", {Affine::of("block_of_pair")})}),
          unrolled("t", block_registers / tile_registers, {load})};
}

/// The first row of B of a pair of K blocks, and a block's first row after that.
Expression first_row_of_pair() {
  return index("k_tile") * index("k_tile_columns") + index("half") * pair_blocks * BitmapSchedule::block_columns;
}
Expression row_of_block() { return index("block_of_pair") * BitmapSchedule::block_columns; }

/// Its products with all columns of C, of each warp.
Block multiply_block() {
  const Expression row = index("group") * group_columns + row_of_block();
  const Node load =
      perform("load_b", {element("B"), first_row_of_pair(), row, index("tile") * index("tile_columns"),
                         index("n8_tile"), index("K"), index("N"), 0, index("part"), index("lane"), element("b")});
  const Node multiply = perform(
      "mma", {element("pair_sums", {Affine::of("block_of_pair"), Affine::of("n8_tile", 4)}),
              tile_of_a(false, Affine::of("group", block_groups) + Affine::of("q")), element("b", {Affine::of("q")})});
  return {unrolled_loop("n8_tile", "n8_tiles", Role::column,
                        {unrolled("group", block_groups, {load, unrolled("q", 2, {multiply})})})};
}

/// The same of four warps at once, a tile of 16 columns of A after the other.
Block multiply_block_at_once() {
  const Expression row = first_row_of_pair() + row_of_block() + index("t") * 16;
  const Node multiply = perform(
      "wgmma", {element("sums"), tile_of_a(true, Affine::of("t")), element("B"), row,
                index("tile") * index("tile_columns"), index("K"), index("N"), 0, index("part"), index("lane")});
  return {perform("warpgroup_arrive", {}), unrolled("t", block_registers / tile_registers, {multiply}),
          perform("warpgroup_commit", {}), perform("warpgroup_wait", {0})};
}

/// The loop over the iterations of a block, in which each warp takes a K tile.
Node iterations_of_k_tiles(bool has_warpgroups) {
  const Node find = perform("find_words", {of_bitmap("PackedTileWords"), 0, 0, index("lane"), element("word_at")});
  const Node load_bits = perform("load_bits", {of_bitmap("Bits"), index("half"), 0, 0, index("lane"), element("bits")});
  Block block = load_block(has_warpgroups);
  append(block, has_warpgroups ? multiply_block_at_once() : multiply_block());
  const Node halves = unrolled("half", 2, {load_bits, unrolled("block_of_pair", pair_blocks, std::move(block))});
  const Expression is_there = has_warpgroups
                                  ? is_k_tile(index("k_tile"))
                                  : all_of({is_k_tile(index("k_tile")), less(index("row_tile"), index("row_tiles"))});
  return sequential_loop(
      "iteration", 0, Affine::of("iterations"), 1, Role::reduction,
      {define("k_tile", k_tile_of(index("iteration")), ScalarType::u32), Node{Branch{is_there, {find, halves}, {}}}});
}

/// A register of each lane for two elements.
ArrayDeclaration register_pairs(const char* name, std::vector<Affine> extents, ScalarType type) {
  extents.emplace_back(2);
  return {name, std::move(extents), ArrayRole::registers, type, "unsigned int"};
}

/// Declares the registers of a lane, in the nest and, as it returns them, before the loop.
Block declare_registers(LoopNest& nest, bool has_warpgroups) {
  constexpr int place_numbers = 3 * block_registers + 1;
  constexpr int tiles = block_registers / tile_registers;
  const ScalarType type = nest.element();
  std::vector<ArrayDeclaration> registers{{"word_at", {pair_blocks}, ArrayRole::registers, ScalarType::u32},
                                          {"bits", {pair_blocks}, ArrayRole::registers, ScalarType::u32},
                                          {"places", {place_numbers}, ArrayRole::registers, ScalarType::i32, "Places"}};
  if (has_warpgroups) {
    registers.push_back(register_pairs("a", {pair_blocks, tiles, tile_registers}, type));
  } else {
    registers.push_back(register_pairs("a", {tiles, tile_registers}, type));
    registers.push_back(register_pairs("b", {2, 2}, type));
    registers.push_back({"pair_sums", {pair_blocks, Affine::of("lane_sums")}, ArrayRole::registers, nest.sum()});
  }
  Block declared;
  for (ArrayDeclaration& one : registers) {
    declared.push_back(Node{Declare{one.name, one.name == "pair_sums"}});
    nest.arrays.push_back(std::move(one));
  }
  return declared;
}

/// What makes a lane's sums complete after the loop: odd blocks have had sums of their own, since a product waits for
/// the one before that it adds to.
Node complete_sums(bool has_warpgroups) {
  if (has_warpgroups) {
    return perform("warpgroup_wait_all", {element("sums")});
  }
  const Node add = statement(
      Update{element("sums", {Affine::of("e")}), element("pair_sums", {Affine::of("block_of_pair"), Affine::of("e")})});
  return unrolled_loop("e", "lane_sums", Role::none, {unrolled("block_of_pair", pair_blocks, {add})});
}

void check_products(const LoopNest& nest, const PackBitmap& directive) {
  if (directive.warps == 1) {
    refuse_if(nest.constant("tile_columns") > BitmapSchedule::max_warp_columns, directive,
              "a warp by itself has no registers for so many sums",
              fmt::format("write fragment(j, {}), or warps={}", BitmapSchedule::max_warp_columns,
                          BitmapSchedule::warpgroup_warps));
    return;
  }
  refuse_if(directive.warps != BitmapSchedule::warpgroup_warps, directive,
            "the tensor core multiplies for one warp or for four", nearest(BitmapSchedule::warpgroup_warps));
  refuse_if(nest.constant("block_row_tiles") % BitmapSchedule::warpgroup_warps != 0, directive,
            "four warps that multiply at once have row tiles beside each other",
            "write mainloop(i, row_tiles=4, warps=2)");
  constexpr int least = BitmapSchedule::least_warpgroup_columns;
  refuse_if(nest.constant("tile_columns") < least, directive, "the tile of B has less than a line of 64 bytes a row",
            fmt::format("write fragment(j, {})", least));
}

}  // namespace

Expression direction_of_words() { return Expression(1) - index("block_of_pair") * 2; }

Expression k_tile_of(const Expression& iteration) {
  return iteration * index("k_tiles_of_iteration") + index("first_k_tile");
}

Expression is_k_tile(const Expression& number) {
  return choose(less(0, remainder(index("k_tiles"), index("k_tiles_of_iteration"))), less(number, index("k_tiles")), 1);
}

bool has_warpgroups(const LoopNest& nest) { return performs(nest, "wgmma"); }

LoopNest pack_bitmap(const LoopNest& nest, const PackBitmap& directive) {
  check_sparse(nest, directive, directive.array);
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  refuse_if(
      parts.thread("part") == nullptr || nest.find_array("sums") == nullptr || at == parts.body.size(), directive,
      "the lanes have no sums of a tensor core",
      "stream the rows and give the lanes their columns first: mainloop(i, row_tiles=2, warps=8); fragment(j, 8)");
  refuse_if(!is_half(nest.element()), directive, "the words of registers hold two elements of 16 bits",
            "choose --dtype f16 or bf16");
  refuse_if(nest.constant("row_tile_height") != BitmapSchedule::row_tile_rows || shares_k_tiles(nest) ||
                has_own_columns(nest),
            directive, "a warp does not have all columns of C in 16 rows",
            "write mainloop(i, row_tiles=2, warps=8); fragment(j, 8)");
  check_products(nest, directive);
  const bool has_warpgroups = directive.warps > 1;
  LoopNest result = nest;
  Block front{define("lane", lane_of_warp(nest)), define("first_k_tile", index("part")),
              define("packed_tile_row_tile",
                     has_warpgroups ? choose(less(index("row_tile"), index("row_tiles")), index("row_tile"),
                                             index("row_tiles") - 1)
                                    : index("row_tile"),
                     ScalarType::u32)};
  append(front, declare_registers(result, has_warpgroups));
  parts.body[at] = iterations_of_k_tiles(has_warpgroups);
  insert(parts.body, at + 1, {complete_sums(has_warpgroups)});
  insert(parts.body, at, front);

  result = put_together(result, parts);
  result.derived_sizes.push_back({"row_tiles", Affine::of("M"), BitmapSchedule::row_tile_rows});
  result.derived_sizes.push_back(
      {"iterations", Affine::of("K"), BitmapSchedule::tile_columns_of_a * nest.constant("iteration_k_tiles")});
  result.constants.push_back({"k_tiles_of_iteration", index("iteration_k_tiles"),
                              "that all warps with the same rows and columns take in an iteration"});
  result.constants.push_back({"tile_rows", (has_warpgroups ? 1 : pair_blocks) * BitmapSchedule::block_columns,
                              "columns of A, and rows of B, that are multiplied between two barriers"});
  result.constants.push_back({"packed_tile_blocks", BitmapSchedule::tile_columns_of_a / BitmapSchedule::block_columns,
                              "of 64 columns of a K tile, of which a lane has 32 bits each"});
  const auto of_packed_tiles = [](const char* name, std::vector<Affine> extents, ArrayRole role, ScalarType type) {
    extents.insert(extents.begin(), {Affine::of("row_tiles"), Affine::of("k_tiles")});
    return ArrayDeclaration{name, std::move(extents), role, type};
  };
  replace_sparse(
      result,
      {{"PackedTileBegins", {Affine::of("packed_tile_begins")}, ArrayRole::packed_index, ScalarType::u32},
       of_packed_tiles("PackedTileWords", {}, ArrayRole::packed_index, ScalarType::u32),
       of_packed_tiles("OddColumns", {warp_size}, ArrayRole::packed_index, ScalarType::u8),
       of_packed_tiles("Bits", {Affine::of("packed_tile_blocks"), warp_size}, ArrayRole::packed_index, ScalarType::u32),
       of_packed_tiles("Values", {Affine::of("most_words"), warp_size, 2}, ArrayRole::packed_value, nest.element())});
  result.packed = {.kind = PackedForm::Kind::bitmap, .height = nest.constant("row_tile_height")};
  result.explicit_zeros = true;
  result.description.emplace_back(
      "A bit for each element of A says whether it is zero. The others are in words of 32 bits, each of "
      "which has what one register of the tensor core needs: where, follows from counting the bits in front. So the "
      "packed matrix is the same for every number of columns.");
  return result;
}

}  // namespace esc
