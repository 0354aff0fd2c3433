// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/dense_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "generator/matrix/csr_builder.h"
#include "generator/matrix/stored_value.h"
#include "generator/support/error.h"

namespace esc {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are taken from the file as they lie there");

constexpr std::size_t chunk_elements = std::size_t{1} << 16;

/// The bits of a float16 as the float32 of the same value.
float widen(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fU;
  const std::uint32_t fraction = half & 0x3ffU;
  if (exponent == 0) {  // zero and the numbers below 2^-14, which float32 has no trouble with
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t widened = exponent == 31 ? 255 : exponent + 127 - 15;
  return std::bit_cast<float>(sign | widened << 23 | fraction << 13);
}

bool is_finite(double value) { return std::isfinite(value); }

/// The bits of a bfloat16, which are the upper half of a float32.
float widen_bfloat(std::uint16_t half) { return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16); }

/// Streams the elements of an array, rounded to the type that is asked for, in the order of the source.
class ElementStream {
 public:
  ElementStream(ByteSource& source, const DenseArray& array, const ReadOptions& options)
      : source_(source), array_(array), options_(options) {
    source_.rewind();
    skip(array.skipped);
  }

  const DenseArray& array() const { return array_; }

  /// Calls `visit(first, elements)` for one chunk after another, `first` being the index of its first element.
  template <typename Visit>
  void for_each_chunk(const Visit& visit) {
    const std::int64_t elements = array_.rows * array_.columns;
    std::vector<std::byte> bytes(chunk_elements * array_.element_bytes());
    std::vector<double> chunk(chunk_elements);
    for (std::int64_t first = 0; first < elements;) {
      const auto count = static_cast<std::size_t>(std::min<std::int64_t>(chunk_elements, elements - first));
      const auto raw = std::span(bytes).first(count * array_.element_bytes());
      if (source_.read(raw) < raw.size()) {
        refuse_change(source_);
      }
      const auto converted = std::span(chunk).first(count);
      convert(raw, converted, first);
      visit(first, std::span<const double>(converted));
      first += static_cast<std::int64_t>(count);
    }
  }

 private:
  /// Leaves out so many bytes.
  void skip(std::uint64_t bytes) {
    std::array<std::byte, 4096> ignored;
    while (bytes > 0) {
      const auto part =
          std::span(ignored).first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, ignored.size())));
      if (source_.read(part) < part.size()) {
        refuse_change(source_);
      }
      bytes -= part.size();
    }
  }

  void convert(std::span<const std::byte> raw, std::span<double> converted, std::int64_t first) const {
    if (array_.element == StoredElement::float32) {
      convert_each<float>(raw, converted, [](float element, std::size_t) { return element; });
    } else if (array_.element == StoredElement::float64) {
      convert_each<double>(raw, converted, [&](double element, std::size_t index) {
        return as_asked(element, options_, [&](const std::string& value, const std::string& remedy) {
          refuse_element(first + static_cast<std::int64_t>(index), value, remedy);
        });
      });
    } else if (array_.element == StoredElement::bfloat16) {
      convert_each<std::uint16_t>(raw, converted,
                                  [](std::uint16_t element, std::size_t) { return widen_bfloat(element); });
    } else {
      convert_each<std::uint16_t>(raw, converted, [](std::uint16_t element, std::size_t) { return widen(element); });
    }
    check_finite(converted, first);
  }

  template <typename Element, typename Convert>
  static void convert_each(std::span<const std::byte> raw, std::span<double> converted, const Convert& to_double) {
    for (std::size_t i = 0; i < converted.size(); ++i) {
      Element element{};
      std::memcpy(&element, raw.data() + i * sizeof element, sizeof element);
      converted[i] = to_double(element, i);
    }
  }

  void check_finite(std::span<const double> chunk, std::int64_t first) const {
    if (options_.allow_nonfinite || std::all_of(chunk.begin(), chunk.end(), is_finite)) {
      return;
    }
    const auto found = std::find_if_not(chunk.begin(), chunk.end(), is_finite);
    refuse_element(first + (found - chunk.begin()), fmt::format("{}", *found), nonfinite_remedy);
  }

  [[noreturn]] void refuse_element(std::int64_t index, const std::string& value, const std::string& remedy) const {
    const std::int64_t row = array_.is_fortran_order ? index % array_.rows : index / array_.columns;
    const std::int64_t column = array_.is_fortran_order ? index / array_.rows : index % array_.columns;
    const std::string rule = fmt::format("the value at row {}, column {} (counted from 0) is {}", row, column, value);
    if (!array_.first_byte) {
      throw UserError(source_.name(), rule, remedy);
    }
    refuse_at_byte(source_, *array_.first_byte + static_cast<std::uint64_t>(index) * array_.element_bytes(), rule,
                   remedy);
  }

  ByteSource& source_;
  const DenseArray& array_;
  ReadOptions options_;
};

/// Calls `visit(line, position, part)` for the parts of a chunk that lie in one line each. A line is a row in C order
/// and a column in Fortran order; `position` is where in it the part begins.
template <typename Visit>
void for_each_line(std::int64_t first, std::span<const double> chunk, std::int64_t line_length, const Visit& visit) {
  while (!chunk.empty()) {
    const std::int64_t position = first % line_length;
    const auto count = std::min(chunk.size(), static_cast<std::size_t>(line_length - position));
    visit(first / line_length, position, chunk.first(count));
    chunk = chunk.subspan(count);
    first += static_cast<std::int64_t>(count);
  }
}

/// The non-zeros of a part of a row, gathered without a branch per element: which ones are zero cannot be foreseen.
class Gathered {
 public:
  /// At most `capacity` elements, of which the first one is in `column`.
  void gather(std::span<const double> part, std::int64_t column) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      columns_[found] = static_cast<std::int32_t>(column + static_cast<std::int64_t>(i));
      values_[found] = part[i];
      found += part[i] != 0 ? 1 : 0;
    }
    size_ = static_cast<std::int64_t>(found);
  }

  static constexpr std::size_t capacity = 2048;
  const std::int32_t* columns() const { return columns_.data(); }
  const double* values() const { return values_.data(); }
  std::int64_t size() const { return size_; }

 private:
  std::array<std::int32_t, capacity> columns_;
  std::array<double, capacity> values_;
  std::int64_t size_ = 0;
};

std::int64_t count_nonzeros(std::span<const double> part) {
  std::uint32_t zeros = 0;
  for (const double value : part) {
    zeros += value == 0 ? 1 : 0;
  }
  return static_cast<std::int64_t>(part.size()) - zeros;
}

void count_entries(ElementStream& stream, CsrBuilder& builder) {
  const DenseArray& array = stream.array();
  const std::int64_t line_length = array.is_fortran_order ? array.rows : array.columns;
  stream.for_each_chunk([&](std::int64_t first, std::span<const double> chunk) {
    for_each_line(first, chunk, line_length,
                  [&](std::int64_t line, std::int64_t position, std::span<const double> part) {
                    if (!array.is_fortran_order) {
                      builder.count(line, count_nonzeros(part));
                      return;
                    }
                    for (std::size_t i = 0; i < part.size(); ++i) {
                      builder.count(position + static_cast<std::int64_t>(i), part[i] != 0 ? 1 : 0);
                    }
                  });
  });
}

/// False when the entries are not those that were counted.
bool place_entries(ElementStream& stream, CsrBuilder& builder) {
  const DenseArray& array = stream.array();
  const std::int64_t line_length = array.is_fortran_order ? array.rows : array.columns;
  bool fits = true;
  Gathered gathered;
  const auto place_in_row = [&](std::int64_t row, std::int64_t column, std::span<const double> part) {
    while (!part.empty()) {
      const std::size_t count = std::min(part.size(), Gathered::capacity);
      gathered.gather(part.first(count), column);
      fits &= builder.place(row, gathered.columns(), gathered.values(), gathered.size());
      part = part.subspan(count);
      column += static_cast<std::int64_t>(count);
    }
  };
  const auto place_in_column = [&](std::int64_t column, std::int64_t row, std::span<const double> part) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] != 0) {
        fits &= builder.place(row + static_cast<std::int64_t>(i), column, part[i]);
      }
    }
  };
  stream.for_each_chunk([&](std::int64_t first, std::span<const double> chunk) {
    if (array.is_fortran_order) {
      for_each_line(first, chunk, line_length, place_in_column);
    } else {
      for_each_line(first, chunk, line_length, place_in_row);
    }
  });
  return fits && builder.complete();
}

}  // namespace

void refuse_at_byte(const ByteSource& source, std::uint64_t byte, const std::string& rule, const std::string& remedy) {
  throw UserError(fmt::format("{}, byte {}", source.name(), byte), rule, remedy);
}

SparseMatrix read_dense(ByteSource& source, const DenseArray& array, const ReadOptions& options) {
  CsrBuilder builder(array.rows, array.columns, options.element);
  ElementStream counted(source, array, options);
  count_entries(counted, builder);
  builder.start_placing();
  ElementStream placed(source, array, options);
  if (!place_entries(placed, builder)) {
    refuse_change(source);
  }
  return std::move(builder).take();
}

}  // namespace esc
