// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/packed_tile_copies.h"

#include <utility>

#include "generator/ir/build.h"
#include "generator/lower/pack_bitmap.h"
#include "generator/lower/staged_copies.h"

namespace esc {

const std::vector<std::string>& packed_tile_arrays() {
  static const std::vector<std::string> names{"PackedTileWords", "OddColumns", "Bits", "Values"};
  return names;
}

Expression has_packed_tile(const LoopNest& nest, const Expression& k_tile) {
  const Expression is_k_tile = less(k_tile, index("k_tiles"));
  return has_warpgroups(nest) ? is_k_tile : all_of({is_k_tile, less(index("row_tile"), index("row_tiles"))});
}

Node find_packed_tile(const LoopNest& nest, const Expression& iteration) {
  const Expression number = index("packed_tile_row_tile") * index("k_tiles") + k_tile_of(iteration);
  return Node{Branch{has_packed_tile(nest, k_tile_of(iteration)),
                     {perform("find_packed_tile", {element("PackedTileBegins"), number, element("packed_tile")})},
                     {}}};
}

Block copy_of_packed_tile(const LoopNest& nest, const Expression& iteration, const Expression& stage) {
  std::vector<Expression> arguments;
  for (const std::string& array : packed_tile_arrays()) {
    arguments.push_back(element(array));
  }
  for (const std::string& array : packed_tile_arrays()) {
    arguments.push_back(element(staged_name(array)));
  }
  arguments.insert(arguments.end(), {element("packed_tile"), index("packed_tile_row_tile"), k_tile_of(iteration), stage,
                                     index("copy"), index("lane")});
  return {
      Node{Branch{
          has_packed_tile(nest, k_tile_of(iteration)), {perform("copy_bitmap_packed_tile", std::move(arguments))}, {}}},
      find_packed_tile(nest, iteration + 1)};
}

}  // namespace esc
