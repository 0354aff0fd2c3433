// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/reference.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "generator/support/error.h"
#include "generator/verify/finish.h"
#include "generator/verify/layout_check.h"
#include "generator/verify/number_limits.h"
#include "generator/verify/poison.h"

namespace esc {
namespace {

/// Whether both are finite, both NaN, or the same infinity. A weight that is not finite makes such elements of C.
bool same_kind(double found, double wanted) {
  return std::isfinite(wanted) ? std::isfinite(found) : std::isnan(wanted) ? std::isnan(found) : found == wanted;
}

/// Powers of the least and of the largest doubles are numbers of this type.
using Sum = long double;

/// The part of a comparison that one row contributes.
struct RowComparison {
  Sum squared_error = 0;
  Sum squared_norm = 0;
  Sum fourth_powers = 0;      ///< of the elements
  Sum squared_magnitude = 0;  ///< of |A| x |B|, or what has the same rounding
  Sum squared_underflow = 0;
  double of_rounding = 0;  ///< as Comparison has it
  std::string beyond_rounding = {};
  std::string problem;
};

/// Compares the wanted columns of a row; `expected` has those, or all, beside each other.
template <typename Element>
RowComparison compare_row(const ExpectedRow& expected, const Element* c, std::int64_t row, const DenseOperand& b) {
  RowComparison result;
  const bool has_all = expected.values.size() == static_cast<std::size_t>(b.n);
  for (std::size_t place = 0; place < b.wanted(); ++place) {
    const std::int64_t j = b.column(place);
    const std::size_t at = has_all ? static_cast<std::size_t>(j) : place;
    const double wanted = expected.values[at];
    const auto found = static_cast<double>(c[j]);
    if (result.problem.empty() && is_poison(c[j])) {
      result.problem = fmt::format("C[{}][{}] was not written", row, j);
    } else if (std::isinf(expected.allowed[at]) && std::isfinite(wanted)) {
      continue;
    } else if (result.problem.empty() && !same_kind(found, wanted)) {
      result.problem = fmt::format("C[{}][{}] is {}, expected {}", row, j, found, wanted);
    }
    if (!std::isfinite(wanted) || !std::isfinite(found)) {
      continue;  // judged by its kind alone
    }
    const double difference = found - wanted;
    const Sum norm = Sum{wanted} * wanted;
    const double allowed = expected.allowed[at];
    if (const double share = difference == 0 ? 0 : std::abs(difference) / allowed; share > result.of_rounding) {
      result.of_rounding = share;
      if (share > 1 && result.beyond_rounding.empty()) {
        result.beyond_rounding = fmt::format("C[{}][{}] is {}, expected {}: rounding explains a difference of {:.2g}",
                                             row, j, found, wanted, allowed);
      }
    }
    result.squared_error += Sum{difference} * difference;
    result.squared_norm += norm;
    result.fourth_powers += norm * norm;
    result.squared_magnitude += Sum{expected.magnitudes[at]} * expected.magnitudes[at];
    result.squared_underflow += Sum{expected.underflow[at]} * expected.underflow[at];
  }
  return result;
}

template <typename Element>
std::string check_gap(const Element* c, std::int64_t row, const ProductCase& product) {
  for (std::int64_t j = product.n; j < product.ldc; ++j) {
    if (!is_poison(c[j])) {
      return fmt::format("C[{}][{}], after the {} columns, was written", row, j, product.n);
    }
  }
  return {};
}

/// What `count` sums of one size may have for their error beside what many have: three standard deviations of its
/// estimate, less those of as many as count as many.
double fluctuation_of(double count) {
  constexpr double many = 32;
  const auto deviations = [](double sums) { return 3 / std::sqrt(2 * sums); };
  return std::max(1.0, 1 + deviations(std::max(count, 1.0)) - deviations(many));
}

/// What all rows have together; `longest` is the most products of a sum.
Comparison sum_of(const std::vector<RowComparison>& rows, std::int64_t longest) {
  Comparison sum;
  Sum squared_error = 0;
  Sum squared_norm = 0;
  Sum fourth_powers = 0;
  Sum squared_magnitude = 0;
  Sum squared_underflow = 0;
  for (const RowComparison& row : rows) {
    squared_error += row.squared_error;
    squared_norm += row.squared_norm;
    fourth_powers += row.fourth_powers;
    squared_magnitude += row.squared_magnitude;
    squared_underflow += row.squared_underflow;
    if (sum.problem.empty()) {
      sum.problem = row.problem;
    }
    sum.of_rounding = std::max(sum.of_rounding, row.of_rounding);
    if (sum.beyond_rounding.empty()) {
      sum.beyond_rounding = row.beyond_rounding;
    }
  }
  if (squared_norm > 0) {
    const auto root = [](Sum square) { return static_cast<double>(std::sqrt(square)); };
    sum.error = root(squared_error / squared_norm);
    sum.cancellation = std::max(1.0, root(squared_magnitude / squared_norm / static_cast<Sum>(longest)));
    sum.underflow = root(squared_underflow / squared_norm);
    // As many elements of one size would have these powers.
    sum.fluctuation =
        fourth_powers > 0 ? fluctuation_of(static_cast<double>(squared_norm * squared_norm / fourth_powers)) : 1;
  } else if (squared_error > squared_underflow && sum.problem.empty()) {
    sum.problem = "C is not zero, though A is";
  }
  return sum;
}

/// The greatest magnitude of each `rows` rows of A.
std::vector<double> greatest_of_rows(const SparseMatrix& a, std::int64_t rows) {
  std::vector<double> greatest(static_cast<std::size_t>((a.rows + rows - 1) / rows), 0.0);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double& of_these = greatest[static_cast<std::size_t>(row / rows)];
    for (std::int64_t entry = a.offsets[static_cast<std::size_t>(row)];
         entry < a.offsets[static_cast<std::size_t>(row) + 1]; ++entry) {
      of_these = std::max(of_these, std::abs(a.values[static_cast<std::size_t>(entry)]));
    }
  }
  return greatest;
}

/// That of each column of B; what lies in the padding is no number, and no part of it.
std::vector<double> greatest_of_columns(const std::vector<double>& b, const ProductCase& product) {
  std::vector<double> greatest(static_cast<std::size_t>(product.n), 0.0);
  for (std::size_t first = 0; first < b.size(); first += static_cast<std::size_t>(product.ldb)) {
    for (std::size_t j = 0; j < greatest.size(); ++j) {
      if (const double magnitude = std::abs(b[first + j]); magnitude > greatest[j]) {
        greatest[j] = magnitude;
      }
    }
  }
  return greatest;
}

/// The columns for which it is set.
std::vector<std::int64_t> numbers_of(const std::vector<bool>& columns) {
  std::vector<std::int64_t> numbers;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    if (columns[column]) {
      numbers.push_back(static_cast<std::int64_t>(column));
    }
  }
  return numbers;
}

/// How far an element of C may be, whose number is rounded where it is stored; infinitely far where that may overflow.
double stored_error(const Bounded& number, ScalarType element) {
  if (!is_half(element)) {
    return number.error;
  }
  const NumberLimits limits = number_limits(element);
  const double magnitude = std::abs(number.value) + number.error;
  const double error = number.error + limits.unit * magnitude + limits.smallest / 2;
  return magnitude + error > limits.largest ? std::numeric_limits<double>::infinity() : error;
}

}  // namespace

Reference::Reference(const LoopNest& nest, const SparseMatrix& a, std::vector<double> b, const ProductCase& product,
                     const JudgedKernel& kernel)
    : a_(a),
      input_(nest),
      nest_(nest, a),
      operands_(draw_operands(nest, a.rows, product.n, kernel.values)),
      b_(std::move(b)),
      product_(product),
      kernel_(kernel) {
  ESC_CHECK(static_cast<std::int64_t>(b_.size()) == a.columns * product.ldb, "B has K rows of ldb elements");
  const std::string fault = find_layout_fault(nest, a.rows, a.columns, product.n);
  ESC_CHECK(fault.empty(), "the layouts are those of the nest: " + fault);
  if (kernel_.form != ProductForm::whole) {
    greatest_of_rows_ = greatest_of_rows(a_, kernel_.scaled_rows);
    greatest_of_columns_ = greatest_of_columns(b_, product_);
  }
}

double Reference::underflow_of(std::int64_t row, std::size_t column) const {
  // What is added to float32 in global memory is normal or zero (PTX ISA, atom).
  const bool loses_subnormals = kernel_.adds_to_c && input_.sum() == ScalarType::f32;
  const double smallest = loses_subnormals ? 0x1p-126 : number_limits(input_.sum()).smallest;
  if (kernel_.form == ProductForm::whole) {
    return smallest;
  }
  const double of_a = greatest_of_rows_[static_cast<std::size_t>(row / kernel_.scaled_rows)];
  const double of_b = greatest_of_columns_[column];
  // TF32 has no bits below this one; the tensor core leaves those away.
  constexpr double least_of_factors = 0x1p-136;
  double off = 4 * smallest + least_of_factors * (of_a + of_b);
  if (kernel_.form == ProductForm::split && kernel_.scaled_rows > 1) {
    // Halves begin at 2^-24, where the greatest of those that have a scale together is 2^14 at least, and what scales
    // the products back is a normal float.
    constexpr double least_of_scaled = 0x1p-37;
    constexpr double least_of_products = 0x1p-134;
    off += of_a * of_b > number_limits(ScalarType::f32).largest ? std::numeric_limits<double>::infinity()
                                                                : least_of_scaled * of_a * of_b + least_of_products;
  }
  return off;
}

void Reference::compute_all() {
  std::vector<ExpectedRow> rows(static_cast<std::size_t>(a_.rows));
  tbb::parallel_for(std::int64_t{0}, a_.rows,
                    [&](std::int64_t number) { rows[static_cast<std::size_t>(number)] = row(number, operand()); });
  rows_ = std::move(rows);
}

DenseOperand Reference::operand(std::span<const std::int64_t> columns) const {
  return {b_, product_.ldb, product_.n, columns};
}

ExpectedRow Reference::row(std::int64_t number, const DenseOperand& b) const {
  RowOfC sums = nest_.row(number, b);
  const ScalarType type = input_.sum();
  const NumberLimits limits = number_limits(type);
  const std::int64_t products = a_.row_length(number);
  const double bound = rounding_bound(type, products, kernel_.form);
  // A row without products has no sum that could cancel: what an epilogue makes of it is rounded like one product.
  const double bound_of_magnitude = rounding_bound(type, std::max<std::int64_t>(products, 1), kernel_.form);
  ExpectedRow expected{std::move(sums.values), std::move(sums.magnitudes), {}, {}};
  expected.magnitudes.resize(expected.values.size());
  expected.underflow.resize(expected.values.size());
  const std::span<const double> own(a_.values.data() + a_.offsets[static_cast<std::size_t>(number)],
                                    static_cast<std::size_t>(products));
  const bool is_finite = std::ranges::all_of(own, [](double value) { return std::isfinite(value); });
  for (std::size_t place = 0; place < expected.values.size(); ++place) {
    const std::int64_t j = b.column(place);
    const double magnitude = expected.allowed[place];
    const double underflow =
        products == 0 ? 0 : static_cast<double>(products) * underflow_of(number, static_cast<std::size_t>(j));
    const bool may_overflow = !(magnitude <= limits.largest) || std::isinf(underflow);
    Bounded element{expected.values[place],
                    may_overflow ? std::numeric_limits<double>::infinity() : bound * magnitude + underflow};
    if (may_overflow && is_finite) {
      element.value = 0;  // whatever the sum is in this order
    }
    if (input_.epilogue) {
      element = finish(input_, operands_, number, j, element);
    }
    expected.underflow[place] =
        underflow + (is_half(input_.element()) ? number_limits(input_.element()).smallest : limits.smallest);
    expected.values[place] =
        std::isinf(element.error) && is_finite && !std::isfinite(element.value) ? 0 : element.value;
    expected.magnitudes[place] = element.error / bound_of_magnitude;
    expected.allowed[place] = stored_error(element, input_.element());
  }
  return expected;
}

Comparison Reference::compare(const TypedElements& c, const std::vector<bool>& compared,
                              const std::vector<bool>& columns) const {
  std::vector<std::int64_t> numbers;
  std::int64_t longest = 1;
  for (std::int64_t number = 0; number < a_.rows; ++number) {
    if (compared.empty() || compared[static_cast<std::size_t>(number)]) {
      numbers.push_back(number);
      longest = std::max(longest, a_.row_length(number));
    }
  }
  ESC_CHECK(c.size() == numbers.size() * static_cast<std::size_t>(product_.ldc), "C has rows of ldc elements");
  const std::vector<std::int64_t> wanted = numbers_of(columns);
  const DenseOperand b = operand(wanted);
  std::vector<RowComparison> rows(numbers.size());
  with_element(c.type(), [&](auto zero) {
    const auto* const elements = c.elements<decltype(zero)>();
    tbb::parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t place) {
      const std::int64_t number = numbers[place];
      const auto* const c_row = elements + place * static_cast<std::size_t>(product_.ldc);
      RowComparison& result = rows[place];
      result = rows_.empty() ? compare_row(row(number, b), c_row, number, b)
                             : compare_row(rows_[static_cast<std::size_t>(number)], c_row, number, b);
      if (result.problem.empty()) {
        result.problem = check_gap(c_row, number, product_);
      }
    });
  });
  Comparison sum = sum_of(rows, longest);
  sum.rows = static_cast<std::int64_t>(numbers.size());
  sum.columns = columns.empty() ? product_.n : std::ranges::count(columns, true);
  sum.other_columns = product_.n - sum.columns;
  return sum;
}

double rounding_bound(ScalarType element, std::int64_t products, ProductForm form) {
  constexpr double of_split_product = 14 * 0x1p-23;
  constexpr double of_tensor_sum = 4;  // roundings for each of its products
  const double of_factors = products == 0                  ? 0
                            : form == ProductForm::split   ? of_split_product
                            : form == ProductForm::rounded ? number_limits(ScalarType::tf32).unit
                                                           : 0;
  const auto roundings = static_cast<double>(products);
  return of_factors +
         std::expm1(roundings * (form == ProductForm::rounded ? of_tensor_sum : 1) *
                    std::log1p(number_limits(element).unit)) +
         std::expm1((roundings + 1) * std::log1p(number_limits(ScalarType::f64).unit));
}

double tolerance_of(const SparseMatrix& a, ProductForm form) {
  if (form == ProductForm::rounded) {
    return tf32_tolerance;
  }
  constexpr double published_length = 4608;
  constexpr double float32_error = 1e-6;
  constexpr double float64_error =
      2 * float32_error * std::numeric_limits<double>::epsilon() / std::numeric_limits<float>::epsilon();
  const double of_sums = (a.element == ScalarType::f64 ? float64_error : float32_error) *
                         std::sqrt(std::max(1.0, static_cast<double>(a.longest_row()) / published_length));
  return of_sums + (is_half(a.element) ? number_limits(a.element).unit : 0);
}

}  // namespace esc
