#pragma once

#include <cstdint>

namespace esc {

/// 64 well-mixed bits of `state` (the finisher of splitmix64): a bijection, the same on every platform.
std::uint64_t mix_bits(std::uint64_t state);

/// The value that stands at (row, column) of a matrix of which only the pattern is known. Its magnitude is uniform over
/// the multiples of 2^-24 in [0.1, 1] and its sign is fair, so it is never near zero. It depends on nothing but the
/// arguments: the same pattern and seed give the same values from every file format and on every platform.
float drawn_value(std::uint64_t seed, std::int64_t row, std::int64_t column);

}  // namespace esc
