#include "generator/verify/product_case.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "generator/matrix/drawn_value.h"
#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::uint32_t poison_bits = 0x7fa5a5a5;

bool is_poison(float value) { return std::bit_cast<std::uint32_t>(value) == poison_bits; }

/// Whether both are finite, both NaN, or the same infinity. A weight that is not finite makes such elements of C.
bool same_kind(double found, double wanted) {
  return std::isfinite(wanted) ? std::isfinite(found)
                               : std::isnan(wanted) ? std::isnan(found) : found == wanted;
}

/// The part of a comparison that one row contributes.
struct RowComparison {
  double squared_error = 0;
  double squared_norm = 0;
  double squared_magnitude = 0;  ///< of |A| x |B|
  std::int64_t products = 0;     ///< in each sum
  std::string problem;
};

RowComparison compare_row(const SparseMatrix& a, const std::vector<float>& b, const float* c, std::int64_t row,
                          const ProductCase& product) {
  std::vector<double> expected(static_cast<std::size_t>(product.n), 0.0);
  std::vector<double> magnitudes = expected;
  for (std::int64_t entry = a.offsets[static_cast<std::size_t>(row)]; entry < a.offsets[static_cast<std::size_t>(row) + 1];
       ++entry) {
    const double value = a.values[static_cast<std::size_t>(entry)];
    const float* b_row = b.data() + a.column_of[static_cast<std::size_t>(entry)] * product.ldb;
    for (std::int32_t j = 0; j < product.n; ++j) {
      const double term = value * static_cast<double>(b_row[j]);
      expected[static_cast<std::size_t>(j)] += term;
      magnitudes[static_cast<std::size_t>(j)] += std::abs(term);
    }
  }
  RowComparison result;
  result.products = a.offsets[static_cast<std::size_t>(row) + 1] - a.offsets[static_cast<std::size_t>(row)];
  for (std::int32_t j = 0; j < product.n; ++j) {
    const double wanted = expected[static_cast<std::size_t>(j)];
    if (result.problem.empty() && is_poison(c[j])) {
      result.problem = fmt::format("C[{}][{}] was not written", row, j);
    } else if (result.problem.empty() && !same_kind(c[j], wanted)) {
      result.problem = fmt::format("C[{}][{}] is {}, expected {}", row, j, c[j], wanted);
    }
    if (!std::isfinite(wanted) || !std::isfinite(c[j])) {
      continue;  // judged by its kind alone
    }
    const double difference = static_cast<double>(c[j]) - wanted;
    result.squared_error += difference * difference;
    result.squared_norm += wanted * wanted;
    result.squared_magnitude += magnitudes[static_cast<std::size_t>(j)] * magnitudes[static_cast<std::size_t>(j)];
  }
  return result;
}

std::string check_gap(const float* c, std::int64_t row, const ProductCase& product) {
  for (std::int64_t j = product.n; j < product.ldc; ++j) {
    if (!is_poison(c[j])) {
      return fmt::format("C[{}][{}], behind the {} columns, was written", row, j, product.n);
    }
  }
  return {};
}

}  // namespace

std::string print(const ProductCase& product) {
  const std::string shifts = product.shift_b == product.shift_c
                                 ? fmt::format("shift {}", product.shift_b)
                                 : fmt::format("shifts {} and {}", product.shift_b, product.shift_c);
  return fmt::format("n {}, ldb {}, ldc {}, {}", product.n, product.ldb, product.ldc, shifts);
}

std::vector<ProductCase> judging_cases(std::int64_t bcol) {
  const auto n = static_cast<std::int32_t>(bcol);
  std::vector<ProductCase> cases{{n, n, n}, {n, bcol + 3, bcol + 5, 1, 1}};
  for (const std::int32_t other : {1, n > 7 ? n - 5 : n + 9}) {
    if (other != n) {
      cases.push_back({other, other + 1, other});
    }
  }
  return cases;
}

std::vector<float> draw_b(std::int64_t rows, const ProductCase& product, std::uint64_t seed) {
  std::vector<float> b(static_cast<std::size_t>(rows * product.ldb), poison());
  tbb::parallel_for(std::int64_t{0}, rows, [&](std::int64_t row) {
    for (std::int64_t j = 0; j < product.n; ++j) {
      b[static_cast<std::size_t>(row * product.ldb + j)] = drawn_value(seed, row, j);
    }
  });
  return b;
}

float poison() { return std::bit_cast<float>(poison_bits); }

std::vector<float> poisoned_c(std::int64_t rows, const ProductCase& product) {
  return std::vector<float>(static_cast<std::size_t>(rows * product.ldc), poison());
}

Comparison compare_with_reference(const SparseMatrix& a, const std::vector<float>& b, const std::vector<float>& c,
                                  const ProductCase& product, const std::vector<bool>& compared) {
  ESC_CHECK(static_cast<std::int64_t>(b.size()) == a.columns * product.ldb, "B has K rows of ldb floats");
  ESC_CHECK(static_cast<std::int64_t>(c.size()) == a.rows * product.ldc, "C has M rows of ldc floats");
  std::vector<RowComparison> rows(static_cast<std::size_t>(a.rows));
  tbb::parallel_for(std::int64_t{0}, a.rows, [&](std::int64_t row) {
    const float* c_row = c.data() + row * product.ldc;
    RowComparison& result = rows[static_cast<std::size_t>(row)];
    if (compared.empty() || compared[static_cast<std::size_t>(row)]) {
      result = compare_row(a, b, c_row, row, product);
    }
    if (result.problem.empty()) {
      result.problem = check_gap(c_row, row, product);
    }
  });

  Comparison sum;
  sum.rows = compared.empty() ? a.rows : std::count(compared.begin(), compared.end(), true);
  double squared_error = 0;
  double squared_norm = 0;
  double squared_magnitude = 0;
  std::int64_t longest = 1;
  for (const RowComparison& row : rows) {
    squared_error += row.squared_error;
    squared_norm += row.squared_norm;
    squared_magnitude += row.squared_magnitude;
    longest = std::max(longest, row.products);
    if (sum.problem.empty()) {
      sum.problem = row.problem;
    }
  }
  if (squared_norm > 0) {
    sum.error = std::sqrt(squared_error / squared_norm);
    sum.cancellation =
        std::max(1.0, std::sqrt(squared_magnitude / squared_norm / static_cast<double>(longest)));
  } else if (squared_error > 0 && sum.problem.empty()) {
    sum.problem = "C is not zero, though A is";
  }
  return sum;
}

double float32_tolerance(const SparseMatrix& a) {
  std::int64_t longest = 0;
  for (std::size_t row = 0; row + 1 < a.offsets.size(); ++row) {
    longest = std::max(longest, a.offsets[row + 1] - a.offsets[row]);
  }
  constexpr double published_length = 4608;
  return 1e-6 * std::sqrt(std::max(1.0, static_cast<double>(longest) / published_length));
}

}  // namespace esc
