// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/fragment_block.h"

#include "transformer/fragment_format.h"

namespace esc {

transformer::FragmentBlock fragment_block(const PackedForm& form) {
  using transformer::max_fragment_rows;
  const auto rows = static_cast<std::uint32_t>(form.height);
  const std::uint32_t height = rows % max_fragment_rows == 0 ? max_fragment_rows : transformer::m16_tile_rows;
  const std::uint32_t joined = rows / height;
  return {.row_tiles = static_cast<std::uint32_t>(form.block_row_tiles) * joined,
          .height = height,
          .dense_steps = form.dense_steps,
          .listed_values = form.listed_values,
          .placed_values = form.placed_values,
          .splits_values = form.splits_values,
          .joined = joined,
          .shares = static_cast<std::uint32_t>(form.placing_warps)};
}

}  // namespace esc
