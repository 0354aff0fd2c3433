// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace esc {

/// Zeroed memory straight from the operating system: pages cost nothing until they are touched. Optionally an
/// unmapped stretch lies on both sides. Movable; addresses stay.
class MappedMemory {
 public:
  MappedMemory() = default;
  /// Throws std::bad_alloc where the address space is exhausted.
  explicit MappedMemory(std::size_t bytes, std::size_t guard_bytes = 0);
  MappedMemory(MappedMemory&& other) noexcept { *this = std::move(other); }
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(start_, other.start_);
    std::swap(total_, other.total_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedMemory();

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data_); }

  /// Makes `bytes` at `offset` (both multiples of the page size) inaccessible.
  void protect(std::size_t offset, std::size_t bytes);

 private:
  std::byte* start_ = nullptr;
  std::size_t total_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

inline constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t round_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

}  // namespace esc
