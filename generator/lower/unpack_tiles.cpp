// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/unpack_tiles.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/lower/pack_bitmap.h"
#include "generator/lower/packed_tile_copies.h"
#include "generator/lower/packed_tiles.h"
#include "generator/lower/staged_copies.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

constexpr int tile_registers = 4;

/// What the copy of the warp's packed tile has in this array.
Access of_copy(const char* array) {
  return element(staged_name(array), {Affine::of("packed_tile_stage"), Affine::of("copy")});
}

/// The K block of a packed tile.
Expression number_of_block() { return index("half") * pair_blocks + index("block_of_pair"); }

/// Where A has tile t of a K block, of so many columns.
Expression first_row() { return index("row_tile") * index("row_tile_height"); }
Expression first_column(int tile_columns) {
  return index("k_tile") * index("k_tile_columns") + number_of_block() * BitmapSchedule::block_columns +
         index("t") * tile_columns;
}

/// The values of the warp's packed tile in the packed matrix itself.
Access own_values() { return of_packed_tile("Values"); }

/// How the tiles of an encoding are gone through, and what is done with one whose words have been found: it is stored
/// where A has it, or, the other way round, what A has there becomes its values in the packed matrix itself.
class TilesOfBitmap {
 public:
  static constexpr int block_tiles = 4;  ///< of 16 columns
  static constexpr int tile_columns = 16;

  static std::vector<std::string> registers() { return {"word_at", "bits", "places"}; }

  static Block store_tile() {
    return {perform("load_a", {of_copy("Values"), of_copy("OddColumns"), element("places"), direction_of_words(),
                               index("t") * tile_registers, index("lane"), element("tile")}),
            perform("store_a", {element("A"), first_row(), first_column(tile_columns), index("M"), index("K"),
                                index("lane"), element("tile")})};
  }

  static Block store_values() {
    return {perform("store_words",
                    {element("A"), first_row(), first_column(tile_columns), own_values(), of_copy("OddColumns"),
                     element("places"), direction_of_words(), index("t") * tile_registers, index("lane"),
                     index("packed_tile_stage"), index("copy"), element("own_packed_tile")})};
  }

  /// Before the halves of a packed tile, the blocks of a half, and the tiles of a block.
  static Block find() {
    return {perform("find_words", {of_copy("PackedTileWords"), index("packed_tile_stage"), index("copy"), index("lane"),
                                   element("word_at")})};
  }
  static Block find_half() {
    return {perform("load_bits", {of_copy("Bits"), index("half"), index("packed_tile_stage"), index("copy"),
                                  index("lane"), element("bits")})};
  }
  static Block find_block() {
    const Affine block = Affine::of("block_of_pair");
    return {perform("find_places",
                    {element("bits", {block}), direction_of_words(), element("places"), element("word_at", {block})})};
  }
};

/// Where two of four are stored, nothing has to be found.
class TilesOfSparse24 {
 public:
  static constexpr int block_tiles = 2;  ///< of 32 columns
  static constexpr int tile_columns = 32;

  static std::vector<std::string> registers() { return {}; }
  static Block find() { return {}; }
  static Block find_half() { return {}; }
  static Block find_block() { return {}; }

  static Block store_tile() {
    std::vector<Expression> arguments = places();
    arguments.insert(arguments.begin(), element("A"));
    arguments.emplace_back(element("tile"));
    return {perform("load_sparse_a", {of_copy("Values"), number_of_block(), index("t"), index("packed_tile_stage"),
                                      index("copy"), index("lane"), element("tile")}),
            perform("store_sparse_a", std::move(arguments))};
  }

  static Block store_values() {
    std::vector<Expression> arguments = places();
    arguments.insert(arguments.begin(), {element("A"), own_values()});
    arguments.emplace_back(element("own_packed_tile"));
    return {perform("store_sparse_words", std::move(arguments))};
  }

 private:
  static std::vector<Expression> places() {
    return {
        first_row(), first_column(tile_columns), index("M"),    index("K"),   of_copy("Metadata"), number_of_block(),
        index("t"),  index("packed_tile_stage"), index("copy"), index("lane")};
  }
};

/// Goes through the packed tile that has come.
template <typename Tiles>
Block find_tiles(const Block& of_tile) {
  Block of_block = Tiles::find_block();
  of_block.push_back(unrolled("t", Tiles::block_tiles, of_tile));
  Block of_half = Tiles::find_half();
  of_half.push_back(unrolled("block_of_pair", pair_blocks, std::move(of_block)));
  Block result{perform("wait_for_packed_tile", {index("iteration"), index("packed_tile_stage"), index("copy")})};
  append(result, Tiles::find());
  result.push_back(unrolled("half", 2, std::move(of_half)));
  return result;
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
template <typename Tiles>
std::vector<ArrayDeclaration> arrays_of_packed_tiles(const LoopNest& nest) {
  std::vector<ArrayDeclaration> arrays;
  if (const ArrayDeclaration* const begins = nest.find_array("PackedTileBegins")) {
    arrays.push_back(*begins);
  }
  for (const std::string& name : packed_tile_arrays(nest)) {
    arrays.push_back(*nest.find_array(name));
    arrays.push_back(*nest.find_array(staged_name(name)));
  }
  for (const std::string& name : Tiles::registers()) {
    arrays.push_back(*nest.find_array(name));
  }
  arrays.push_back(*nest.find_array("packed_tile"));
  return arrays;
}

ArrayDeclaration matrix(const LoopNest& nest, ArrayRole role) {
  return {"A", {Affine::of("M"), Affine::of("K")}, role, nest.element()};
}

/// The nest in which warps go through all packed tiles, one after the other. Beside what they find these by a lane has
/// registers `own`.
template <typename Tiles>
LoopNest nest_of_packed_tiles(const LoopNest& nest, std::vector<ArrayDeclaration> arrays, ArrayDeclaration own,
                              Block of_packed_tile) {
  ThreadNest parts = take_apart(nest);
  std::erase_if(parts.grid, [](const Loop& loop) { return loop.mapping == Mapping::grid_y; });
  Block body = own_places(parts.body);
  std::vector<std::string> registers = Tiles::registers();
  registers.insert(registers.end(), {own.name, "packed_tile"});
  for (const std::string& name : registers) {
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

template <typename Tiles>
LoopNest unpacked(const LoopNest& nest) {
  std::vector<ArrayDeclaration> arrays = arrays_of_packed_tiles<Tiles>(nest);
  arrays.push_back(matrix(nest, ArrayRole::output));
  ArrayDeclaration tile{"tile", {tile_registers, 2}, ArrayRole::registers, nest.element(), "unsigned int"};
  return nest_of_packed_tiles<Tiles>(nest, std::move(arrays), std::move(tile), find_tiles<Tiles>(Tiles::store_tile()));
}

template <typename Tiles>
LoopNest repacked(const LoopNest& nest) {
  std::vector<ArrayDeclaration> arrays = arrays_of_packed_tiles<Tiles>(nest);
  std::ranges::find(arrays, "Values", &ArrayDeclaration::name)->role = ArrayRole::output;
  arrays.push_back(matrix(nest, ArrayRole::sparse));
  ArrayDeclaration own_packed_tile = *nest.find_array("packed_tile");
  own_packed_tile.name = "own_packed_tile";
  const Expression number = index("packed_tile_row_tile") * index("k_tiles") + index("k_tile");
  Block of_packed_tile{place_of_packed_tile(nest, number, "own_packed_tile")};
  append(of_packed_tile, find_tiles<Tiles>(Tiles::store_values()));
  return nest_of_packed_tiles<Tiles>(nest, std::move(arrays), std::move(own_packed_tile), std::move(of_packed_tile));
}

}  // namespace

LoopNest unpack_tiles(const LoopNest& nest) {
  return is_bitmap(nest) ? unpacked<TilesOfBitmap>(nest) : unpacked<TilesOfSparse24>(nest);
}

LoopNest repack_tiles(const LoopNest& nest) {
  return is_bitmap(nest) ? repacked<TilesOfBitmap>(nest) : repacked<TilesOfSparse24>(nest);
}

}  // namespace esc
