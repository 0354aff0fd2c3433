// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/product_bench.h"

#include <fmt/format.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "generator/emit/generate.h"
#include "generator/lower/canonicalize.h"
#include "generator/support/error.h"
#include "generator/verify/matrix_image.h"
#include "generator/verify/operand_image.h"
#include "generator/verify/poison.h"

namespace esc::gpu {
namespace {

constexpr std::uint64_t seed_of_b = 1;

/// The layout of a matrix of the canonical nest.
PlacedLayout placed(const LoopNest& canonical, ArrayRole role, const SparseMatrix& matrix) {
  const std::optional<Layout>& layout = canonical.array(role).layout;
  return layout ? PlacedLayout(*layout, {{"M", matrix.rows}, {"K", matrix.columns}}) : PlacedLayout();
}

bool is_transposed(const LoopNest& canonical) { return std::string_view(layout_of(canonical)) == "nk"; }

/// The columns alone, one row after the other, as the reference has them.
ProductCase case_of(const LoopNest& nest, std::int64_t bcol) {
  const std::int64_t columns = product_columns(nest, bcol).count;
  return {.n = static_cast<std::int32_t>(columns), .ldb = columns, .ldc = columns, .shift_b = 0, .shift_c = 0};
}

/// The form of product, among those of candidates for these elements, that is the least exact.
ProductForm loosest_form(ScalarType element) {
  return element == ScalarType::f32    ? ProductForm::split
         : element == ScalarType::tf32 ? ProductForm::rounded
                                       : ProductForm::whole;
}

std::size_t copies_for(std::uint64_t wanted, std::uint64_t bytes) {
  return wanted == 0 ? 1 : static_cast<std::size_t>(std::max<std::uint64_t>(2, (wanted + bytes - 1) / bytes));
}

/// Threads that compare results apart from those that prepare the next kernels, which would keep a comparison waiting.
tbb::task_arena& judging_threads() {
  static tbb::task_arena arena(std::max(1, tbb::info::default_concurrency() / 4));
  return arena;
}

}  // namespace

ProductBench::ProductBench(const SparseMatrix& matrix, std::int64_t bcol, const Stream& stream,
                           std::uint64_t cold_bytes, LoopNest nest)
    : matrix_(matrix),
      nest_(std::move(nest)),
      stream_(stream),
      layout_b_(placed(canonicalize(nest_), ArrayRole::dense, matrix)),
      layout_c_(placed(canonicalize(nest_), ArrayRole::output, matrix)),
      is_transposed_(gpu::is_transposed(canonicalize(nest_))),
      product_(case_of(nest_, bcol)),
      ldb_(layout_b_.is_row_major() ? product_.n : layout_b_.least_leading_dimension(bcol)),
      ldc_(layout_c_.is_row_major() ? product_.n : layout_c_.least_leading_dimension(bcol)),
      tolerance_(tolerance_of(matrix, loosest_form(matrix.element))),
      cold_bytes_(cold_bytes),
      reference_(nest_, matrix, draw_b(layout_b_, matrix.columns, product_, seed_of_b, matrix.element), product_,
                 loosest_form(matrix.element)) {
  judging_threads().execute([this] { reference_.compute_all(); });
  with_element(element(), [&](auto zero) { place<decltype(zero)>(); });
  place_operands();
}

template <typename Element>
void ProductBench::place() {
  TypedElements b(element(), reference_.b());
  MatrixImage<Element> image_b(layout_b_, matrix_.columns, product_.n, ldb_,
                               static_cast<Element>(std::numeric_limits<double>::quiet_NaN()));
  image_b.visit(b.elements<Element>(), [](Element& place, const Element& value) { place = value; });
  MatrixImage<Element> image_c(layout_c_, matrix_.rows, product_.n, ldc_, poison<Element>());
  if (!layout_c_.is_row_major()) {
    places_of_c_.resize(static_cast<std::size_t>(matrix_.rows) * static_cast<std::size_t>(product_.n));
    const Element* const first = image_c.elements().data();
    image_c.visit(places_of_c_.data(), [&](const Element& place, std::size_t& number) {
      number = static_cast<std::size_t>(&place - first);
    });
  }
  bytes_ = image_b.bytes() + image_c.bytes();
  const std::size_t copies = copies_for(cold_bytes_, bytes_);
  b_ = Copies(std::span<const Element>(image_b.elements()), copies);
  c_ = Copies(std::span<const Element>(image_c.elements()), copies);
  poison_ = Buffer(image_c.bytes());
  check(cudaMemcpy(poison_.as<void>(), image_c.elements().data(), poison_.bytes(), cudaMemcpyHostToDevice),
        "cudaMemcpy");
}

void ProductBench::place_operands() {
  for (const Operand& operand : draw_operands(nest_, matrix_.rows, product_.n)) {
    if (operand.rank == 0) {
      epilogue_.push_back(number_argument(operand));
      continue;
    }
    const TypedElements values(operand.type, in_memory(operand));
    operands_.emplace_back(values.bytes(), 1);
    epilogue_.emplace_back(static_cast<const void*>(operands_.back().at<const void>(0)));
    if (operand.rank == 2) {
      epilogue_.emplace_back(leading_dimension(operand));
    }
  }
}

std::size_t ProductBench::cold_copies(std::size_t bytes_of_a) const {
  ESC_CHECK(cold_bytes_ > 0, "copies for cold measurements were asked for");
  return copies_for(cold_bytes_, bytes_of_a + bytes_);
}

TypedElements ProductBench::result_of(const Launch& run) const {
  check(cudaMemcpyAsync(c(0), poison_.as<void>(), poison_.bytes(), cudaMemcpyDeviceToDevice, stream_.get()),
        "cudaMemcpyAsync");
  run(stream_.get(), 0);
  TypedElements found(element(), poison_.bytes() / static_cast<std::size_t>(bytes_of(element())));
  check(cudaMemcpyAsync(found.data(), c(0), poison_.bytes(), cudaMemcpyDeviceToHost, stream_.get()), "cudaMemcpyAsync");
  stream_.wait();
  if (places_of_c_.empty()) {
    return found;
  }
  TypedElements result(element(), places_of_c_.size());
  with_element(element(), [&](auto zero) {
    using Element = decltype(zero);
    std::ranges::transform(places_of_c_, result.elements<Element>(),
                           [&](std::size_t place) { return found.elements<Element>()[place]; });
  });
  return result;
}

Judgement ProductBench::judge(const TypedElements& c, double tolerance) const {
  Comparison comparison;
  judging_threads().execute([&] { comparison = reference_.compare(c); });
  // Without an epilogue the norm says enough, also of libraries that compute in fewer digits.
  const bool is_explained = !nest_.epilogue || comparison.beyond_rounding.empty();
  if (comparison.within(tolerance) && is_explained) {
    return {comparison.error, {}};
  }
  if (!is_explained) {
    return {comparison.error, comparison.wrong_element()};
  }
  return {comparison.error, !comparison.problem.empty()
                                ? comparison.problem
                                : fmt::format("relative error {:.2e}, more than {:.2e}", comparison.error,
                                              tolerance * comparison.allowance())};
}

JudgedTiming ProductBench::judge_and_time(GraphTimer& timer, const Launch& launch, double tolerance,
                                          const TimingOptions& options) const {
  const TypedElements result = result_of(launch);
  timer.start(launch, options);
  const Judgement judgement = judge(result, tolerance);
  return {judgement, timer.finish()};
}

}  // namespace esc::gpu
