// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/scope.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "generator/frontend/math_call.h"
#include "generator/frontend/refusal.h"
#include "generator/ir/print.h"

namespace esc::frontend {
namespace {

using Changes = std::map<const clang::VarDecl*, clang::SourceLocation>;

void note_change(const clang::Expr& changed, Changes& changes) {
  if (const clang::VarDecl* variable = named_variable(changed)) {
    changes.emplace(variable, changed.getExprLoc());
  }
}

[[noreturn]] void refuse_call(const clang::CallExpr& call) {
  const auto* callee = clang::dyn_cast_or_null<clang::NamedDecl>(call.getCalleeDecl());
  refuse(call, fmt::format("call of {}: the nest is expected to call nothing but {}",
                           callee != nullptr ? callee->getNameAsString() : "a function", list_functions()));
}

void find_changes(const clang::Stmt& statement, Changes& changes) {
  if (const auto* loop = clang::dyn_cast<clang::ForStmt>(&statement)) {
    // The head's own counting is not a change; what it is, is checked where the loop is read.
    for (const clang::Stmt* part : {static_cast<const clang::Stmt*>(loop->getCond()), loop->getBody()}) {
      if (part != nullptr) {
        find_changes(*part, changes);
      }
    }
    return;
  }
  if (const auto* call = clang::dyn_cast<clang::CallExpr>(&statement)) {
    if (called_function(*call) == nullptr) {
      refuse_call(*call);
    }
  } else if (const auto* binary = clang::dyn_cast<clang::BinaryOperator>(&statement)) {
    if (binary->isAssignmentOp()) {
      note_change(*binary->getLHS(), changes);
    }
  } else if (const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&statement)) {
    if (unary->isIncrementDecrementOp() || unary->getOpcode() == clang::UO_AddrOf) {
      note_change(*unary->getSubExpr(), changes);
    }
  }
  for (const clang::Stmt* child : statement.children()) {
    if (child != nullptr) {
      find_changes(*child, changes);
    }
  }
}

/// The variables that are declared in the statement, in the order of the text.
void find_locals(const clang::Stmt& statement, std::vector<const clang::VarDecl*>& locals) {
  if (const auto* declarations = clang::dyn_cast<clang::DeclStmt>(&statement)) {
    for (const clang::Decl* declaration : declarations->decls()) {
      if (const auto* variable = clang::dyn_cast<clang::VarDecl>(declaration)) {
        locals.push_back(variable);
      }
    }
  }
  for (const clang::Stmt* child : statement.children()) {
    if (child != nullptr) {
      find_locals(*child, locals);
    }
  }
}

std::map<const clang::VarDecl*, std::string> name_locals(const clang::Stmt& body) {
  std::vector<const clang::VarDecl*> locals;
  find_locals(body, locals);
  std::set<std::string> written;
  for (const clang::VarDecl* local : locals) {
    written.insert(local->getNameAsString());
  }
  std::map<const clang::VarDecl*, std::string> names;
  std::set<std::string> given;
  for (const clang::VarDecl* local : locals) {
    const std::string own = local->getNameAsString();
    std::string name = own;
    for (int number = 2; given.contains(name) || (name != own && written.contains(name)); ++number) {
      name = fmt::format("{}_{}", own, number);
    }
    given.insert(name);
    names.emplace(local, name);
  }
  return names;
}

/// The names of all that the statement declares or mentions.
void find_names(const clang::Stmt& statement, std::set<std::string>& names) {
  if (const auto* declarations = clang::dyn_cast<clang::DeclStmt>(&statement)) {
    for (const clang::Decl* declaration : declarations->decls()) {
      if (const auto* named = clang::dyn_cast<clang::NamedDecl>(declaration)) {
        names.insert(named->getNameAsString());
      }
    }
  } else if (const auto* reference = clang::dyn_cast<clang::DeclRefExpr>(&statement)) {
    names.insert(reference->getDecl()->getNameAsString());
  }
  for (const clang::Stmt* child : statement.children()) {
    if (child != nullptr) {
      find_names(*child, names);
    }
  }
}

/// "rows_i_1" for rows[i + 1].
std::string name_from(const Access& access) {
  std::string name;
  for (const char letter : print(access)) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_') {
      name += letter;
    } else if (name.back() != '_') {
      name += '_';
    }
  }
  return name.back() == '_' ? name.substr(0, name.size() - 1) : name;
}

}  // namespace

const clang::VarDecl* variable_of(const clang::Expr& expression) {
  const auto* reference = clang::dyn_cast<clang::DeclRefExpr>(&expression);
  return reference != nullptr ? clang::dyn_cast<clang::VarDecl>(reference->getDecl()) : nullptr;
}

const clang::VarDecl* named_variable(const clang::Expr& expression) {
  return variable_of(*expression.IgnoreParenCasts());
}

bool is_element(const clang::Expr& expression) {
  if (const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&expression)) {
    return unary->getOpcode() == clang::UO_Deref;
  }
  return clang::isa<clang::ArraySubscriptExpr>(expression);
}

Variables::Variables(const clang::FunctionDecl& function, Environment sizes, LoadReader reader)
    : ast_(&function.getASTContext()),
      sizes_(std::move(sizes)),
      read_load_(reader),
      names_(name_locals(*function.getBody())) {
  find_changes(*function.getBody(), changes_);
  find_names(*function.getBody(), taken_);
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    taken_.insert(parameter->getNameAsString());
  }
  for (const auto& [local, name] : names_) {
    taken_.insert(name);
  }
}

std::optional<clang::SourceLocation> Variables::change(const clang::VarDecl& variable) const {
  const auto found = changes_.find(&variable);
  return found != changes_.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<std::int64_t> Variables::number_of(const clang::VarDecl& parameter) const {
  const auto found =
      clang::isa<clang::ParmVarDecl>(parameter) ? sizes_.find(parameter.getNameAsString()) : sizes_.end();
  return found != sizes_.end() ? std::optional(found->second) : std::nullopt;
}

void Variables::define(const clang::VarDecl& variable, Definition definition) {
  definitions_.insert_or_assign(&variable, std::move(definition));
}

std::optional<Definition> Variables::definition(const clang::VarDecl& variable) const {
  const auto found = definitions_.find(&variable);
  return found != definitions_.end() ? std::optional(found->second) : std::nullopt;
}

std::string Variables::note_load(const ArrayElement& element, const clang::VarDecl* local) const {
  const auto known = std::ranges::find_if(loads_, [&](const Load& load) {
    return local != nullptr
               ? load.local == local
               : load.local == nullptr && load.element.array == element.array && load.element.access == element.access;
  });
  if (known != loads_.end()) {
    return known->name;
  }
  std::string name = local != nullptr ? name_of(*local) : name_from(element.access);
  if (local == nullptr) {
    const std::string first = name;
    for (int number = 2; taken_.contains(name) || find_load(name) != nullptr; ++number) {
      name = fmt::format("{}_{}", first, number);
    }
  }
  loads_.push_back({name, element, local});
  return name;
}

const Load* Variables::find_load(const std::string& name) const {
  const auto found = std::ranges::find(loads_, name, &Load::name);
  return found != loads_.end() ? &*found : nullptr;
}

const Load* Variables::find_load(const clang::VarDecl& local) const {
  const auto found = std::ranges::find(loads_, &local, &Load::local);
  return found != loads_.end() ? &*found : nullptr;
}

bool Variables::is_loaded(const Affine& index) const {
  return std::ranges::any_of(index.terms(), [&](const Affine::Term& term) { return find_load(term.name) != nullptr; });
}

}  // namespace esc::frontend
