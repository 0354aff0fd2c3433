// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "transformer/fragment_packing.h"

namespace esc::transformer {

/// The slots of the packed tiles that the row tiles of one matrix, of so many rows, have first in each K tile. They
/// follow from the steps alone, so that whoever chooses a cut, packs by it, and packs by others, needs one search for
/// each packed tile and number of steps. Safe to use from several threads.
class FragmentSearches {
 public:
  /// For the matrix of this shape and row tiles of this height, however it is cut beside that.
  explicit FragmentSearches(const FragmentShape& shape);
  ~FragmentSearches();

  FragmentSearches(const FragmentSearches&) = delete;
  FragmentSearches& operator=(const FragmentSearches&) = delete;

  /// The slots of the row tile in the K tile, where it has those rows.
  const PackedTileSlots& find(const KTileRows& rows, std::uint32_t steps, std::int64_t row_tile, std::uint64_t k_tile);

 private:
  std::uint32_t height_;
  std::uint64_t k_tiles_;
  std::vector<std::atomic<const PackedTileSlots*>>
      found_;  ///< of each packed tile by its steps; null where nobody has asked
};

}  // namespace esc::transformer
