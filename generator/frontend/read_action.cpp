#include "generator/frontend/read_action.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include "generator/frontend/read_element.h"
#include "generator/frontend/read_guard.h"
#include "generator/frontend/refusal.h"
#include "generator/lower/assign_roles.h"

namespace esc::frontend {
namespace {

/// The local that the expression names and that the function changes: one that gathers a sum.
const clang::VarDecl* changed_local(const clang::Expr& expression, const Scope& scope) {
  const clang::VarDecl* variable = variable_of(without_value_casts(expression));
  const bool gathers = variable != nullptr && variable->isLocalVarDecl() && scope.variables->change(*variable) &&
                       variable->getType()->isRealFloatingType();
  return gathers ? variable : nullptr;
}

bool can_be_target(const clang::Expr& expression, const Scope& scope) {
  return is_element(without_value_casts(expression)) || changed_local(expression, scope) != nullptr;
}

Target read_target(const clang::Expr& expression, const Scope& scope) {
  const clang::Expr& inner = without_value_casts(expression);
  if (is_element(inner)) {
    return read_element(inner, scope);
  }
  if (const clang::VarDecl* local = changed_local(inner, scope)) {
    return local;
  }
  refuse(inner, fmt::format("an element of the output is expected to be added to: {}", expected_product));
}

/// Appends the elements that are multiplied.
void read_factors(const clang::Expr& expression, const Scope& scope, std::vector<MatrixElement>& factors) {
  const clang::Expr& inner = without_value_casts(expression);
  if (is_element(inner)) {
    factors.push_back(read_element(inner, scope));
    return;
  }
  if (const clang::VarDecl* variable = variable_of(inner)) {
    if (const auto definition = scope.variables->definition(*variable)) {
      read_factors(*definition->value, definition->scope, factors);
      return;
    }
  }
  if (const auto* binary = clang::dyn_cast<clang::BinaryOperator>(&inner)) {
    if (binary->getOpcode() == clang::BO_Mul) {
      read_factors(*binary->getLHS(), scope, factors);
      read_factors(*binary->getRHS(), scope, factors);
      return;
    }
    refuse(*binary, fmt::format("operator {} in what is added: expected the product of two elements, {}",
                                binary->getOpcodeStr().str(), expected_product));
  }
  refuse(inner, fmt::format("this factor is not an element of a matrix: expected {}", expected_product));
}

Accumulate read_accumulate(Target target, const clang::Expr& product, const Scope& scope) {
  std::vector<MatrixElement> factors;
  read_factors(product, scope, factors);
  if (factors.size() != 2) {
    refuse(product, fmt::format("{} factor{}: expected two, {}", factors.size(), factors.size() == 1 ? "" : "s",
                                expected_product));
  }
  return {std::move(target), std::move(factors)};
}

/// What is assigned, without the conversion to the target's type: that is the assignment's own, written out or not.
const clang::Expr& assigned_value(const clang::BinaryOperator& assignment, const clang::ASTContext& ast) {
  const clang::Expr& value = *assignment.getRHS()->IgnoreParenImpCasts();
  const auto* cast = clang::dyn_cast<clang::ExplicitCastExpr>(&value);
  const bool own = cast != nullptr && cast->getCastKind() == clang::CK_FloatingCast &&
                   ast.hasSameUnqualifiedType(cast->getType(), assignment.getLHS()->getType());
  return own ? *cast->getSubExpr()->IgnoreParenImpCasts() : value;
}

/// Nothing where the value is not a local that gathers.
std::optional<Store> read_store(const Target& target, const clang::Expr& value, const Scope& scope) {
  const clang::VarDecl* local = changed_local(value, scope);
  if (local == nullptr || !std::holds_alternative<MatrixElement>(target)) {
    return std::nullopt;
  }
  return Store{std::get<MatrixElement>(target), local};
}

/// target = value.
std::variant<Accumulate, SetToZero, Store> read_assignment(const clang::BinaryOperator& assignment,
                                                           const Scope& scope) {
  const Target target = read_target(*assignment.getLHS(), scope);
  if (is_zero(*assignment.getRHS())) {
    return SetToZero{target};
  }
  const clang::Expr& value = assigned_value(assignment, scope.variables->ast());
  if (const auto store = read_store(target, value, scope)) {
    return *store;
  }
  const auto* sum = clang::dyn_cast<clang::BinaryOperator>(&value);
  if (sum != nullptr && sum->getOpcode() == clang::BO_Add) {
    for (const bool first : {true, false}) {
      const clang::Expr& same = first ? *sum->getLHS() : *sum->getRHS();
      const clang::Expr& added = first ? *sum->getRHS() : *sum->getLHS();
      if (can_be_target(same, scope) && same_target(target, read_target(same, scope))) {
        return read_accumulate(target, added, scope);
      }
    }
  }
  refuse(assignment, fmt::format("this assignment does not add to its target: expected {}", expected_product));
}

std::variant<Accumulate, SetToZero, Store> read_content(const clang::Expr& expression, const Scope& scope) {
  const auto* assignment = clang::dyn_cast<clang::BinaryOperator>(expression.IgnoreParens());
  if (assignment == nullptr || !assignment->isAssignmentOp()) {
    refuse(expression, fmt::format("this statement is not an update: expected {}", expected_product));
  }
  if (assignment->getOpcode() == clang::BO_Assign) {
    return read_assignment(*assignment, scope);
  }
  if (assignment->getOpcode() != clang::BO_AddAssign) {
    refuse(*assignment,
           fmt::format("operator {}: expected +=, {}", assignment->getOpcodeStr().str(), expected_product));
  }
  const Target target = read_target(*assignment->getLHS(), scope);
  const clang::Expr& value = assigned_value(*assignment, scope.variables->ast());
  if (const auto store = read_store(target, value, scope)) {
    return *store;
  }
  return read_accumulate(target, value, scope);
}

}  // namespace

bool same_target(const Target& left, const Target& right) {
  if (const auto* element = std::get_if<MatrixElement>(&left)) {
    const auto* other = std::get_if<MatrixElement>(&right);
    return other != nullptr && element->same_element(*other);
  }
  const auto* other = std::get_if<const clang::VarDecl*>(&right);
  return other != nullptr && *other == std::get<const clang::VarDecl*>(left);
}

Action read_action(const Effect& effect) {
  if (effect.declaration != nullptr) {
    const clang::VarDecl& local = *effect.declaration;
    if (!is_zero(*local.getInit())) {
      refuse(*local.getInit(),
             fmt::format("{} is changed later, so it is expected to start at 0", local.getName().str()));
    }
    const Target target = &local;
    return {SetToZero{target}, effect.scope, local.getLocation()};
  }
  return {read_content(*effect.expression, effect.scope), effect.scope, effect.expression->getBeginLoc()};
}

}  // namespace esc::frontend
