// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/read_index.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include <algorithm>

#include "generator/frontend/refusal.h"

namespace esc::frontend {
namespace {

std::optional<std::int64_t> representable(const llvm::APSInt& value) {
  return value.isRepresentableByInt64() ? std::optional(value.getExtValue()) : std::nullopt;
}

/// Casts between integers change nothing that matters, unless they cut a size down to a byte or two.
const clang::Expr& without_casts(const clang::Expr& expression, const clang::ASTContext& ast) {
  const clang::Expr* inner = expression.IgnoreParens();
  while (const auto* cast = clang::dyn_cast<clang::CastExpr>(inner)) {
    const bool wide_enough = cast->getCastKind() == clang::CK_IntegralCast && ast.getIntWidth(cast->getType()) >= 32;
    if (!wide_enough && cast->getCastKind() != clang::CK_NoOp && cast->getCastKind() != clang::CK_LValueToRValue) {
      break;
    }
    inner = cast->getSubExpr()->IgnoreParens();
  }
  return *inner;
}

Polynomial read_variable(const clang::VarDecl& variable, const clang::Expr& use, const Scope& scope) {
  const std::string name = variable.getNameAsString();
  const bool iterator = std::any_of(scope.loops.begin(), scope.loops.end(),
                                    [&](const auto& loop) { return loop->variable == &variable; });
  if (iterator) {
    return Polynomial::of(name);
  }
  if (const auto definition = scope.variables->definition(variable)) {
    const clang::Expr& value = without_casts(*definition->value, scope.variables->ast());
    const bool is_loaded = variable.isLocalVarDecl() && !variable.getType()->isReferenceType() && is_element(value) &&
                           !constant_value(value, scope.variables->ast());
    return is_loaded ? scope.variables->read_load(value, definition->scope, &variable)
                     : read_index(*definition->value, definition->scope);
  }
  if (const auto change = scope.variables->change(variable)) {
    refuse(
        *change,
        fmt::format("{0} is changed here, but bounds and subscripts use {0}: it is expected to stay the same", name));
  }
  if (const auto number = scope.variables->number_of(variable)) {
    return *number;
  }
  if (variable.hasLocalStorage() && !clang::isa<clang::ParmVarDecl>(variable)) {
    refuse(use, fmt::format("{} is neither a size nor the iterator of a loop around this place", name));
  }
  if (!variable.getType().getNonReferenceType()->isIntegerType()) {
    refuse(use, fmt::format("{} is expected to be an integer", name));
  }
  if (variable.getType().isConstQualified() && variable.getAnyInitializer() != nullptr) {
    const clang::APValue* value = variable.evaluateValue();
    if (value != nullptr && value->isInt()) {
      if (const auto constant = representable(value->getInt())) {
        return *constant;
      }
    }
  }
  return Polynomial::of(name);
}

std::optional<Polynomial> combine(clang::BinaryOperatorKind operation, const Polynomial& left,
                                  const Polynomial& right) {
  switch (operation) {
    case clang::BO_Add:
      return left.plus(right);
    case clang::BO_Sub:
      return left.minus(right);
    default:
      return left.times(right);
  }
}

/// What an operation gave. Refuses what left 64 bits.
Polynomial require_fitting(const std::optional<Polynomial>& result, const clang::Expr& source) {
  if (!result) {
    refuse(source, "the constants in this expression leave 64 bits");
  }
  return *result;
}

Polynomial read_binary(const clang::BinaryOperator& binary, const Scope& scope) {
  const Polynomial left = read_index(*binary.getLHS(), scope);
  const Polynomial right = read_index(*binary.getRHS(), scope);
  const Polynomial result = require_fitting(combine(binary.getOpcode(), left, right), binary);
  const bool stays_above = result.is_constant() && result.affine()->constant() >= 0;
  if (binary.getOpcode() == clang::BO_Sub && binary.getType()->isUnsignedIntegerType() && !stays_above) {
    refuse(binary, fmt::format("{} wraps around below zero, because it is unsigned: expected no subtraction of sizes",
                               print(result)));
  }
  return result;
}

/// Quotients and remainders of numbers, as C rounds them.
Polynomial read_division(const clang::BinaryOperator& binary, const Scope& scope) {
  const Polynomial left = read_index(*binary.getLHS(), scope);
  const Polynomial right = read_index(*binary.getRHS(), scope);
  if (!left.is_constant() || !right.is_constant()) {
    refuse(binary, fmt::format("this is not affine: expected / and % of numbers alone; {}", size_remedy));
  }
  const std::int64_t numerator = left.affine()->constant();
  const std::int64_t divisor = right.affine()->constant();
  if (divisor == 0) {
    refuse(binary, "this divides by 0");
  }
  if (divisor == -1) {
    return binary.getOpcode() == clang::BO_Div ? require_fitting(left.times(-1), binary) : Polynomial(0);
  }
  return binary.getOpcode() == clang::BO_Div ? numerator / divisor : numerator % divisor;
}

}  // namespace

std::optional<std::int64_t> constant_value(const clang::Expr& expression, const clang::ASTContext& ast) {
  clang::Expr::EvalResult result;
  const bool known = !expression.isValueDependent() && expression.getType()->isIntegralOrEnumerationType() &&
                     expression.EvaluateAsInt(result, ast);
  return known ? representable(result.Val.getInt()) : std::nullopt;
}

Polynomial read_index(const clang::Expr& expression, const Scope& scope) {
  if (const auto constant = constant_value(expression, scope.variables->ast())) {
    return *constant;
  }
  const clang::Expr& inner = without_casts(expression, scope.variables->ast());
  if (const clang::VarDecl* variable = variable_of(inner)) {
    return read_variable(*variable, inner, scope);
  }
  if (const auto* binary = clang::dyn_cast<clang::BinaryOperator>(&inner)) {
    if (binary->getOpcode() == clang::BO_Add || binary->getOpcode() == clang::BO_Sub ||
        binary->getOpcode() == clang::BO_Mul) {
      return read_binary(*binary, scope);
    }
    if (binary->getOpcode() == clang::BO_Div || binary->getOpcode() == clang::BO_Rem) {
      return read_division(*binary, scope);
    }
  }
  if (const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&inner)) {
    if (unary->getOpcode() == clang::UO_Minus && !unary->getType()->isUnsignedIntegerType()) {
      return require_fitting(read_index(*unary->getSubExpr(), scope).times(-1), *unary);
    }
  }
  if (is_element(inner)) {
    return scope.variables->read_load(inner, scope, nullptr);
  }
  refuse(inner, "this is not affine: expected sums and products of iterators, sizes and constants");
}

}  // namespace esc::frontend
