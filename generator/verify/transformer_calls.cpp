// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/transformer_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "generator/verify/value_draw.h"

namespace esc {
namespace {

constexpr std::byte poison_byte{0xa5};

}  // namespace

void PackedRoom::poison() { std::ranges::fill(memory_, poison_byte); }

std::byte* PackedRoom::data() {
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(memory_.data()) % alignment;
  return memory_.data() + (alignment - beyond) % alignment + shift_;
}

bool PackedRoom::is_untouched_around() {
  const auto is_poison = [](std::byte byte) { return byte == poison_byte; };
  const auto first = memory_.begin() + (data() - memory_.data());
  return std::all_of(memory_.begin(), first, is_poison) &&
         std::all_of(first + static_cast<std::ptrdiff_t>(bytes_), memory_.end(), is_poison);
}

CsrArrays csr_of(const SparseMatrix& matrix) {
  return {std::vector<std::int32_t>(matrix.offsets.begin(), matrix.offsets.end()), matrix.column_of, matrix.values};
}

TypedElements dense_elements(const SparseMatrix& matrix, std::int64_t lda, double zero) {
  TypedElements a(matrix.element, static_cast<std::size_t>((matrix.rows - 1) * lda + matrix.columns));
  with_element(matrix.element, [&](auto of_type) {
    using Element = decltype(of_type);
    auto* const elements = a.elements<Element>();
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      std::fill_n(elements + row * lda, matrix.columns, static_cast<Element>(zero));
      for (std::int64_t entry = matrix.offsets[static_cast<std::size_t>(row)];
           entry < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++entry) {
        const auto at = static_cast<std::size_t>(entry);
        elements[row * lda + matrix.column_of[at]] = static_cast<Element>(matrix.values[at]);
      }
      for (std::int64_t column = matrix.columns; row + 1 < matrix.rows && column < lda; ++column) {
        elements[row * lda + column] = static_cast<Element>(std::numeric_limits<double>::quiet_NaN());
      }
    }
  });
  return a;
}

SparseMatrix with_other_values(const SparseMatrix& matrix, std::uint64_t seed, std::int64_t line_rows) {
  const ValueDraw draw(seed, ValueDraw::Range::whole);
  SparseMatrix other = matrix;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t entry = matrix.offsets[static_cast<std::size_t>(row)];
         entry < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++entry) {
      const auto at = static_cast<std::size_t>(entry);
      other.values[at] =
          drawn_value(draw, row / line_rows, row, matrix.column_of[at], matrix.element, Zeros::forbidden);
    }
  }
  return other;
}

TypedElements with_further_bits(TypedElements elements) {
  if (elements.type() == ScalarType::tf32) {
    constexpr std::uint32_t half = 0x1000;
    auto* const numbers = elements.elements<float>();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (std::isfinite(numbers[i]) && numbers[i] != 0) {
        const auto bits = std::bit_cast<std::uint32_t>(numbers[i]);
        numbers[i] = std::bit_cast<float>(i % 2 == 0 ? bits - half : bits + half - 1);
      }
    }
  }
  return elements;
}

bool JudgedCalls::call(const std::string& what, TransformStatus wanted, const std::function<int()>& function) {
  const int status = function();
  if (status != static_cast<int>(wanted)) {
    const std::string text = error_text();
    add(fmt::format("the transformer returns {} instead of {} for {}{}{}", status, static_cast<int>(wanted), what,
                    text.empty() ? "" : ": ", text));
    return false;
  }
  expect_text(what, wanted != TransformStatus::done);
  return true;
}

bool JudgedCalls::measure(const std::string& what, std::size_t wanted, const std::function<std::size_t()>& function) {
  const std::size_t bytes = function();
  if (bytes != wanted) {
    add(fmt::format("the transformer says {} instead of {} bytes for {}", bytes, wanted, what));
    return false;
  }
  expect_text(what, wanted == 0);
  return true;
}

void JudgedCalls::expect_text(const std::string& what, bool refuses) {
  if (error_text().empty() == refuses) {
    add(fmt::format("the transformer {} for {}", refuses ? "has no error text" : "has an error text", what));
  }
}

}  // namespace esc
