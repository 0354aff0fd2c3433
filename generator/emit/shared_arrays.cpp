// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/shared_arrays.h"

namespace esc {

std::span<const Affine> extents_in_block(const ArrayDeclaration& array) {
  return std::span(array.extents).subspan(array.role == ArrayRole::cluster ? 1 : 0);
}

std::int64_t declared_shared_bytes(const LoopNest& nest) {
  const Environment constants = constants_of(nest);
  std::int64_t bytes = 0;
  for (const ArrayDeclaration& array : nest.arrays) {
    if (!is_in_shared_memory(array.role) || !array.record.empty()) {
      continue;
    }
    std::int64_t elements = 1;
    for (const Affine& extent : extents_in_block(array)) {
      elements *= extent.evaluate(constants);
    }
    bytes += elements * bytes_of(array.type);
  }
  return bytes;
}

}  // namespace esc
