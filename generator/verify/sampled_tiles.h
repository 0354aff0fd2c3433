// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "generator/verify/kernel_calls.h"

namespace esc {

/// The tiles of C's columns that a call computes: of those that have columns that are compared every `stride`-th, and
/// both ends of each range of columns in each launch.
struct SampledTiles {
  std::int64_t columns = 0;  ///< of C in a tile
  std::int64_t stride = 1;

  /// Those of launch `number`, by their numbers in it.
  std::set<std::uint64_t> of_launch(const KernelCall& call, std::int64_t number) const;
  /// For each column that is compared whether its tile is among them.
  std::vector<bool> compared_columns(const KernelCall& call) const;
};

}  // namespace esc
