// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/pack_bitmap.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/lower/lane_sums.h"
#include "generator/lower/refusals.h"
#include "generator/lower/stream_windows.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

constexpr int block_registers = 16;   ///< of a lane in a K block
constexpr int tile_registers = 4;     ///< of them in a 16 x 16 tile
constexpr int block_groups = 2;      ///< of two such tiles, whose fragments of B are loaded at once
constexpr int group_columns = 32;

/// What the unit of a warp's panel and window has in this array.
Access of_bitmap(const char* array, std::vector<Affine> more = {}) {
  more.insert(more.begin(), {Affine::of("panel"), Affine::of("window")});
  return element(array, more);
}

/// Even K blocks or odd ones: which way their words go, where the next one begins, and the sums that they are added to.
struct Blocks {
  const char* bits;
  int number;
  int direction;
  const char* sums;
};
constexpr Blocks even_blocks{"even_bits", 0, 1, "sums"};
constexpr Blocks odd_blocks{"odd_bits", 1, -1, "odd_sums"};

/// The fragments of a K block of A.
Block load_block(const Blocks& blocks) {
  const Expression first = (index("group") * block_groups + index("q")) * tile_registers;
  const Node load = perform("load_a", {of_bitmap("Values"), of_bitmap("OddColumns"), element("places"), blocks.direction, first,
                                       index("lane"), element("a", {Affine::of("group"), Affine::of("q")})});
  return {perform("find_places", {index(blocks.bits), blocks.direction, element("places"), element("word_at", {blocks.number})}),
          Node{mapped_loop(Mapping::unrolled, "group", block_groups, Role::none, {Node{mapped_loop(Mapping::unrolled, "q", 2, Role::none, {load})}})}};
}

/// Its products with all columns of C.
Node multiply_block(const Blocks& blocks) {
  const Expression row = index("group") * group_columns + blocks.number * BitmapSchedule::block_columns;
  const Expression first_row = index("window") * index("window_columns") + index("half") * index("tile_rows");
  const Node load = perform("load_b", {element("B"), first_row, row, index("tile") * index("tile_columns"), index("eighth"), index("K"), index("N"), 0,
                                       index("part"), index("lane"), element("b")});
  const Node multiply = perform("mma", {element(blocks.sums, {Affine::of("eighth", 4)}), element("a", {Affine::of("group"), Affine::of("q")}),
                                        element("b", {Affine::of("q")})});
  return unrolled_loop("eighth", "column_eighths", Role::column,
                       {Node{mapped_loop(Mapping::unrolled, "group", block_groups, Role::none,
                                         {load, Node{mapped_loop(Mapping::unrolled, "q", 2, Role::none, {multiply})}})}});
}

/// What a warp multiplies in half of a window.
Block multiply_half() {
  Block result{perform("load_bits", {of_bitmap("Bits"), index("half"), 0, 0, index("lane")}, {"even_bits", "odd_bits"})};
  for (const Blocks& blocks : {even_blocks, odd_blocks}) {
    append(result, load_block(blocks));
    result.push_back(multiply_block(blocks));
  }
  return result;
}

/// The loop over the turns of a block, in which each warp takes a window.
Node turns_of_windows() {
  const Node find = perform("find_words", {of_bitmap("UnitWords"), 0, 0, index("lane"), element("word_at")});
  const Node halves{mapped_loop(Mapping::unrolled, "half", 2, Role::none, multiply_half())};
  const Expression is_there = all_of({less(index("window"), index("windows")), less(index("panel"), index("panels"))});
  return sequential_loop("turn", 0, Affine::of("turns"), 1, Role::reduction,
                         {define("window", index("turn") * index("turn_windows") + index("part"), ScalarType::u32),
                          Node{Branch{is_there, {find, halves}, {}}}});
}

/// A register of each lane for two elements.
ArrayDeclaration register_pairs(const char* name, std::vector<Affine> extents, ScalarType type) {
  extents.emplace_back(2);
  return {name, std::move(extents), ArrayRole::registers, type, "unsigned int"};
}

void declare_registers(LoopNest& nest) {
  constexpr int place_numbers = 3 * block_registers + 1;
  const ScalarType element = nest.element();
  nest.arrays.insert(nest.arrays.end(), {{"odd_sums", {Affine::of("lane_sums")}, ArrayRole::registers, nest.sum()},
                                         {"word_at", {2}, ArrayRole::registers, ScalarType::u32},
                                         {"places", {place_numbers}, ArrayRole::registers, ScalarType::i32, "Places"},
                                         register_pairs("a", {block_groups, 2, tile_registers}, element),
                                         register_pairs("b", {2, 2}, element)});
}

}  // namespace

LoopNest pack_bitmap(const LoopNest& nest, const PackBitmap& directive) {
  check_sparse(nest, directive, directive.array);
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  refuse_if(parts.thread("part") == nullptr || nest.find_array("sums") == nullptr || at == parts.body.size(), directive, "the lanes have no sums of a tensor core",
            "stream the rows and give the lanes their columns first: stream(i, panels=2, warps=8); fragment(j, 8)");
  refuse_if(!is_half(nest.element()), directive, "the words of registers hold two elements of 16 bits", "choose --dtype f16 or bf16");
  refuse_if(nest.constant("panel_height") != BitmapSchedule::panel_rows || shares_windows(nest) || has_own_columns(nest) || has_one_column(nest), directive,
            "a warp does not have all columns of C in 16 rows", "write stream(i, panels=2, warps=8); fragment(j, 8)");
  parts.body[at] = turns_of_windows();
  const Node add_odd = unrolled_loop("e", "lane_sums", Role::none, {statement(Update{element("sums", {Affine::of("e")}), element("odd_sums", {Affine::of("e")})})});
  insert(parts.body, at + 1, {add_odd});
  insert(parts.body, at, {define("lane", lane_of_warp(nest)), Node{Declare{"odd_sums", true}}, Node{Declare{"word_at"}}, Node{Declare{"places"}}, Node{Declare{"a"}}, Node{Declare{"b"}}});

  LoopNest result = put_together(nest, parts);
  result.derived_sizes.push_back({"panels", Affine::of("M"), BitmapSchedule::panel_rows});
  result.derived_sizes.push_back({"turns", Affine::of("K"), BitmapSchedule::tile_columns_of_a * nest.constant("turn_windows")});
  result.constants.push_back({"tile_rows", BitmapSchedule::step_columns, "columns of A, and rows of B, that are multiplied between two barriers: half a window"});
  result.constants.push_back({"unit_blocks", BitmapSchedule::tile_columns_of_a / BitmapSchedule::block_columns, "of 64 columns of a window, of which a lane has 32 bits each"});
  const auto of_units = [](const char* name, std::vector<Affine> extents, ArrayRole role, ScalarType type) {
    extents.insert(extents.begin(), {Affine::of("panels"), Affine::of("windows")});
    return ArrayDeclaration{name, std::move(extents), role, type};
  };
  replace_sparse(result, {{"UnitBegins", {Affine::of("unit_begins")}, ArrayRole::packed_index, ScalarType::u32},
                          of_units("UnitWords", {}, ArrayRole::packed_index, ScalarType::u32),
                          of_units("OddColumns", {warp_size}, ArrayRole::packed_index, ScalarType::u8),
                          of_units("Bits", {Affine::of("unit_blocks"), warp_size}, ArrayRole::packed_index, ScalarType::u32),
                          of_units("Values", {Affine::of("most_words"), warp_size, 2}, ArrayRole::packed_value, nest.element())});
  declare_registers(result);
  result.packed = {.kind = PackedForm::Kind::bitmap, .height = nest.constant("panel_height")};
  result.explicit_zeros = true;
  result.story.emplace_back(
      "A bit for each element of A says whether it is zero. Those that are not stand in words of 32 bits, each of which has what one register of the tensor "
      "core needs: where, follows from counting the bits in front. So the packed matrix is the same for every number of columns.");
  return result;
}

}  // namespace esc
