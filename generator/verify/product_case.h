#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// One product C = A x B that a kernel is asked for: n columns, with the leading dimensions of B and C in floats, and how
/// many floats behind an aligned address each begins.
struct ProductCase {
  std::int32_t n = 1;
  std::int64_t ldb = 1;
  std::int64_t ldc = 1;
  int shift_b = 0;
  int shift_c = 0;
  bool operator==(const ProductCase&) const = default;
};

/// "n 64, ldb 67, ldc 69, shift 1"; "shifts 1 and 2" where B and C differ.
std::string print(const ProductCase& product);

/// The products by which a kernel made for `bcol` is judged: exactly that, the same with gaps between the rows of B and C,
/// and fewer or more columns than it was made for, one column included.
std::vector<ProductCase> judging_cases(std::int64_t bcol);

/// B: K rows of ldb floats. The n columns are drawn from the seed, in [-1, 1] and never zero; what lies between them and
/// the next row is NaN, so that a kernel that reads it shows.
std::vector<float> draw_b(std::int64_t rows, const ProductCase& product, std::uint64_t seed);

/// What C is filled with before the kernel runs: a NaN that no arithmetic produces.
float poison();

/// C before the kernel runs: `rows` rows of ldc floats, all poison.
std::vector<float> poisoned_c(std::int64_t rows, const ProductCase& product);

/// How a result compares with the float64 reference.
struct Comparison {
  double error = 0;              ///< relative Frobenius error over the compared elements
  std::int64_t rows = 0;         ///< rows of C that were compared
  std::string problem;           ///< empty, or the first thing that is wrong beyond rounding, with its place
  /// How much more than usual the sums cancel, at least 1: |A| x |B| over A x B and the square root of the longest row, in
  /// Frobenius norms. No order of summation keeps a relative error that is small against a result that cancels.
  double cancellation = 1;

  bool within(double tolerance) const { return problem.empty() && error <= tolerance * cancellation; }
};

/// Compares C with A x B computed in float64, over the rows for which `compared` is set (all when it is empty), and checks
/// that nothing was written between the columns and the next row. A NaN, or an element that is still poison, is a problem;
/// if the reference is zero, so must C be. `a` is M x K, b and c as above.
Comparison compare_with_reference(const SparseMatrix& a, const std::vector<float>& b, const std::vector<float>& c,
                                  const ProductCase& product, const std::vector<bool>& compared = {});

/// The relative Frobenius error that float32 sums may have: 1e-6 for rows of up to 4,608 non-zeros, growing with the
/// square root of the longest row beyond.
double float32_tolerance(const SparseMatrix& a);

}  // namespace esc
