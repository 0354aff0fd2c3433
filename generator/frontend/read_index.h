// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "generator/frontend/polynomial.h"
#include "generator/frontend/scope.h"

namespace esc::frontend {

/// An integer expression over the iterators of the loops around it, sizes and constants; constant locals are replaced
/// by what they stand for, and sizes whose numbers are known by those. Refuses everything else, sizes that the function
/// changes, and quotients and remainders of anything but numbers. An element of a table of constants is what
/// constant_table.h makes of it.
Polynomial read_index(const clang::Expr& expression, const Scope& scope);

/// The value where the compiler can tell it: literals, macros, enumerators, sizeof.
std::optional<std::int64_t> constant_value(const clang::Expr& expression, const clang::ASTContext& ast);

}  // namespace esc::frontend
