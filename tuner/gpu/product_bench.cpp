#include "tuner/gpu/product_bench.h"

#include <fmt/format.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <span>

#include "generator/support/error.h"

namespace esc::gpu {
namespace {

constexpr std::uint64_t seed_of_b = 1;

ProductCase case_of(std::int64_t bcol) {
  return {.n = static_cast<std::int32_t>(bcol), .ldb = bcol, .ldc = bcol, .shift_b = 0, .shift_c = 0};
}

std::size_t copies_for(std::uint64_t wanted, std::uint64_t bytes) {
  return wanted == 0 ? 1 : static_cast<std::size_t>(std::max<std::uint64_t>(2, (wanted + bytes - 1) / bytes));
}

std::uint64_t bytes_of(std::int64_t rows, const ProductCase& product) {
  return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(product.n) * sizeof(float);
}

/// Threads that compare results apart from those that prepare the next kernels, which would keep a comparison waiting.
tbb::task_arena& judging_threads() {
  static tbb::task_arena arena(std::max(1, tbb::info::default_concurrency() / 4));
  return arena;
}

}  // namespace

ProductBench::ProductBench(const SparseMatrix& matrix, std::int64_t bcol, const Stream& stream,
                           std::uint64_t cold_bytes)
    : matrix_(matrix),
      nest_(spmm_nest()),
      stream_(stream),
      product_(case_of(bcol)),
      tolerance_(tolerance_of(matrix)),
      cold_bytes_(cold_bytes),
      reference_(nest_, matrix, draw_b(matrix.columns, product_, seed_of_b), product_) {
  judging_threads().execute([this] { reference_.compute_all(); });
  const TypedElements b(ScalarType::f32, reference_.b());
  const TypedElements poisoned = poisoned_c(matrix.rows, product_);
  const std::size_t copies =
      copies_for(cold_bytes, bytes_of(matrix.columns, product_) + bytes_of(matrix.rows, product_));
  b_ = Copies(std::span(b.elements<float>(), b.size()), copies);
  c_ = Copies(std::span(poisoned.elements<float>(), poisoned.size()), copies);
  poison_ = Buffer(poisoned.bytes().size());
  check(cudaMemcpy(poison_.as<void>(), poisoned.data(), poison_.bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
}

std::size_t ProductBench::cold_copies(std::size_t bytes_of_a) const {
  ESC_CHECK(cold_bytes_ > 0, "copies for cold measurements were asked for");
  return copies_for(cold_bytes_, bytes_of_a + bytes_of(matrix_.columns, product_) + bytes_of(matrix_.rows, product_));
}

TypedElements ProductBench::result_of(const Launch& run) const {
  check(cudaMemcpyAsync(c(0), poison_.as<void>(), poison_.bytes(), cudaMemcpyDeviceToDevice, stream_.get()),
        "cudaMemcpyAsync");
  run(stream_.get(), 0);
  TypedElements result(ScalarType::f32, poison_.bytes() / sizeof(float));
  check(cudaMemcpyAsync(result.data(), c(0), poison_.bytes(), cudaMemcpyDeviceToHost, stream_.get()),
        "cudaMemcpyAsync");
  stream_.wait();
  return result;
}

Judgement ProductBench::judge(const TypedElements& c, double tolerance) const {
  Comparison comparison;
  judging_threads().execute([&] { comparison = reference_.compare(c); });
  if (comparison.within(tolerance)) {
    return {comparison.error, {}};
  }
  return {comparison.error, !comparison.problem.empty()
                                ? comparison.problem
                                : fmt::format("relative error {:.2e}, more than {:.2e}", comparison.error,
                                              tolerance * comparison.cancellation)};
}

JudgedTiming ProductBench::judge_and_time(GraphTimer& timer, const Launch& launch, double tolerance,
                                          const TimingOptions& options) const {
  const TypedElements result = result_of(launch);
  timer.start(launch, options);
  const Judgement judgement = judge(result, tolerance);
  return {judgement, timer.finish()};
}

}  // namespace esc::gpu
