// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/verify/c_call.h"
#include "generator/verify/reference.h"
#include "tuner/gpu/device.h"
#include "tuner/gpu/graph_timer.h"

namespace esc::gpu {

/// A result that was compared with the float64 reference.
struct Judgement {
  double error = 0;     ///< relative Frobenius error
  std::string problem;  ///< empty when the result is right
  bool right() const { return problem.empty(); }
};

/// A judged result with the time of a launch, which stands for nothing where the result is wrong.
struct JudgedTiming {
  Judgement judgement;
  Timing timing;
};

/// What one product of a loop nest needs on the device, whoever computes it: B, C and what an epilogue reads, as the
/// nest has them, without gaps, and what C is judged by. Its member functions are called by one thread at a time.
class ProductBench {
 public:
  /// `matrix` and `stream` must outlive it. With `cold_bytes` it holds so many copies of B and C that all of them
  /// together have at least so many bytes; without, one.
  ProductBench(const SparseMatrix& matrix, std::int64_t bcol, const Stream& stream, std::uint64_t cold_bytes,
               LoopNest nest = spmm_nest());

  const SparseMatrix& matrix() const { return matrix_; }
  unsigned int columns() const { return static_cast<unsigned int>(product_.n); }
  double tolerance() const { return tolerance_; }
  /// Whether C is A x B and nothing more, its matrices row-major or, if so, transposed.
  bool is_plain() const { return !nest_.epilogue && (is_row_major() || is_transposed()); }
  bool is_transposed() const { return is_transposed_; }
  long long ldb() const { return ldb_; }
  long long ldc() const { return ldc_; }
  /// What the epilogue reads, as a kernel takes it.
  const std::vector<CArgument>& epilogue() const { return epilogue_; }
  /// Of A, B and C.
  ScalarType element() const { return matrix_.element; }
  const void* b(std::size_t copy) const { return b_.at<const void>(copy); }
  void* c(std::size_t copy) const { return c_.at<void>(copy); }

  /// How many copies of the operands, with so many bytes for A, a cold measurement goes over; at least 2.
  std::size_t cold_copies(std::size_t bytes_of_a) const;

  /// C of copy 0 after `run`, which finds it poisoned. Throws DeviceError.
  TypedElements result_of(const Launch& run) const;
  /// Compares with the reference; a right result has at most `tolerance`, grown where sums cancel.
  Judgement judge(const TypedElements& c, double tolerance) const;

  /// Runs `launch` once on poisoned C and judges that while the device times the launches. Throws DeviceError.
  JudgedTiming judge_and_time(GraphTimer& timer, const Launch& launch, double tolerance,
                              const TimingOptions& options) const;

 private:
  bool is_row_major() const { return layout_b_.is_row_major() && layout_c_.is_row_major(); }
  /// B, and C as nothing, in so many copies as are asked for.
  template <typename Element>
  void place();
  void place_operands();

  const SparseMatrix& matrix_;
  LoopNest nest_;
  const Stream& stream_;
  PlacedLayout layout_b_;
  PlacedLayout layout_c_;
  bool is_transposed_;
  ProductCase product_;  ///< of the columns alone, row-major
  long long ldb_;
  long long ldc_;
  double tolerance_;
  std::uint64_t cold_bytes_;
  Reference reference_;
  Copies b_;
  Copies c_;
  std::uint64_t bytes_;                   ///< of B and C
  std::vector<std::size_t> places_of_c_;  ///< where each element of C is; empty: one row after the other
  Buffer poison_;
  std::vector<Copies> operands_;
  std::vector<CArgument> epilogue_;
};

}  // namespace esc::gpu
