#pragma once

#include <limits>

#include "generator/ir/scalar_type.h"

namespace esc {

/// What the numbers of a kernel's element type are like.
struct NumberLimits {
  double unit;      ///< half a unit in the last place of 1: the most that one rounding adds, relatively
  double smallest;  ///< above zero
  double largest;
};

template <typename Element>
constexpr NumberLimits number_limits_of = {std::numeric_limits<Element>::epsilon() / 2, std::numeric_limits<Element>::denorm_min(),
                                           std::numeric_limits<Element>::max()};

/// Those of f32 or f64.
constexpr NumberLimits number_limits(ScalarType element) {
  return element == ScalarType::f64 ? number_limits_of<double> : number_limits_of<float>;
}

}  // namespace esc
