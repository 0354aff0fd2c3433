// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "generator/frontend/polynomial.h"
#include "generator/frontend/scope.h"

namespace esc::frontend {

/// The numbers that a table of constants has, of all its dimensions, the last one running fastest. None where they may
/// change, are not known from the text alone, or are more than 1024.
std::vector<double> table_values(const clang::VarDecl& array, const clang::ASTContext& ast);

/// What an element of a table of these values is as an index: static const int tap[3] = {-1, 0, 1} at [r] is r - 1.
/// `index` is what is in its brackets. Nothing where the index may leave the table, or the values are no affine
/// function of it.
std::optional<Polynomial> line_of_table(const std::vector<double>& values, const Polynomial& index, const Scope& scope);

/// Whether the variable is an array with the values of its elements.
bool is_table(const clang::VarDecl& variable);
/// Whether the expression is an element of one.
bool is_of_table(const clang::Expr& element);

}  // namespace esc::frontend
