// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/ir/scalar_type.h"

namespace esc {

/// What the elements of an array are drawn from.
struct ValueDraw {
  enum class Range {
    usual,  ///< [-1, 1], never near zero
    whole   ///< all that the type has: each line of an array, a column of B or a row of A, is of one of the kinds below
  };
  /// Not explicit: a number alone says which of the usual values.
  ValueDraw(std::uint64_t number = 1, Range of = Range::usual)
      : seed(number), range(of) {}  // NOLINT(google-explicit-constructor)

  std::uint64_t seed;
  Range range;
  bool operator==(const ValueDraw&) const = default;
};

/// Lines are of these kinds in turn; the seed says with which of them the first line begins.
inline constexpr std::int64_t kinds_of_values = 8;

/// Whether a line may have zeros, as a column of B may. The non-zeros of A may not.
enum class Zeros { allowed, forbidden };

/// The element at (row, column), exactly a value that the type has in memory, of the line with this number. Lines are
/// in turn: usual values with zeros of both signs; few large values, most others zero; values near the least normal
/// number; denormal ones; zero; few large values among usual ones; values of all magnitudes; small whole numbers, many
/// of them alike. No magnitude is more than a quarter of the largest power of two of the type, so that sums of few do
/// not overflow. Where zeros are forbidden usual values are in their places.
double drawn_value(const ValueDraw& draw, std::int64_t line, std::int64_t row, std::int64_t column, ScalarType element,
                   Zeros zeros = Zeros::allowed);

}  // namespace esc
