// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/value_draw.h"

#include <cmath>

#include "generator/matrix/drawn_value.h"
#include "generator/support/error.h"
#include "generator/verify/number_limits.h"

namespace esc {
namespace {

/// The powers of two that a type has.
struct Exponents {
  int largest;  ///< of the largest number
  int least_normal;
  int least;  ///< of the smallest number above zero
};

Exponents exponents_of(ScalarType element) {
  const NumberLimits limits = number_limits(element);
  int behind = 0;
  std::frexp(limits.largest, &behind);
  const int least = std::ilogb(limits.smallest);
  // A denormal number has as many bits as the type has after the point.
  return {behind - 1, least - std::ilogb(2 * limits.unit), least};
}

/// Draws one element after the other from the bits of its place.
class Place {
 public:
  Place(const ValueDraw& draw, std::int64_t row, std::int64_t column, ScalarType element)
      : usual_(drawn_value(draw.seed, row, column, element)),
        bits_(mix_bits(mix_bits(draw.seed ^ 0x5851f42d4c957f2dU) +
                       static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(column) + 1)),
        exponents_(exponents_of(element)) {}

  double usual() const { return usual_; }
  double zero() const { return (bits_ & 1) != 0 ? -0.0 : 0.0; }
  bool one_of(std::uint64_t many) const { return (bits_ >> 1) % many == 0; }
  double large() const { return between(2, exponents_.largest - 2); }
  double tiny() const { return between(exponents_.least_normal, exponents_.least_normal + 4); }
  double denormal() const {
    const int digits = exponents_.least_normal - exponents_.least;
    const std::uint64_t units = 1 + (bits_ >> 20) % ((std::uint64_t{1} << digits) - 1);
    return std::copysign(std::ldexp(static_cast<double>(units), exponents_.least), usual_);
  }
  double whole() const { return std::copysign((bits_ >> 20 & 3) == 0 ? 2.0 : 1.0, usual_); }
  double any() const { return between(exponents_.least_normal, exponents_.largest - 2); }

 private:
  /// With the digits of the usual value, whose magnitude is in [0.1, 1], and an exponent between these.
  double between(int least, int largest) const {
    int own = 0;
    const double digits = std::frexp(usual_, &own);
    const auto count = static_cast<std::uint64_t>(largest - least + 1);
    return std::ldexp(digits, least + 1 + static_cast<int>((bits_ >> 20) % count));
  }

  double usual_;
  std::uint64_t bits_;
  Exponents exponents_;
};

}  // namespace

double drawn_value(const ValueDraw& draw, std::int64_t line, std::int64_t row, std::int64_t column, ScalarType element,
                   Zeros zeros) {
  if (draw.range == ValueDraw::Range::usual) {
    return drawn_value(draw.seed, row, column, element);
  }
  const Place place(draw, row, column, element);
  const double zero = zeros == Zeros::allowed ? place.zero() : place.usual();
  constexpr std::uint64_t few = 16;
  switch ((static_cast<std::uint64_t>(line) + draw.seed) % kinds_of_values) {
    case 0:
      return place.one_of(3) ? zero : place.usual();
    case 1:
      return place.one_of(few) ? place.large() : zero;
    case 2:
      return place.tiny();
    case 3:
      return place.denormal();
    case 4:
      return zeros == Zeros::allowed ? 0.0 : place.usual();
    case 5:
      return place.one_of(few) ? place.large() : place.usual();
    case 6:
      return place.any();
    default:
      return place.one_of(4) ? zero : place.whole();
  }
}

}  // namespace esc
