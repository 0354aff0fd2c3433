#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace esc {

/// What stands where a kernel has to write: a NaN that no arithmetic produces, its exponent all ones, the rest poison bytes.
template <typename Element>
Element poison() {
  using Bits = std::conditional_t<sizeof(Element) == 8, std::uint64_t, std::uint32_t>;
  Bits bits = 0;
  std::memset(&bits, 0xa5, sizeof bits);
  const Bits exponent = std::bit_cast<Bits>(std::numeric_limits<Element>::infinity());
  return std::bit_cast<Element>(static_cast<Bits>(bits & ~(Bits{1} << (8 * sizeof bits - 1))) | exponent);
}

/// To the bit, as a comparison of numbers does not find a NaN.
template <typename Element>
bool is_poison(const Element& value) {
  const Element wanted = poison<Element>();
  return std::memcmp(&value, &wanted, sizeof value) == 0;
}

}  // namespace esc
