#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "generator/emulate/mapped_memory.h"
#include "generator/verify/kernel_calls.h"

namespace esc {

/// A matrix in memory of its own, from its first element to its last, which takes memory only where it is touched. Some of its rows, or
/// all, are visited. Throws std::bad_alloc where the address space does not suffice.
class PlacedMatrix {
 public:
  /// `shift` elements behind an address that is aligned to a page.
  PlacedMatrix(std::int64_t rows, std::int64_t n, std::int64_t leading_dimension, int shift, ScalarType type,
               const std::vector<bool>& visited = {});

  std::byte* data() const { return memory_.data() + offset_; }
  std::size_t bytes() const { return static_cast<std::size_t>(rows_ - 1) * stride_ + static_cast<std::size_t>(n_) * element_; }
  std::int64_t visited_rows() const { return static_cast<std::int64_t>(visited_.size()); }

  /// Calls visit(memory, place, bytes) for each range of columns in each visited row: its memory, and its place in `compact`, where the
  /// ranges stand beside each other.
  template <typename Byte, typename Visit>
  void visit(const KernelCall& call, Byte* compact, const Visit& visit) const {
    for (const std::int64_t row : visited_) {
      for (const ColumnRange& range : call.compared()) {
        const std::size_t bytes = static_cast<std::size_t>(range.count) * element_;
        visit(data() + static_cast<std::size_t>(row) * stride_ + static_cast<std::size_t>(range.first) * element_, compact, bytes);
        compact += bytes;
      }
    }
  }

  /// Calls visit(row, column, element) for what lies before and behind the columns of a visited row, as far as it is watched.
  template <typename Element, typename Visit>
  void visit_gaps(const Visit& visit) const {
    std::int64_t next = 0;  // the gaps behind the rows before this one have been visited
    for (const std::int64_t visited : visited_) {
      for (std::int64_t row = std::max(next, visited - 1); row <= visited && row + 1 < rows_; ++row) {
        auto* const first = reinterpret_cast<Element*>(data() + static_cast<std::size_t>(row) * stride_);
        for (std::int64_t column = n_; column < n_ + gap_; ++column) {
          visit(row, column, first[column]);
        }
      }
      next = visited + 1;
    }
  }

 private:
  std::int64_t rows_;
  std::vector<std::int64_t> visited_;
  std::int64_t n_;
  std::size_t element_;
  std::size_t stride_;
  std::int64_t gap_;
  std::size_t offset_;
  MappedMemory memory_;
};

/// The packed matrix at an address that is divisible by `shift` and not by more, or by 256.
class PlacedBytes {
 public:
  PlacedBytes(std::span<const std::byte> bytes, std::int64_t shift);

  std::span<const std::byte> span() const { return {memory_.data() + offset_, size_}; }

 private:
  std::size_t offset_;
  MappedMemory memory_;
  std::size_t size_;
};

}  // namespace esc
