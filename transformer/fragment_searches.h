// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "transformer/fragment_packing.h"

namespace esc::transformer {

/// The slots of the units that the panels of one matrix, of so many rows, have first in each window. They follow from
/// the steps alone, so that whoever chooses a cut, packs by it, and packs by others, needs one search for each
/// unit and number of steps of both kinds. Safe to use from several threads.
class FragmentSearches {
 public:
  /// For the matrix of this shape, panels of this height and lines of so many rows of B, however it is cut beside that.
  explicit FragmentSearches(const FragmentShape& shape);
  ~FragmentSearches();

  FragmentSearches(const FragmentSearches&) = delete;
  FragmentSearches& operator=(const FragmentSearches&) = delete;

  /// The slots of the panel in the window, where it has those rows.
  const UnitSlots& find(const WindowRows& rows, const UnitSteps& steps, std::int64_t panel, std::uint64_t window);

 private:
  FragmentShape shape_;
  std::uint64_t windows_;
  std::vector<std::atomic<const UnitSlots*>> found_;  ///< of each unit by its steps; null where nobody has asked
};

/// Throws std::invalid_argument where units shall have quarter steps and elements are not of 16 bits, or dense ones
/// with all elements or placed values and these are not of 32.
void check_steps(ScalarType element, bool has_quarter_steps, bool has_whole_dense_steps, bool has_placed_values);

}  // namespace esc::transformer
