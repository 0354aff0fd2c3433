// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/structured_rows.h"

namespace esc::gpu {

bool has_structure(const SparseMatrix& matrix, RowStructure structure) {
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const auto begin = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)]);
    const auto end = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]);
    // Columns ascend: where the one `most` further on is in the same group, there are too many.
    const auto most = static_cast<std::size_t>(structure.most);
    for (std::size_t entry = begin; entry + most < end; ++entry) {
      if (matrix.column_of[entry] / structure.of == matrix.column_of[entry + most] / structure.of) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace esc::gpu
