#include "generator/frontend/refusal.h"

#include <clang/AST/Expr.h>

namespace esc::frontend {

void refuse(const clang::Stmt& where, const std::string& sentence) {
  const auto* expression = clang::dyn_cast<clang::Expr>(&where);
  throw Refusal(expression != nullptr ? expression->getExprLoc() : where.getBeginLoc(), where.getSourceRange(),
                sentence);
}

void refuse(clang::SourceLocation where, const std::string& sentence) { throw Refusal(where, {}, sentence); }

}  // namespace esc::frontend
