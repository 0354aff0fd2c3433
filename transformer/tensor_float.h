// SPDX-License-Identifier: Apache-2.0
#pragma once

// The float32 numbers that tensor cores multiply. As in packed_bytes.h, the text between the markers is part of every
// generated transformer of a matrix whose values are rounded to them.

#include "transformer/packed_bytes.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// TF32: float32 with 11 significant bits, the upper 19 of the 32.
// ---------------------------------------------------------------------------------------------------------------------

/// A float32 as a caller has it, which counts as the nearest number of TF32.
struct TensorFloat {
  float number;

  /// Of two that are as near it is the one farther from zero; above the largest it is infinity.
  float rounded() const {
    constexpr uint32_t infinity = 0x7f800000u, dropped = 0x1fffu, half = 0x1000u, quiet = 0x400000u;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    const uint32_t magnitude = bits & 0x7fffffffu;
    bits = (magnitude < infinity ? bits + half : magnitude > infinity ? bits | quiet : bits) & ~dropped;
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
  }
  explicit operator float() const { return rounded(); }
  explicit operator bool() const { return rounded() != 0; }
};
static_assert(sizeof(TensorFloat) == sizeof(float), "it is where a caller has a float");

// [packing text ends]
}  // namespace esc::transformer
