// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/read_action.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "generator/frontend/constant_table.h"
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

Target read_target(const clang::Expr& expression, const Scope& scope) {
  const clang::Expr& inner = without_value_casts(expression);
  if (is_element(inner)) {
    return read_own_element(inner, scope);
  }
  if (const clang::VarDecl* local = changed_local(inner, scope)) {
    return local;
  }
  refuse(inner, fmt::format("an element of the output is expected to be added to: {}", expected_product));
}

/// Appends the elements that are multiplied, vectors among them where `lists` may be.
void read_factors(const clang::Expr& expression, const Scope& scope, bool lists, std::vector<ArrayElement>& factors) {
  const clang::Expr& inner = without_value_casts(expression);
  if (is_element(inner)) {
    factors.push_back(read_factor(inner, scope, lists));
    return;
  }
  if (const clang::VarDecl* variable = variable_of(inner)) {
    if (const auto definition = scope.variables->definition(*variable)) {
      read_factors(*definition->value, definition->scope, lists, factors);
      return;
    }
    if (const auto change = scope.variables->change(*variable); change && variable->getInit() != nullptr) {
      refuse(*variable->getInit(),
             fmt::format("{} is changed later, so it is no factor: expected the product of two elements, {}",
                         variable->getNameAsString(), expected_product));
    }
  }
  if (const auto* binary = clang::dyn_cast<clang::BinaryOperator>(&inner)) {
    if (binary->getOpcode() == clang::BO_Mul) {
      read_factors(*binary->getLHS(), scope, lists, factors);
      read_factors(*binary->getRHS(), scope, lists, factors);
      return;
    }
    refuse(*binary, fmt::format("operator {} in what is added: expected the product of two elements, {}",
                                binary->getOpcodeStr().str(), expected_product));
  }
  if (const auto* call = clang::dyn_cast<clang::CallExpr>(&inner)) {
    refuse(*call, fmt::format("call of {} in what is added: expected the product of two elements, {}",
                              call->getDirectCallee()->getNameAsString(), expected_product));
  }
  refuse(inner, fmt::format("this factor is not an element of a matrix: expected {}", expected_product));
}

/// Whether some subscript is made of what is loaded from an array.
bool is_loaded(const ArrayElement& element, const Scope& scope) {
  return std::ranges::any_of(element.access.subscripts,
                             [&](const Subscript& one) { return scope.variables->is_loaded(one.affine); });
}

Gather read_gather(Target target, const clang::Expr& product, const Scope& scope) {
  std::vector<ArrayElement> factors;
  read_factors(product, scope, true, factors);
  const auto* output = std::get_if<ArrayElement>(&target);
  if (!(output != nullptr && is_loaded(*output, scope)) &&
      std::ranges::none_of(factors, [&](const ArrayElement& one) { return is_loaded(one, scope); })) {
    factors.clear();
    read_factors(product, scope, false, factors);  // which says what a product of whole arrays is made of
  }
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

/// What target = target + added, or added + target, adds; null for other assignments.
const clang::Expr* added_value(const clang::BinaryOperator& assignment, const Target& target, const Scope& scope) {
  const auto* sum = clang::dyn_cast<clang::BinaryOperator>(&assigned_value(assignment, scope.variables->ast()));
  if (sum == nullptr || sum->getOpcode() != clang::BO_Add) {
    return nullptr;
  }
  const auto is_target = [&](const clang::Expr& side) {
    const clang::Expr& inner = without_value_casts(side);
    const auto* element = std::get_if<ArrayElement>(&target);
    return element != nullptr
               ? is_element(inner) && !is_of_table(inner) && read_element(inner, scope).access == element->access
               : changed_local(inner, scope) == std::get<const clang::VarDecl*>(target);
  };
  return is_target(*sum->getLHS()) ? sum->getRHS() : is_target(*sum->getRHS()) ? sum->getLHS() : nullptr;
}

const clang::BinaryOperator* assignment_of(const Effect& effect) {
  const auto* binary = effect.expression == nullptr
                           ? nullptr
                           : clang::dyn_cast<clang::BinaryOperator>(effect.expression->IgnoreParens());
  return binary != nullptr && binary->isAssignmentOp() ? binary : nullptr;
}

/// The operation of an assignment such as *=; nothing where it has none, or none of numbers.
std::optional<Operator> operation_of(const clang::BinaryOperator& assignment) {
  switch (assignment.getOpcode()) {
    case clang::BO_AddAssign:
      return Operator::add;
    case clang::BO_SubAssign:
      return Operator::subtract;
    case clang::BO_MulAssign:
      return Operator::multiply;
    case clang::BO_DivAssign:
      return Operator::divide;
    default:
      return std::nullopt;
  }
}

void find_locals(const clang::Stmt& statement, std::set<const clang::VarDecl*>& locals) {
  if (const auto* expression = clang::dyn_cast<clang::Expr>(&statement)) {
    if (const clang::VarDecl* variable = variable_of(*expression)) {
      locals.insert(variable);
    }
  }
  for (const clang::Stmt* child : statement.children()) {
    if (child != nullptr) {
      find_locals(*child, locals);
    }
  }
}

class ActionReader {
 public:
  explicit ActionReader(const std::vector<Effect>& effects) : effects_(effects) {
    for (const Effect& effect : effects) {
      gathers_.push_back(finds_gathering(effect));
    }
    find_named();
  }

  std::vector<Action> read() const {
    std::vector<Action> actions;
    for (std::size_t at = 0; at < effects_.size(); ++at) {
      const Effect& effect = effects_[at];
      if (effect.declaration == nullptr) {
        actions.push_back({read_expression(*effect.expression, effect.scope, gathers_[at]), effect.scope,
                           effect.expression->getBeginLoc()});
      } else if (is_index_local(*effect.declaration)) {
        actions.push_back({Index{effect.declaration}, effect.scope, effect.declaration->getLocation()});
      } else if (is_needed(effect)) {
        const Target target = effect.declaration;
        actions.push_back({Assign{target, read_value(*effect.declaration->getInit(), effect.scope)}, effect.scope,
                           effect.declaration->getLocation()});
      }
    }
    return actions;
  }

 private:
  /// Whether the effect is in loops that come back to its target. Notes where locals are set.
  bool finds_gathering(const Effect& effect) {
    const Loops& loops = effect.scope.loops;
    if (effect.declaration != nullptr) {
      set_in_[effect.declaration] = loops;
      return false;
    }
    const clang::BinaryOperator* assignment = assignment_of(effect);
    if (assignment == nullptr) {
      return false;
    }
    const Target target = read_target(*assignment->getLHS(), effect.scope);
    if (const auto* element = std::get_if<ArrayElement>(&target)) {
      return std::ranges::any_of(loops, [&](const auto& loop) {
        return std::ranges::none_of(element->access.subscripts, [&](const Subscript& subscript) {
          return subscript.affine.mentions(loop->iterator);
        });
      });
    }
    const auto* local = std::get<const clang::VarDecl*>(target);
    const auto set = set_in_.find(local);
    const bool comes_back = set == set_in_.end() || set->second != loops;
    const bool goes_on =
        assignment->getOpcode() != clang::BO_Assign || added_value(*assignment, target, effect.scope) != nullptr;
    if (!comes_back || !goes_on) {
      set_in_[local] = loops;
    }
    return comes_back && goes_on;
  }

  /// The locals that values name, also those of other such locals: from the last effect to the first.
  void find_named() {
    for (std::size_t at = effects_.size(); at-- > 0;) {
      const Effect& effect = effects_[at];
      if (effect.declaration != nullptr && !is_index_local(*effect.declaration) && is_needed(effect)) {
        find_locals(*effect.declaration->getInit(), named_);
      } else if (const auto* assignment = gathers_[at] ? nullptr : assignment_of(effect)) {
        find_locals(*assignment->getRHS(), named_);
      }
    }
  }

  bool is_needed(const Effect& declaration) const {
    const clang::VarDecl& local = *declaration.declaration;
    return named_.contains(&local) || declaration.scope.variables->change(local);
  }

  static decltype(Action::content) read_expression(const clang::Expr& expression, const Scope& scope, bool gathers) {
    const auto* assignment = clang::dyn_cast<clang::BinaryOperator>(expression.IgnoreParens());
    if (assignment == nullptr || !assignment->isAssignmentOp()) {
      refuse(expression, fmt::format("this statement is not an update: expected {}", expected_product));
    }
    if (gathers) {
      return read_gathering(*assignment, scope);
    }
    return read_assignment(*assignment, scope);
  }

  static decltype(Action::content) read_gathering(const clang::BinaryOperator& assignment, const Scope& scope) {
    const Target target = read_target(*assignment.getLHS(), scope);
    if (assignment.getOpcode() == clang::BO_AddAssign) {
      return read_gather(target, assigned_value(assignment, scope.variables->ast()), scope);
    }
    if (assignment.getOpcode() != clang::BO_Assign) {
      refuse(assignment,
             fmt::format("operator {}: expected +=, {}", assignment.getOpcodeStr().str(), expected_product));
    }
    if (is_zero(*assignment.getRHS())) {
      return Assign{target, {0.0}};
    }
    const clang::Expr* added = added_value(assignment, target, scope);
    if (added == nullptr) {
      refuse(assignment, fmt::format("this assignment does not add to its target: expected {}", expected_product));
    }
    return read_gather(target, *added, scope);
  }

  static Assign read_assignment(const clang::BinaryOperator& assignment, const Scope& scope) {
    const Target target = read_target(*assignment.getLHS(), scope);
    const auto* element = std::get_if<ArrayElement>(&target);
    if (assignment.getOpcode() == clang::BO_Assign) {
      const clang::Expr* added = element != nullptr ? added_value(assignment, target, scope) : nullptr;
      return {target, read_value(added != nullptr ? *added : *assignment.getRHS(), scope), added != nullptr};
    }
    const std::optional<Operator> op = operation_of(assignment);
    if (!op) {
      refuse(assignment, fmt::format("operator {}: expected =, +=, -=, *= or /=", assignment.getOpcodeStr().str()));
    }
    const WrittenValue value = read_value(*assignment.getRHS(), scope);
    if (element != nullptr && *op == Operator::add) {
      return {target, value, true};
    }
    const WrittenValue old = element != nullptr
                                 ? value_of(*element)
                                 : value_of(*std::get<const clang::VarDecl*>(target), *assignment.getLHS(), scope);
    return {target, combine(*op, old, value)};
  }

  const std::vector<Effect>& effects_;
  std::vector<bool> gathers_;                      // of each effect
  std::map<const clang::VarDecl*, Loops> set_in_;  // where a local was last set
  std::set<const clang::VarDecl*> named_;          // in values
};

}  // namespace

std::vector<Action> read_actions(const std::vector<Effect>& effects) { return ActionReader(effects).read(); }

}  // namespace esc::frontend
