// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/read_value.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include <cmath>

#include "generator/frontend/math_call.h"
#include "generator/frontend/number_type.h"
#include "generator/frontend/read_index.h"
#include "generator/frontend/refusal.h"

namespace esc::frontend {
namespace {

constexpr const char* expected_value =
    "expected numbers, elements, + - * /, comparisons, ?: and functions of mathematics";

WrittenValue number(double value, const clang::Expr& source) {
  if (!std::isfinite(value)) {
    refuse(source, "this constant is not finite: expected a number");
  }
  return {value};
}

/// The operation, with what its operands read.
WrittenValue operation(Operator op, const std::vector<WrittenValue>& operands) {
  Operation result{op, {}};
  WrittenValue value;
  for (const WrittenValue& operand : operands) {
    result.operands.push_back(operand.expression);
    value.operands.insert(value.operands.end(), operand.operands.begin(), operand.operands.end());
  }
  value.expression = std::move(result);
  return value;
}

/// The local that the expression names, perhaps as another kind of integer, where it is a truth value.
const clang::VarDecl* truth_local(const clang::Expr& expression) {
  const clang::Expr* inner = expression.IgnoreParens();
  while (const auto* cast = clang::dyn_cast<clang::CastExpr>(inner)) {
    const bool keeps = cast->getCastKind() == clang::CK_NoOp || cast->getCastKind() == clang::CK_LValueToRValue ||
                       cast->getCastKind() == clang::CK_IntegralCast ||
                       cast->getCastKind() == clang::CK_IntegralToBoolean;
    if (!keeps) {
      return nullptr;
    }
    inner = cast->getSubExpr()->IgnoreParens();
  }
  const clang::VarDecl* variable = variable_of(*inner);
  const bool is_truth = variable != nullptr && variable->getType()->isIntegerType() && is_value_local(*variable);
  return is_truth ? variable : nullptr;
}

/// One reading of an expression in its scope.
class ValueReader {
 public:
  explicit ValueReader(const Scope& scope) : scope_(scope), ast_(scope.variables->ast()) {}

  WrittenValue read(const clang::Expr& expression) const {
    const clang::Expr& inner = *expression.IgnoreParens();
    if (const auto constant = floating_constant(inner)) {
      return number(*constant, inner);
    }
    if (!inner.getType()->isRealFloatingType()) {
      return read_integer(inner);
    }
    if (const auto* cast = clang::dyn_cast<clang::CastExpr>(&inner)) {
      return read_cast(*cast);
    }
    if (const clang::VarDecl* variable = variable_of(inner)) {
      return read_variable(*variable, inner);
    }
    if (is_element(inner)) {
      return value_of(read_element(inner, scope_));
    }
    if (const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&inner)) {
      if (unary->getOpcode() == clang::UO_Minus) {
        return operation(Operator::negate, {read(*unary->getSubExpr())});
      }
      if (unary->getOpcode() == clang::UO_Plus) {
        return read(*unary->getSubExpr());
      }
    }
    if (const auto* binary = clang::dyn_cast<clang::BinaryOperator>(&inner)) {
      return read_arithmetic(*binary);
    }
    if (const auto* choice = clang::dyn_cast<clang::ConditionalOperator>(&inner)) {
      return read_choice(*choice);
    }
    if (const auto* call = clang::dyn_cast<clang::CallExpr>(&inner)) {
      return read_call(*call);
    }
    refuse_value(inner);
  }

 private:
  [[noreturn]] static void refuse_value(const clang::Expr& expression) {
    refuse(expression, fmt::format("this has no part in a value: {}", expected_value));
  }

  /// The value where the compiler can tell it: literals, macros, sums of them.
  std::optional<double> floating_constant(const clang::Expr& expression) const {
    clang::Expr::EvalResult result;
    const bool known = !expression.isValueDependent() && expression.getType()->isRealFloatingType() &&
                       expression.EvaluateAsRValue(result, ast_) && result.Val.isFloat() && !result.HasSideEffects;
    if (!known) {
      return std::nullopt;
    }
    return as_double(result.Val.getFloat());
  }

  static double as_double(llvm::APFloat value) {
    bool loses = false;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
    return value.convertToDouble();
  }

  WrittenValue read_cast(const clang::CastExpr& cast) const {
    const clang::Expr& under = *cast.getSubExpr();
    switch (cast.getCastKind()) {
      case clang::CK_NoOp:
      case clang::CK_LValueToRValue:
        return read(under);
      case clang::CK_FloatingCast:
        return read_conversion(cast, read(under));
      case clang::CK_IntegralToFloating:
        return read(under);
      default:
        break;
    }
    refuse_value(cast);
  }

  WrittenValue read_conversion(const clang::CastExpr& cast, WrittenValue value) const {
    constexpr std::uint64_t bits_of_float = 32;
    const std::uint64_t to = ast_.getTypeSize(cast.getType());
    if (to > bits_of_float || to >= ast_.getTypeSize(cast.getSubExpr()->getType())) {
      return value;
    }
    const std::optional<ScalarType> type = number_type(cast.getType());
    if (!type) {
      refuse(cast, fmt::format("this value is narrowed to {}: expected float, double, _Float16 or __bf16",
                               cast.getType().getAsString()));
    }
    value.expression = Convert{*type, {value.expression}};
    return value;
  }

  /// Among integers only constants, truth values and choices between them are numbers of a nest.
  WrittenValue read_integer(const clang::Expr& expression) const {
    if (const auto constant = constant_value(expression, ast_)) {
      return number(static_cast<double>(*constant), expression);
    }
    if (const clang::VarDecl* local = truth_local(expression)) {
      return value_of(*local, expression, scope_);
    }
    const clang::Expr& inner = without_value_casts(expression);
    if (is_element(inner)) {
      read_element(inner, scope_);  // which refuses what it holds
    }
    if (const auto* choice = clang::dyn_cast<clang::ConditionalOperator>(&inner)) {
      return read_choice(*choice);
    }
    if (!expression.isKnownToHaveBooleanValue()) {
      refuse(expression, "an integer in a value: expected constants, or a parameter of the elements' type");
    }
    return operation(Operator::choose, {read_condition(expression), {1.0}, {0.0}});
  }

  WrittenValue read_choice(const clang::ConditionalOperator& choice) const {
    return operation(Operator::choose,
                     {read_condition(*choice.getCond()), read(*choice.getTrueExpr()), read(*choice.getFalseExpr())});
  }

  WrittenValue read_variable(const clang::VarDecl& variable, const clang::Expr& use) const {
    const std::string name = variable.getNameAsString();
    const auto definition = scope_.variables->definition(variable);
    if (definition && variable.getType()->isReferenceType()) {
      return ValueReader(definition->scope).read(*definition->value);
    }
    if (variable.isLocalVarDecl()) {
      return value_of(variable, use, scope_);
    }
    if (const auto change = scope_.variables->change(variable)) {
      refuse(*change,
             fmt::format("{0} is changed here, but the output is made of it: it is expected to stay the same", name));
    }
    if (variable.getType().isConstQualified() && variable.getAnyInitializer() != nullptr) {
      const clang::APValue* value = variable.evaluateValue();
      if (value != nullptr && value->isFloat()) {
        return number(as_double(value->getFloat()), use);
      }
    }
    return value_of(read_element(use, scope_));
  }

  WrittenValue read_arithmetic(const clang::BinaryOperator& binary) const {
    switch (binary.getOpcode()) {
      case clang::BO_Add:
        return combine(Operator::add, read(*binary.getLHS()), read(*binary.getRHS()));
      case clang::BO_Sub:
        return combine(Operator::subtract, read(*binary.getLHS()), read(*binary.getRHS()));
      case clang::BO_Mul:
        return combine(Operator::multiply, read(*binary.getLHS()), read(*binary.getRHS()));
      case clang::BO_Div:
        return combine(Operator::divide, read(*binary.getLHS()), read(*binary.getRHS()));
      default:
        break;
    }
    refuse(binary, fmt::format("operator {} in a value: {}", binary.getOpcodeStr().str(), expected_value));
  }

  WrittenValue read_call(const clang::CallExpr& call) const {
    const MathFunction* function = called_function(call);
    if (function == nullptr) {
      refuse_value(call);
    }
    Call result{std::string(function->name), {}};
    WrittenValue value;
    for (const clang::Expr* argument : call.arguments()) {
      const WrittenValue read_argument = read(*argument);
      result.arguments.push_back(read_argument.expression);
      value.operands.insert(value.operands.end(), read_argument.operands.begin(), read_argument.operands.end());
    }
    value.expression = std::move(result);
    return value;
  }

  WrittenValue read_condition(const clang::Expr& expression) const {
    const clang::Expr& inner = *expression.IgnoreParens();
    if (const auto constant = floating_constant(inner)) {
      return {*constant != 0 ? 1 : 0};
    }
    if (inner.getType()->isRealFloatingType()) {
      return operation(Operator::differs, {read(inner), {0.0}});
    }
    if (const auto constant = constant_value(inner, ast_)) {
      return {*constant};
    }
    if (const clang::VarDecl* local = truth_local(inner)) {
      return operation(Operator::differs, {value_of(*local, inner, scope_), {0.0}});
    }
    if (const auto* cast = clang::dyn_cast<clang::CastExpr>(&inner)) {
      switch (cast->getCastKind()) {
        case clang::CK_NoOp:
        case clang::CK_LValueToRValue:
        case clang::CK_IntegralCast:
        case clang::CK_IntegralToBoolean:
        case clang::CK_FloatingToBoolean:
          return read_condition(*cast->getSubExpr());
        default:
          refuse_condition(inner);
      }
    }
    if (const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&inner);
        unary != nullptr && unary->getOpcode() == clang::UO_LNot) {
      return operation(Operator::equals, {read_condition(*unary->getSubExpr()), {0}});
    }
    if (const auto* binary = clang::dyn_cast<clang::BinaryOperator>(&inner)) {
      return binary->isLogicalOp() ? operation(binary->getOpcode() == clang::BO_LAnd ? Operator::all : Operator::any,
                                               {read_condition(*binary->getLHS()), read_condition(*binary->getRHS())})
                                   : read_comparison(*binary);
    }
    if (const auto* choice = clang::dyn_cast<clang::ConditionalOperator>(&inner)) {
      return operation(Operator::choose, {read_condition(*choice->getCond()), read_condition(*choice->getTrueExpr()),
                                          read_condition(*choice->getFalseExpr())});
    }
    refuse_condition(inner);
  }

  [[noreturn]] static void refuse_condition(const clang::Expr& expression) {
    refuse(expression, "this is no condition on numbers: expected comparisons, &&, || and !");
  }

  WrittenValue read_comparison(const clang::BinaryOperator& comparison) const {
    const clang::Expr& left = *comparison.getLHS();
    const clang::Expr& right = *comparison.getRHS();
    const bool of_truth = comparison.isEqualityOp() && is_truth(left) && is_truth(right);
    if (!comparison.isComparisonOp() || !(left.getType()->isRealFloatingType() || of_truth)) {
      refuse_condition(comparison);
    }
    const auto side = [&](const clang::Expr& one) { return of_truth ? read_condition(one) : read(one); };
    switch (comparison.getOpcode()) {
      case clang::BO_LT:
        return operation(Operator::less, {side(left), side(right)});
      case clang::BO_GT:
        return operation(Operator::less, {side(right), side(left)});
      case clang::BO_LE:
        return operation(Operator::at_most, {side(left), side(right)});
      case clang::BO_GE:
        return operation(Operator::at_most, {side(right), side(left)});
      case clang::BO_EQ:
        return operation(Operator::equals, {side(left), side(right)});
      case clang::BO_NE:
        return operation(Operator::differs, {side(left), side(right)});
      default:
        refuse_condition(comparison);
    }
  }

  bool is_truth(const clang::Expr& expression) const {
    const auto constant = constant_value(expression, ast_);
    return constant ? *constant == 0 || *constant == 1
                    : expression.getType()->isIntegerType() &&
                          (expression.isKnownToHaveBooleanValue() || truth_local(expression) != nullptr);
  }

  const Scope& scope_;
  const clang::ASTContext& ast_;
};

}  // namespace

WrittenValue read_value(const clang::Expr& expression, const Scope& scope) {
  return ValueReader(scope).read(expression);
}

bool is_value_local(const clang::VarDecl& variable) {
  const clang::QualType type = variable.getType();
  if (!variable.isLocalVarDecl() || type->isReferenceType()) {
    return false;
  }
  return type->isRealFloatingType() ||
         (type->isIntegerType() && variable.getInit() != nullptr && variable.getInit()->isKnownToHaveBooleanValue());
}

bool is_index_local(const clang::VarDecl& variable) {
  return variable.isLocalVarDecl() && variable.getType()->isIntegerType() && variable.getInit() != nullptr &&
         !is_value_local(variable);
}

WrittenValue combine(Operator op, const WrittenValue& left, const WrittenValue& right) {
  return operation(op, {left, right});
}

WrittenValue value_of(const ArrayElement& element) { return {element.access, {{element.source, element}}}; }

WrittenValue value_of(const clang::VarDecl& local, const clang::Expr& source, const Scope& scope) {
  return {Name{scope.variables->name_of(local)}, {{&source}}};
}

}  // namespace esc::frontend
