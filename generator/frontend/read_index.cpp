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
    return read_index(*definition->value, definition->scope);
  }
  if (const auto change = scope.variables->change(variable)) {
    refuse(
        *change,
        fmt::format("{0} is changed here, but bounds and subscripts use {0}: it is expected to stay the same", name));
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

Polynomial read_binary(const clang::BinaryOperator& binary, const Scope& scope) {
  const Polynomial left = read_index(*binary.getLHS(), scope);
  const Polynomial right = read_index(*binary.getRHS(), scope);
  const std::optional<Polynomial> result = combine(binary.getOpcode(), left, right);
  if (!result) {
    refuse(binary, "the constants in this expression leave 64 bits");
  }
  if (binary.getOpcode() == clang::BO_Sub && binary.getType()->isUnsignedIntegerType() && !result->is_constant()) {
    refuse(binary, fmt::format("{} wraps around below zero, because it is unsigned: expected no subtraction of sizes",
                               print(*result)));
  }
  return *result;
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
  }
  refuse(inner, "this is not affine: expected sums and products of iterators, sizes and constants");
}

}  // namespace esc::frontend
