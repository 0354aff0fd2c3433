// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "generator/emulate/mapped_memory.h"
#include "generator/ir/placed_layout.h"
#include "generator/verify/kernel_calls.h"

namespace esc {

/// What a matrix is placed by: its layout, and how many rows and items there are.
struct MatrixExtents {
  const PlacedLayout& layout;
  std::int64_t rows = 1;
  std::int64_t items = 1;
};

/// A matrix in memory of its own, from its first element to its last, which takes memory only where it is touched. Some
/// of its rows, or all, are visited. Throws std::bad_alloc where the address space does not suffice.
class PlacedMatrix {
 public:
  /// `shift` elements after an address that is aligned to a page.
  PlacedMatrix(const MatrixExtents& extents, std::int64_t leading_dimension, int shift, ScalarType type,
               const std::vector<bool>& visited = {});

  std::byte* data() const { return memory_.data() + offset_; }
  std::size_t bytes() const {
    return (static_cast<std::size_t>(outermost_ - 1) * leading_dimension_ + inner_) * element_;
  }
  std::int64_t visited_rows() const { return static_cast<std::int64_t>(visited_.size()); }

  /// Calls visit(memory, place, bytes) for each element of the ranges of columns in each visited row, or for those that
  /// are one after the other at once: their memory, and their place in `compact`, where the ranges are beside each
  /// other. Elements of the padding are left out.
  template <typename Byte, typename Visit>
  void visit(const KernelCall& call, Byte* compact, const Visit& visit) const {
    for (const std::int64_t row : visited_) {
      for (const ColumnRange& range : call.compared()) {
        const auto leading_dimension = static_cast<std::int64_t>(leading_dimension_);
        for (const PlacedLayout::Run& run : layout_.runs(row, range.first, range.count, leading_dimension)) {
          const std::int64_t at_once = run.step == 1 ? run.count : 1;
          for (std::int64_t at = 0; at < run.count; at += at_once) {
            visit(data() + static_cast<std::size_t>(run.offset + at * run.step) * element_,
                  compact + static_cast<std::size_t>(run.column + at - range.first) * element_,
                  static_cast<std::size_t>(at_once) * element_);
          }
        }
        compact += static_cast<std::size_t>(range.count) * element_;
      }
    }
  }

  /// Calls visit(index, place, element) for what lies between the last element of an index of the outermost dimension
  /// and the first of the next, before and after what of them is visited, as far as it is watched.
  template <typename Element, typename Visit>
  void visit_gaps(const KernelCall& call, const Visit& visit) const {
    std::int64_t next = 0;  // the gaps after the indices before this one have been visited
    for (const IndexRange& visited : visited_indices(call)) {
      const std::int64_t end = std::min(visited.end, outermost_ - 1);
      for (std::int64_t index = std::max(next, visited.begin - 1); index < end; ++index) {
        auto* const first =
            reinterpret_cast<Element*>(data() + static_cast<std::size_t>(index) * leading_dimension_ * element_);
        for (std::size_t place = inner_; place < inner_ + gap_; ++place) {
          visit(index, place, first[place]);
        }
      }
      next = visited.end;
    }
  }

 private:
  /// Indices of the outermost dimension, without the last.
  struct IndexRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  /// Those whose elements visit() comes to, ascending.
  std::vector<IndexRange> visited_indices(const KernelCall& call) const;

  PlacedLayout layout_;
  std::int64_t outermost_;
  std::vector<std::int64_t> visited_;
  std::size_t element_;
  std::size_t inner_;  ///< elements of an index of the outermost dimension
  std::size_t leading_dimension_;
  std::size_t gap_;
  std::size_t offset_;
  MappedMemory memory_;
};

/// The packed matrix at an address that is divisible by `shift` and not by more, or by 256.
class PlacedBytes {
 public:
  PlacedBytes(std::span<const std::byte> bytes, std::int64_t shift);

  std::span<std::byte> span() const { return {memory_.data() + offset_, size_}; }

 private:
  std::size_t offset_;
  MappedMemory memory_;
  std::size_t size_;
};

}  // namespace esc
