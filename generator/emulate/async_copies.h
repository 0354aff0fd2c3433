// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace esc {

/// One copy from global to shared memory that a thread has issued.
struct AsyncCopy {
  std::uint64_t shared = 0;
  std::uint64_t global = 0;
  std::uint64_t bytes = 0;
  std::uint64_t zero_fill = 0;  ///< how many of the bytes, the last ones, are zeros instead
};

/// The copies of one thread in the order of issue, cut into committed groups.
class AsyncCopies {
 public:
  void issue(const AsyncCopy& copy) { copies_.push_back(copy); }
  void commit() { group_ends_.push_back(copies_.size()); }

  /// Calls `land` for each copy of all committed groups but the latest `groups_left`, and forgets them.
  template <class Land>
  void wait(std::uint64_t groups_left, const Land& land) {
    if (group_ends_.size() <= groups_left) {
      return;
    }
    const std::size_t groups = group_ends_.size() - groups_left;
    const std::size_t end = group_ends_[groups - 1];
    for (std::size_t index = 0; index < end; ++index) {
      land(copies_[index]);
    }
    copies_.erase(copies_.begin(), copies_.begin() + static_cast<std::ptrdiff_t>(end));
    group_ends_.erase(group_ends_.begin(), group_ends_.begin() + static_cast<std::ptrdiff_t>(groups));
    for (std::size_t& group_end : group_ends_) {
      group_end -= end;
    }
  }

  void clear() {
    copies_.clear();
    group_ends_.clear();
  }

 private:
  std::vector<AsyncCopy> copies_;
  std::vector<std::size_t> group_ends_;
};

}  // namespace esc
