// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace esc {

/// Where some shared memory is, in any process that has it: a value that may be handed from one to the other.
class SharedPlace {
 public:
  SharedPlace() = default;
  SharedPlace(std::byte* begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {}

  /// A part of it. Throws Defect where it is not all inside.
  std::span<std::byte> part(std::size_t begin, std::size_t bytes) const;
  std::byte* begin() const { return begin_; }
  std::size_t size() const { return bytes_; }

 private:
  std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Zeroed memory that processes see alike, at the same addresses. It takes room only where it is touched.
class SharedMemory {
 public:
  /// Throws std::bad_alloc where there is not so much, UserError with status missing_tool where the machine has no more
  /// descriptors.
  explicit SharedMemory(std::size_t bytes);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  const SharedPlace& place() const { return place_; }
  std::span<std::byte> part(std::size_t begin, std::size_t bytes) const { return place_.part(begin, bytes); }
  /// By which another process gets it.
  int descriptor() const { return descriptor_; }

  /// Gives this process the memory that the descriptor stands for, where it is in the other one. Whether it could.
  static bool map_there(const SharedPlace& place, int descriptor);

 private:
  int descriptor_ = -1;
  SharedPlace place_;
};

/// Cuts memory into parts with a gap after each, so that running over the end of one is not an access of the next.
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
