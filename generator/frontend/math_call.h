// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/ir/math_function.h"

namespace clang {
class ASTContext;
class CallExpr;
class Expr;
}  // namespace clang

namespace esc::frontend {

/// The function of C's mathematics library that is called, by its name for doubles or for floats; null where the call
/// is of anything else, also of a function of the program's own that has such a name.
const MathFunction* called_function(const clang::CallExpr& call);

/// "ceil, cos, erf": the functions that may be called.
std::string list_functions();

/// Whether to evaluate the expression changes anything; calls of functions that called_function knows do not.
bool has_effect(const clang::Expr& expression, const clang::ASTContext& ast);

}  // namespace esc::frontend
