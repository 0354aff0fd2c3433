// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace esc {

/// The bits of an element of 2, 4 or 8 bytes, as a number.
template <typename Element>
using BitsOf = std::conditional_t<sizeof(Element) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(Element) == 4, std::uint32_t, std::uint64_t>>;

/// What is where a kernel has to write: a NaN that no arithmetic produces, its exponent all ones, the rest poison
/// bytes.
template <typename Element>
Element poison() {
  constexpr std::uint64_t bytes = 0xa5a5a5a5a5a5a5a5U;
  constexpr auto positive = static_cast<BitsOf<Element>>(static_cast<BitsOf<Element>>(bytes << 1) >> 1);
  const auto infinity = static_cast<Element>(std::numeric_limits<double>::infinity());
  return std::bit_cast<Element>(static_cast<BitsOf<Element>>(positive | std::bit_cast<BitsOf<Element>>(infinity)));
}

/// To the bit, as a comparison of numbers does not find a NaN.
template <typename Element>
bool is_poison(const Element& value) {
  return std::bit_cast<BitsOf<Element>>(value) == std::bit_cast<BitsOf<Element>>(poison<Element>());
}

}  // namespace esc
