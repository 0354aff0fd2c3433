// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace esc {

/// Which rule has chosen the weights that are kept. The weights themselves are normal.
enum class PruningRule {
  wanda,      ///< each row keeps its largest |w| * norm of the input (Sun et al., 2023)
  sparsegpt,  ///< one threshold for all rows of 128 columns, scales differ (Frantar and Alistarh, 2023)
  magnitude,  ///< one threshold for the layer, scales of rows and columns differ
};

/// Calls `keep(row, column)`, row by row and column by column, for `kept` of the rows x columns positions, as `rule`
/// leaves them. Each group that has a threshold keeps its share of `kept`. Scales of rows and columns are log-normal,
/// spread as the three methods leave them in layers of language models. The arithmetic is in whole numbers, so that
/// the mask is the same on every platform. Time grows with rows x columns; memory does not.
void draw_pruned_mask(PruningRule rule, std::int64_t rows, std::int64_t columns, std::int64_t kept, std::uint64_t seed,
                      const std::function<void(std::int64_t row, std::int64_t column)>& keep);

}  // namespace esc
