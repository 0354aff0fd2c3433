// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bits of the 16-bit floating-point types. As in packed_bytes.h, the text between the markers is part of every
// generated transformer of a matrix of such elements.

#include "transformer/packed_bytes.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Floating-point numbers of 16 bits, which C++17 has no types for: a sign, `exponent_bits` of exponent, and the rest
// fraction. Packing moves them as they are; all it asks is whether one is a non-zero, which -0.0 is not and a NaN is.
// ---------------------------------------------------------------------------------------------------------------------

template <int exponent_bits>
struct HalfBits {
  uint16_t bits;

  explicit operator bool() const { return (bits & 0x7fffu) != 0; }
};

using Float16Bits = HalfBits<5>;
using BFloat16Bits = HalfBits<8>;
static_assert(sizeof(Float16Bits) == 2 && sizeof(BFloat16Bits) == 2, "they are stored as their bits");

// [packing text ends]
}  // namespace esc::transformer
