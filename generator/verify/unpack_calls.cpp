// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/unpack_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <variant>

#include "generator/verify/poison.h"
#include "transformer/packed_reader.h"
#include "transformer/unpack.h"

namespace esc {
namespace {

bool is_compared(const std::vector<bool>& compared, std::int64_t row) {
  return compared.empty() || compared[static_cast<std::size_t>(row)];
}

/// The row as a dense one.
template <typename Element>
std::vector<Element> dense_row(const SparseMatrix& matrix, std::int64_t row, Element between) {
  std::vector<Element> elements(static_cast<std::size_t>(matrix.columns), between);
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

std::string print_unpacking(const KernelCall& call, UnpackFunction function) {
  return fmt::format("{} with lda {}, shift {}{}", doing(function), call.product.ldc, call.product.shift_c,
                     call.compute_major < first_bulk_major ? ", on an earlier device" : "");
}

std::string wrong_element_of_a(const SparseMatrix& matrix, const TypedElements& found,
                               const std::vector<bool>& compared) {
  return with_element(matrix.element, [&](auto zero) -> std::string {
    using Element = decltype(zero);
    const Element* at = found.elements<Element>();
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      if (!is_compared(compared, row)) {
        continue;
      }
      for (const Element& expected : dense_row(matrix, row, static_cast<Element>(0.0))) {
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

TypedElements values_to_take(const SparseMatrix& matrix, const std::vector<bool>& compared) {
  return with_element(matrix.element, [&](auto zero) {
    using Element = decltype(zero);
    std::vector<Element> elements;
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      if (is_compared(compared, row)) {
        std::ranges::copy(dense_row(matrix, row, poison<Element>()), std::back_inserter(elements));
      }
    }
    TypedElements result(matrix.element, elements.size());
    std::ranges::copy(elements, result.elements<Element>());
    return result;
  });
}

std::string wrong_byte_of_packed(std::span<const std::byte> before, std::span<const std::byte> of_values,
                                 std::span<const std::byte> found, const std::vector<bool>& compared) {
  std::vector<std::byte> expected(of_values.begin(), of_values.end());
  const auto format = std::get<transformer::BitmapFormat>(transformer::read_format(before));
  const transformer::BitmapReader reader(before, format);
  for (std::uint64_t row_tile = 0; row_tile < format.row_tiles(); ++row_tile) {
    if (!is_compared(compared, format.shape.first_row(static_cast<std::int64_t>(row_tile)))) {
      const std::size_t begin = format.packed_tile_at(reader.begin(row_tile, 0));
      const std::size_t end = format.packed_tile_at(reader.begin(row_tile + 1, 0));
      std::ranges::copy(before.subspan(begin, end - begin), expected.begin() + static_cast<std::ptrdiff_t>(begin));
    }
  }
  for (std::size_t at = transformer::header_bytes; at < expected.size(); ++at) {
    if (found[at] != expected[at]) {
      return fmt::format("byte {} of the packed matrix is {}, not {}", at, std::to_integer<int>(found[at]),
                         std::to_integer<int>(expected[at]));
    }
  }
  return "";
}

}  // namespace esc
