// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/index_range.h"

#include <limits>

#include "generator/support/error.h"

namespace esc {

IndexRange range_of(const Affine& index, const std::function<std::int64_t(const std::string&)>& extent) {
  IndexRange range{index.constant(), index.constant()};
  for (const Affine::Term& term : index.terms()) {
    ESC_CHECK(term.coefficient > 0, "an iterator times a positive number");
    std::int64_t furthest = 0;
    if (__builtin_mul_overflow(term.coefficient, extent(term.name) - 1, &furthest) ||
        __builtin_add_overflow(range.most, furthest, &range.most)) {
      range.most = std::numeric_limits<std::int64_t>::max();
    }
  }
  return range;
}

}  // namespace esc
