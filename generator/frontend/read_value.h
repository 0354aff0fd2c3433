// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/frontend/read_element.h"
#include "generator/frontend/scope.h"
#include "generator/ir/expression.h"

namespace esc::frontend {

/// What a nest knows of an element or a name in a value, and where it is written.
struct WrittenOperand {
  const clang::Expr* source = nullptr;
  std::optional<ArrayElement> element = std::nullopt;  // nothing for a local
};

/// A value with its elements and names, in the order in which the expression holds them.
struct WrittenValue {
  Expression expression;
  std::vector<WrittenOperand> operands = {};
};

/// Reads an expression of numbers: + - * / and unary -, comparisons, && || !, ?:, numbers, calls of C's mathematics
/// functions, locals by their names, elements of arrays with affine subscripts, and parameters. A conversion to float
/// is in it where the value was wider. A truth value as a number is the choice between 1 and 0. Refuses integers other
/// than constants, and everything else.
WrittenValue read_value(const clang::Expr& expression, const Scope& scope);

/// Whether the local is a number or a truth value that has a name of its own in values; other locals are pointers and
/// integers, which are read where they are used.
bool is_value_local(const clang::VarDecl& variable);

/// Whether the local is an integer that may be an index by its own name, where it is loaded from an array.
bool is_index_local(const clang::VarDecl& variable);

/// `left op right`, where op is one of the four operators of arithmetic.
WrittenValue combine(Operator op, const WrittenValue& left, const WrittenValue& right);

/// The element, read.
WrittenValue value_of(const ArrayElement& element);
/// The local, read in this place.
WrittenValue value_of(const clang::VarDecl& local, const clang::Expr& source, const Scope& scope);

}  // namespace esc::frontend
