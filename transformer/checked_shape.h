// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

#include "transformer/description.h"
#include "transformer/matrix_view.h"
#include "transformer/rule_text.h"

namespace esc::transformer {

/// The shape of a matrix that is cut so. Throws std::invalid_argument where its rules do not allow that, and for a view
/// that breaks its own.
template <typename Cut>
Shape<Cut> checked_shape(const CsrView& matrix, const Cut& cut) {
  Shape<Cut> shape{cut, matrix.rows, matrix.columns, matrix.element};
  shape.visit([](const char* name, const auto& number, const Rule& rule) {
    if (!rule.allows(static_cast<std::uint64_t>(number))) {
      throw std::invalid_argument("a matrix cannot be packed so: " +
                                  broken_rule(name, static_cast<std::uint64_t>(number), rule));
    }
  });
  check(matrix);
  return shape;
}

}  // namespace esc::transformer
