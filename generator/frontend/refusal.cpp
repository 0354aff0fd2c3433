// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/refusal.h"

#include <clang/AST/Expr.h>

namespace esc::frontend {

Place place_of(const clang::Stmt& statement) {
  const auto* expression = clang::dyn_cast<clang::Expr>(&statement);
  return {expression != nullptr ? expression->getExprLoc() : statement.getBeginLoc(), statement.getSourceRange()};
}

void refuse(const clang::Stmt& where, const std::string& sentence) { throw Refusal(place_of(where), sentence); }

void refuse(clang::SourceLocation where, const std::string& sentence) { throw Refusal({where}, sentence); }

}  // namespace esc::frontend
