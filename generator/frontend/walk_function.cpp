// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/walk_function.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>
#include <clang/AST/StmtCXX.h>
#include <fmt/format.h>

#include "generator/frontend/constant_table.h"
#include "generator/frontend/math_call.h"
#include "generator/frontend/read_guard.h"
#include "generator/frontend/read_loop.h"
#include "generator/frontend/read_value.h"
#include "generator/frontend/refusal.h"
#include "generator/lower/assign_roles.h"

namespace esc::frontend {
namespace {

[[noreturn]] void refuse_kind(const clang::Stmt& statement) {
  const char* what = "this statement";
  switch (statement.getStmtClass()) {
    case clang::Stmt::WhileStmtClass:
      what = "a while loop";
      break;
    case clang::Stmt::DoStmtClass:
      what = "a do loop";
      break;
    case clang::Stmt::CXXForRangeStmtClass:
      what = "a range-based for loop";
      break;
    case clang::Stmt::SwitchStmtClass:
      what = "switch";
      break;
    case clang::Stmt::GotoStmtClass:
    case clang::Stmt::LabelStmtClass:
      what = "goto";
      break;
    case clang::Stmt::BreakStmtClass:
      what = "break";
      break;
    case clang::Stmt::ReturnStmtClass:
      what = "return before the end of the function";
      break;
    case clang::Stmt::ContinueStmtClass:
      what = "continue other than as the whole body of if (A[i][k] == 0), directly in a loop,";
      break;
    default:
      break;
  }
  refuse(statement.getBeginLoc(),
         fmt::format("{} is not part of a nest: expected for loops around {}", what, expected_product));
}

bool mentions(const clang::Stmt& statement, const clang::VarDecl& variable) {
  if (const auto* expression = clang::dyn_cast<clang::Expr>(&statement)) {
    if (variable_of(*expression) == &variable) {
      return true;
    }
  }
  for (const clang::Stmt* child : statement.children()) {
    if (child != nullptr && mentions(*child, variable)) {
      return true;
    }
  }
  return false;
}

/// Whether the statement is continue, perhaps in braces.
bool is_continue(const clang::Stmt& statement) {
  const clang::Stmt* inner = &statement;
  while (const auto* block = clang::dyn_cast<clang::CompoundStmt>(inner)) {
    if (block->size() != 1) {
      return false;
    }
    inner = block->body_front();
  }
  return clang::isa<clang::ContinueStmt>(inner);
}

class Walker {
 public:
  explicit Walker(Variables& variables) : variables_(variables) {}

  void walk_body(const clang::FunctionDecl& function) {
    const auto* block = clang::dyn_cast<clang::CompoundStmt>(function.getBody());
    if (block == nullptr) {
      refuse_kind(*function.getBody());
    }
    for (const clang::Stmt* statement : block->body()) {
      const auto* result = clang::dyn_cast<clang::ReturnStmt>(statement);
      if (result != nullptr && statement == block->body_back()) {
        require_no_effect(result->getRetValue());
      } else {
        walk(*statement, Scope{&variables_, {}, {}});
      }
    }
  }

  std::vector<Effect> take_effects() { return std::move(effects_); }

 private:
  void walk(const clang::Stmt& statement, const Scope& scope) {
    if (const auto* block = clang::dyn_cast<clang::CompoundStmt>(&statement)) {
      for (const clang::Stmt* child : block->body()) {
        walk(*child, scope);
      }
    } else if (const auto* loop = clang::dyn_cast<clang::ForStmt>(&statement)) {
      walk_loop(*loop, scope);
    } else if (const auto* choice = clang::dyn_cast<clang::IfStmt>(&statement)) {
      walk_if(*choice, scope);
    } else if (const auto* declarations = clang::dyn_cast<clang::DeclStmt>(&statement)) {
      walk_declarations(*declarations, scope);
    } else if (const auto* attributed = clang::dyn_cast<clang::AttributedStmt>(&statement)) {
      walk(*attributed->getSubStmt(), scope);  // hints such as #pragma unroll
    } else if (const auto* expression = clang::dyn_cast<clang::Expr>(&statement)) {
      effects_.push_back({expression, nullptr, scope});
    } else if (!clang::isa<clang::NullStmt>(statement)) {
      refuse_kind(statement);
    }
  }

  void walk_loop(const clang::ForStmt& loop, const Scope& around) {
    Scope inside = around;
    inside.loops.push_back(std::make_shared<const WrittenLoop>(read_loop(loop, around)));
    const auto* block = clang::dyn_cast<clang::CompoundStmt>(loop.getBody());
    if (block == nullptr) {
      walk(*loop.getBody(), inside);
      return;
    }
    for (const clang::Stmt* statement : block->body()) {
      const auto* choice = clang::dyn_cast<clang::IfStmt>(statement);
      if (choice != nullptr && is_continue(*choice->getThen())) {
        add_guards(*choice, true, inside);  // for all that follows in the body
      } else {
        walk(*statement, inside);
      }
    }
  }

  void walk_if(const clang::IfStmt& choice, const Scope& around) {
    if (is_continue(*choice.getThen())) {
      refuse_kind(*choice.getThen());
    }
    Scope inside = around;
    add_guards(choice, false, inside);
    walk(*choice.getThen(), inside);
  }

  /// Adds what the if asks for to the scope that it is in.
  static void add_guards(const clang::IfStmt& choice, bool skips, Scope& scope) {
    if (choice.hasElseStorage()) {
      refuse(choice.getElseLoc(),
             "a guard is expected without else: zeros of the sparse matrix and of the padding contribute nothing");
    }
    if (choice.hasInitStorage() || choice.hasVarStorage() || choice.isConsteval()) {
      refuse(choice.getIfLoc(), "a guard is expected as a condition alone: if (A[i][k] != 0)");
    }
    const std::vector<WrittenGuard> guards = read_guards(*choice.getCond(), skips, scope);
    scope.guards.insert(scope.guards.end(), guards.begin(), guards.end());
  }

  void walk_declarations(const clang::DeclStmt& declarations, const Scope& scope) {
    for (const clang::Decl* declaration : declarations.decls()) {
      if (const auto* variable = clang::dyn_cast<clang::VarDecl>(declaration)) {
        declare(*variable, scope);
      }
    }
  }

  void declare(const clang::VarDecl& variable, const Scope& scope) {
    const clang::QualType type = variable.getType();
    const std::string name = variable.getNameAsString();
    const bool is_constant_table = is_table(variable) && variables_.ast().getBaseElementType(type).isConstQualified();
    if (type->isRecordType() || (variable.isStaticLocal() && !is_constant_table)) {
      refuse(variable.getLocation(), fmt::format("local {} is expected to be a plain number or pointer", name));
    }
    require_no_effect(variable.getInit());
    if (variable.getInit() == nullptr || type->isArrayType()) {
      return;
    }
    if (mentions(*variable.getInit(), variable)) {
      refuse(variable.getLocation(), fmt::format("{} is set to an expression of itself", name));
    }
    if (!variables_.change(variable)) {
      variables_.define(variable, {variable.getInit(), scope});
    }
    if ((is_value_local(variable) && (type->isRealFloatingType() || !variables_.change(variable))) ||
        (is_index_local(variable) && !variables_.change(variable))) {
      effects_.push_back({nullptr, &variable, scope});
    }
  }

  /// For values that are read only where they are used, or not at all.
  void require_no_effect(const clang::Expr* value) const {
    if (value != nullptr && has_effect(*value, variables_.ast())) {
      refuse(*value, "this value is expected to be read without changing anything");
    }
  }

  Variables& variables_;
  std::vector<Effect> effects_;
};

}  // namespace

std::vector<Effect> walk_function(const clang::FunctionDecl& function, Variables& variables) {
  Walker walker(variables);
  walker.walk_body(function);
  return walker.take_effects();
}

}  // namespace esc::frontend
