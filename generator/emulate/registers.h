// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace esc {

/// Three extents or coordinates, laid out as CUDA's dim3 and uint3.
struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  std::uint64_t volume() const { return std::uint64_t{x} * y * z; }
  /// The coordinates of element `linear` of a box of these extents; x runs fastest.
  Dim3 at(std::uint64_t linear) const {
    return {static_cast<std::uint32_t>(linear % x), static_cast<std::uint32_t>(linear / x % y),
            static_cast<std::uint32_t>(linear / x / y)};
  }
  bool operator==(const Dim3&) const = default;
};

/// What compiled text reads and writes by name. The emulator sets the values of the thread that it lets run.
struct Registers {
  Dim3 thread_index{0, 0, 0};
  Dim3 block_index{0, 0, 0};
  Dim3 block_extent;
  Dim3 grid_extent;
  std::uint32_t site = 0;         ///< the place of the latest call of the emulator
  std::int64_t fuel = INT64_MAX;  ///< loop iterations left to this thread
  std::uint64_t stack_limit = 0;  ///< no frame may reach below this address
};

}  // namespace esc
