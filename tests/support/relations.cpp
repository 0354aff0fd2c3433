// SPDX-License-Identifier: Apache-2.0
#include "tests/support/relations.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "generator/matrix/drawn_value.h"
#include "generator/verify/reference.h"
#include "tests/support/order_of_sums.h"

namespace esc::tests {
namespace {

using Numbers = std::vector<std::int64_t>;

std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }

/// The numbers below `count` in an order drawn from the seed.
Numbers permutation(std::int64_t count, std::uint64_t seed) {
  Numbers numbers(index(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  std::ranges::sort(numbers, {}, [seed](std::int64_t number) {
    return mix_bits(seed ^ mix_bits(static_cast<std::uint64_t>(number)));
  });
  return numbers;
}

/// Row tiles of so many rows in another order, and the rows of each as well; a short last row tile stays the last.
Numbers permutation_of_row_tiles(std::int64_t rows, std::int64_t height, std::uint64_t seed) {
  Numbers permuted;
  Numbers row_tiles = permutation(rows / height, seed);
  row_tiles.push_back(rows / height);
  for (const std::int64_t row_tile : row_tiles) {
    const std::int64_t first = row_tile * height;
    for (const std::int64_t row : permutation(std::min(height, rows - first), seed + 1)) {
      permuted.push_back(first + row);
    }
  }
  return permuted;
}

/// The matrix whose row i is row source[i] of this one.
SparseMatrix rows_taken(const SparseMatrix& a, const Numbers& source) {
  SparseMatrix taken{static_cast<std::int64_t>(source.size()), a.columns, {0}, {}, {}, a.element};
  for (const std::int64_t row : source) {
    for (std::int64_t entry = a.offsets[index(row)]; entry < a.offsets[index(row) + 1]; ++entry) {
      taken.column_of.push_back(a.column_of[index(entry)]);
      taken.values.push_back(a.values[index(entry)]);
    }
    taken.offsets.push_back(taken.nonzeros());
  }
  return taken;
}

/// The matrix whose column destination[k] is column k of this one.
SparseMatrix columns_moved(const SparseMatrix& a, const Numbers& destination) {
  SparseMatrix moved = a;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    std::vector<std::pair<std::int64_t, double>> entries;
    for (std::int64_t entry = a.offsets[index(row)]; entry < a.offsets[index(row) + 1]; ++entry) {
      entries.emplace_back(destination[index(a.column_of[index(entry)])], a.values[index(entry)]);
    }
    std::ranges::sort(entries);
    std::int64_t entry = a.offsets[index(row)];
    for (const auto& [column, value] : entries) {
      moved.column_of[index(entry)] = static_cast<std::int32_t>(column);
      moved.values[index(entry++)] = value;
    }
  }
  return moved;
}

/// Rows of B, or some of its columns.
std::vector<double> rows_moved(const std::vector<double>& b, std::int64_t n, const Numbers& destination) {
  std::vector<double> moved(b.size());
  for (std::size_t row = 0; row < destination.size(); ++row) {
    std::copy_n(b.begin() + static_cast<std::ptrdiff_t>(row) * n, n, moved.begin() + destination[row] * n);
  }
  return moved;
}

std::vector<double> columns_taken(const std::vector<double>& b, std::int64_t n, std::int64_t first,
                                  std::int64_t count) {
  std::vector<double> taken;
  for (auto row = b.begin(); row != b.end(); row += n) {
    taken.insert(taken.end(), row + first, row + first + count);
  }
  return taken;
}

/// What a kernel made of a product, and what rounding may have made of each element.
class Result {
 public:
  Result(Multiplication asked, const Multiply& multiply) : asked_(std::move(asked)), c_(multiply(asked_)) {
    const SparseMatrix& a = asked_.a;
    for (std::int64_t row = 0; row < a.rows; ++row) {
      const double bound = rounding_bound(a.element, a.row_length(row));
      for (std::int64_t j = 0; j < n(); ++j) {
        double sum = 0;
        double magnitude = 0;
        for (std::int64_t entry = a.offsets[index(row)]; entry < a.offsets[index(row) + 1]; ++entry) {
          const double product = a.values[index(entry)] * asked_.b[index(a.column_of[index(entry)] * n() + j)];
          sum += product;
          magnitude += std::abs(product);
        }
        sums_.push_back(sum);
        allowed_.push_back(bound * magnitude);
      }
    }
  }

  const SparseMatrix& a() const { return asked_.a; }
  std::int64_t n() const { return asked_.product.n; }
  std::int64_t rows() const { return asked_.a.rows; }

  /// Element (row, j) of C. Every value of the type is one of double, so that its bits are known from those.
  double at(std::int64_t row, std::int64_t j) const {
    return with_element(c_.type(), [&](auto zero) -> double {
      return static_cast<double>(c_.elements<decltype(zero)>()[row * n() + j]);
    });
  }
  std::uint64_t bits(std::int64_t row, std::int64_t j) const { return bits_of(at(row, j)); }
  static std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }
  /// The same sum in double, and how far from it the element may be.
  double sum(std::int64_t row, std::int64_t j) const { return sums_[index(row * n() + j)]; }
  double allowed(std::int64_t row, std::int64_t j) const { return allowed_[index(row * n() + j)]; }

 private:
  Multiplication asked_;
  TypedElements c_;
  std::vector<double> sums_;
  std::vector<double> allowed_;
};

std::string difference(std::int64_t row, std::int64_t j, double found, double wanted, const std::string& how) {
  return fmt::format("C[{}][{}] is {}, expected {}, {}", row, j, found, wanted, how);
}

std::string bit_difference(const Result& c, std::int64_t row, std::int64_t j, double wanted) {
  return c.bits(row, j) == Result::bits_of(wanted) ? "" : difference(row, j, c.at(row, j), wanted, "bit by bit");
}

/// Whether they are apart by more, or one of them is not a number.
bool are_apart(double one, double other, double allowed) { return !(std::abs(one - other) <= allowed); }

/// A row of one result, from a column on, beside a whole row of another: "" where they are equal.
std::string row_difference(const Result& whole, std::int64_t row, std::int64_t first, const Result& other,
                           std::int64_t other_row, bool bit_by_bit) {
  for (std::int64_t j = 0; j < other.n(); ++j) {
    const double wanted = whole.at(row, first + j);
    const double allowed = whole.allowed(row, first + j) + other.allowed(other_row, j);
    if (std::string problem = bit_by_bit ? bit_difference(other, other_row, j, wanted) : ""; !problem.empty()) {
      return problem;
    }
    if (are_apart(other.at(other_row, j), wanted, allowed)) {
      return difference(other_row, j, other.at(other_row, j), wanted, fmt::format("rounding explains {:.2g}", allowed));
    }
  }
  return {};
}

Multiplication plain(const DrawnCase& drawn) { return {drawn.a, drawn.product, drawn.b(), drawn.seed}; }

/// Whose rows are those of the case, row i being row source[i]; further ones are of zeros.
std::string rows_violation(const DrawnCase& drawn, const Schedule& schedule, const Multiply& multiply,
                           const Numbers& source, std::int64_t zeros) {
  const Result before(plain(drawn), multiply);
  Multiplication changed = plain(drawn);
  changed.a = rows_taken(drawn.a, source);
  changed.a.rows += zeros;
  changed.a.offsets.resize(index(changed.a.rows) + 1, changed.a.nonzeros());
  changed.order += 1;
  const Result after(changed, multiply);
  const OrderOfSums order_before(schedule, before.a());
  const OrderOfSums order_after(schedule, after.a());
  for (std::int64_t row = 0; row < before.rows(); ++row) {
    const auto order = order_before.of_row(source[index(row)]);
    const bool bit_by_bit = order && order == order_after.of_row(row);
    if (std::string problem = row_difference(before, source[index(row)], 0, after, row, bit_by_bit); !problem.empty()) {
      return problem;
    }
  }
  for (std::int64_t row = before.rows(); row < after.rows(); ++row) {
    for (std::int64_t j = 0; j < after.n(); ++j) {
      if (std::string problem = bit_difference(after, row, j, 0); !problem.empty()) {
        return problem;
      }
    }
  }
  return {};
}

/// Row tiles as wholes for every other case: so rows keep their row tiles, and with these the order of their sums.
std::string rows_permuted(const DrawnCase& drawn, const Schedule& schedule, const Multiply& multiply) {
  const Numbers source = drawn.seed % 2 == 0
                             ? permutation(drawn.a.rows, drawn.seed)
                             : permutation_of_row_tiles(drawn.a.rows, row_tile_height(schedule), drawn.seed);
  return rows_violation(drawn, schedule, multiply, source, 0);
}

std::string zero_rows_appended(const DrawnCase& drawn, const Schedule& schedule, const Multiply& multiply) {
  Numbers all(index(drawn.a.rows));
  std::iota(all.begin(), all.end(), 0);
  const auto most = static_cast<std::uint64_t>(2 * row_tile_height(schedule) + 1);
  return rows_violation(drawn, schedule, multiply, all, static_cast<std::int64_t>(1 + mix_bits(drawn.seed) % most));
}

std::string columns_permuted(const DrawnCase& drawn, const Schedule&, const Multiply& multiply) {
  const Result before(plain(drawn), multiply);
  const Numbers destination = permutation(drawn.a.columns, drawn.seed);
  Multiplication changed = plain(drawn);
  changed.a = columns_moved(drawn.a, destination);
  changed.b = rows_moved(changed.b, drawn.product.n, destination);
  const Result after(changed, multiply);
  for (std::int64_t row = 0; row < before.rows(); ++row) {
    if (std::string problem = row_difference(before, row, 0, after, row, false); !problem.empty()) {
      return problem;
    }
  }
  return {};
}

std::string doubled(const DrawnCase& drawn, const Schedule&, const Multiply& multiply) {
  const Result before(plain(drawn), multiply);
  Multiplication changed = plain(drawn);
  for (double& value : changed.a.values) {
    value *= 2;
  }
  const Result after(changed, multiply);
  for (std::int64_t row = 0; row < before.rows(); ++row) {
    for (std::int64_t j = 0; j < before.n(); ++j) {
      if (std::string problem = bit_difference(after, row, j, 2 * before.at(row, j)); !problem.empty()) {
        return problem;
      }
    }
  }
  return {};
}

/// Every other unit vector takes a column in which A has a non-zero, so that columns of a wide matrix are not all
/// empty.
std::string unit_vectors(const DrawnCase& drawn, const Schedule&, const Multiply& multiply) {
  const std::int64_t n = drawn.product.n;
  Multiplication changed = plain(drawn);
  std::ranges::fill(changed.b, 0);
  Numbers chosen;
  for (std::int64_t j = 0; j < n; ++j) {
    const std::uint64_t bits = mix_bits(drawn.seed + static_cast<std::uint64_t>(j));
    chosen.push_back(j % 2 == 0 && drawn.a.nonzeros() > 0
                         ? drawn.a.column_of[bits % drawn.a.column_of.size()]
                         : static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(drawn.a.columns)));
    changed.b[index(chosen.back() * n + j)] = 1;
  }
  const Result c(changed, multiply);
  for (std::int64_t row = 0; row < c.rows(); ++row) {
    for (std::int64_t j = 0; j < n; ++j) {
      // One product is a sum's only one that is not zero, so that the sum in double is the element of A.
      if (std::string problem = bit_difference(c, row, j, c.sum(row, j)); !problem.empty()) {
        return problem;
      }
    }
  }
  return {};
}

/// The second call begins in the middle of the rows of B and C. One column is one call.
std::string columns_split(const DrawnCase& drawn, const Schedule& schedule, const Multiply& multiply) {
  const Result whole(plain(drawn), multiply);
  const std::int64_t n = drawn.product.n;
  if (n == 1) {
    return {};
  }
  const auto middle = static_cast<std::int32_t>(1 + mix_bits(drawn.seed) % static_cast<std::uint64_t>(n - 1));
  const OrderOfSums order(schedule, drawn.a);
  for (const auto& [first, count] : {std::pair(0, middle), std::pair(middle, drawn.product.n - middle)}) {
    Multiplication part = plain(drawn);
    part.product.n = count;
    part.product.shift_b += first;
    part.product.shift_c += first;
    part.b = columns_taken(part.b, n, first, count);
    part.order += 1;
    const Result c(part, multiply);
    for (std::int64_t row = 0; row < c.rows(); ++row) {
      if (std::string problem = row_difference(whole, row, first, c, row, order.of_row(row).has_value());
          !problem.empty()) {
        return problem;
      }
    }
  }
  return {};
}

}  // namespace

const std::vector<Relation>& relations() {
  static const std::vector<Relation> all = {
      {"rows of A permuted", true, rows_permuted},
      {"columns of A and rows of B permuted", true, columns_permuted},
      {"A times two", false, doubled},
      {"B of unit vectors", false, unit_vectors},
      {"rows of zeros after A", true, zero_rows_appended},
      {"the columns of B in two calls", false, columns_split},
  };
  return all;
}

std::string disagreement(const DrawnCase& drawn, const std::vector<Multiply>& families) {
  std::vector<Result> results;
  for (const Multiply& multiply : families) {
    results.emplace_back(plain(drawn), multiply);
  }
  for (std::int64_t row = 0; row < drawn.a.rows; ++row) {
    for (std::int64_t j = 0; j < drawn.product.n; ++j) {
      for (const Result& one : results) {
        const double allowed = one.allowed(row, j);
        if (are_apart(one.at(row, j), one.sum(row, j), allowed)) {
          return difference(row, j, one.at(row, j), one.sum(row, j), fmt::format("rounding explains {:.2g}", allowed));
        }
        if (are_apart(one.at(row, j), results.front().at(row, j), 2 * allowed)) {
          return difference(row, j, one.at(row, j), results.front().at(row, j),
                            fmt::format("as the first family has it; rounding explains {:.2g}", 2 * allowed));
        }
      }
    }
  }
  return {};
}

}  // namespace esc::tests
