// SPDX-License-Identifier: Apache-2.0
#include "generator/model/read_elements.h"

#include <fmt/format.h>

#include "generator/matrix/round_values.h"
#include "generator/matrix/typed_elements.h"
#include "generator/model/layer_file.h"
#include "generator/support/error.h"

namespace esc {

SparseMatrix read_elements(const std::string& file, ScalarType element) {
  SparseMatrix matrix = read_layer(file, ReadOptions{.element = read_type(element)});
  if (!is_rounded(element)) {
    return matrix;
  }
  if (const Rounding rounding = round_values(matrix, element); rounding.became_infinite > 0) {
    throw UserError(
        file, fmt::format("has {} values beyond the largest number of {}", rounding.became_infinite, name_of(element)),
        "scale the matrix, or choose another type");
  }
  return matrix;
}

}  // namespace esc
