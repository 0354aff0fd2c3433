#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
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

/// What one product C = A x B needs on the device, whoever computes it: B and C, without gaps between rows, and what C
/// is judged by. Its member functions are called by one thread at a time.
class ProductBench {
 public:
  /// `matrix` and `stream` must outlive it. With `cold_bytes` it holds so many copies of B and C that all of them
  /// together have at least so many bytes; without, one.
  ProductBench(const SparseMatrix& matrix, std::int64_t bcol, const Stream& stream, std::uint64_t cold_bytes);

  const SparseMatrix& matrix() const { return matrix_; }
  unsigned int columns() const { return static_cast<unsigned int>(product_.n); }
  double tolerance() const { return tolerance_; }
  const float* b(std::size_t copy) const { return b_.at<const float>(copy); }
  float* c(std::size_t copy) const { return c_.at<float>(copy); }

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
  const SparseMatrix& matrix_;
  LoopNest nest_;
  const Stream& stream_;
  ProductCase product_;
  double tolerance_;
  std::uint64_t cold_bytes_;
  Reference reference_;
  Copies b_;
  Copies c_;
  Buffer poison_;
};

}  // namespace esc::gpu
