// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "generator/lower/nested_statement.h"

namespace esc {

/// What is said of a table of constants that an epilogue cannot have.
inline std::string table_of_rows(const std::string& table) {
  return table +
         " has its elements in the text: expected a parameter of the function, so that a call hands them over, or a "
         "number for each of so many rows";
}

/// What an epilogue reads beside the sum, as it is found: numbers, and elements of arrays that go over the rows, the
/// columns or both of the output.
class EpilogueOperands {
 public:
  /// `update` gathers the sums of `output`, which may not be known yet. All three must outlive this.
  EpilogueOperands(const LoopNest& nest, const NestedStatement& update, const Access& output)
      : nest_(nest), update_(update), output_(output) {}

  /// The element in the update's own iterators, where it is read at `part`, in loops over the output's element that
  /// have this position. Throws NestError for factors of the product, arrays of another type, subscripts of a part of
  /// rows or columns, and two different elements of one array.
  Access read(const Access& access, const NestPart& part, const Position& position);

  /// Those that the epilogue reads, in the order of the nest's arrays, which is that of the function's parameters.
  std::vector<ArrayDeclaration> declared_of(const Epilogue& epilogue) const;
  /// All that was read, each array where it was read first.
  const std::vector<std::pair<Access, NestPart>>& accesses() const { return accesses_; }

 private:
  const ArrayDeclaration& output() const { return *nest_.find_array(output_.array); }
  const Expression& product() const { return update_.action<Update>()->value; }
  /// The loops of the product over the dimensions of the output.
  Position of_product() const { return position_of(output_, update_); }
  void require_no_factor(const Access& access, const NestPart& part) const;
  void require_declared(const Access& access, const NestPart& part, const Position& loops) const;
  Position loops_over(const Access& access, const NestPart& part, const Position& position) const;
  Position shared_with(const Expression& factor, bool with_groups) const;
  bool is_meant_as_rows(const Expression& factor) const;
  bool indexes_whole_matrices(Position loops) const;
  [[noreturn]] void refuse_operand(const Access& access, const NestPart& part, const Position& position) const;

  const LoopNest& nest_;
  const NestedStatement& update_;
  const Access& output_;
  std::map<std::string, std::pair<Access, ArrayDeclaration>> found_;
  std::vector<std::pair<Access, NestPart>> accesses_;
};

}  // namespace esc
