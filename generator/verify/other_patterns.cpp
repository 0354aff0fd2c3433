// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/other_patterns.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>

#include "generator/matrix/statistics.h"
#include "generator/patterns/csr_view.h"
#include "transformer/pack.h"
#include "transformer/unpack.h"

namespace esc {
namespace {

using transformer::BitmapFormat;
using transformer::Sparse24Format;

/// The formats of kernels that take any pattern.
using OpenFormat = std::variant<BitmapFormat, Sparse24Format>;

/// The format of a bundle whose kernel takes any pattern.
std::optional<OpenFormat> open_format(std::span<const std::byte> packed) {
  std::optional<OpenFormat> found;
  try {
    std::visit(
        [&](const auto& format) {
          if constexpr (std::remove_cvref_t<decltype(format)>::takes_any_pattern) {
            found = format;
          }
        },
        transformer::read_format(packed));
  } catch (const transformer::FormatError&) {
    found.reset();  // which is not what the packed file has either
  }
  return found;
}

std::uint64_t bytes_of(const OpenFormat& format) {
  return std::visit([](const auto& one) { return one.bytes; }, format);
}

std::size_t first_entry(const SparseMatrix& matrix, std::int64_t row) {
  return static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)]);
}

/// Rows one after the other, and where their non-zeros are taken from.
struct RowTile {
  std::int64_t first = 0;
  std::int64_t rows = 0;
  std::int64_t nonzeros = 0;
};

template <typename Shape>
std::vector<RowTile> row_tiles_of(const SparseMatrix& matrix, const Shape& shape) {
  std::vector<RowTile> row_tiles;
  for (std::int64_t row_tile = 0; row_tile < shape.row_tiles(); ++row_tile) {
    const std::int64_t first = shape.first_row(row_tile), rows = shape.rows_in(row_tile);
    row_tiles.push_back(
        {first, rows,
         matrix.offsets[static_cast<std::size_t>(first + rows)] - matrix.offsets[static_cast<std::size_t>(first)]});
  }
  return row_tiles;
}

/// The matrix with other columns in each row: columns_of(row) has them, ascending.
template <typename ColumnsOf>
SparseMatrix with_columns(const SparseMatrix& matrix, const ColumnsOf& columns_of) {
  SparseMatrix other{matrix.rows, matrix.columns, {0}, {}, {}, matrix.element};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    std::ranges::copy(columns_of(row), std::back_inserter(other.column_of));
    other.offsets.push_back(other.nonzeros());
  }
  other.values.assign(other.column_of.size(), 1);
  return other;
}

std::vector<std::int32_t> columns_of_row(const SparseMatrix& matrix, std::int64_t row) {
  return {matrix.column_of.begin() + matrix.offsets[static_cast<std::size_t>(row)],
          matrix.column_of.begin() + matrix.offsets[static_cast<std::size_t>(row) + 1]};
}

SparseMatrix with_third_less(const SparseMatrix& matrix, std::mt19937_64& random) {
  return with_columns(matrix, [&](std::int64_t row) {
    std::vector<std::int32_t> columns = columns_of_row(matrix, row);
    std::erase_if(columns, [&](std::int32_t) { return random() % 3 == 0; });
    return columns;
  });
}

/// The rows of a row tile in place of those of another.
SparseMatrix with_row_tile_again(const SparseMatrix& matrix, const RowTile& from, const RowTile& to) {
  return with_columns(matrix, [&](std::int64_t row) {
    const std::int64_t at = row - to.first;
    const bool is_replaced = at >= 0 && at < std::min(to.rows, from.rows);
    return columns_of_row(matrix, is_replaced ? from.first + at : row);
  });
}

SparseMatrix with_full_row_tile(const SparseMatrix& matrix, const RowTile& full) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(matrix.columns));
  for (std::size_t column = 0; column < all.size(); ++column) {
    all[column] = static_cast<std::int32_t>(column);
  }
  return with_columns(matrix, [&](std::int64_t row) {
    return row >= full.first && row < full.first + full.rows ? all : columns_of_row(matrix, row);
  });
}

/// The matrix with one non-zero in the column after its own, the first one from this entry on that can be moved.
std::optional<SparseMatrix> with_moved_nonzero(const SparseMatrix& matrix, std::size_t from) {
  SparseMatrix other = matrix;
  std::int64_t row =
      std::ranges::upper_bound(matrix.offsets, static_cast<std::int64_t>(from)) - matrix.offsets.begin() - 1;
  for (std::size_t entry = from; row < matrix.rows; ++row) {
    for (const std::size_t behind = first_entry(matrix, row + 1); entry < behind; ++entry) {
      const std::int64_t next = entry + 1 < behind ? matrix.column_of[entry + 1] : matrix.columns;
      if (matrix.column_of[entry] + 1 < next) {
        ++other.column_of[entry];
        return other;
      }
    }
  }
  return std::nullopt;
}

/// What a kernel was made of, and what it has room for.
struct KernelOfPatterns {
  OpenFormat own;
  std::uint32_t packed_tile_words;  ///< of bitmaps
};

/// What a matrix asks of a kernel, how much of that this has, and, where it is enough, the matrix as it is to be
/// packed.
struct PatternNeed {
  std::uint64_t needed = 0;
  std::uint64_t room = 0;
  std::vector<std::byte> packed = {};
};

template <typename Format>
std::vector<std::byte> bytes_of(const transformer::Packed<Format>& packed) {
  return {packed.bytes.span().begin(), packed.bytes.span().end()};
}

/// Rows of words of a packed tile.
PatternNeed need_of(const SparseMatrix& matrix, const BitmapFormat& own, const KernelOfPatterns& kernel) {
  const auto packed = transformer::pack(csr_view(matrix), own.shape);
  return {packed.format.shape.most_words, kernel.packed_tile_words, bytes_of(packed)};
}

/// Non-zeros of four neighbours.
PatternNeed need_of(const SparseMatrix& matrix, const Sparse24Format& own, const KernelOfPatterns&) {
  constexpr std::uint64_t stored = 2;
  const auto most = static_cast<std::uint64_t>(fullest_four(matrix).nonzeros);
  return {most, stored,
          most > stored ? std::vector<std::byte>() : bytes_of(transformer::pack(csr_view(matrix), own.shape))};
}

/// Of one matrix what is right, and the calls that have to do it.
class JudgedPattern {
 public:
  JudgedPattern(JudgedCalls& calls, std::string what, const SparseMatrix& matrix, const KernelOfPatterns& kernel)
      : calls_(calls),
        what_(std::move(what)),
        matrix_(matrix),
        kernel_(kernel),
        arrays_(csr_of(matrix)),
        values_(matrix.element, matrix.values) {
    need_ = std::visit([&](const auto& own) { return need_of(matrix, own, kernel); }, kernel.own);
  }

  bool has_room() const { return need_.needed <= need_.room; }
  const std::vector<std::byte>& packed() const { return need_.packed; }
  std::uint64_t own_bytes() const { return bytes_of(kernel_.own); }

  void measure() {
    calls_.measure(what_, has_room() ? packed().size() : 0, [&] {
      return calls_.transformer().bytes_for_csr(arrays_.offsets.data(), arrays_.columns.data(), values_.data());
    });
  }
  /// Into a buffer of the kernel's own size.
  void pack() {
    expect("", own_bytes(), [&](void* to, std::size_t) {
      return calls_.transformer().transform_csr(arrays_.offsets.data(), arrays_.columns.data(), values_.data(), to);
    });
  }
  void pack_into(std::size_t bytes) {
    expect(fmt::format(" into {} bytes", bytes), bytes, [&](void* to, std::size_t room) {
      return calls_.transformer().transform_csr_into(arrays_.offsets.data(), arrays_.columns.data(), values_.data(), to,
                                                     room);
    });
  }
  /// The same three from dense.
  void pack_dense(std::size_t bytes) {
    const TypedElements a = dense_elements(matrix_, matrix_.columns + 1, -0.0);
    calls_.measure(what_ + ", dense", has_room() ? packed().size() : 0,
                   [&] { return calls_.transformer().bytes_for(a.data(), matrix_.columns + 1); });
    expect(", dense", own_bytes(),
           [&](void* to, std::size_t) { return calls_.transformer().transform(a.data(), matrix_.columns + 1, to); });
    expect(fmt::format(", dense, into {} bytes", bytes), bytes, [&](void* to, std::size_t room) {
      return calls_.transformer().transform_into(a.data(), matrix_.columns + 1, to, room);
    });
  }

 private:
  template <typename Function>
  void expect(const std::string& how, std::size_t bytes, const Function& function) {
    const bool fits = has_room() && packed().size() <= bytes;
    PackedRoom room(bytes);
    room.poison();
    const std::string call = what_ + how;
    if (!calls_.call(call, fits ? TransformStatus::done : TransformStatus::refused_pattern,
                     [&] { return function(room.data(), bytes); })) {
      return;
    }
    if (!room.is_untouched_around()) {
      calls_.add(fmt::format("the transformer writes outside the buffer for {}", call));
    }
    if (fits) {
      std::vector<std::byte> expected = packed();
      expected.resize(bytes);
      if (room.contents() != expected) {
        calls_.add(fmt::format("the transformer packs {} otherwise than it is", call));
      }
    } else {
      expect_numbers(call, has_room() ? packed().size() : need_.needed, has_room() ? 0 : need_.room);
    }
  }

  /// A refusal says how much is needed, and how much of that a kernel has.
  void expect_numbers(const std::string& call, std::uint64_t needed, std::uint64_t there) {
    const std::string text = calls_.error_text();
    if (text.find(fmt::format(" {} ", needed)) == text.npos ||
        (there != 0 && !text.ends_with(fmt::format(" {}", there)))) {
      calls_.add(fmt::format("the transformer does not say that {} is needed for {}: {}", needed, call, text));
    }
  }

  JudgedCalls& calls_;
  std::string what_;
  const SparseMatrix& matrix_;
  KernelOfPatterns kernel_;
  CsrArrays arrays_;
  TypedElements values_;
  PatternNeed need_;
};

/// Bad arguments of the functions that other kernels' transformers do not have.
void refuse_arguments(JudgedCalls& calls, const SparseMatrix& matrix, std::size_t bytes) {
  const TransformerFunctions& functions = calls.transformer();
  CsrArrays arrays = csr_of(matrix);
  const TypedElements values(matrix.element, arrays.values);
  const TypedElements element(matrix.element, 1);
  PackedRoom room(bytes);
  calls.measure("bytes of a null matrix", 0, [&] { return functions.bytes_for(nullptr, matrix.columns); });
  calls.measure("bytes with an lda less than the columns", 0,
                [&] { return functions.bytes_for(element.data(), matrix.columns - 1); });
  calls.measure("bytes of null offsets", 0,
                [&] { return functions.bytes_for_csr(nullptr, arrays.columns.data(), values.data()); });
  calls.call("a null matrix into a buffer", TransformStatus::bad_argument,
             [&] { return functions.transform_into(nullptr, matrix.columns, room.data(), bytes); });
  calls.call("null offsets into a buffer", TransformStatus::bad_argument, [&] {
    return functions.transform_csr_into(nullptr, arrays.columns.data(), values.data(), room.data(), bytes);
  });
  const auto pack_csr = [&](std::byte* to) {
    return functions.transform_csr_into(arrays.offsets.data(), arrays.columns.data(), values.data(), to, bytes);
  };
  calls.call("CSR into a null buffer of any size", TransformStatus::bad_argument, [&] { return pack_csr(nullptr); });
  calls.call("CSR into a misaligned buffer of any size", TransformStatus::bad_argument,
             [&] { return pack_csr(room.data() + 4); });
  std::swap(arrays.offsets.front(), arrays.offsets.back());
  calls.measure("bytes of offsets that decrease", 0,
                [&] { return functions.bytes_for_csr(arrays.offsets.data(), arrays.columns.data(), values.data()); });
}

/// Sizes of buffers beside the one that is just enough.
std::vector<std::size_t> other_sizes(std::size_t needed, Breadth breadth) {
  constexpr std::size_t header = 256;
  if (breadth == Breadth::generated) {
    return {needed - 1};
  }
  return {needed + 40, needed - 1, needed - 32, header, 8, 0};
}

}  // namespace

bool has_any_pattern(std::span<const std::byte> packed) { return open_format(packed).has_value(); }

FurtherRoom room_for_other_patterns(const SparseMatrix& matrix, std::span<const std::byte> packed) {
  const std::optional<OpenFormat> format = open_format(packed);
  if (!format) {
    return {};
  }
  const auto* const bitmap = std::get_if<BitmapFormat>(&*format);
  const std::uint64_t full_row_tile =
      bitmap == nullptr ? 0 : bitmap->tiles() * bitmap->packed_tile_bytes(transformer::max_bitmap_words);
  return {.entries = transformer::packed_tile_rows * matrix.columns,
          .packed_bytes = static_cast<std::size_t>(full_row_tile) + 64};
}

std::vector<OtherMatrix> check_other_patterns(JudgedCalls& calls, const SparseMatrix& matrix,
                                              std::span<const std::byte> packed, const TransformEffort& effort) {
  const std::optional<OpenFormat> own = open_format(packed);
  std::vector<OtherMatrix> others;
  if (!own || !calls.transformer().takes_any_pattern()) {
    return others;
  }
  std::mt19937_64 random(effort.seed);
  const KernelOfPatterns kernel{*own, effort.packed_tile_words};
  const bool packs_dense = matrix.rows * matrix.columns <= effort.most_dense_elements;
  refuse_arguments(calls, matrix, packed.size());
  const auto judge_whole = [&](const char* what, const SparseMatrix& pattern) {
    SparseMatrix other = with_other_values(pattern, random(), effort.line_rows);
    JudgedPattern judged(calls, what, other, kernel);
    judged.measure();
    judged.pack();
    judged.pack_into(judged.packed().size());
    for (const std::size_t bytes : other_sizes(judged.packed().size(), effort.breadth)) {
      judged.pack_into(bytes);
    }
    if (packs_dense) {
      judged.pack_dense(judged.packed().size() + 8);
    }
    if (judged.has_room()) {
      std::vector<std::byte> bytes = judged.packed();
      others.push_back({std::move(other), std::move(bytes)});
    }
  };
  judge_whole("a matrix with a third less of its non-zeros", with_third_less(matrix, random));
  const std::vector<RowTile> row_tiles =
      std::visit([&](const auto& format) { return row_tiles_of(matrix, format.shape); }, *own);
  const auto fullest = std::ranges::max_element(row_tiles, {}, &RowTile::nonzeros);
  const auto emptiest = std::ranges::min_element(row_tiles, {}, &RowTile::nonzeros);
  if (fullest != emptiest) {
    judge_whole("a matrix with a row tile twice", with_row_tile_again(matrix, *fullest, *emptiest));
  }
  const SparseMatrix full = with_full_row_tile(matrix, *fullest);
  JudgedPattern judged_full(calls, "a matrix with a full row tile", full, kernel);
  judged_full.measure();
  judged_full.pack();
  judged_full.pack_into(std::max(judged_full.packed().size(), packed.size()));
  const auto nonzeros = static_cast<std::uint64_t>(matrix.nonzeros());
  const std::vector<std::uint64_t> moved =
      nonzeros == 0 ? std::vector<std::uint64_t>() : std::vector<std::uint64_t>{0, random() % nonzeros};
  for (const std::uint64_t from : moved) {
    if (const auto other = with_moved_nonzero(matrix, static_cast<std::size_t>(from))) {
      JudgedPattern judged(calls, "a matrix with a non-zero in another place", *other, kernel);
      judged.pack();
      if (judged.packed().empty()) {
        continue;  // nobody has such a file
      }
      PackedRoom room(packed.size());
      calls.call("the packed file of another pattern", TransformStatus::bad_file,
                 [&] { return calls.transformer().load({PackedFile::Path::file, judged.packed()}, room.data()); });
    }
  }
  return others;
}

}  // namespace esc
