#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include "generator/matrix/typed_elements.h"

namespace esc {

/// What stands where a kernel has to write: a NaN that no arithmetic produces, its exponent all ones, the rest poison bytes.
template <typename Element>
Element poison() {
  Element bytes;
  Element infinity = number_of<Element>(std::numeric_limits<double>::infinity());
  std::memset(&bytes, 0xa5, sizeof bytes);
  unsigned char of_poison[sizeof(Element)];
  unsigned char of_infinity[sizeof(Element)];
  std::memcpy(of_poison, &bytes, sizeof bytes);
  std::memcpy(of_infinity, &infinity, sizeof infinity);
  of_poison[sizeof(Element) - 1] &= 0x7f;  // positive
  for (std::size_t at = 0; at < sizeof(Element); ++at) {
    of_poison[at] |= of_infinity[at];
  }
  Element result;
  std::memcpy(&result, of_poison, sizeof result);
  return result;
}

/// To the bit, as a comparison of numbers does not find a NaN.
template <typename Element>
bool is_poison(const Element& value) {
  const Element wanted = poison<Element>();
  return std::memcmp(&value, &wanted, sizeof value) == 0;
}

}  // namespace esc
