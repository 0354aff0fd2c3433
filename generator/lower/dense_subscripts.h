// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/lower/nested_statement.h"

namespace esc {

/// A product over the stored elements of a sparse matrix, row after row (CSR), as one over the whole of the matrix:
///
///   for (i < M) { first = rows[i]; end = rows[i + 1];
///     for (p = first; p < end; p++) { k = columns[p]; for (j < N) C[i][j] += values[p] * B[k][j]; } }
///     -> for (i < M) for (p < K) for (j < N) if (values[i][p] != 0) C[i][j] += values[i][p] * B[p][j]
///
/// Both are the same product, C += A x B with A[i][k] the sum of values[p] over those p of row i where columns[p] is k.
/// So rows, columns and values together are the sparse array: which elements it has the matrix says that a kernel is
/// generated for.
class DenseSubscripts {
 public:
  /// Nothing where the nest loads no indices. Throws NestError where it loads others than those of such a product.
  static std::optional<DenseSubscripts> of(const LoopNest& nest);

  DenseSubscripts(DenseSubscripts&&) = default;
  DenseSubscripts& operator=(DenseSubscripts&&) = default;
  DenseSubscripts(const DenseSubscripts&) = delete;  // it points into its own nest
  DenseSubscripts& operator=(const DenseSubscripts&) = delete;
  ~DenseSubscripts() = default;

  /// The product over the whole of the matrix, without roles.
  const LoopNest& nest() const { return dense_; }
  /// What a part of that nest is in the one that was given.
  NestPart given_part(const NestPart& part) const;
  /// The product with its roles, which assign_roles has found in nest(), over the stored elements: arrays and loops in
  /// their roles, definitions right before the loop between them, or first in it, and what follows the product as
  /// an epilogue.
  LoopNest over_stored_elements(const LoopNest& with_roles) const;

 private:
  /// An index that the nest loads.
  struct Load {
    NestedStatement statement;
    std::string name;
    Access access;
  };

  explicit DenseSubscripts(const LoopNest& nest) : given_(nest) {}

  void find_loads();
  void find_product();
  void find_bounds();
  void find_columns();
  void require_no_others() const;
  void make_dense();
  Block without_loads(const Block& block, std::vector<std::size_t>& given, std::vector<std::size_t>& path);
  Block with_loads(const Block& block) const;
  Statement over_whole_matrix(const Statement& statement) const;
  Statement over_stored_elements(const Statement& statement) const;
  const Load* load_named(const Affine& index) const;
  /// Whether the loop goes between bounds one of which is made of what is loaded.
  bool is_segment(const Loop& loop) const;
  [[noreturn]] void refuse_load(const Load& load) const;
  void require_no_table(const Load& load) const;
  const ArrayDeclaration& array(const std::string& name) const;
  std::string fresh_size() const;

  LoopNest given_;
  std::vector<NestedStatement> statements_;
  std::vector<Load> loads_;
  NestedStatement update_;
  const Loop* segment_ = nullptr;  // over the stored elements of a row
  const Loop* rows_ = nullptr;
  std::size_t values_ = 0;  // which factor they are
  const Load* first_ = nullptr;
  const Load* end_ = nullptr;
  const Load* column_ = nullptr;
  std::size_t dimension_ = 0;  // of the dense array, which the columns index
  Affine column_count_ = 0;
  bool has_guard_ = false;  // that stored elements are not zero
  LoopNest dense_;
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> given_paths_;
};

}  // namespace esc
