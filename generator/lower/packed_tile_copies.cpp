// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/packed_tile_copies.h"

#include <utility>

#include "generator/ir/build.h"
#include "generator/lower/packed_tiles.h"
#include "generator/lower/staged_copies.h"

namespace esc {

const std::vector<std::string>& packed_tile_arrays(const LoopNest& nest) {
  static const std::vector<std::string> of_bitmap{"PackedTileWords", "OddColumns", "Bits", "Values"};
  static const std::vector<std::string> of_sparse24{"Metadata", "Values"};
  return is_bitmap(nest) ? of_bitmap : of_sparse24;
}

Expression has_packed_tile(const LoopNest& nest, const Expression& k_tile) {
  const Expression is_k_tile = less(k_tile, index("k_tiles"));
  return has_warpgroups(nest) ? is_k_tile : all_of({is_k_tile, less(index("row_tile"), index("row_tiles"))});
}

Node place_of_packed_tile(const LoopNest& nest, const Expression& number, const char* packed_tile) {
  return is_bitmap(nest) ? perform("find_packed_tile", {element("PackedTileBegins"), number, element(packed_tile)})
                         : perform("place_packed_tile", {number, element(packed_tile)});
}

Node find_packed_tile(const LoopNest& nest, const Expression& iteration) {
  const Expression number = index("packed_tile_row_tile") * index("k_tiles") + k_tile_of(iteration);
  return Node{Branch{has_packed_tile(nest, k_tile_of(iteration)), {place_of_packed_tile(nest, number)}, {}}};
}

Block copy_of_packed_tile(const LoopNest& nest, const Expression& iteration, const Expression& stage) {
  std::vector<Expression> arguments;
  for (const std::string& array : packed_tile_arrays(nest)) {
    arguments.push_back(element(array));
  }
  for (const std::string& array : packed_tile_arrays(nest)) {
    arguments.push_back(element(staged_name(array)));
  }
  arguments.insert(arguments.end(), {element("packed_tile"), index("packed_tile_row_tile"), k_tile_of(iteration), stage,
                                     index("copy"), index("lane")});
  const char* const copy = is_bitmap(nest) ? "copy_bitmap_packed_tile" : "copy_sparse24_packed_tile";
  return {Node{Branch{has_packed_tile(nest, k_tile_of(iteration)), {perform(copy, std::move(arguments))}, {}}},
          find_packed_tile(nest, iteration + 1)};
}

}  // namespace esc
