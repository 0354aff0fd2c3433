// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/frontend/polynomial.h"
#include "generator/frontend/scope.h"

namespace esc::frontend {

/// What an element of an array of integers is as an index: the name of an index that is loaded (Variables::note_load),
/// or for tables of evenly spaced constants the affine function that they are. `local` is the constant local whose
/// value the element is; null where it is none. Refuses arrays of the function's own that may change, and subscripts
/// that are not affine.
Polynomial read_load(const clang::Expr& element, const Scope& scope, const clang::VarDecl* local);

}  // namespace esc::frontend
