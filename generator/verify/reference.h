// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "generator/emit/dispatch.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/matrix/typed_elements.h"
#include "generator/verify/nest_product.h"
#include "generator/verify/operands.h"
#include "generator/verify/product_case.h"
#include "generator/verify/value_draw.h"

namespace esc {

/// How a result compares with the float64 reference.
struct Comparison {
  double error = 0;                ///< relative Frobenius error over the compared elements
  std::int64_t rows = 0;           ///< rows of C that were compared
  std::int64_t columns = 0;        ///< of each of them
  std::int64_t other_columns = 0;  ///< that were not
  std::string problem;             ///< empty, or the first thing that is wrong beyond rounding, with its place
  /// The largest error of an element, over the most that rounding can make of its sum in any order; and that element,
  /// where it is more.
  double of_rounding = 0;
  std::string beyond_rounding = {};
  /// How much more than usual the sums cancel, at least 1: |A| x |B| over A x B and the square root of the longest row,
  /// in Frobenius norms. No order of summation keeps a relative error that is small against a result that cancels.
  double cancellation = 1;
  /// How much more than that of many sums the error of few may be, at least 1: theirs do not average.
  double fluctuation = 1;

  /// By how much the error may be more than a tolerance for many sums that do not cancel.
  double allowance() const { return cancellation * fluctuation; }
  /// What results that are near the least numbers of the type, or of parts of it, may add to the error, relatively;
  /// whatever the tolerance.
  double underflow = 0;
  /// What the error may be.
  double limit(double tolerance) const { return tolerance * allowance() + underflow; }
  bool within(double tolerance) const { return problem.empty() && error <= limit(tolerance); }
  /// Whether that holds and each element, by itself, is explained by rounding.
  bool passes(double tolerance) const { return within(tolerance) && beyond_rounding.empty(); }
  /// What is wrong with an element, or empty.
  const std::string& wrong_element() const { return problem.empty() ? beyond_rounding : problem; }
};

/// One row of C: what the nest says, and how far rounding may take a kernel's element from it; infinitely far where
/// nothing can be said, as where a sum may overflow in some order.
struct ExpectedRow {
  std::vector<double> values;
  std::vector<double> allowed;
  std::vector<double> magnitudes;  ///< of |A| x |B|, or of a sum that has the same rounding
  std::vector<double> underflow;   ///< the part of what is allowed that does not shrink with the magnitudes
};

/// What a reference knows of how the judged kernel multiplies, and of what its operands are drawn from.
struct JudgedKernel {
  ProductForm form = ProductForm::whole;
  std::int64_t scaled_rows = 1;  ///< as Dispatch has it
  bool adds_to_c = false;        ///< as Dispatch has it
  ValueDraw values = {};
};

/// A kernel that is dispatched so, with B and operands that are drawn so.
inline JudgedKernel judged_kernel(const Dispatch& dispatch, const ValueDraw& values) {
  return {dispatch.products, dispatch.scaled_rows, dispatch.adds_to_c, values};
}

/// The rows of C that a kernel is judged by, and how they compare with what it computed.
class Reference {
 public:
  /// `nest` says the product and must outlive this, as `a` must. B is as `draw_b` makes it.
  Reference(const LoopNest& nest, const SparseMatrix& a, std::vector<double> b, const ProductCase& product,
            const JudgedKernel& kernel);
  Reference(const LoopNest& nest, const SparseMatrix& a, std::vector<double> b, const ProductCase& product,
            ProductForm form)
      : Reference(nest, a, std::move(b), product, JudgedKernel{.form = form}) {}

  const std::vector<double>& b() const { return b_; }
  /// Computes all rows now, for who compares several results with them.
  void compute_all();

  /// Compares C, of which only the rows are there for which `compared` is set (all when it is empty), of ldc elements
  /// each, with the nest's in the columns for which `columns` is set (all when it is empty), and checks that nothing
  /// was written between the columns and the next row. A NaN, or an element that is still poison, is a problem; if all
  /// of the reference is zero, so must C be.
  Comparison compare(const TypedElements& c, const std::vector<bool>& compared = {},
                     const std::vector<bool>& columns = {}) const;

 private:
  /// B, of which all columns are wanted, or these.
  DenseOperand operand(std::span<const std::int64_t> columns = {}) const;
  /// The wanted columns of a row.
  ExpectedRow row(std::int64_t number, const DenseOperand& b) const;
  /// How far products of a row may be off however small they are; infinitely far where parts of them may overflow.
  double underflow_of(std::int64_t row, std::size_t column) const;

  const SparseMatrix& a_;
  const LoopNest& input_;
  NestProduct nest_;
  std::vector<Operand> operands_;  ///< of the nest's epilogue
  std::vector<double> b_;
  ProductCase product_;
  JudgedKernel kernel_;
  std::vector<double> greatest_of_rows_;  ///< magnitudes of A, for each of the rows that have a scale together; empty
                                          ///< where products are whole
  std::vector<double> greatest_of_columns_;  ///< of B
  std::vector<ExpectedRow> rows_;            ///< those that were computed beforehand
};

/// How far a sum of `products` products in this type may be from the same sum in double, over the sum of their
/// magnitudes. A product goes through at most as many roundings as there are products, in whatever order they are
/// added, each of at most half a unit in the last place: (1 + u)^products - 1. The reference rounds as well. Products
/// that vanish in the type add its smallest number each. A product of split float32 has up to 14 units of 2^-23 more:
/// one for the bits that the tensor core cuts off of a rest of A, which was rounded, three of one of B, which was cut
/// off, four for the product of both rests, and six that are cut off of the sums of two steps. Where factors are
/// rounded to TF32 those of A have been: half a unit of 2^-10 is B's. Sums stay
/// in the tensor core, which cuts off of m products and the old sum all but the largest, and of the new sum, up to a
/// unit of 2^-23 each: m + 1, and so four roundings for a product.
double rounding_bound(ScalarType element, std::int64_t products, ProductForm form = ProductForm::whole);

/// The relative Frobenius error that sums in the matrix's element type may have: 1e-6 in float32 for rows of up to
/// 4,608 non-zeros, growing with the square root of the longest row beyond. In float64 as much finer as its last bit
/// is, twice over because the reference rounds as well. Where elements have 16 bits, the rounding of a stored element
/// is added. Where factors are rounded it is tf32_tolerance.
double tolerance_of(const SparseMatrix& a, ProductForm form = ProductForm::whole);

/// The relative Frobenius error that products may have whose factors are rounded to TF32: the 2^-11 of a rounding, and
/// as much again for sums of tensor cores and, in libraries, for the other factor.
inline constexpr double tf32_tolerance = 1e-3;

}  // namespace esc
