// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/nest_in_type.h"

namespace esc {

LoopNest in_type(LoopNest nest, ScalarType element) {
  for (ArrayDeclaration& array : nest.arrays) {
    array.type = array.extents.empty() ? sum_type(element) : element;
  }
  if (nest.epilogue) {
    for (Define& step : nest.epilogue->steps) {
      step.type = sum_type(element);
    }
  }
  return nest;
}

}  // namespace esc
