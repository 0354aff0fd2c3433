#pragma once

#include <cstdint>
#include <optional>

#include "generator/frontend/polynomial.h"
#include "generator/frontend/scope.h"

namespace esc::frontend {

/// An integer expression over the iterators of the loops around it, sizes and constants; constant locals are replaced
/// by what they stand for. Refuses everything else, and sizes that the function changes.
Polynomial read_index(const clang::Expr& expression, const Scope& scope);

/// The value where the compiler can tell it: literals, macros, enumerators, sizeof.
std::optional<std::int64_t> constant_value(const clang::Expr& expression, const clang::ASTContext& ast);

}  // namespace esc::frontend
