// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/tile_copies.h"

#include <optional>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/joined_digits.h"
#include "generator/ir/roles.h"
#include "generator/lower/packed_tiles.h"

namespace esc {

bool may_have_boxes(const LoopNest& nest) {
  const std::optional<Layout>& layout = nest.array(ArrayRole::dense).layout;
  return has_warpgroups(nest) && (!layout || has_whole_columns(*layout));
}

Block by_boxes(const LoopNest& nest, Block boxed, Block otherwise) {
  return may_have_boxes(nest) ? Block{Node{Branch{has_boxes(), std::move(boxed), std::move(otherwise)}}} : otherwise;
}

Node copy_of_tile(const LoopNest& nest, const Expression& step) {
  const Expression k_tile = k_tile_of(quotient(step, index("k_tile_steps")));
  const Expression first_row =
      k_tile * index("k_tile_columns") + remainder(step, index("k_tile_steps")) * index("tile_rows");
  const auto copy = [&](const char* name) {
    return perform(name, {element("B"), element("StagedB"), first_row, remainder(step, index("tile_stages")),
                          index("part"), index("tile"), index("consumer_group_thread"), index("K"), index("N")});
  };
  const char* const by_threads = nest.array(ArrayRole::dense).layout ? "copy_tile_columns" : "copy_tile_rows";
  return Node{Branch{less(k_tile, index("k_tiles")), by_boxes(nest, {copy("copy_tile_box")}, {copy(by_threads)}), {}}};
}

}  // namespace esc
