// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace esc {

/// What a hook is told about one access: its size, the alignment that its type promises, and its place.
/// Packed into 64 bits: size (bits 0-15), log2 of the alignment (16-23), site (32-63).
struct AccessNote {
  static constexpr std::uint64_t pack(std::uint64_t bytes, unsigned log2_alignment, std::uint32_t site) {
    return (bytes & 0xffff) | std::uint64_t{log2_alignment} << 16 | std::uint64_t{site} << 32;
  }
  static constexpr std::uint64_t bytes(std::uint64_t note) { return note & 0xffff; }
  static constexpr std::uint32_t site(std::uint64_t note) { return static_cast<std::uint32_t>(note >> 32); }
  static constexpr std::uint64_t alignment(std::uint64_t note) { return std::uint64_t{1} << (note >> 16 & 63); }
};

}  // namespace esc
