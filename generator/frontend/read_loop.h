// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/frontend/scope.h"

namespace esc::frontend {

/// The head of a for loop that counts from 0 to a size or a constant in steps of 1, in any of C's usual spellings.
/// Refuses every other head, iterators that the body changes, and an iterator whose name a loop around has taken.
WrittenLoop read_loop(const clang::ForStmt& source, const Scope& around);

}  // namespace esc::frontend
