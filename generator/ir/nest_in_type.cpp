// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/nest_in_type.h"

#include <utility>

namespace esc {
namespace {

bool is_of_product(ArrayRole role) {
  return role == ArrayRole::sparse || role == ArrayRole::dense || role == ArrayRole::output;
}

/// The type of an array's elements, as in_type says.
ScalarType type_of(const ArrayDeclaration& array, ScalarType element) {
  const bool keeps_its_own = is_index(array.type) || array.role == ArrayRole::table;
  return keeps_its_own               ? array.type
         : array.extents.empty()     ? sum_type(element)
         : is_of_product(array.role) ? element
                                     : memory_type(element);
}

}  // namespace

LoopNest in_type(LoopNest nest, ScalarType element) {
  for (ArrayDeclaration& array : nest.arrays) {
    array.type = type_of(array, element);
  }
  if (nest.epilogue) {
    for (Define& step : nest.epilogue->steps) {
      step.type = sum_type(element);
    }
  }
  return nest;
}

std::optional<LoopNest> written_for(LoopNest nest, ScalarType element) {
  if (nest.element() == element) {
    return nest;
  }
  return nest.element() == memory_type(element) ? std::optional(in_type(std::move(nest), element)) : std::nullopt;
}

}  // namespace esc
