// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/pattern.h"

namespace esc {

std::string print(const Pattern& pattern) {
  std::string digits = "0b";
  for (int row = pattern.height - 1; row >= 0; --row) {
    digits += pattern.has_row(row) ? '1' : '0';
  }
  return digits;
}

}  // namespace esc
