// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/finish.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "generator/ir/evaluate.h"
#include "generator/ir/math_function.h"
#include "generator/support/error.h"
#include "generator/verify/number_limits.h"

namespace esc {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

class Analysis {
 public:
  Analysis(const LoopNest& nest, const std::vector<Operand>& operands, std::int64_t row, std::int64_t column)
      : nest_(nest),
        epilogue_(*nest.epilogue),
        operands_(operands),
        row_(row),
        column_(column),
        is_double_(nest.sum() == ScalarType::f64),
        limits_(number_limits(nest.sum())) {}

  Bounded run(Bounded sum) {
    names_[epilogue_.sum] = sum;
    for (const Define& step : epilogue_.steps) {
      names_[step.name] = of(step.value);
    }
    return of(epilogue_.value);
  }

 private:
  /// A result that has been rounded once more; of double the reference rounds too.
  Bounded rounded(double value, double error, double units = 1) const {
    const double magnitude = std::abs(value) + error;
    const double sum = error + (units + (is_double_ ? 1 : 0)) * limits_.unit * magnitude + limits_.smallest;
    return {value, std::isfinite(sum) && magnitude <= limits_.largest ? sum : unknown};
  }

  /// A number of the text as the type has it.
  Bounded number(double value) const {
    const bool is_exact = is_double_ || static_cast<double>(static_cast<float>(value)) == value;
    return is_exact ? Bounded{value, 0} : rounded(value, 0);
  }

  Bounded of(const Expression& expression) const {
    if (const Affine* affine = expression.affine()) {
      return number(static_cast<double>(affine->evaluate({})));
    }
    if (const double* constant = std::get_if<double>(&expression.content)) {
      return number(*constant);
    }
    if (const auto* name = std::get_if<Name>(&expression.content)) {
      const auto found = names_.find(name->name);
      ESC_CHECK(found != names_.end(), "the epilogue has a value for " + name->name);
      return found->second;
    }
    if (const Access* access = expression.access()) {
      if (const ArrayDeclaration* table = nest_.find_array(access->array);
          table != nullptr && table->role == ArrayRole::table) {
        return {table->values.at(static_cast<std::size_t>(row_)), 0};
      }
      const auto found = std::ranges::find(operands_, access->array, &Operand::name);
      ESC_CHECK(found != operands_.end(), "the epilogue reads its operands: " + access->array);
      return {found->at(row_, column_), 0};
    }
    if (const auto* call = std::get_if<Call>(&expression.content)) {
      return of_call(*call);
    }
    if (const auto* convert = std::get_if<Convert>(&expression.content)) {
      return of(convert->operand.at(0));
    }
    return of_operation(std::get<Operation>(expression.content));
  }

  std::vector<Bounded> all_of_them(const std::vector<Expression>& expressions) const {
    std::vector<Bounded> results;
    for (const Expression& one : expressions) {
      results.push_back(of(one));
    }
    return results;
  }

  Bounded of_operation(const Operation& operation) const {
    if (operation.op == Operator::choose) {
      return choice(operation);
    }
    const std::vector<Bounded> operands = all_of_them(operation.operands);
    const Bounded& a = operands.front();
    const Bounded& b = operands.back();
    switch (operation.op) {
      case Operator::add:
        return rounded(a.value + b.value, a.error + b.error);
      case Operator::subtract:
        return rounded(a.value - b.value, a.error + b.error);
      case Operator::multiply:
        return product(operands);
      case Operator::divide:
        return quotient(a, b);
      case Operator::negate:
        return {-a.value, a.error};
      case Operator::minimum:
        return {std::min(a.value, b.value), std::max(a.error, b.error)};
      case Operator::less:
        return condition(a.value < b.value, a, b);
      case Operator::at_most:
        return condition(a.value <= b.value, a, b);
      case Operator::equals:
        return condition(a.value == b.value, a, b);
      case Operator::differs:
        return condition(a.value != b.value, a, b);
      case Operator::all:
      case Operator::any:
        return conjunction(operation.op, operands);
      default:
        break;
    }
    throw Defect(__FILE__, __LINE__, "an operation on numbers", "an epilogue has no operations on whole numbers");
  }

  Bounded product(const std::vector<Bounded>& factors) const {
    Bounded result = factors.front();
    for (std::size_t at = 1; at < factors.size(); ++at) {
      const Bounded& factor = factors[at];
      const double error =
          std::abs(result.value) * factor.error + std::abs(factor.value) * result.error + result.error * factor.error;
      result = rounded(result.value * factor.value, std::isnan(error) ? unknown : error);
    }
    return result;
  }

  Bounded quotient(const Bounded& a, const Bounded& b) const {
    const double value = a.value / b.value;
    const double least = std::abs(b.value) - b.error;
    return least > 0 ? rounded(value, (a.error + std::abs(value) * b.error) / least) : Bounded{value, unknown};
  }

  /// 1 or 0, and 1 as its error where rounding may turn it.
  static Bounded condition(bool holds, const Bounded& a, const Bounded& b) {
    const bool is_sure = std::abs(a.value - b.value) > a.error + b.error || (a.error == 0 && b.error == 0);
    return {holds ? 1.0 : 0.0, is_sure ? 0.0 : 1.0};
  }

  static bool may_turn(const Bounded& condition) {
    return condition.error > 0 && (condition.error >= 1 || std::abs(condition.value) <= condition.error);
  }

  static Bounded conjunction(Operator op, const std::vector<Bounded>& conditions) {
    const auto holds = [](const Bounded& one) { return one.value != 0; };
    const bool value =
        op == Operator::all ? std::ranges::all_of(conditions, holds) : std::ranges::any_of(conditions, holds);
    // One that is sure and decides makes the others not matter.
    const bool decided = std::ranges::any_of(
        conditions, [&](const Bounded& one) { return !may_turn(one) && holds(one) == (op == Operator::any); });
    const bool is_sure = decided || std::ranges::none_of(conditions, may_turn);
    return {value ? 1.0 : 0.0, is_sure ? 0.0 : 1.0};
  }

  Bounded choice(const Operation& operation) const {
    const Bounded condition = of(operation.operands.at(0));
    const bool holds = condition.value != 0;
    const Bounded chosen = of(operation.operands.at(holds ? 1 : 2));
    if (!may_turn(condition)) {
      return chosen;
    }
    const Bounded other = of(operation.operands.at(holds ? 2 : 1));
    const double error = std::max(chosen.error, std::abs(other.value - chosen.value) + other.error);
    return {chosen.value, std::isnan(error) ? unknown : error};
  }

  /// How far the function goes where its arguments may be, at the corners; twice that, for it need not be straight
  /// between them.
  Bounded of_call(const Call& call) const {
    const MathFunction* function = find_math_function(call.function);
    ESC_CHECK(function != nullptr, "the function " + call.function + " is known");
    const std::vector<Bounded> arguments = all_of_them(call.arguments);
    std::vector<double> centre;
    for (const Bounded& one : arguments) {
      centre.push_back(one.value);
    }
    const double value = calculate(call, centre);
    double furthest = 0;
    for (unsigned corner = 0; corner < 1U << arguments.size(); ++corner) {
      std::vector<double> there;
      for (std::size_t at = 0; at < arguments.size(); ++at) {
        const double way = (corner >> at & 1U) == 0 ? -1 : 1;
        there.push_back(arguments[at].value + way * arguments[at].error);
      }
      const double distance = std::abs(calculate(call, there) - value);
      furthest = std::isnan(distance) ? unknown : std::max(furthest, distance);
    }
    return rounded(value, 2 * furthest, 2 * function->ulps);
  }

  const LoopNest& nest_;
  const Epilogue& epilogue_;
  const std::vector<Operand>& operands_;
  std::int64_t row_;
  std::int64_t column_;
  bool is_double_;
  NumberLimits limits_;
  std::map<std::string, Bounded> names_;
};

}  // namespace

Bounded finish(const LoopNest& nest, const std::vector<Operand>& operands, std::int64_t row, std::int64_t column,
               Bounded sum) {
  ESC_CHECK(nest.epilogue.has_value(), "the nest has an epilogue");
  return Analysis(nest, operands, row, column).run(sum);
}

}  // namespace esc
