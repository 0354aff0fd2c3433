// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/frontend/scope.h"

namespace esc::frontend {

/// What must be so for the condition to hold or, where `skips` (the body is continue), to fail: that an element is not
/// zero, as in A[i][k], A[i][k] != 0, !A[i][k] and the like; comparisons of indices, h >= 0 or h < H; and several of
/// both, joined with && or, where it is to fail, with ||. Also through constant locals. Refuses every other condition.
std::vector<WrittenGuard> read_guards(const clang::Expr& condition, bool skips, const Scope& scope);

/// Whether the expression is the number zero.
bool is_zero(const clang::Expr& expression);

}  // namespace esc::frontend
