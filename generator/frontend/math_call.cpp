// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/math_call.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

namespace esc::frontend {
namespace {

/// Whether the program itself says what the function does.
bool is_own(const clang::FunctionDecl& function) {
  const clang::FunctionDecl* definition = nullptr;
  return function.hasBody(definition) &&
         !function.getASTContext().getSourceManager().isInSystemHeader(definition->getLocation());
}

bool is_floating(clang::QualType type) {
  return type->isSpecificBuiltinType(clang::BuiltinType::Float) ||
         type->isSpecificBuiltinType(clang::BuiltinType::Double);
}

}  // namespace

const MathFunction* called_function(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (callee == nullptr || clang::isa<clang::CXXOperatorCallExpr, clang::CXXMemberCallExpr>(call) ||
      callee->getIdentifier() == nullptr || is_own(*callee)) {
    return nullptr;
  }
  std::string name = callee->getNameAsString();
  const MathFunction* function = find_math_function(name);
  if (function == nullptr && name.ends_with('f')) {
    name.pop_back();
    function = find_math_function(name);
  }
  const bool fits = function != nullptr && call.getNumArgs() == function->arity() && is_floating(call.getType()) &&
                    std::all_of(call.arg_begin(), call.arg_end(),
                                [](const clang::Expr* argument) { return is_floating(argument->getType()); });
  return fits ? function : nullptr;
}

std::string list_functions() {
  std::string list;
  for (const MathFunction& function : math_functions()) {
    list += (list.empty() ? "" : ", ") + std::string(function.name);
  }
  return list;
}

bool has_effect(const clang::Expr& expression, const clang::ASTContext& ast) {
  if (!expression.HasSideEffects(ast)) {
    return false;
  }
  const auto child_has_effect = [&](const clang::Stmt* child) {
    const auto* inner = clang::dyn_cast_or_null<clang::Expr>(child);
    return inner != nullptr && has_effect(*inner, ast);
  };
  const auto* call = clang::dyn_cast<clang::CallExpr>(&expression);
  if (call != nullptr && called_function(*call) != nullptr) {
    return std::any_of(call->arg_begin(), call->arg_end(), child_has_effect);
  }
  const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&expression);
  const auto* binary = clang::dyn_cast<clang::BinaryOperator>(&expression);
  // Of these kinds none has an effect of its own: where they have one, it is that of a part.
  const bool is_transparent =
      clang::isa<clang::ParenExpr, clang::ImplicitCastExpr, clang::CStyleCastExpr, clang::CXXFunctionalCastExpr,
                 clang::CXXStaticCastExpr, clang::ConditionalOperator, clang::ArraySubscriptExpr>(expression) ||
      (unary != nullptr && !unary->isIncrementDecrementOp()) || (binary != nullptr && !binary->isAssignmentOp());
  return !is_transparent || std::any_of(expression.child_begin(), expression.child_end(), child_has_effect);
}

}  // namespace esc::frontend
