// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// Where the non-zeros of a synthetic pruned matrix are.
enum class SampleStructure {
  uniform,    ///< every choice of positions is as likely as any other
  rows,       ///< densities of rows differ strongly: they go with the cube of a uniform number
  columns,    ///< the same for columns
  blocks,     ///< dense blocks of 4 x 4, cut at the edges, are kept or dropped at random
  powerlaw,   ///< lengths of rows follow a power law of exponent 2 (the r-th longest row goes with 1 / r), in random
              ///< order
  wanda,      ///< as Wanda leaves a layer (`PruningRule`)
  sparsegpt,  ///< as SparseGPT does
  magnitude,  ///< as one threshold for the layer does
};

/// The structure called `name`. Throws UserError with the list of names for another one.
SampleStructure parse_sample_structure(std::string_view name);

struct SampleOptions {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  double sparsity = 0;  ///< share of zeros, 0 to 1
  SampleStructure structure = SampleStructure::uniform;
  std::uint64_t seed = 0;
};

/// A synthetic pruned matrix of round((1 - sparsity) * rows * columns) non-zeros; with `blocks` it is the number of
/// blocks that is rounded so. Values are as `drawn_value` says. The same options give the same matrix on every
/// platform; time and memory grow with rows, columns and non-zeros, not with rows * columns, but for the time of
/// the three methods of pruning. Throws UserError for dimensions outside 1 to 2^31 - 1, a sparsity outside 0 to 1, or
/// more than 2^31 - 1 non-zeros.
SparseMatrix sample_matrix(const SampleOptions& options);

}  // namespace esc
