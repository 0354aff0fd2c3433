// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/lower/nested_statement.h"

namespace esc {

/// An element of an array of the product, as a part of the nest.
struct WrittenElement {
  Access access;
  NestPart part;

  const std::string& array() const { return access.array; }
  bool is_indexed_by(const std::string& iterator) const;
};

/// A comparison of indices that an update is under.
struct WrittenBound {
  Expression condition;
  NestPart part;
};

/// The update of a product with the loops around it, outermost first, before it is known which factor is which.
struct WrittenProduct {
  std::vector<const Loop*> loops;
  WrittenElement output;
  std::vector<WrittenElement> factors;      ///< two
  std::vector<WrittenElement> zero_guards;  ///< what must not be zero
  std::vector<WrittenBound> bounds;
};

/// The array of the element, as the nest declares it.
const ArrayDeclaration& declaration(const LoopNest& nest, const WrittenElement& element);

/// Reads the update that adds to this element of the output. Throws NestError where an element has one iterator in two
/// subscripts, or the output another subscript than the iterator of one loop alone; Defect where there are other than
/// two factors and guards of those forms.
WrittenProduct read_product(const NestedStatement& update, const Access& output, const NestPart& output_part);

/// The iterator that the subscript is, alone; nothing where it is anything else.
std::optional<std::string> sole_iterator(const Subscript& subscript, const std::vector<const Loop*>& loops);
/// That of every subscript. Throws NestError where one is something else.
std::vector<std::string> require_iterators(const WrittenElement& element, const std::vector<const Loop*>& loops);

/// The product with each factor in its role, and its iterators: rows and reductions in the order of the sparse array's
/// subscripts, columns in that of the output's. Those of groups, which index all three arrays, are among the rows and
/// before the reductions.
struct RolesOfProduct {
  WrittenElement sparse;
  WrittenElement dense;
  WrittenElement output;
  std::vector<std::string> rows;
  std::vector<std::string> reductions;
  std::vector<std::string> columns;

  /// Of one of the product's iterators.
  Role role_of(const std::string& iterator) const;
};

/// Finds which factor is the sparse one: rows index it and the output, the reduction both factors, columns the other
/// factor and the output, groups all three.
/// Where both may be, it is the one with a guard that leaves out its zeros, else the first. Throws NestError where
/// neither may, and for iterators of another kind.
RolesOfProduct find_roles(const WrittenProduct& written);

}  // namespace esc
