// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/find_function.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Stmt.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <fmt/format.h>

#include <vector>

#include "generator/frontend/refusal.h"
#include "generator/lower/assign_roles.h"

namespace esc::frontend {
namespace {

bool is_loop(const clang::Stmt& statement) {
  return clang::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(statement);
}

bool is_element(const clang::Stmt& statement) {
  if (const auto* unary = clang::dyn_cast<clang::UnaryOperator>(&statement)) {
    return unary->getOpcode() == clang::UO_Deref;
  }
  if (const auto* call = clang::dyn_cast<clang::CXXOperatorCallExpr>(&statement)) {
    return call->getOperator() == clang::OO_Subscript;
  }
  return clang::isa<clang::ArraySubscriptExpr>(statement);
}

/// Whether an element of an array is touched inside of a loop.
bool loops_over_elements(const clang::Stmt& statement, bool in_loop) {
  if (in_loop && is_element(statement)) {
    return true;
  }
  for (const clang::Stmt* child : statement.children()) {
    if (child != nullptr && loops_over_elements(*child, in_loop || is_loop(statement))) {
      return true;
    }
  }
  return false;
}

void find_candidates(const clang::DeclContext& context, const clang::SourceManager& sources,
                     std::vector<const clang::FunctionDecl*>& candidates) {
  for (const clang::Decl* declaration : context.decls()) {
    if (!sources.isInMainFile(sources.getExpansionLoc(declaration->getLocation()))) {
      continue;
    }
    if (const auto* function = clang::dyn_cast<clang::FunctionDecl>(declaration)) {
      const clang::Stmt* body = function->doesThisDeclarationHaveABody() ? function->getBody() : nullptr;
      if (body != nullptr && loops_over_elements(*body, false)) {
        candidates.push_back(function);
      }
    } else if (clang::isa<clang::LinkageSpecDecl, clang::NamespaceDecl>(declaration)) {
      find_candidates(*clang::cast<clang::DeclContext>(declaration), sources, candidates);
    }
  }
}

}  // namespace

const clang::FunctionDecl& find_function(const clang::ASTContext& ast) {
  const clang::SourceManager& sources = ast.getSourceManager();
  std::vector<const clang::FunctionDecl*> candidates;
  find_candidates(*ast.getTranslationUnitDecl(), sources, candidates);
  if (candidates.empty()) {
    refuse(sources.getLocForStartOfFile(sources.getMainFileID()),
           fmt::format("no loop nest found: expected one function, not a member or a template, with three for loops "
                       "around {}",
                       expected_product));
  }
  if (candidates.size() > 1) {
    std::string names;
    for (const clang::FunctionDecl* candidate : candidates) {
      names += (names.empty() ? "" : ", ") + candidate->getNameAsString();
    }
    refuse(candidates[1]->getLocation(),
           fmt::format("several functions loop over arrays ({}): expected one, the nest", names));
  }
  return *candidates.front();
}

}  // namespace esc::frontend
