// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/call_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/emulate/race_clock.h"
#include "generator/support/limits.h"
#include "generator/verify/allowance_for.h"
#include "generator/verify/kernel_calls.h"
#include "generator/verify/row_tile_sample.h"
#include "generator/verify/unpack_calls.h"

namespace esc {
namespace {

/// Multiply-adds of a call, as the emulation counts them: a row costs some though it is empty, for its threads run.
std::int64_t products_of(const SparseMatrix& matrix, const KernelCall& call) {
  constexpr std::int64_t row_products = 8;
  return std::max<std::int64_t>(1, std::max(matrix.nonzeros(), row_products * matrix.rows) * call.width());
}

/// The multiply-adds that a call may take: its share of what a whole product takes, or the least that it is worth.
std::int64_t most_products(const KernelCall& call, const SparseMatrix& matrix, const EmulationEffort& effort) {
  const std::int64_t whole = std::min(products_of(matrix, call), effort.most_products);
  return std::clamp(static_cast<std::int64_t>(call.share * static_cast<double>(whole)),
                    std::min(whole, call.least_products), whole);
}

/// Multiply-adds of a call that computes the rows of the sample.
std::int64_t sampled_products(const SparseMatrix& matrix, const KernelCall& call, const RowTileSample& sample) {
  if (sample.covers_all()) {
    return products_of(matrix, call);
  }
  std::int64_t products = 1;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    products += sample.rows()[static_cast<std::size_t>(row)] ? std::max<std::int64_t>(matrix.row_length(row), 8) : 0;
  }
  return products * call.width();
}

/// How many tiles of columns there are for each that a call computes. A block may have all rows, so that a sample of
/// rows is no smaller; of a call that asks for a part of a product some tiles do. What whole products take is not cut
/// unless it is many times what they may, nor are whole items at the ends of launches of texts that nothing is known
/// of.
std::int64_t tile_stride(const KernelCall& call, const Dispatch& dispatch, std::int64_t products, std::int64_t most,
                         Breadth breadth) {
  constexpr std::int64_t least = 500'000;
  constexpr std::int64_t excess = 2;
  const bool keeps_ranges = !call.columns.empty() && breadth == Breadth::unknown;
  if (dispatch.tile_columns == 0 || keeps_ranges || (call.share == 1 && products <= excess * most) ||
      call.width() > most_tiles * dispatch.tile_columns) {
    return 1;
  }
  return std::max<std::int64_t>(1, products / std::max(least, most));
}

/// Matrices that the nest's epilogue reads, each as large as C.
std::int64_t operand_matrices(const LoopNest& nest) {
  return std::ranges::count_if(operands_of(nest),
                               [](const ArrayDeclaration& operand) { return operand.extents.size() == 2; });
}

/// Bytes of B, C and `operands` matrices like C that a call touches, by whole pages where rows are far apart.
std::int64_t touched_bytes(const SparseMatrix& matrix, const KernelCall& call, const Dispatch& dispatch,
                           std::int64_t operands) {
  constexpr std::int64_t page_bytes = 4096;
  const std::int64_t element = bytes_of(matrix.element);
  const auto touched = [&](const PlacedLayout& layout, std::int64_t rows, std::int64_t distance) {
    if (layout.runs_over_items()) {  // of each item its elements, and what is watched before it and after it
      const std::int64_t apart = layout.least_leading_dimension(call.product.n) * element + 3 * page_bytes;
      return call.width() / call.item_columns * std::min(distance * element, apart);
    }
    const std::int64_t inner = layout.is_row_major() ? call.width() : layout.least_leading_dimension(call.product.n);
    const std::int64_t apart = inner * element + static_cast<std::int64_t>(call.compared().size()) * page_bytes;
    return layout.outermost_extent(rows, call.product.n) * std::min(distance * element, apart);
  };
  return touched(dispatch.b, matrix.columns, call.product.ldb) +
         (1 + operands) * touched(dispatch.c, matrix.rows, call.product.ldc + 1);
}

/// Addresses for a byte that a call writes, with what is noted for each word, and for what a process has beside.
constexpr double mapped_of_written = 1 + static_cast<double>(sizeof(WordShadow)) / 4;
constexpr double mapped_beside = 1 << 30;

/// Beyond this no process has addresses.
constexpr std::uint64_t most_mapped_bytes = std::uint64_t{1} << 46;

/// Multiply-adds, and what it takes to make and to move B and C: a part of one for each of their elements.
std::uint64_t work_of(const SparseMatrix& matrix, const KernelCall& call, std::int64_t products) {
  constexpr std::int64_t elements_of_a_product = 16;
  return static_cast<std::uint64_t>(products + (matrix.rows + matrix.columns) * call.width() / elements_of_a_product);
}

}  // namespace

std::uint64_t mapped_bytes(const SparseMatrix& matrix, const KernelCall& call, const BundleUnderTest& bundle) {
  const auto mapped = [&](const PlacedLayout& layout, std::int64_t rows, std::int64_t distance) {
    return static_cast<double>(layout.outermost_extent(rows, call.product.n)) * static_cast<double>(distance) *
           static_cast<double>(bytes_of(matrix.element));
  };
  const Dispatch& dispatch = bundle.dispatch;
  const double like_c =
      static_cast<double>(operand_matrices(bundle.nest)) * mapped(dispatch.c, matrix.rows, call.product.ldc + 1);
  return static_cast<std::uint64_t>(mapped(dispatch.b, matrix.columns, call.product.ldb) +
                                    mapped_of_written * mapped(dispatch.c, matrix.rows, call.product.ldc) + like_c +
                                    mapped_beside);
}

void CallPlan::add(const KernelCall& call, const SparseMatrix& matrix, std::span<const std::byte> packed) {
  const std::int64_t bytes = touched_bytes(matrix, call, bundle_.dispatch, operand_matrices(bundle_.nest));
  const std::uint64_t mapped = mapped_bytes(matrix, call, bundle_);
  if (bytes > most_checked_bytes || mapped > most_mapped_bytes) {
    too_large_.push_back(print(call));
    return;
  }
  // The sample is one of the pattern, which the packed file has been checked for.
  const std::int64_t most = most_products(call, matrix, effort_);
  RowTileSample sample(bundle_.packed, products_of(matrix, call), most, call.first_unit, bundle_.dispatch.block_rows);
  const std::int64_t products = sampled_products(matrix, call, sample);
  const std::int64_t stride = tile_stride(call, bundle_.dispatch, products, most, effort_.breadth);
  calls_.push_back({call, matrix, packed, std::move(sample), &matrix, stride});
  work_.push_back(work_of(matrix, call, products / stride));
  all_work_ += work_.back();
  most_touched_ = std::max(most_touched_, bytes);
  most_mapped_ = std::max(most_mapped_, mapped);
}

void CallPlan::add_unpacking(const KernelCall& call, const SparseMatrix& matrix, std::span<const std::byte> packed) {
  add_of(UnpackFunction::unpack, call, matrix, packed, matrix.rows * call.product.ldc * bytes_of(matrix.element));
}

void CallPlan::add_repacking(const KernelCall& call, const OtherMatrix& other) {
  add_of(UnpackFunction::values, call, other.matrix, bundle_.packed, static_cast<std::int64_t>(bundle_.packed.size()));
  calls_.back().packed_of_values = other.packed;
}

Allowance CallPlan::allowance() const {
  Allowance allowance = allowance_for(effort_, all_work_, most_touched_);
  allowance.address_space = most_mapped_;
  return allowance;
}

void CallPlan::say_what_is_left_out(VerificationReport& report) const {
  if (!too_large_.empty()) {
    const std::string others =
        too_large_.size() == 1 ? " was" : fmt::format(" and {} calls like it were", too_large_.size() - 1);
    report.skipped.push_back(fmt::format("{}{} not run: B and C would take more than {} MiB", too_large_.front(),
                                         others, most_checked_bytes >> 20));
  }
}

void CallPlan::add_of(UnpackFunction function, const KernelCall& call, const SparseMatrix& matrix,
                      std::span<const std::byte> packed, std::int64_t bytes) {
  constexpr std::int64_t products_of_an_element = 8;
  const std::int64_t products = products_of_an_element * matrix.rows * matrix.columns;
  const std::int64_t most = effort_.most_products / 4;
  calls_.push_back({call, matrix, packed,
                    RowTileSample(bundle_.packed, products, most, call.first_unit, bundle_.dispatch.block_rows),
                    &matrix});
  calls_.back().function = function;
  work_.push_back(static_cast<std::uint64_t>(std::min(products, most)));
  all_work_ += work_.back();
  most_touched_ = std::max(most_touched_, std::min(bytes, most_checked_bytes));
  most_mapped_ = std::max(most_mapped_,
                          static_cast<std::uint64_t>(mapped_of_written * static_cast<double>(bytes) + mapped_beside));
}

}  // namespace esc
