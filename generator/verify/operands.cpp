// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/operands.h"

#include "generator/lower/canonicalize.h"
#include "generator/matrix/typed_elements.h"
#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::uint64_t seed_of_first = 1000;

/// The numbers ascend and straddle zero, so that a lower bound before an upper one leaves something between them;
/// each is one of any type, and none is a power of two.
double number(std::size_t place) { return -1.375 + 1.75 * static_cast<double>(place); }

/// One element after the other: a confined process, which may start no threads, draws them as well.
std::vector<double> draw(const Operand& operand, const ValueDraw& values) {
  std::vector<double> elements;
  elements.reserve(static_cast<std::size_t>(operand.rows * operand.columns));
  for (std::int64_t row = 0; row < operand.rows; ++row) {
    for (std::int64_t column = 0; column < operand.columns; ++column) {
      elements.push_back(drawn_value(values, operand.columns == 1 ? row : column, row, column, operand.type));
    }
  }
  return elements;
}

}  // namespace

CArgument number_argument(const Operand& operand) {
  ESC_CHECK(operand.rank == 0, "a number is passed by its value");
  const double number = operand.elements.front();
  return operand.type == ScalarType::f64 ? CArgument(number) : CArgument(static_cast<float>(number));
}

std::vector<Operand> draw_operands(const LoopNest& nest, std::int64_t rows, std::int64_t n, const ValueDraw& values) {
  std::vector<Operand> operands;
  if (!nest.epilogue) {
    return operands;
  }
  std::size_t numbers = 0;
  // What a vector goes over its canonical form tells, where rows and columns have sizes of their own.
  const LoopNest canonical = canonicalize(nest);
  const std::vector<ArrayDeclaration> forms = operands_of(canonical);
  for (const ArrayDeclaration& array : operands_of(nest)) {
    const ArrayDeclaration& form = forms.at(operands.size());
    Operand operand{array.name, array.type, form.extents.size(), goes_over_columns(canonical, form), 1, 1, {}};
    if (form.layout) {
      operand.layout = PlacedLayout(*form.layout, {{"M", rows}});
    }
    operand.rows = operand.rank == 2 || (operand.rank == 1 && !operand.over_columns) ? rows : 1;
    operand.columns = operand.over_columns ? n : 1;
    operand.elements = operand.rank == 0
                           ? std::vector{number(numbers++)}
                           : draw(operand, {seed_of_first + values.seed - 1 + operands.size(), values.range});
    operands.push_back(std::move(operand));
  }
  return operands;
}

}  // namespace esc
