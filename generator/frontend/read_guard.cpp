#include "generator/frontend/read_guard.h"

#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include "generator/frontend/read_element.h"
#include "generator/frontend/refusal.h"

namespace esc::frontend {
namespace {

constexpr const char* expected_guard =
    "expected A[i][k] != 0 on the sparse matrix, or no guard; what becomes of C may be a choice, condition ? x : y";

/// A condition without the casts that only make it a truth value.
const clang::Expr& without_truth_casts(const clang::Expr& condition) {
  const clang::Expr* inner = &without_value_casts(condition);
  while (const auto* cast = clang::dyn_cast<clang::CastExpr>(inner)) {
    const bool keeps =
        cast->getCastKind() == clang::CK_FloatingToBoolean || cast->getCastKind() == clang::CK_IntegralToBoolean ||
        (cast->getCastKind() == clang::CK_IntegralCast && cast->getSubExpr()->isKnownToHaveBooleanValue());
    if (!keeps) {
      break;
    }
    inner = &without_value_casts(*cast->getSubExpr());
  }
  return *inner;
}

ZeroTest read_comparison(const clang::BinaryOperator& comparison, const Scope& scope) {
  if (!comparison.isEqualityOp()) {
    refuse(comparison, fmt::format("a guard may leave out zeros only, and all of them: {}", expected_guard));
  }
  const bool zero_first = is_zero(*comparison.getLHS());
  if (!zero_first && !is_zero(*comparison.getRHS())) {
    refuse(comparison, fmt::format("the guard does not compare with 0: {}", expected_guard));
  }
  ZeroTest test = read_zero_test(zero_first ? *comparison.getRHS() : *comparison.getLHS(), scope);
  if (comparison.getOpcode() == clang::BO_EQ) {
    test.holds_at_zero = !test.holds_at_zero;
  }
  return test;
}

}  // namespace

bool is_zero(const clang::Expr& expression) {
  const clang::Expr* inner = expression.IgnoreParenCasts();
  while (const auto* sign = clang::dyn_cast<clang::UnaryOperator>(inner)) {
    if (sign->getOpcode() != clang::UO_Minus && sign->getOpcode() != clang::UO_Plus) {
      return false;
    }
    inner = sign->getSubExpr()->IgnoreParenCasts();
  }
  if (const auto* integer = clang::dyn_cast<clang::IntegerLiteral>(inner)) {
    return integer->getValue().isZero();
  }
  const auto* floating = clang::dyn_cast<clang::FloatingLiteral>(inner);
  return floating != nullptr && floating->getValue().isZero();
}

ZeroTest read_zero_test(const clang::Expr& condition, const Scope& scope) {
  const clang::Expr& inner = without_truth_casts(condition);
  if (is_element(inner)) {
    return {read_element(inner, scope), false};
  }
  if (const clang::VarDecl* variable = variable_of(inner)) {
    if (const auto definition = scope.variables->definition(*variable)) {
      return read_zero_test(*definition->value, definition->scope);
    }
  }
  if (const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&inner);
      unary && unary->getOpcode() == clang::UO_LNot) {
    ZeroTest test = read_zero_test(*unary->getSubExpr(), scope);
    test.holds_at_zero = !test.holds_at_zero;
    return test;
  }
  if (const auto* binary = clang::dyn_cast<clang::BinaryOperator>(&inner); binary && binary->isComparisonOp()) {
    return read_comparison(*binary, scope);
  }
  refuse(inner, fmt::format("this is not a guard on one element: {}", expected_guard));
}

}  // namespace esc::frontend
