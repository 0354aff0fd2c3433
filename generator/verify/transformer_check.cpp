// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/transformer_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <utility>

#include "generator/matrix/drawn_value.h"

namespace esc {
namespace {

/// What the transformer's functions return, as the header of the bundle says.
enum Status { done = 0, bad_argument = 1, pattern_differs = 2, unreadable_file = 3, bad_file = 4 };

/// Room for a packed matrix at an address that is divisible by 8, which the interface asks for, and by no more.
class PackedRoom {
 public:
  explicit PackedRoom(std::size_t bytes) : bytes_(bytes), memory_(bytes + spare) {}

  /// Nothing that a call has left there.
  void poison() { std::ranges::fill(memory_, std::byte{0xa5}); }

  std::byte* data() {
    const std::size_t beyond = reinterpret_cast<std::uintptr_t>(memory_.data()) % 16;
    return memory_.data() + (16 - beyond) % 16 + 8;
  }
  std::vector<std::byte> contents() { return {data(), data() + bytes_}; }

 private:
  static constexpr std::size_t spare = 32;
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

/// A matrix as the CSR functions take it.
struct CsrArrays {
  std::vector<std::int32_t> offsets;
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

CsrArrays csr_of(const SparseMatrix& matrix) {
  return {std::vector<std::int32_t>(matrix.offsets.begin(), matrix.offsets.end()), matrix.column_of, matrix.values};
}

/// The same with a zero stored in each row that has room for one.
CsrArrays with_stored_zeros(const SparseMatrix& matrix) {
  CsrArrays arrays{{0}, {}, {}};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    std::int64_t free = 0;  // the lowest column without an entry, as far as it is known
    bool stored = false;
    const auto store_at = [&](std::int64_t column) {
      if (!stored && free < column) {
        arrays.columns.push_back(static_cast<std::int32_t>(free));
        arrays.values.push_back(0.0);
        stored = true;
      }
      free = column + 1;
    };
    for (std::int64_t entry = matrix.offsets[static_cast<std::size_t>(row)];
         entry < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++entry) {
      const auto at = static_cast<std::size_t>(entry);
      store_at(matrix.column_of[at]);
      arrays.columns.push_back(matrix.column_of[at]);
      arrays.values.push_back(matrix.values[at]);
    }
    store_at(matrix.columns);
    arrays.offsets.push_back(static_cast<std::int32_t>(arrays.columns.size()));
  }
  return arrays;
}

SparseMatrix with_other_values(const SparseMatrix& matrix) {
  constexpr std::uint64_t seed = 2;
  SparseMatrix other = matrix;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t entry = matrix.offsets[static_cast<std::size_t>(row)];
         entry < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++entry) {
      const auto at = static_cast<std::size_t>(entry);
      other.values[at] = drawn_value(seed, row, matrix.column_of[at], matrix.element);
    }
  }
  return other;
}

/// A non-zero with a zero behind it in its row.
struct MovableNonzero {
  std::size_t entry;
  std::int64_t row;
};

/// The first or the last one; there is one if some row is neither empty nor full in front of its last non-zero.
std::optional<MovableNonzero> movable_nonzero(const SparseMatrix& matrix, bool first) {
  std::optional<MovableNonzero> moved;
  for (std::size_t row = 0; row + 1 < matrix.offsets.size() && !(first && moved); ++row) {
    const std::int64_t last = matrix.offsets[row + 1];
    for (std::int64_t entry = matrix.offsets[row]; entry < last && !(first && moved); ++entry) {
      const auto at = static_cast<std::size_t>(entry);
      const std::int64_t next = entry + 1 < last ? matrix.column_of[at + 1] : matrix.columns;
      if (matrix.column_of[at] + 1 < next) {
        moved = {at, static_cast<std::int64_t>(row)};
      }
    }
  }
  return moved;
}

/// What a caller may have for elements that a transformer rounds: bits that rounding takes away, of half a unit nearer
/// to zero and of a little less than that farther from it.
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

/// Makes the calls and keeps what is wrong with them.
class Check {
 public:
  Check(const TransformerFunctions& transformer, const SparseMatrix& matrix)
      : transformer_(transformer), matrix_(matrix), room_(transformer.packed_bytes()) {}

  std::vector<std::string> problems() && { return std::move(problems_); }

  /// What the transformer packs; nothing where it refuses, which is a problem.
  std::optional<std::vector<std::byte>> pack(const char* what, const CsrArrays& arrays) {
    const bool packed = call(what, done, [&](void* to) { return transform_csr(arrays, to); });
    return packed ? std::optional(room_.contents()) : std::nullopt;
  }
  std::optional<std::vector<std::byte>> pack_dense(const char* what, const SparseMatrix& matrix, std::int64_t lda) {
    const TypedElements a = with_further_bits(dense_elements(matrix, lda));
    const bool packed = call(what, done, [&](void* to) { return transformer_.transform(a.data(), lda, to); });
    return packed ? std::optional(room_.contents()) : std::nullopt;
  }

  void expect_same(const char* what, const std::optional<std::vector<std::byte>>& packed, const std::vector<std::byte>& expected) {
    if (packed && *packed != expected) {
      problems_.push_back(fmt::format("the transformer packs {} otherwise than the same matrix as CSR", what));
    }
  }

  void refuse_csr() {
    CsrArrays arrays = csr_of(matrix_);
    TypedElements values(matrix_.element, arrays.values);
    const auto raw = [&](const std::int32_t* offsets, const std::int32_t* columns, const void* numbers) {
      return [=, this](void* to) { return transformer_.transform_csr(offsets, columns, numbers, to); };
    };
    const auto all = raw(arrays.offsets.data(), arrays.columns.data(), values.data());
    call("null offsets", bad_argument, raw(nullptr, arrays.columns.data(), values.data()));
    const Status without_entries = matrix_.nonzeros() == 0 ? done : bad_argument;
    call("null columns", without_entries, raw(arrays.offsets.data(), nullptr, values.data()));
    call("null values", without_entries, raw(arrays.offsets.data(), arrays.columns.data(), nullptr));
    refuse_rooms("CSR", all);
    refuse_broken_rows(arrays, all);
    refuse_other_patterns(arrays, values, all);
  }

  void refuse_dense() {
    const TypedElements a = dense_elements(matrix_, matrix_.columns);
    const auto with = [&](const void* elements, std::int64_t lda) {
      return [this, elements, lda](void* to) { return transformer_.transform(elements, lda, to); };
    };
    call("a null matrix", bad_argument, with(nullptr, matrix_.columns));
    call("an lda less than the columns", bad_argument, with(a.data(), matrix_.columns - 1));
    refuse_rooms("dense", with(a.data(), matrix_.columns));
  }

  void load(const std::vector<std::byte>& packed) {
    const auto file = [this](std::span<const std::byte> contents) {
      return [this, contents](void* to) { return transformer_.load({PackedFile::Path::file, contents}, to); };
    };
    refuse_rooms("load", file(packed));
    call("a null path", bad_argument, [this](void* to) { return transformer_.load({PackedFile::Path::null, {}}, to); });
    call("the path of no file", unreadable_file,
         [this](void* to) { return transformer_.load({PackedFile::Path::missing, {}}, to); });
    call("an empty packed file", bad_file, file({}));
    call("a packed file that is too short", bad_file, file(std::span(packed).first(packed.size() - 1)));
    std::vector<std::byte> other = packed;
    other.emplace_back();
    call("a packed file that is too long", bad_file, file(other));
    other.pop_back();
    // The kind of the packed form, the rows of the matrix, the first byte behind the header and the last.
    for (std::size_t at : {std::size_t{0}, std::size_t{32}, std::size_t{256}, packed.size() - 1}) {
      if (at < other.size()) {
        other[at] ^= std::byte{1};
        call(fmt::format("a packed file with byte {} changed", at).c_str(), bad_file, file(other));
        other[at] ^= std::byte{1};
      }
    }
    if (call("its own packed file", done, file(packed)) && room_.contents() != packed) {
      problems_.emplace_back("the transformer loads a packed file otherwise than it is");
    }
  }

 private:
  /// Whether the call returns what it should, and has a text for it only where it refuses.
  template <typename Function>
  bool call(const char* what, Status wanted, const Function& function) {
    return call_with(what, wanted, room_.data(), function);
  }
  template <typename Function>
  bool call_with(const char* what, Status wanted, void* room, const Function& function) {
    if (wanted == done) {
      room_.poison();
    }
    const int status = function(room);
    const std::string text = transformer_.transform_error();
    if (status != wanted) {
      problems_.push_back(fmt::format("the transformer returns {} instead of {} for {}{}{}", status, static_cast<int>(wanted), what,
                                      text.empty() ? "" : ": ", text));
    } else if (text.empty() != (wanted == done)) {
      problems_.push_back(fmt::format("the transformer {} for {}", wanted == done ? "has an error text" : "has no error text", what));
    }
    return status == wanted;
  }

  template <typename Function>
  void refuse_rooms(const char* form, const Function& function) {
    call_with(fmt::format("{} into a null buffer", form).c_str(), bad_argument, nullptr, function);
    for (const int shift : {1, 4}) {
      call_with(fmt::format("{} into a misaligned buffer", form).c_str(), bad_argument, room_.data() + shift, function);
    }
  }

  int transform_csr(const CsrArrays& arrays, void* to) {
    const TypedElements values = with_further_bits({matrix_.element, arrays.values});
    return transformer_.transform_csr(arrays.offsets.data(), arrays.columns.data(), values.data(), to);
  }

  /// The call must be refused while an element of its arrays has this value.
  template <typename Element, typename Function>
  void refuse_while(const char* what, Element& element, Element value, const Function& function, Status status = bad_argument) {
    const Element good = std::exchange(element, value);
    call(what, status, function);
    element = good;
  }

  template <typename Function>
  void refuse_broken_rows(CsrArrays& arrays, const Function& function) {
    std::vector<std::int32_t>& offsets = arrays.offsets;
    std::vector<std::int32_t>& columns = arrays.columns;
    refuse_while("offsets that do not start at 0", offsets.front(), 1, function);
    refuse_while("a row that ends before it starts", *(offsets.end() - 2), offsets.back() + 1, function);
    if (matrix_.rows > 1) {
      refuse_while("a first row that ends before it starts", offsets.at(1), -1, function);
    }
    if (matrix_.nonzeros() > 0) {
      refuse_while("a column behind the last", columns.back(), static_cast<std::int32_t>(matrix_.columns), function);
      refuse_while("a negative column", columns.front(), -1, function);
    }
    for (std::int64_t row = matrix_.rows; row-- > 0;) {
      if (matrix_.row_length(row) >= 2) {
        const auto last = static_cast<std::size_t>(matrix_.offsets[static_cast<std::size_t>(row) + 1] - 1);
        refuse_while("columns that do not increase", columns[last], columns[last - 1], function);
        return;
      }
    }
  }

  /// The text of a refusal says in which rows the pattern is another.
  void expect_place(std::int64_t row) {
    const std::string text = transformer_.transform_error();
    const std::size_t place = text.find("rows ");
    long long first = -1;
    long long last = -1;
    if (place == std::string::npos || std::sscanf(text.c_str() + place, "rows %lld to %lld", &first, &last) != 2 || row < first ||
        row > last || last >= matrix_.rows) {
      problems_.push_back(fmt::format("the transformer does not say that row {} differs: {}", row, text));
    }
  }

  template <typename Function>
  void refuse_other_patterns(CsrArrays& arrays, TypedElements& values, const Function& function) {
    for (const bool first : {true, false}) {
      if (const std::optional<MovableNonzero> moved = movable_nonzero(matrix_, first)) {
        std::int32_t& column = arrays.columns[moved->entry];
        refuse_while("a matrix with a non-zero in another place", column, column + 1, function, pattern_differs);
        expect_place(moved->row);
      }
    }
    if (matrix_.nonzeros() > 0) {
      with_element(matrix_.element, [&](auto zero) {
        refuse_while("a matrix with a zero where the pattern has a non-zero",
                     values.elements<decltype(zero)>()[matrix_.nonzeros() - 1], zero, function, pattern_differs);
      });
    }
  }

  const TransformerFunctions& transformer_;
  const SparseMatrix& matrix_;
  PackedRoom room_;
  std::vector<std::string> problems_;
};

}  // namespace

TypedElements dense_elements(const SparseMatrix& matrix, std::int64_t lda) {
  TypedElements a(matrix.element, static_cast<std::size_t>((matrix.rows - 1) * lda + matrix.columns));
  with_element(matrix.element, [&](auto zero) {
    using Element = decltype(zero);
    auto* const elements = a.elements<Element>();
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
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

TransformCheck check_transformer(const TransformerFunctions& transformer, const SparseMatrix& matrix,
                                 std::int64_t most_dense_elements) {
  TransformCheck result;
  if (matrix.nonzeros() + matrix.rows > std::numeric_limits<std::int32_t>::max()) {
    result.problems.emplace_back("the matrix has more non-zeros than the CSR interface can take");
    return result;
  }
  constexpr std::int64_t gap = 3;
  Check check(transformer, matrix);
  // What is refused comes first, so that its error text would show in what is done next.
  check.refuse_csr();
  if (const auto packed = check.pack("its own matrix", csr_of(matrix))) {
    result.packed = *packed;
    SparseMatrix other = with_other_values(matrix);
    const auto other_packed = check.pack("other values with zeros between them", with_stored_zeros(other));
    if (matrix.rows * matrix.columns <= most_dense_elements) {
      check.refuse_dense();
      check.expect_same("a dense matrix", check.pack_dense("its own dense matrix", matrix, matrix.columns + gap), result.packed);
      if (other_packed) {
        check.expect_same("other dense values", check.pack_dense("other dense values", other, matrix.columns), *other_packed);
      }
    }
    check.load(result.packed);
    if (other_packed) {
      result.other = OtherValues{std::move(other), *other_packed};
    }
  }
  result.problems = std::move(check).problems();
  return result;
}

}  // namespace esc
