// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/operand_image.h"

#include <utility>

#include "generator/verify/matrix_image.h"

namespace esc {

std::int64_t leading_dimension(const Operand& operand) {
  return operand.layout.least_leading_dimension(operand.columns / operand.layout.columns_of_item());
}

std::vector<double> in_memory(const Operand& operand) {
  MatrixImage<double> image(operand.layout, operand.rows, operand.columns, leading_dimension(operand), 0);
  image.visit(operand.elements.data(), [](double& place, double value) { place = value; });
  return std::move(image.elements());
}

}  // namespace esc
