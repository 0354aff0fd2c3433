// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace esc {

/// Zeroed memory that a process and those it makes afterwards see alike. It takes room only where it is touched.
class SharedMemory {
 public:
  /// Throws std::bad_alloc where there is not so much.
  explicit SharedMemory(std::size_t bytes);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  /// A part of it. Throws Defect where it is not all inside.
  std::span<std::byte> part(std::size_t begin, std::size_t bytes) const;
  std::size_t size() const { return bytes_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Cuts memory into parts with a gap behind each, so that running over the end of one is not an access of the next.
class PartsOfMemory {
 public:
  /// Where a part of so many bytes begins, at a multiple of 256.
  std::size_t add(std::size_t bytes);
  /// How much all of them need.
  std::size_t size() const { return end_; }

 private:
  std::size_t end_ = 0;
};

}  // namespace esc
