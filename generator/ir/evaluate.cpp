// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/evaluate.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "generator/ir/math_function.h"
#include "generator/support/error.h"

namespace esc {
namespace {

std::int64_t whole(double value) { return static_cast<std::int64_t>(value); }
std::uint64_t mask(double value) { return static_cast<std::uint64_t>(value); }

std::size_t least_operands(Operator op) {
  switch (op) {
    case Operator::multiply:
    case Operator::negate:
    case Operator::population_count:
    case Operator::lowest_set_bit:
    case Operator::clear_lowest_set_bit:
      return 1;
    default:
      return 2;
  }
}

}  // namespace

double calculate(Operator op, std::span<const double> operands) {
  ESC_CHECK(operands.size() >= least_operands(op), "an operation has its operands");
  const double first = operands[0];
  const double second = operands.size() > 1 ? operands[1] : 0;
  const auto divisor = [second] {
    ESC_CHECK(second != 0, "a divisor is not zero");
    return whole(second);
  };
  switch (op) {
    case Operator::add:
      return first + second;
    case Operator::subtract:
      return first - second;
    case Operator::multiply: {
      double product = 1;
      for (const double factor : operands) {
        product *= factor;
      }
      return product;
    }
    case Operator::divide:
      return first / second;
    case Operator::quotient:
      return static_cast<double>(whole(first) / divisor());
    case Operator::remainder:
      return static_cast<double>(whole(first) % divisor());
    case Operator::minimum:
      return std::min(first, second);
    case Operator::negate:
      return -first;
    case Operator::less:
      return first < second ? 1 : 0;
    case Operator::at_most:
      return first <= second ? 1 : 0;
    case Operator::equals:
      return first == second ? 1 : 0;
    case Operator::differs:
      return first != second ? 1 : 0;
    case Operator::population_count:
      return std::popcount(mask(first));
    case Operator::lowest_set_bit:
      ESC_CHECK(mask(first) != 0, "the mask has a set bit");
      return std::countr_zero(mask(first));
    case Operator::clear_lowest_set_bit:
      return static_cast<double>(mask(first) & (mask(first) - 1));
    case Operator::all:
    case Operator::any:
    case Operator::choose:
      break;
  }
  throw Defect(__FILE__, __LINE__, "an operation of all its operands", "all, any and choose look at some of theirs");
}

double calculate(const Call& call, std::span<const double> arguments) {
  const MathFunction* function = find_math_function(call.function);
  ESC_CHECK(function != nullptr && arguments.size() == function->arity(),
            "the function " + call.function + " is known");
  return function->of_one != nullptr ? function->of_one(arguments[0]) : function->of_two(arguments[0], arguments[1]);
}

std::int64_t evaluate_index(const Expression& expression, const Environment& environment) {
  if (const Affine* affine = expression.affine()) {
    return affine->evaluate(environment);
  }
  const auto* operation = std::get_if<Operation>(&expression.content);
  ESC_CHECK(operation != nullptr, "an expression of names and numbers");
  if (operation->op == Operator::choose) {
    const bool holds = evaluate_index(operation->operands.at(0), environment) != 0;
    return evaluate_index(operation->operands.at(holds ? 1 : 2), environment);
  }
  std::vector<double> operands;
  for (const Expression& operand : operation->operands) {
    operands.push_back(static_cast<double>(evaluate_index(operand, environment)));
  }
  const auto holds = [](double value) { return value != 0; };
  if (operation->op == Operator::all) {
    return std::ranges::all_of(operands, holds) ? 1 : 0;
  }
  if (operation->op == Operator::any) {
    return std::ranges::any_of(operands, holds) ? 1 : 0;
  }
  return whole(calculate(operation->op, operands));
}

}  // namespace esc
