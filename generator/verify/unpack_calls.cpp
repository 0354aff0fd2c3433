// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/unpack_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <type_traits>
#include <utility>
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

/// Sets what is stored of a row beside its non-zeros to zero: where four neighbours have fewer than two, the last
/// places without one fill up.
template <typename Element>
void clear_fillers(const SparseMatrix& matrix, std::int64_t row, std::vector<Element>& elements) {
  constexpr std::int32_t neighbours = 4;
  constexpr int stored = 2;
  const auto begin = matrix.column_of.begin() + matrix.offsets[static_cast<std::size_t>(row)];
  const auto end = matrix.column_of.begin() + matrix.offsets[static_cast<std::size_t>(row) + 1];
  for (std::int32_t first = 0; first < matrix.columns; first += neighbours) {
    int count =
        static_cast<int>(std::lower_bound(begin, end, first + neighbours) - std::lower_bound(begin, end, first));
    for (std::int32_t column = first + neighbours - 1; count < stored; --column) {
      if (!std::binary_search(begin, end, column)) {
        if (column < matrix.columns) {
          elements[static_cast<std::size_t>(column)] = static_cast<Element>(0.0);
        }
        ++count;
      }
    }
  }
}

/// The bytes of a row tile's packed tiles: where they begin, and where those of the next one do.
std::pair<std::size_t, std::size_t> bytes_of_row_tile(std::span<const std::byte> packed,
                                                      const transformer::BitmapFormat& format, std::uint64_t row_tile) {
  const transformer::BitmapReader reader(packed, format);
  return {format.packed_tile_at(reader.begin(row_tile, 0)), format.packed_tile_at(reader.begin(row_tile + 1, 0))};
}
std::pair<std::size_t, std::size_t> bytes_of_row_tile(std::span<const std::byte>,
                                                      const transformer::Sparse24Format& format,
                                                      std::uint64_t row_tile) {
  return {format.packed_tile_at(row_tile * format.tiles()), format.packed_tile_at((row_tile + 1) * format.tiles())};
}

/// Makes the packed tiles of row tiles that are not compared those of `before`.
template <typename Format>
void keep_row_tiles(std::span<const std::byte> before, const Format& format, const std::vector<bool>& compared,
                    std::vector<std::byte>& packed) {
  for (std::uint64_t row_tile = 0; row_tile < format.row_tiles(); ++row_tile) {
    if (!is_compared(compared, format.shape.first_row(static_cast<std::int64_t>(row_tile)))) {
      const auto [begin, end] = bytes_of_row_tile(before, format, row_tile);
      std::ranges::copy(before.subspan(begin, end - begin), packed.begin() + static_cast<std::ptrdiff_t>(begin));
    }
  }
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

TypedElements values_to_take(const SparseMatrix& matrix, std::span<const std::byte> packed,
                             const std::vector<bool>& compared) {
  const bool is_sparse24 = std::holds_alternative<transformer::Sparse24Format>(transformer::read_format(packed));
  return with_element(matrix.element, [&](auto zero) {
    using Element = decltype(zero);
    std::vector<Element> elements;
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      if (is_compared(compared, row)) {
        std::vector<Element> of_row = dense_row(matrix, row, poison<Element>());
        if (is_sparse24) {
          clear_fillers(matrix, row, of_row);
        }
        std::ranges::move(of_row, std::back_inserter(elements));
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
  std::visit(
      [&](const auto& format) {
        if constexpr (std::remove_cvref_t<decltype(format)>::takes_any_pattern) {
          keep_row_tiles(before, format, compared, expected);
        }
      },
      transformer::read_format(before));
  for (std::size_t at = transformer::header_bytes; at < expected.size(); ++at) {
    if (found[at] != expected[at]) {
      return fmt::format("byte {} of the packed matrix is {}, not {}", at, std::to_integer<int>(found[at]),
                         std::to_integer<int>(expected[at]));
    }
  }
  return "";
}

}  // namespace esc
