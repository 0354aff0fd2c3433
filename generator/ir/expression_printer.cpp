// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/expression_printer.h"

#include <fmt/format.h>

#include "generator/support/error.h"

namespace esc {
namespace {

/// How tightly C binds: an operand that binds less than what is around it needs parentheses.
constexpr int choosing = 1;
constexpr int disjunction = 2;
constexpr int conjunction = 3;
constexpr int equality = 4;
constexpr int comparison = 5;
constexpr int sum = 6;
constexpr int term = 7;
constexpr int prefix = 8;
constexpr int primary = 9;

int binding(const Affine& affine) {
  if (affine.terms().size() + (affine.constant() != 0 ? 1 : 0) > 1) {
    return sum;
  }
  const bool scaled = !affine.is_constant() && affine.terms().front().coefficient != 1;
  return scaled || affine.constant() < 0 ? term : primary;
}

int binding(Operator op) {
  switch (op) {
    case Operator::choose:
      return choosing;
    case Operator::any:
      return disjunction;
    case Operator::all:
      return conjunction;
    case Operator::equals:
    case Operator::differs:
      return equality;
    case Operator::less:
    case Operator::at_most:
      return comparison;
    case Operator::negate:
      return prefix;
    case Operator::add:
    case Operator::subtract:
      return sum;
    case Operator::multiply:
    case Operator::divide:
    case Operator::quotient:
    case Operator::remainder:
      return term;
    case Operator::minimum:
    case Operator::population_count:
    case Operator::lowest_set_bit:
    case Operator::clear_lowest_set_bit:
      break;
  }
  return primary;
}

const char* sign(Operator op) {
  switch (op) {
    case Operator::add:
      return " + ";
    case Operator::subtract:
      return " - ";
    case Operator::multiply:
      return " * ";
    case Operator::divide:
    case Operator::quotient:
      return " / ";
    case Operator::remainder:
      return " % ";
    case Operator::less:
      return " < ";
    case Operator::at_most:
      return " <= ";
    case Operator::equals:
      return " == ";
    case Operator::differs:
      return " != ";
    case Operator::all:
      return " && ";
    case Operator::any:
      return " || ";
    default:
      break;
  }
  throw Defect(__FILE__, __LINE__, "an operator with a sign", "the operation is printed by itself");
}

std::string text(const ColumnSet& set) {
  return fmt::format("columns({}, {}{})", set.first_row, set.membership == Membership::any ? "any of " : "",
                     print(set.pattern));
}

std::string text(const Subscript& subscript) {
  if (subscript.offset.empty()) {
    return print(subscript.affine);
  }
  return subscript.affine == Affine() ? subscript.offset : subscript.offset + " + " + print(subscript.affine);
}

}  // namespace

std::string ExpressionPrinter::access(const Access& access) const {
  std::string result = access.array;
  for (const Subscript& subscript : access.subscripts) {
    result += "[" + text(subscript) + "]";
  }
  return result;
}

std::string ExpressionPrinter::constant(double value) const { return fmt::format("{}", value); }

std::string ExpressionPrinter::function(const std::string& name) const { return name; }

std::string ExpressionPrinter::bits(Operator op, const std::string& operand) const {
  return op == Operator::population_count ? fmt::format("popcount({})", operand)
         : op == Operator::lowest_set_bit ? fmt::format("lowest_bit({})", operand)
                                          : fmt::format("{0} & ({0} - 1)", operand);
}

std::string ExpressionPrinter::minimum(const std::string& left, const std::string& right) const {
  return fmt::format("min({}, {})", left, right);
}

std::string ExpressionPrinter::list(const std::vector<Expression>& expressions) const {
  std::string result;
  for (const Expression& one : expressions) {
    result += (result.empty() ? "" : ", ") + print(one, 0);
  }
  return result;
}

std::string ExpressionPrinter::print(const Operation& operation, int around) const {
  const std::vector<Expression>& operands = operation.operands;
  if (operation.op == Operator::minimum) {
    return minimum(print(operands.at(0), 0), print(operands.at(1), 0));
  }
  if (operation.op >= Operator::population_count) {
    return bits(operation.op, print(operands.at(0), primary));
  }
  const int own = binding(operation.op);
  std::string result;
  if (operation.op == Operator::choose) {
    result = fmt::format("{} ? {} : {}", print(operands.at(0), own + 1), print(operands.at(1), own),
                         print(operands.at(2), own));
  } else if (operation.op == Operator::negate) {
    result = "-" + print(operands.at(0), primary);
  } else {
    for (const Expression& operand : operands) {
      // Compilers ask for the parentheses around a conjunction in a disjunction, and around a comparison in another.
      if (operation.op == Operator::any || own == equality || own == comparison) {
        result +=
            (result.empty() ? "" : sign(operation.op)) + print(operand, operation.op == Operator::any ? equality : sum);
        continue;
      }
      // What is on the right of a difference or a quotient must bind more tightly; so must any product's sum.
      result += result.empty() ? print(operand, own) : sign(operation.op) + print(operand, own + 1);
    }
  }
  return own < around ? "(" + result + ")" : result;
}

std::string ExpressionPrinter::print(const Expression& expression, int around) const {
  if (const Affine* affine = expression.affine()) {
    const std::string result = esc::print(*affine);
    return binding(*affine) < around ? "(" + result + ")" : result;
  }
  if (const Access* element = expression.access()) {
    return read(*element);
  }
  if (const auto* name = std::get_if<Name>(&expression.content)) {
    return name->name;
  }
  if (const auto* value = std::get_if<double>(&expression.content)) {
    const bool is_prefixed = *value < 0 && around > prefix;
    return is_prefixed ? "(" + constant(*value) + ")" : constant(*value);
  }
  if (const auto* count = std::get_if<ColumnCount>(&expression.content)) {
    return fmt::format("size({})", text(count->set));
  }
  if (const auto* at = std::get_if<ColumnAt>(&expression.content)) {
    return fmt::format("{}[{}]", text(at->set), esc::print(at->position));
  }
  if (const auto* call = std::get_if<Call>(&expression.content)) {
    return fmt::format("{}({})", function(call->function), list(call->arguments));
  }
  if (const auto* convert = std::get_if<Convert>(&expression.content)) {
    return fmt::format("static_cast<{}>({})", c_name(convert->type), list(convert->operand));
  }
  return print(std::get<Operation>(expression.content), around);
}

}  // namespace esc
