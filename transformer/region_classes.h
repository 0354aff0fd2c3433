// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "transformer/region_format.h"

namespace esc::transformer {

/// How row tiles with so many columns each are stored: cut into the fewest classes whose bytes are within a twentieth
/// of what max_region_classes give, each cut where it wastes least; or with every column where that takes much fewer
/// bytes, where the others would be 4 KiB more than the dense matrix, or where it takes no more bytes and hardly more
/// packets, of which each costs time.
/// Fills every_column, class_count and classes.
void choose_classes(const RegionShape& shape, const std::vector<std::uint64_t>& row_tile_columns, RegionCounts& counts);

}  // namespace esc::transformer
