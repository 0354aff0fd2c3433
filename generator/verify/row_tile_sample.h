// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transformer/packed_reader.h"

namespace esc {

/// The rows that a run covers, all of them or every n-th unit of them, and the thread blocks that work on those. A unit
/// is what a block cannot do in part: a row tile of lists, all row tiles of a block with regions, all tasks of a block
/// with tasks. A row of several tasks is covered when all their blocks run; of such rows every n-th is taken too,
/// unless it is too long. At least one row is covered.
class RowTileSample {
 public:
  /// Covers so many units that of `products` multiply-adds about `most_products` are left.
  /// `first` says where the units that are covered begin, whatever it is; `block_rows` how many rows a block owns,
  /// where the packed matrix does not.
  RowTileSample(std::span<const std::byte> packed, std::int64_t products, std::int64_t most_products,
                std::uint64_t first = 0, std::int64_t block_rows = 0);

  bool covers_all() const { return stride_ == 1; }
  /// For each row of C whether it is covered.
  const std::vector<bool>& rows() const { return rows_; }
  /// For each row whether several tasks add to it; empty where none can.
  const std::vector<bool>& split_rows() const { return split_rows_; }
  /// The linear numbers, x fastest, of the blocks of the kernel's grid that work on covered units.
  std::vector<std::uint64_t> blocks(std::uint64_t grid_x, std::uint64_t grid_y) const;
  /// The same for some of the grid's y alone.
  std::vector<std::uint64_t> blocks_of_tiles(std::uint64_t grid_x, const std::vector<std::uint64_t>& tiles) const;

 private:
  void take(const transformer::ListReader& lists);
  void take(const transformer::RegionReader& regions);
  void take(const transformer::TaskReader& tasks);
  void take(const transformer::FragmentReader& fragments);
  void take(const transformer::GatherReader& gathered);
  void take(const transformer::BitmapReader& bitmap);
  void take(const transformer::Sparse24Reader& packed);
  void take_packed_tiles(std::int64_t rows, std::int64_t row_tile_rows);
  /// Adds the blocks that work on the rows for which `wanted` is set.
  void take_blocks_of(const transformer::TaskReader& tasks, const std::vector<bool>& wanted);
  /// The rows of which no task is in a block that is not taken.
  std::vector<bool> rows_taken_whole(const transformer::TaskReader& tasks) const;
  /// Takes every n-th of the units of `unit_rows` rows.
  void take_rows(std::int64_t rows, std::int64_t unit_rows);
  bool takes(std::uint64_t unit) const { return unit % static_cast<std::uint64_t>(stride_) == first_; }
  /// Sets out from one of so many units.
  void begin_in(std::uint64_t units) {
    first_ = first_ % std::max<std::uint64_t>(1, std::min(units, static_cast<std::uint64_t>(stride_)));
  }

  std::int64_t stride_ = 1;
  std::uint64_t first_ = 0;
  std::int64_t block_rows_ = 0;
  std::vector<bool> rows_;
  std::vector<bool> split_rows_;  ///< empty where no row can be
  std::vector<bool> blocks_;      ///< along the grid's x
};

}  // namespace esc
