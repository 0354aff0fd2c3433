#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace esc {

/// The row panels that a run covers, all of them or every n-th unit of them, and the thread blocks that work on those. A unit
/// is what a block cannot do in part: a panel of lists, or all panels of a block with regions.
class PanelSample {
 public:
  /// Covers so many units that of `products` multiply-adds about `most_products` are left.
  PanelSample(std::span<const std::byte> packed, std::int64_t products, std::int64_t most_products);

  bool covers_all() const { return stride_ == 1; }
  /// For each row of C whether it is covered.
  std::vector<bool> rows() const;
  /// The linear numbers, x fastest, of the blocks of a grid that work on covered units.
  std::vector<std::uint64_t> blocks(std::uint64_t grid_x, std::uint64_t grid_y) const;

 private:
  std::int64_t rows_ = 0;
  std::int64_t unit_rows_ = 1;
  std::vector<std::uint32_t> unit_of_block_;  ///< along the grid's x; empty: block x works on unit x
  std::int64_t stride_ = 1;
};

}  // namespace esc
