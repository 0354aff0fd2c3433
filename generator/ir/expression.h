// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "generator/ir/affine.h"
#include "generator/ir/pattern.h"
#include "generator/ir/scalar_type.h"

namespace esc {

/// One dimension of an access: an affine part and, after data transformation, a run-time offset before it
/// (the name of an index variable that was loaded; empty: none).
struct Subscript {
  std::string offset;
  Affine affine;
  bool operator==(const Subscript&) const = default;
};

/// An access function: which element of an array a statement touches. With fewer subscripts than the array has
/// dimensions, as an argument of an instruction, it is the part of the array that they choose.
struct Access {
  std::string array;
  std::vector<Subscript> subscripts;
  bool operator==(const Access&) const = default;
};

/// Which columns of a row tile belong to a set: those that have exactly its pattern, or a non-zero in any of its rows.
enum class Membership { exact, any };

/// The columns whose pattern in the row tile that starts at row `first_row` (an index variable) is `pattern` or, with
/// Membership::any, has a row in common with it. Rows beyond the matrix count as zero.
struct ColumnSet {
  std::string first_row;
  Pattern pattern;
  Membership membership = Membership::exact;
  bool operator==(const ColumnSet&) const = default;
};

/// How many columns the set has.
struct ColumnCount {
  ColumnSet set;
  bool operator==(const ColumnCount&) const = default;
};
/// The column at `position` of the set, counted from 0 in ascending order.
struct ColumnAt {
  ColumnSet set;
  Affine position;
  bool operator==(const ColumnAt&) const = default;
};

/// A scalar that is no index, by its name.
struct Name {
  std::string name;
  bool operator==(const Name&) const = default;
};

/// What an operation does with its operands. `quotient` and `remainder` are of whole numbers that are not negative;
/// `choose` takes a condition and two values, of which only the chosen one is looked at; `all` is true where every
/// operand is, `any` where one is.
enum class Operator {
  add,
  subtract,
  multiply,
  divide,
  quotient,
  remainder,
  minimum,
  negate,
  less,
  at_most,
  equals,
  differs,
  all,
  any,
  choose,
  population_count,
  lowest_set_bit,
  clear_lowest_set_bit
};

struct Expression;

struct Operation {
  Operator op = Operator::add;
  std::vector<Expression> operands;
  bool operator==(const Operation& other) const;
};
/// A function of C's mathematics library by its name for doubles ("exp", never "expf"); of those that ir/evaluate.h
/// knows.
struct Call {
  std::string function;
  std::vector<Expression> arguments;
  bool operator==(const Call& other) const;
};
/// One operand in another type.
struct Convert {
  ScalarType type = ScalarType::f32;
  std::vector<Expression> operand;
  bool operator==(const Convert& other) const;
};

/// One grammar for values and indices. Whole numbers and index variables are the affine expressions of themselves.
struct Expression {
  std::variant<Affine, Name, double, Access, Operation, Call, Convert, ColumnCount, ColumnAt> content;

  Expression() : content(Affine(0)) {}
  Expression(Affine affine) : content(std::move(affine)) {}           // NOLINT(google-explicit-constructor)
  Expression(std::int64_t number) : content(Affine(number)) {}        // NOLINT(google-explicit-constructor)
  Expression(int number) : content(Affine(number)) {}                 // NOLINT(google-explicit-constructor)
  Expression(Name name) : content(std::move(name)) {}                 // NOLINT(google-explicit-constructor)
  Expression(double constant) : content(constant) {}                  // NOLINT(google-explicit-constructor)
  Expression(Access access) : content(std::move(access)) {}           // NOLINT(google-explicit-constructor)
  Expression(Operation operation) : content(std::move(operation)) {}  // NOLINT(google-explicit-constructor)
  Expression(Call call) : content(std::move(call)) {}                 // NOLINT(google-explicit-constructor)
  Expression(Convert convert) : content(std::move(convert)) {}        // NOLINT(google-explicit-constructor)
  Expression(ColumnCount count) : content(std::move(count)) {}        // NOLINT(google-explicit-constructor)
  Expression(ColumnAt at) : content(std::move(at)) {}                 // NOLINT(google-explicit-constructor)

  bool operator==(const Expression&) const = default;

  const Access* access() const { return std::get_if<Access>(&content); }
  const Affine* affine() const { return std::get_if<Affine>(&content); }
  /// The operation, if it is this one.
  const Operation* operation(Operator op) const;
};

/// The index variable or size of this name.
inline Expression index(const std::string& name) { return Affine::of(name); }

/// Affine where both are; a product also where one is a constant.
Expression operator+(const Expression& left, const Expression& right);
Expression operator-(const Expression& left, const Expression& right);
Expression operator*(const Expression& left, const Expression& right);
Expression quotient(const Expression& numerator, const Expression& divisor);
Expression remainder(const Expression& numerator, const Expression& divisor);
Expression minimum(const Expression& left, const Expression& right);
Expression less(const Expression& left, const Expression& right);
Expression equals(const Expression& left, const Expression& right);
Expression differs(const Expression& left, const Expression& right);
/// Whether it is not zero.
Expression is_nonzero(const Expression& value);
Expression choose(const Expression& condition, const Expression& value, const Expression& otherwise);
/// All conditions; the only one as it is.
Expression all_of(std::vector<Expression> conditions);

/// The product of several factors, and the factors of a product, outermost multiplications only.
Expression product(const std::vector<Expression>& factors);
std::vector<Expression> factors(const Expression& product);

}  // namespace esc
