// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/pack_bitmap.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/lower/packed_tiles.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

constexpr int block_registers = 16;  ///< of a lane in a K block
constexpr int tile_registers = 4;    ///< of them in a 16 x 16 tile
constexpr int block_tiles = block_registers / tile_registers;
constexpr int group_tiles = block_tiles / block_groups;

/// Where a tile of a K block of A is in registers. Products that are under way read theirs, so that warpgroups have two
/// such blocks.
Access tile_of_a(bool has_warpgroups, const Affine& tile) {
  return has_warpgroups ? element("a", {Affine::of("block_of_pair"), tile}) : element("a", {tile});
}

/// The fragments of a K block of A.
Block load_block(bool has_warpgroups) {
  const Node load = perform(
      "load_a", {of_packed_tile("Values"), of_packed_tile("OddColumns"), element("places"), direction_of_words(),
                 index("t") * tile_registers, index("lane"), tile_of_a(has_warpgroups, Affine::of("t"))});
  return {perform("find_places", {element("bits", {Affine::of("block_of_pair")}), direction_of_words(),
                                  element("places"), element("word_at", {Affine::of("block_of_pair")})}),
          unrolled("t", block_tiles, {load})};
}

/// Its products with all columns of C, of each warp.
Block multiply_block() {
  const Node multiply = perform(
      "mma", {element("pair_sums", {Affine::of("block_of_pair"), Affine::of("n8_tile", 4)}),
              tile_of_a(false, Affine::of("group", group_tiles) + Affine::of("q")), element("b", {Affine::of("q")})});
  return {multiply_by_n8_tiles({unrolled("q", group_tiles, {multiply})})};
}

/// The same of four warps at once, a tile of 16 columns of A after the other.
Block multiply_block_at_once() {
  const Expression row = first_row_of_pair() + row_of_block() + index("t") * 16;
  const Node multiply = perform(
      "wgmma", {element("sums"), tile_of_a(true, Affine::of("t")), element("B"), row,
                index("tile") * index("tile_columns"), index("K"), index("N"), 0, index("part"), index("lane")});
  return {perform("warpgroup_arrive", {}), unrolled("t", block_tiles, {multiply}), perform("warpgroup_commit", {}),
          perform("warpgroup_wait", {0})};
}

/// The registers of a lane.
std::vector<ArrayDeclaration> registers_of(const LoopNest& nest, bool has_warpgroups) {
  constexpr int place_numbers = 3 * block_registers + 1;
  const ScalarType type = nest.element();
  std::vector<ArrayDeclaration> registers{{"word_at", {pair_blocks}, ArrayRole::registers, ScalarType::u32},
                                          {"bits", {pair_blocks}, ArrayRole::registers, ScalarType::u32},
                                          {"places", {place_numbers}, ArrayRole::registers, ScalarType::i32, "Places"}};
  if (has_warpgroups) {
    registers.push_back(register_pairs("a", {pair_blocks, block_tiles, tile_registers}, type));
  } else {
    registers.push_back(register_pairs("a", {block_tiles, tile_registers}, type));
    registers.push_back(register_pairs("b", {2, 2}, type));
    registers.push_back(pair_sums(nest));
  }
  return registers;
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

std::vector<ArrayDeclaration> arrays_of(const LoopNest& nest) {
  return {
      {"PackedTileBegins", {Affine::of("packed_tile_begins")}, ArrayRole::packed_index, ScalarType::u32},
      of_packed_tiles("PackedTileWords", {}, ArrayRole::packed_index, ScalarType::u32),
      of_packed_tiles("OddColumns", {warp_size}, ArrayRole::packed_index, ScalarType::u8),
      of_packed_tiles("Bits", {Affine::of("packed_tile_blocks"), warp_size}, ArrayRole::packed_index, ScalarType::u32),
      of_packed_tiles("Values", {Affine::of("most_words"), warp_size, 2}, ArrayRole::packed_value, nest.element())};
}

}  // namespace

Expression direction_of_words() { return Expression(1) - index("block_of_pair") * 2; }

LoopNest pack_bitmap(const LoopNest& nest, const PackBitmap& directive) {
  check_sparse(nest, directive, directive.array);
  ThreadNest parts = take_apart(nest, directive);
  check_lanes(nest, parts, directive);
  check_products(nest, directive);
  const bool has_warpgroups = directive.warps > 1;
  Block block = load_block(has_warpgroups);
  append(block, has_warpgroups ? multiply_block_at_once() : multiply_block());
  LoopNest result = with_packed_tiles(
      nest, std::move(parts),
      {.find = {perform("find_words", {of_packed_tile("PackedTileWords"), 0, 0, index("lane"), element("word_at")})},
       .bits = "Bits",
       .multiply_block = std::move(block),
       // Odd blocks have had sums of their own, since a product waits for the one before that it adds to.
       .complete_sums = has_warpgroups ? perform("warpgroup_wait_all", {element("sums")}) : add_pair_sums(),
       .registers = registers_of(nest, has_warpgroups),
       .arrays = arrays_of(nest),
       .has_warpgroups = has_warpgroups});
  result.packed.kind = PackedForm::Kind::bitmap;
  result.explicit_zeros = true;
  result.description.emplace_back(
      "A bit for each element of A says whether it is zero. The others are in words of 32 bits, each of "
      "which has what one register of the tensor core needs: where, follows from counting the bits in front. So the "
      "packed matrix is the same for every number of columns.");
  return result;
}

}  // namespace esc
