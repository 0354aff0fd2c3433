// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/ir/expression.h"

namespace esc {

/// Expressions as C text, with no more parentheses than needed. What differs between a nest's dump and a kernel is left
/// to the functions that are virtual.
class ExpressionPrinter {
 public:
  virtual ~ExpressionPrinter() = default;

  std::string print(const Expression& expression) const { return print(expression, 0); }
  virtual std::string access(const Access& access) const;

 protected:
  /// The value of an element.
  virtual std::string read(const Access& element) const { return access(element); }
  virtual std::string constant(double value) const;
  /// A function of C's mathematics library, by its name for doubles.
  virtual std::string function(const std::string& name) const;
  /// Operations that C has no sign for.
  virtual std::string bits(Operator op, const std::string& operand) const;
  virtual std::string minimum(const std::string& left, const std::string& right) const;

 private:
  std::string print(const Expression& expression, int around) const;
  std::string print(const Operation& operation, int around) const;
  std::string list(const std::vector<Expression>& expressions) const;
};

}  // namespace esc
