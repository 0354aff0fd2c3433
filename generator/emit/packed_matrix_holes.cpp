// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/packed_matrix_holes.h"

namespace esc {

std::map<std::string, std::string> packed_matrix_holes(const LoopNest& nest) {
  if (!nest.packed.is_shape_generic) {
    return {{"PACKED", "const unsigned char*"}, {"OF_LAYER", ""}, {"CLASSES", ""}, {"ASK_CLASSES", ""}};
  }
  return {{"PACKED", "const PackedMatrix&"},
          {"OF_LAYER", "packed."},
          {"CLASSES", "const PackedMatrix& packed, "},
          {"ASK_CLASSES", "packed, "}};
}

}  // namespace esc
