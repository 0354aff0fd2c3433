// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/dispatch.h"

#include <algorithm>
#include <variant>

#include "generator/emit/bitmap_text.h"
#include "generator/emit/block_memory.h"
#include "generator/emit/fragment_text.h"
#include "generator/emit/gather_text.h"
#include "generator/emit/layout_text.h"
#include "generator/ir/evaluate.h"
#include "generator/ir/rewrite.h"

namespace esc {
namespace {

/// The step of the loop in which a thread goes over the columns, wherever it is; 0 where there is none.
std::int64_t iteration_columns(const Block& block) {
  std::int64_t step = 0;
  rewrite(block, {.around = [&step](const Node& node) {
            const auto* const loop = std::get_if<Loop>(&node.content);
            if (loop != nullptr && loop->role == Role::column && loop->mapping == Mapping::sequential &&
                loop->step.is_constant()) {
              step = loop->step.constant();
            }
            return node;
          }});
  return step;
}

PlacedLayout placed(const ArrayDeclaration& array, const Environment& sizes) {
  return array.layout ? PlacedLayout(*array.layout, sizes) : PlacedLayout();
}

}  // namespace

bool tuned_moves_vectors(const LoopNest& lowered, const Environment& sizes, std::int64_t bcol) {
  if (!moves_vectors(lowered, sizes)) {
    return false;
  }
  const std::int64_t width = lowered.constant("vector_width");
  return std::ranges::all_of(lowered.arrays, [&](const ArrayDeclaration& array) {
    if (array.role != ArrayRole::dense && array.role != ArrayRole::output) {
      return true;
    }
    const PlacedLayout layout = placed(array, sizes);
    return layout.least_leading_dimension(bcol) % width == 0 &&
           (array.role == ArrayRole::dense || bcol * layout.columns_of_item() % width == 0);
  });
}

Dispatch dispatch_of(const Layer& layer) {
  const LoopNest& lowered = layer.lowered;
  const Environment& sizes = layer.sizes;
  Dispatch dispatch{
      .tuned_items = layer.bcol,
      .b = placed(lowered.array(ArrayRole::dense), sizes),
      .c = placed(lowered.array(ArrayRole::output), sizes),
      .programmatic = lowered.overlaps,
      .zeroes_c = lowered.zeroed == Zeroed::output || !has_kernel(layer),
      .adds_to_c = lowered.zeroed == Zeroed::output || !lowered.before.empty(),
      .products = splits_products(lowered)  ? ProductForm::split
                  : rounds_factors(lowered) ? ProductForm::rounded
                                            : ProductForm::whole,
      .scaled_rows = splits_products(lowered) && places_values(lowered) ? lowered.constant("block_rows") : 1,
      .copies_in_bulk = copies_in_bulk(lowered) || lowered.packed.has_packed_tiles(),
      .runs_earlier = !has_clusters(lowered) && !gathers_rows(lowered),
      .needs_preparing = needs_preparing(layer),
      .unpacks = can_unpack(layer)};
  if (lowered.packed.has_packed_tiles()) {
    dispatch.block_rows = lowered.constant("block_row_tiles") * lowered.constant("row_tile_height");
  }
  if (lowered.packed.kind == PackedForm::Kind::bitmap) {
    dispatch.packed_tile_words = words_in_room(sizes.at("packed_tile_room"));
  }
  if (lowered.vectors) {
    dispatch.has_vectors = true;
    const Environment constants = constants_of(lowered);
    dispatch.vectors = moves_vectors(lowered, sizes);
    dispatch.vector_width = dispatch.vectors ? constants.at("vector_width") : 1;
    dispatch.tile_columns = constants.at("tile_columns");
    dispatch.tuned_vectors = tuned_moves_vectors(lowered, sizes, layer.bcol);
  } else {
    dispatch.iteration_columns = iteration_columns(lowered.body);
  }
  return dispatch;
}

}  // namespace esc
