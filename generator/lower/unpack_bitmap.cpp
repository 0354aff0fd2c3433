// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/unpack_bitmap.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/lower/pack_bitmap.h"
#include "generator/lower/staged_copies.h"
#include "generator/lower/thread_nest.h"
#include "generator/lower/unit_copies.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

constexpr int block_tiles = 4;  ///< of 16 columns, in a K block
constexpr int tile_columns = 16;
constexpr int tile_registers = 4;
constexpr int pair_blocks = 2;  ///< K blocks of a half of a unit

/// What the copy of the warp's unit has in this array.
Access of_copy(const char* array) {
  return element(staged_name(array), {Affine::of("unit_stage"), Affine::of("copy")});
}

/// Where A has tile t of a K block.
Expression first_row() { return index("panel") * index("panel_height"); }
Expression first_column() {
  return index("window") * index("window_columns") +
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
  const Access values = element("Values", {Affine::of("unit_panel"), Affine::of("window")});
  return {perform("store_words", {element("A"), first_row(), first_column(), values, of_copy("OddColumns"),
                                  element("places"), direction_of_words(), index("t") * tile_registers, index("lane"),
                                  index("unit_stage"), index("copy"), element("own_unit")})};
}

/// Finds a K block's words and goes through its tiles, one after the other.
Block find_block(const Block& of_tile) {
  const Affine block = Affine::of("block_of_pair");
  return {perform("find_places",
                  {element("bits", {block}), direction_of_words(), element("places"), element("word_at", {block})}),
          unrolled("t", block_tiles, of_tile)};
}

/// Goes through the unit that has come.
Block find_tiles(const Block& of_tile) {
  const Expression stage = index("unit_stage");
  const Node load_bits =
      perform("load_bits", {of_copy("Bits"), index("half"), stage, index("copy"), index("lane"), element("bits")});
  return {perform("wait_for_unit", {index("turn"), stage, index("copy")}),
          perform("find_words", {of_copy("UnitWords"), stage, index("copy"), index("lane"), element("word_at")}),
          unrolled("half", 2, {load_bits, unrolled("block_of_pair", pair_blocks, find_block(of_tile))})};
}

/// Asks for the unit of a turn. Copies are committed as often as those of the product are, by which wait_for_unit
/// counts.
Block ask_for_unit(const LoopNest& nest, const Expression& turn, const Expression& stage) {
  Block result = copy_of_unit(nest, turn, stage);
  result.push_back(sequential_loop("c", 0, Affine::of("window_steps"), 1, Role::none, {commit_copies()}));
  return result;
}

/// The loop over turns. Who reads a stage has done so before another unit comes there.
Node turns(const LoopNest& nest, Block of_unit) {
  const Expression ahead = index("turn") + index("early_units");
  Block body{define("window", window_of(index("turn")), ScalarType::u32),
             define("unit_stage", remainder(index("turn"), index("unit_stages"))), Node{Barrier{Scope::warp}}};
  append(body, ask_for_unit(nest, ahead, remainder(ahead, index("unit_stages"))));
  body.push_back(Node{Branch{has_unit(nest, index("window")), std::move(of_unit), {}}});
  return sequential_loop("turn", 0, Affine::of("turns"), 1, Role::reduction, std::move(body));
}

/// The definitions by which the product's threads know what is theirs.
Block own_places(const Block& body) {
  Block result;
  for (const char* name : {"panel", "lane", "first_window", "unit_panel", "copy"}) {
    result.push_back(body.at(find_definition(body, name)));
  }
  return result;
}

/// The arrays that units are found and copied by.
std::vector<ArrayDeclaration> arrays_of_units(const LoopNest& nest) {
  std::vector<ArrayDeclaration> arrays{*nest.find_array("UnitBegins")};
  for (const std::string& name : unit_arrays()) {
    arrays.push_back(*nest.find_array(name));
    arrays.push_back(*nest.find_array(staged_name(name)));
  }
  for (const char* name : {"word_at", "bits", "places", "unit"}) {
    arrays.push_back(*nest.find_array(name));
  }
  return arrays;
}

ArrayDeclaration matrix(const LoopNest& nest, ArrayRole role) {
  return {"A", {Affine::of("M"), Affine::of("K")}, role, nest.element()};
}

/// The nest in which warps go through all units, one after the other. Beside what they find these by a lane has
/// registers `own`.
LoopNest nest_of_units(const LoopNest& nest, std::vector<ArrayDeclaration> arrays, ArrayDeclaration own,
                       Block of_unit) {
  ThreadNest parts = take_apart(nest);
  std::erase_if(parts.grid, [](const Loop& loop) { return loop.mapping == Mapping::grid_y; });
  Block body = own_places(parts.body);
  for (const char* name : {"word_at", "bits", "places", own.name.c_str(), "unit"}) {
    body.push_back(Node{Declare{name}});
  }
  Block units{
      find_unit(nest, 0), perform("make_unit_barriers", {index("copy"), index("lane")}), Node{Barrier{Scope::warp}},
      sequential_loop("s", 0, Affine::of("early_units"), 1, Role::none, ask_for_unit(nest, index("s"), index("s"))),
      turns(nest, std::move(of_unit))};
  if (has_warpgroups(nest)) {
    // Nobody waits for warps without a panel here, whose units are another's.
    units = {Node{Branch{less(index("panel"), index("panels")), std::move(units), {}}}};
  }
  append(body, units);
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
  std::vector<ArrayDeclaration> arrays = arrays_of_units(nest);
  arrays.push_back(matrix(nest, ArrayRole::output));
  ArrayDeclaration tile{"tile", {tile_registers, 2}, ArrayRole::registers, nest.element(), "unsigned int"};
  return nest_of_units(nest, std::move(arrays), std::move(tile), find_tiles(store_tile()));
}

LoopNest repack_bitmap(const LoopNest& nest) {
  std::vector<ArrayDeclaration> arrays = arrays_of_units(nest);
  std::ranges::find(arrays, "Values", &ArrayDeclaration::name)->role = ArrayRole::output;
  arrays.push_back(matrix(nest, ArrayRole::sparse));
  ArrayDeclaration own_unit = *nest.find_array("unit");
  own_unit.name = "own_unit";
  const Expression number = index("unit_panel") * index("windows") + index("window");
  Block of_unit{perform("find_unit", {element("UnitBegins"), number, element("own_unit")})};
  append(of_unit, find_tiles(store_values()));
  return nest_of_units(nest, std::move(arrays), std::move(own_unit), std::move(of_unit));
}

}  // namespace esc
