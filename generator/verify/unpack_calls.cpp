// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/unpack_calls.h"

#include <fmt/format.h>

#include <bit>

#include "generator/verify/poison.h"

namespace esc {
namespace {

/// The row as a dense one.
template <typename Element>
std::vector<Element> dense_row(const SparseMatrix& matrix, std::int64_t row) {
  std::vector<Element> elements(static_cast<std::size_t>(matrix.columns), static_cast<Element>(0.0));
  const auto end = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]);
  for (auto at = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)]); at < end; ++at) {
    elements[static_cast<std::size_t>(matrix.column_of[at])] = static_cast<Element>(matrix.values[at]);
  }
  return elements;
}

}  // namespace

std::vector<KernelCall> unpack_calls(const Dispatch& dispatch, std::int64_t columns) {
  constexpr int earlier_major = 8;
  std::vector<KernelCall> calls;
  const auto add = [&](std::int64_t lda, int shift, int major) {
    KernelCall call{.product = {.n = static_cast<std::int32_t>(columns), .ldb = 1, .ldc = lda, .shift_c = shift},
                    .compute_major = major};
    call.order = calls.empty() ? std::nullopt : std::optional<std::uint64_t>(calls.size());
    call.default_stream = shift != 0;
    calls.push_back(call);
  };
  if (!dispatch.unpacks) {
    return calls;
  }
  const std::int64_t even = columns + columns % 2;
  add(columns, 0, first_bulk_major);
  add(even + 2, 0, first_bulk_major);
  add(even + 3, 0, first_bulk_major);
  add(even + 4, 1, first_bulk_major);
  if (dispatch.copies_in_bulk && dispatch.runs_earlier) {
    add(even + 2, 0, earlier_major);
  }
  return calls;
}

std::string print_unpacking(const KernelCall& call) {
  return fmt::format("unpacking with lda {}, shift {}{}", call.product.ldc, call.product.shift_c,
                     call.compute_major < first_bulk_major ? ", on an earlier device" : "");
}

std::string wrong_element_of_a(const SparseMatrix& matrix, const TypedElements& found,
                               const std::vector<bool>& compared) {
  return with_element(matrix.element, [&](auto zero) -> std::string {
    using Element = decltype(zero);
    const Element* at = found.elements<Element>();
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      if (!compared.empty() && !compared[static_cast<std::size_t>(row)]) {
        continue;
      }
      for (const Element& expected : dense_row<Element>(matrix, row)) {
        if (std::bit_cast<BitsOf<Element>>(*at) != std::bit_cast<BitsOf<Element>>(expected)) {
          return fmt::format("A[{}][{}] is {}, not {}", row, (at - found.elements<Element>()) % matrix.columns,
                             static_cast<double>(*at), static_cast<double>(expected));
        }
        ++at;
      }
    }
    return "";
  });
}

}  // namespace esc
