// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/ir/scalar_type.h"

namespace esc {

/// 64 well-mixed bits of `state` (the finisher of splitmix64): a bijection, the same on every platform.
std::uint64_t mix_bits(std::uint64_t state);

/// The value that is at (row, column) of a matrix of which only the pattern is known. Its magnitude is uniform over
/// the multiples of 2^-24 in [0.1, 1] and its sign is fair, so it is never near zero. It depends on nothing but the
/// arguments: the same pattern and seed give the same values from every file format and on every platform.
/// A float64 has the same leading bits and further ones of its own, so that what keeps only float32 of it shows.
double drawn_value(std::uint64_t seed, std::int64_t row, std::int64_t column, ScalarType element = ScalarType::f32);

}  // namespace esc
