// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/unpack_bitmap.h"

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

Node unrolled(const char* iterator, int count, Block body) {
  return Node{mapped_loop(Mapping::unrolled, iterator, count, Role::none, std::move(body))};
}

/// What the copy of the warp's unit has in this array.
Access of_copy(const char* array) {
  return element(staged_name(array), {Affine::of("unit_stage"), Affine::of("copy")});
}

/// Finds a K block's words and stores its tiles, one after the other.
Block store_block() {
  const Expression direction = Expression(1) - index("block_of_pair") * 2;
  const Expression first_column =
      index("window") * index("window_columns") +
      (index("half") * pair_blocks + index("block_of_pair")) * BitmapSchedule::block_columns +
      index("t") * tile_columns;
  const Affine block = Affine::of("block_of_pair");
  const Node find =
      perform("find_places", {element("bits", {block}), direction, element("places"), element("word_at", {block})});
  const Node load = perform("load_a", {of_copy("Values"), of_copy("OddColumns"), element("places"), direction,
                                       index("t") * tile_registers, index("lane"), element("tile")});
  const Node store = perform("store_a", {element("A"), index("panel") * index("panel_height"), first_column, index("M"),
                                         index("K"), index("lane"), element("tile")});
  return {find, unrolled("t", block_tiles, {load, store})};
}

/// Stores the unit that has come.
Block store_unit() {
  const Expression stage = index("unit_stage");
  const Node load_bits =
      perform("load_bits", {of_copy("Bits"), index("half"), stage, index("copy"), index("lane"), element("bits")});
  return {perform("wait_for_unit", {index("turn"), stage, index("copy")}),
          perform("find_words", {of_copy("UnitWords"), stage, index("copy"), index("lane"), element("word_at")}),
          unrolled("half", 2, {load_bits, unrolled("block_of_pair", pair_blocks, store_block())})};
}

/// Asks for the unit of a turn. Copies are committed as often as those of the product are, by which wait_for_unit
/// counts.
Block ask_for_unit(const LoopNest& nest, const Expression& turn, const Expression& stage) {
  Block result = copy_of_unit(nest, turn, stage);
  result.push_back(sequential_loop("c", 0, Affine::of("window_steps"), 1, Role::none, {commit_copies()}));
  return result;
}

/// The loop over turns. Who reads a stage has done so before another unit comes there.
Node turns(const LoopNest& nest) {
  const Expression ahead = index("turn") + index("early_units");
  Block body{define("window", window_of(index("turn")), ScalarType::u32),
             define("unit_stage", remainder(index("turn"), index("unit_stages"))), Node{Barrier{Scope::warp}}};
  append(body, ask_for_unit(nest, ahead, remainder(ahead, index("unit_stages"))));
  body.push_back(Node{Branch{has_unit(nest, index("window")), store_unit(), {}}});
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

std::vector<ArrayDeclaration> arrays_of(const LoopNest& nest) {
  std::vector<ArrayDeclaration> arrays{*nest.find_array("UnitBegins")};
  for (const std::string& name : unit_arrays()) {
    arrays.push_back(*nest.find_array(name));
    arrays.push_back(*nest.find_array(staged_name(name)));
  }
  for (const char* name : {"word_at", "bits", "places", "unit"}) {
    arrays.push_back(*nest.find_array(name));
  }
  arrays.push_back({"tile", {tile_registers, 2}, ArrayRole::registers, nest.element(), "unsigned int"});
  arrays.push_back({"A", {Affine::of("M"), Affine::of("K")}, ArrayRole::output, nest.element()});
  return arrays;
}

}  // namespace

LoopNest unpack_bitmap(const LoopNest& nest) {
  ThreadNest parts = take_apart(nest);
  std::erase_if(parts.grid, [](const Loop& loop) { return loop.mapping == Mapping::grid_y; });
  Block body = own_places(parts.body);
  for (const char* name : {"word_at", "bits", "places", "tile", "unit"}) {
    body.push_back(Node{Declare{name}});
  }
  append(body,
         {find_unit(nest, 0), perform("make_unit_barriers", {index("copy"), index("lane")}), Node{Barrier{Scope::warp}},
          sequential_loop("s", 0, Affine::of("early_units"), 1, Role::none, ask_for_unit(nest, index("s"), index("s"))),
          turns(nest)});
  parts.body = std::move(body);

  LoopNest unpacking;
  unpacking.arrays = arrays_of(nest);
  unpacking.constants = nest.constants;
  unpacking.derived_sizes = nest.derived_sizes;
  unpacking.packed = nest.packed;
  return put_together(unpacking, parts);
}

}  // namespace esc
