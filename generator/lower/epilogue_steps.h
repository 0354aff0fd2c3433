// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "generator/lower/nested_statement.h"

namespace esc {

/// The sum of an element of the output, until it is known what the function calls it.
inline const Name the_sum{""};

/// The expression as a name, or null.
inline const Name* name_in(const Expression& expression) { return std::get_if<Name>(&expression.content); }

/// Calls for every element and name in the expression, in its order.
void for_each_operand(const Expression& expression, const std::function<void(const Expression&)>& visit);

/// The steps of an epilogue as they are found: named values, each made of those in front, of operands and of the sum.
/// Their names are the locals', with a number after where that is taken.
class EpilogueSteps {
 public:
  /// Names must differ from those of the nest's arrays, iterators, sizes and functions.
  EpilogueSteps(const LoopNest& nest, const std::vector<NestedStatement>& statements);

  /// The value of a local, by its name: a step, or nothing new where it is another name. The first name of the sum is
  /// its own.
  Expression named(const std::string& local, const Expression& value);
  /// A step of this name.
  Expression add(const std::string& name, const Expression& value);
  /// The sum is called so from now on, or with a number after.
  void name_sum(const std::string& name) { sum_ = fresh(name); }

  bool depends_on_sum(const Expression& value) const;

  /// The epilogue that ends with this value, at an element with these subscripts: the steps that it needs, of this
  /// type, and the sum under its name.
  Epilogue finish(const std::vector<std::string>& subscripts, const Expression& value, ScalarType type);

 private:
  std::string fresh(const std::string& name);
  std::vector<Define> used_by(const Expression& value) const;

  std::vector<Define> steps_;
  std::set<std::string> made_of_sum_;  ///< steps
  std::set<std::string> taken_;        ///< names that steps must not have
  std::string sum_;                    ///< its name, once the function has given it one
};

}  // namespace esc
