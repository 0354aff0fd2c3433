// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/unpack_bitmap.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/lower/pack_bitmap.h"
#include "generator/lower/packed_tile_copies.h"
#include "generator/lower/staged_copies.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

constexpr int block_tiles = 4;  ///< of 16 columns, in a K block
constexpr int tile_columns = 16;
constexpr int tile_registers = 4;
constexpr int pair_blocks = 2;  ///< K blocks of a half of a packed tile

/// What the copy of the warp's packed tile has in this array.
Access of_copy(const char* array) {
  return element(staged_name(array), {Affine::of("packed_tile_stage"), Affine::of("copy")});
}

/// Where A has tile t of a K block.
Expression first_row() { return index("row_tile") * index("row_tile_height"); }
Expression first_column() {
  return index("k_tile") * index("k_tile_columns") +
         (index("half") * pair_blocks + index("block_of_pair")) * BitmapSchedule::block_columns +
         index("t") * tile_columns;
}

/// What is done with a tile whose words have been found: it is stored where A has it.
Block store_tile() {
  return {perform("load_a", {of_copy("Values"), of_copy("OddColumns"), element("places"), direction_of_words(),
                             index("t") * tile_registers, index("lane"), element("tile")}),
          perform("store_a",
                  {element("A"), first_row(), first_column(), index("M"), index("K"), index("lane"), element("tile")})};
}

/// The other way round: what A has there becomes the values of its words, in the packed matrix itself.
Block store_values() {
  const Access values = element("Values", {Affine::of("packed_tile_row_tile"), Affine::of("k_tile")});
  return {perform("store_words", {element("A"), first_row(), first_column(), values, of_copy("OddColumns"),
                                  element("places"), direction_of_words(), index("t") * tile_registers, index("lane"),
                                  index("packed_tile_stage"), index("copy"), element("own_packed_tile")})};
}

/// Finds a K block's words and goes through its tiles, one after the other.
Block find_block(const Block& of_tile) {
  const Affine block = Affine::of("block_of_pair");
  return {perform("find_places",
                  {element("bits", {block}), direction_of_words(), element("places"), element("word_at", {block})}),
          unrolled("t", block_tiles, of_tile)};
}

/// Goes through the packed tile that has come.
Block find_tiles(const Block& of_tile) {
  const Expression stage = index("packed_tile_stage");
  const Node load_bits =
      perform("load_bits", {of_copy("Bits"), index("half"), stage, index("copy"), index("lane"), element("bits")});
  return {perform("wait_for_packed_tile", {index("iteration"), stage, index("copy")}),
          perform("find_words", {of_copy("PackedTileWords"), stage, index("copy"), index("lane"), element("word_at")}),
          unrolled("half", 2, {load_bits, unrolled("block_of_pair", pair_blocks, find_block(of_tile))})};
}

/// Asks for the packed tile of an iteration. Copies are committed as often as those of the product are, by which
/// wait_for_packed_tile counts.
Block ask_for_packed_tile(const LoopNest& nest, const Expression& iteration, const Expression& stage) {
  Block result = copy_of_packed_tile(nest, iteration, stage);
  result.push_back(sequential_loop("c", 0, Affine::of("k_tile_steps"), 1, Role::none, {commit_copies()}));
  return result;
}

/// The loop over iterations. Who reads a stage has done so before another packed tile comes there.
Node iterations(const LoopNest& nest, Block of_packed_tile) {
  const Expression ahead = index("iteration") + index("early_packed_tiles");
  Block body{define("k_tile", k_tile_of(index("iteration")), ScalarType::u32),
             define("packed_tile_stage", remainder(index("iteration"), index("packed_tile_stages"))),
             Node{Barrier{Scope::warp}}};
  append(body, ask_for_packed_tile(nest, ahead, remainder(ahead, index("packed_tile_stages"))));
  body.push_back(Node{Branch{has_packed_tile(nest, index("k_tile")), std::move(of_packed_tile), {}}});
  return sequential_loop("iteration", 0, Affine::of("iterations"), 1, Role::reduction, std::move(body));
}

/// The definitions by which the product's threads know what is theirs.
Block own_places(const Block& body) {
  Block result;
  for (const char* name : {"row_tile", "lane", "first_k_tile", "packed_tile_row_tile", "copy"}) {
    result.push_back(body.at(find_definition(body, name)));
  }
  return result;
}

/// The arrays that packed tiles are found and copied by.
std::vector<ArrayDeclaration> arrays_of_packed_tiles(const LoopNest& nest) {
  std::vector<ArrayDeclaration> arrays{*nest.find_array("PackedTileBegins")};
  for (const std::string& name : packed_tile_arrays()) {
    arrays.push_back(*nest.find_array(name));
    arrays.push_back(*nest.find_array(staged_name(name)));
  }
  for (const char* name : {"word_at", "bits", "places", "packed_tile"}) {
    arrays.push_back(*nest.find_array(name));
  }
  return arrays;
}

ArrayDeclaration matrix(const LoopNest& nest, ArrayRole role) {
  return {"A", {Affine::of("M"), Affine::of("K")}, role, nest.element()};
}

/// The nest in which warps go through all packed tiles, one after the other. Beside what they find these by a lane has
/// registers `own`.
LoopNest nest_of_packed_tiles(const LoopNest& nest, std::vector<ArrayDeclaration> arrays, ArrayDeclaration own,
                              Block of_packed_tile) {
  ThreadNest parts = take_apart(nest);
  std::erase_if(parts.grid, [](const Loop& loop) { return loop.mapping == Mapping::grid_y; });
  Block body = own_places(parts.body);
  for (const char* name : {"word_at", "bits", "places", own.name.c_str(), "packed_tile"}) {
    body.push_back(Node{Declare{name}});
  }
  Block packed_tiles{find_packed_tile(nest, 0), perform("make_packed_tile_barriers", {index("copy"), index("lane")}),
                     Node{Barrier{Scope::warp}},
                     sequential_loop("s", 0, Affine::of("early_packed_tiles"), 1, Role::none,
                                     ask_for_packed_tile(nest, index("s"), index("s"))),
                     iterations(nest, std::move(of_packed_tile))};
  if (has_warpgroups(nest)) {
    // Nobody waits for warps without a row tile here, whose packed tiles are another's.
    packed_tiles = {Node{Branch{less(index("row_tile"), index("row_tiles")), std::move(packed_tiles), {}}}};
  }
  append(body, packed_tiles);
  parts.body = std::move(body);

  LoopNest result;
  result.arrays = std::move(arrays);
  result.arrays.push_back(std::move(own));
  result.constants = nest.constants;
  result.derived_sizes = nest.derived_sizes;
  result.packed = nest.packed;
  return put_together(result, parts);
}

}  // namespace

LoopNest unpack_bitmap(const LoopNest& nest) {
  std::vector<ArrayDeclaration> arrays = arrays_of_packed_tiles(nest);
  arrays.push_back(matrix(nest, ArrayRole::output));
  ArrayDeclaration tile{"tile", {tile_registers, 2}, ArrayRole::registers, nest.element(), "unsigned int"};
  return nest_of_packed_tiles(nest, std::move(arrays), std::move(tile), find_tiles(store_tile()));
}

LoopNest repack_bitmap(const LoopNest& nest) {
  std::vector<ArrayDeclaration> arrays = arrays_of_packed_tiles(nest);
  std::ranges::find(arrays, "Values", &ArrayDeclaration::name)->role = ArrayRole::output;
  arrays.push_back(matrix(nest, ArrayRole::sparse));
  ArrayDeclaration own_packed_tile = *nest.find_array("packed_tile");
  own_packed_tile.name = "own_packed_tile";
  const Expression number = index("packed_tile_row_tile") * index("k_tiles") + index("k_tile");
  Block of_packed_tile{perform("find_packed_tile", {element("PackedTileBegins"), number, element("own_packed_tile")})};
  append(of_packed_tile, find_tiles(store_values()));
  return nest_of_packed_tiles(nest, std::move(arrays), std::move(own_packed_tile), std::move(of_packed_tile));
}

}  // namespace esc
