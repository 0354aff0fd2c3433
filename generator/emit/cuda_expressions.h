// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/ir/expression_printer.h"
#include "generator/ir/instruction.h"

namespace esc {

/// Expressions as CUDA C++: B and C with their leading dimensions, other arrays as the kernel declares them.
class CudaExpressions : public ExpressionPrinter {
 public:
  explicit CudaExpressions(const LoopNest& nest) : nest_(nest) {}

  std::string access(const Access& access) const override;
  /// Where an element is.
  std::string pointer(const Access& access) const;
  /// The distance of an array's rows, in elements.
  std::string leading_dimension(const ArrayDeclaration& array) const;
  /// "C, row, column, ldc": an element of a matrix with a layout, for a function that finds it.
  std::string place_arguments(const Access& access) const;
  /// An argument of an instruction, as its parameter wants it.
  std::string argument(const Expression& expression, const Instruction::Parameter& parameter) const;

 protected:
  std::string read(const Access& element) const override;
  std::string constant(double value) const override;
  std::string function(const std::string& name) const override;
  std::string bits(Operator op, const std::string& operand) const override;
  std::string minimum(const std::string& left, const std::string& right) const override;

 private:
  /// The index of an element in its array, after the others of the outer dimensions; empty for the first.
  std::string position(const ArrayDeclaration& array, const Access& access) const;

  const LoopNest& nest_;
};

/// How a kernel calls the distance of rows of what it is given to write, or to read A from: "ldc" of C.
const char* leading_dimension_of_given(const ArrayDeclaration& array);

/// offset + affine part, without a "+ 0".
std::string index_text(const Subscript& subscript);

}  // namespace esc
