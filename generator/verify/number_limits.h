// SPDX-License-Identifier: Apache-2.0
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
constexpr NumberLimits number_limits_of = {std::numeric_limits<Element>::epsilon() / 2,
                                           std::numeric_limits<Element>::denorm_min(),
                                           std::numeric_limits<Element>::max()};

/// Those of a type that kernels have.
constexpr NumberLimits number_limits(ScalarType element) {
  switch (element) {
    case ScalarType::f64:
      return number_limits_of<double>;
    case ScalarType::f16:
      return {0x1p-11, 0x1p-24, 65504};
    case ScalarType::bf16:
      return {0x1p-8, 0x1p-133, 0x1.fep127};
    case ScalarType::tf32:
      return {0x1p-11, 0x1p-136, 0x1.ffcp127};
    default:
      return number_limits_of<float>;
  }
}

}  // namespace esc
