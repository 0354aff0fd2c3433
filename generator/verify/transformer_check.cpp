// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/transformer_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include "generator/support/error.h"
#include "generator/support/number_in.h"
#include "generator/verify/other_patterns.h"
#include "generator/verify/transformer_calls.h"
#include "generator/verify/transformer_cases.h"
#include "transformer/unpack.h"

namespace esc {
namespace {

/// Up to here a transformer that is not known is called for whatever may be wrong with an entry.
constexpr std::int64_t few_nonzeros = 1 << 16;
/// And up to here it packs values that are not finite, too.
constexpr std::int64_t most_infinite = 1 << 20;

/// The rows of "... rows 8 to 15 ...", the first time that a text says so; nothing where it does not.
std::optional<std::pair<std::int64_t, std::int64_t>> rows_in(std::string_view text) {
  constexpr std::string_view front = "rows ";
  constexpr std::string_view between = " to ";
  const auto take_number = [&] {
    const std::string_view digits = text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
    text.remove_prefix(digits.size());
    return number_in<std::int64_t>(digits);
  };
  text.remove_prefix(std::min(text.find(front), text.size()));
  text.remove_prefix(std::min(front.size(), text.size()));
  const std::optional<std::int64_t> first = take_number();
  const bool goes_on = text.starts_with(between);
  text.remove_prefix(goes_on ? between.size() : 0);
  const std::optional<std::int64_t> last = take_number();
  return first && goes_on && last ? std::optional(std::pair(*first, *last)) : std::nullopt;
}

/// Makes the calls and keeps what is wrong with them.
class Check {
 public:
  Check(const TransformerFunctions& transformer, const SparseMatrix& matrix, Breadth breadth)
      : calls_(transformer), matrix_(matrix), breadth_(breadth), room_(transformer.packed_bytes()) {}

  JudgedCalls& calls() { return calls_; }

  /// What the transformer packs; nothing where it refuses, which is a problem.
  std::optional<std::vector<std::byte>> pack(const char* what, const CsrArrays& arrays) {
    const bool packed = call(what, done, [&](void* to) { return transform_csr(arrays, to); });
    return packed ? std::optional(room_.contents()) : std::nullopt;
  }
  std::optional<std::vector<std::byte>> pack_dense(const char* what, const SparseMatrix& matrix, std::int64_t lda,
                                                   double zero = 0.0) {
    const TypedElements a = with_further_bits(dense_elements(matrix, lda, zero));
    const bool packed = call(what, done, [&](void* to) { return transformer().transform(a.data(), lda, to); });
    return packed ? std::optional(room_.contents()) : std::nullopt;
  }

  void expect_same(const char* what, const std::optional<std::vector<std::byte>>& packed,
                   const std::vector<std::byte>& expected) {
    if (packed && *packed != expected) {
      calls_.add(fmt::format("the transformer packs {} otherwise than the same matrix as CSR", what));
    }
  }

  /// The packed bytes hold the pattern and the values of the matrix, and are those that this program packs.
  void expect_holds(const std::vector<std::byte>& packed, const SparseMatrix& matrix) {
    try {
      const transformer::CsrMatrix held = transformer::unpack(packed);
      const auto is_same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
      if (held.offsets != matrix.offsets || held.column_of != matrix.column_of ||
          !std::ranges::equal(held.values, matrix.values, is_same)) {
        calls_.add("the transformer packs other values than those that it is given");
      }
    } catch (const transformer::FormatError& problem) {
      calls_.add(fmt::format("the transformer packs other values wrongly: {}", problem.what()));
    }
  }

  /// A non-zero moved in each group of row tiles of which a digest is kept, or in as many as a text of this kind is
  /// worth: the first, the last and some that are drawn; a kernel that takes any pattern does not mind. And what else
  /// is wrong there with an entry.
  void refuse_in_groups(const std::vector<std::byte>& packed, const TransformEffort& effort) {
    constexpr std::int64_t nonzeros_of_generated = 1 << 18;
    constexpr std::int64_t nonzeros_of_unknown = 1 << 26;
    std::vector<RowRange> groups = pattern_groups_of(packed);
    std::mt19937_64 random(effort.seed);
    const std::int64_t most = effort.breadth == Breadth::generated ? nonzeros_of_generated : nonzeros_of_unknown;
    const auto chosen =
        static_cast<std::size_t>(std::max<std::int64_t>(3, most / std::max<std::int64_t>(matrix_.nonzeros(), 1)));
    if (groups.size() > chosen) {
      std::swap(groups[1], groups.back());
      for (std::size_t at = 2; at < chosen; ++at) {
        std::swap(groups[at], groups[at + random() % (groups.size() - at)]);
      }
      groups.resize(chosen);
    }
    CsrArrays arrays = csr_of(matrix_);
    TypedElements values(matrix_.element, arrays.values);
    const auto function = [&](void* to) {
      return transformer().transform_csr(arrays.offsets.data(), arrays.columns.data(), values.data(), to);
    };
    for (const RowRange& rows : groups) {
      const std::vector<MovableNonzero> movable = movable_nonzeros(matrix_, rows.first, rows.behind);
      if (is_bound() && !movable.empty()) {
        const MovableNonzero& moved = movable[random() % movable.size()];
        std::int32_t& column = arrays.columns[moved.entry];
        refuse_while("a matrix with a non-zero in another place", column, column + 1, function, refused_pattern);
        expect_place(moved.row);
      }
      if (breadth_ == Breadth::unknown) {
        constexpr int entries_of_a_group = 8;
        for (int entry = 0; entry < (matrix_.nonzeros() <= few_nonzeros ? entries_of_a_group : 1); ++entry) {
          refuse_broken_entry(rows, random(), arrays, values, function);
        }
      }
    }
  }

  /// What may be wrong with a single entry, at one of these rows.
  template <typename Function>
  void refuse_broken_entry(const RowRange& rows, std::uint64_t drawn, CsrArrays& arrays, TypedElements& values,
                           const Function& function) {
    const auto first = static_cast<std::size_t>(matrix_.offsets[static_cast<std::size_t>(rows.first)]);
    const auto count = static_cast<std::size_t>(matrix_.offsets[static_cast<std::size_t>(rows.behind)]) - first;
    if (count == 0) {
      return;
    }
    const std::size_t at = first + drawn % count;
    const auto row = static_cast<std::size_t>(std::ranges::upper_bound(matrix_.offsets, static_cast<std::int64_t>(at)) -
                                              matrix_.offsets.begin()) -
                     1;
    if (is_bound()) {
      with_element(matrix_.element, [&](auto zero) {
        refuse_while("a matrix with a zero where the pattern has a non-zero", values.elements<decltype(zero)>()[at],
                     zero, function, refused_pattern);
      });
      expect_place(static_cast<std::int64_t>(row));
    }
    refuse_while("a column after the last", arrays.columns[at], static_cast<std::int32_t>(matrix_.columns), function);
    refuse_while("a negative column", arrays.columns[at], -1, function);
    if (static_cast<std::int64_t>(at) > matrix_.offsets[row]) {
      refuse_while("columns that do not increase", arrays.columns[at], arrays.columns[at - 1], function);
    }
    if (row + 1 < static_cast<std::size_t>(matrix_.rows)) {
      refuse_while("a row that ends before it starts", arrays.offsets[row + 1], arrays.offsets[row] - 1, function);
    }
  }

  void refuse_csr() {
    CsrArrays arrays = csr_of(matrix_);
    TypedElements values(matrix_.element, arrays.values);
    const auto raw = [&](const std::int32_t* offsets, const std::int32_t* columns, const void* numbers) {
      return [=, this](void* to) { return transformer().transform_csr(offsets, columns, numbers, to); };
    };
    const auto all = raw(arrays.offsets.data(), arrays.columns.data(), values.data());
    call("null offsets", bad_argument, raw(nullptr, arrays.columns.data(), values.data()));
    const TransformStatus without_entries = matrix_.nonzeros() == 0 ? done : bad_argument;
    call("null columns", without_entries, raw(arrays.offsets.data(), nullptr, values.data()));
    call("null values", without_entries, raw(arrays.offsets.data(), arrays.columns.data(), nullptr));
    refuse_rooms("CSR", all);
    refuse_broken_rows(arrays, all);
    if (is_bound()) {
      refuse_other_patterns(arrays, values, all);
    }
  }

  void refuse_dense() {
    const TypedElements a = dense_elements(matrix_, matrix_.columns);
    const auto with = [&](const void* elements, std::int64_t lda) {
      return [this, elements, lda](void* to) { return transformer().transform(elements, lda, to); };
    };
    call("a null matrix", bad_argument, with(nullptr, matrix_.columns));
    for (const std::int64_t lda :
         {matrix_.columns - 1, matrix_.columns / 2, std::int64_t{0}, std::int64_t{-1}, -matrix_.columns}) {
      call("an lda less than the columns", bad_argument, with(a.data(), lda));
    }
    refuse_rooms("dense", with(a.data(), matrix_.columns));
  }

  void load(const std::vector<std::byte>& packed) {
    const auto file = [this](std::span<const std::byte> contents) {
      return [this, contents](void* to) { return transformer().load({PackedFile::Path::file, contents}, to); };
    };
    refuse_rooms("load", file(packed));
    call("a null path", bad_argument,
         [this](void* to) { return transformer().load({PackedFile::Path::null, {}}, to); });
    call("the path of no file", unreadable_file,
         [this](void* to) { return transformer().load({PackedFile::Path::missing, {}}, to); });
    call("an empty packed file", bad_file, file({}));
    call("a packed file that is too short", bad_file, file(std::span(packed).first(packed.size() - 1)));
    std::vector<std::byte> other = packed;
    for (const std::size_t more : {1, 2, 8}) {
      other.resize(packed.size() + more);
      call("a packed file that is too long", bad_file, file(other));
    }
    other.resize(packed.size());
    for (const std::size_t at : damaged_bytes(packed.size(), breadth_)) {
      if (at < other.size()) {
        other[at] ^= std::byte{1};
        call(fmt::format("a packed file with byte {} changed", at), bad_file, file(other));
        other[at] ^= std::byte{1};
      }
    }
    if (call("its own packed file", done, file(packed)) && room_.contents() != packed) {
      calls_.add("the transformer loads a packed file otherwise than it is");
    }
  }

 private:
  using enum TransformStatus;

  const TransformerFunctions& transformer() const { return calls_.transformer(); }
  bool is_bound() const { return !transformer().takes_any_pattern(); }

  template <typename Function>
  bool call(const std::string& what, TransformStatus wanted, const Function& function) {
    if (wanted == done) {
      room_.move();
    }
    return call_with(what, wanted, room_.data(), function);
  }
  template <typename Function>
  bool call_with(const std::string& what, TransformStatus wanted, void* room, const Function& function) {
    if (wanted == done) {
      room_.poison();
    }
    return calls_.call(what, wanted, [&] { return function(room); });
  }

  template <typename Function>
  void refuse_rooms(const char* form, const Function& function) {
    call_with(fmt::format("{} into a null buffer", form), bad_argument, nullptr, function);
    for (const int shift : breadth_ == Breadth::generated ? std::vector{1, 4} : std::vector{1, 2, 3, 4, 5, 6, 7}) {
      call_with(fmt::format("{} into a misaligned buffer", form), bad_argument, room_.data() + shift, function);
    }
  }

  int transform_csr(const CsrArrays& arrays, void* to) {
    const TypedElements values = with_further_bits({matrix_.element, arrays.values});
    return transformer().transform_csr(arrays.offsets.data(), arrays.columns.data(), values.data(), to);
  }

  /// The call must be refused while an element of its arrays has this value.
  template <typename Element, typename Function>
  void refuse_while(const char* what, Element& element, Element value, const Function& function,
                    TransformStatus status = bad_argument) {
    const Element good = std::exchange(element, value);
    call(what, status, function);
    element = good;
  }

  template <typename Function>
  void refuse_broken_rows(CsrArrays& arrays, const Function& function) {
    std::vector<std::int32_t>& offsets = arrays.offsets;
    std::vector<std::int32_t>& columns = arrays.columns;
    refuse_while("offsets that do not start at 0", offsets.front(), 1, function);
    refuse_while("offsets that start after 0", offsets.front(), 2, function);
    refuse_while("offsets that start before 0", offsets.front(), -1, function);
    refuse_while("a row that ends before it starts", *(offsets.end() - 2), offsets.back() + 1, function);
    if (matrix_.rows > 1) {
      refuse_while("a first row that ends before it starts", offsets.at(1), -1, function);
    }
    if (matrix_.nonzeros() > 0) {
      refuse_while("a column after the last", columns.back(), static_cast<std::int32_t>(matrix_.columns), function);
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
    const std::string text = calls_.error_text();
    const std::optional<std::pair<std::int64_t, std::int64_t>> rows = rows_in(text);
    if (!rows || row < rows->first || row > rows->second || rows->second >= matrix_.rows) {
      calls_.add(fmt::format("the transformer does not say that row {} differs: {}", row, text));
    }
  }

  template <typename Function>
  void refuse_other_patterns(CsrArrays& arrays, TypedElements& values, const Function& function) {
    if (matrix_.nonzeros() == 0) {
      return;
    }
    const std::vector<MovableNonzero> movable = movable_nonzeros(matrix_, 0, matrix_.rows);
    if (!movable.empty()) {
      for (const MovableNonzero& moved : {movable.front(), movable.back()}) {
        std::int32_t& column = arrays.columns[moved.entry];
        refuse_while("a matrix with a non-zero in another place", column, column + 1, function, refused_pattern);
        expect_place(moved.row);
      }
    }
    with_element(matrix_.element, [&](auto zero) {
      auto& last = values.elements<decltype(zero)>()[matrix_.nonzeros() - 1];
      refuse_while("a matrix with a zero where the pattern has a non-zero", last, zero, function, refused_pattern);
      refuse_while("a matrix with a negative zero where the pattern has a non-zero", last,
                   static_cast<decltype(zero)>(-0.0), function, refused_pattern);
    });
  }

  JudgedCalls calls_;
  const SparseMatrix& matrix_;
  Breadth breadth_;
  PackedRoom room_;
};

}  // namespace

TransformCheck check_transformer(const TransformerFunctions& transformer, const SparseMatrix& matrix,
                                 const TransformEffort& effort) {
  TransformCheck result;
  if (matrix.nonzeros() + matrix.rows > std::numeric_limits<std::int32_t>::max()) {
    result.problems.emplace_back("the matrix has more non-zeros than the CSR interface can take");
    return result;
  }
  constexpr std::int64_t gap = 3;
  Check check(transformer, matrix, effort.breadth);
  // What is refused comes first, so that its error text would show in what is done next.
  check.refuse_csr();
  if (const auto packed = check.pack("its own matrix", csr_of(matrix))) {
    result.packed = *packed;
    check.refuse_in_groups(result.packed, effort);
    result.patterns = check_other_patterns(check.calls(), matrix, result.packed, effort);
    SparseMatrix other = with_other_values(matrix, effort.seed, effort.line_rows);
    const auto other_packed = check.pack("other values with zeros between them", with_stored_zeros(other));
    if (other_packed) {
      check.expect_holds(*other_packed, other);
    }
    if (effort.breadth == Breadth::unknown && matrix.nonzeros() <= most_infinite) {
      const SparseMatrix infinite = with_infinite_values(matrix, effort.seed);
      if (const auto infinite_packed = check.pack("values that are not finite", csr_of(infinite))) {
        check.expect_holds(*infinite_packed, infinite);
      }
    }
    if (matrix.rows * matrix.columns <= effort.most_dense_elements) {
      check.refuse_dense();
      check.expect_same("a dense matrix", check.pack_dense("its own dense matrix", matrix, matrix.columns + gap),
                        result.packed);
      if (other_packed) {
        check.expect_same("other dense values", check.pack_dense("other dense values", other, matrix.columns, -0.0),
                          *other_packed);
      }
      for (const std::int64_t lda : further_lda(matrix, effort.breadth, effort.seed)) {
        check.expect_same("a dense matrix with far rows", check.pack_dense("a dense matrix with far rows", matrix, lda),
                          result.packed);
      }
    }
    check.load(result.packed);
    if (other_packed) {
      result.other = OtherMatrix{std::move(other), *other_packed};
    }
  }
  result.problems = std::move(check.calls()).problems();
  return result;
}

}  // namespace esc
