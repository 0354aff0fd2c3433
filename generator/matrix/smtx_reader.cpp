// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/smtx_reader.h"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "generator/matrix/drawn_value.h"
#include "generator/matrix/text_scanner.h"

namespace esc {
namespace {

constexpr const char* header_remedy = "the first line of a .smtx file is: rows, columns, nonzeros";
constexpr const char* cut_remedy = "the file is cut short or its first line is wrong: fetch or write it again";

struct Header {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t nonzeros;
};

std::int64_t header_number(TextScanner& scanner, std::string_view meaning, std::int64_t smallest) {
  std::string_view word = scanner.word();
  if (word == ",") {
    word = scanner.word();
  }
  if (word.empty()) {
    scanner.refuse(fmt::format("the {} is missing", meaning), header_remedy);
  }
  const std::int64_t number = parse_integer(scanner, word, fmt::format("the {}", meaning));
  if (number < smallest) {
    scanner.refuse(fmt::format("the {} is {}, below {}", meaning, number, smallest), header_remedy);
  }
  return number;
}

/// Everything that is allocated later is bounded here by the size of the file, whatever the first line claims.
Header read_header(TextScanner& scanner, const ByteSource& source) {
  if (source.size() == 0) {
    scanner.refuse("the file is empty", header_remedy);
  }
  const std::int64_t rows = header_number(scanner, "number of rows", 1);
  const std::int64_t columns = header_number(scanner, "number of columns", 1);
  const std::int64_t nonzeros = header_number(scanner, "number of non-zeros", 0);
  for (const std::int64_t dimension : {rows, columns}) {
    if (dimension > largest_dimension) {
      scanner.refuse(fmt::format("a dimension of {} is beyond 2^31 - 1", dimension), "cut the matrix into parts");
    }
  }
  if (nonzeros > rows * columns) {
    scanner.refuse(fmt::format("{} non-zeros do not fit a matrix of {} x {}", nonzeros, rows, columns), header_remedy);
  }
  const auto numbers = static_cast<std::uint64_t>(rows + 1) + static_cast<std::uint64_t>(nonzeros);
  if (numbers > source.size() / 2) {  // a number takes a digit and what parts it from the next one
    scanner.refuse(
        fmt::format("{} rows and {} non-zeros cannot be in a file of {} bytes", rows, nonzeros, source.size()),
        cut_remedy);
  }
  scanner.end_line("the first line holds three numbers");
  return {rows, columns, nonzeros};
}

void read_offsets(TextScanner& scanner, const Header& header, SparseMatrix& matrix) {
  matrix.offsets.reserve(static_cast<std::size_t>(header.rows) + 1);
  std::int64_t previous = 0;
  for (std::int64_t row = 0; row <= header.rows; ++row) {
    const std::string_view word = scanner.word();
    if (word.empty()) {
      scanner.refuse(fmt::format("the line ends after {} of {} offsets (rows + 1)", row, header.rows + 1), cut_remedy);
    }
    const std::int64_t offset = parse_integer(scanner, word, "the offset");
    if (row == 0 && offset != 0) {
      scanner.refuse(fmt::format("the first offset is {}, not 0", offset), "offsets start at 0");
    }
    if (offset < previous) {
      scanner.refuse(fmt::format("offsets decrease from {} to {} at row {}", previous, offset, row),
                     "an offset is the number of non-zeros in all rows before");
    }
    if (offset - previous > header.columns) {
      scanner.refuse(
          fmt::format("row {} would have {} non-zeros in {} columns", row - 1, offset - previous, header.columns),
          "an offset is the number of non-zeros in all rows before");
    }
    matrix.offsets.push_back(offset);
    previous = offset;
  }
  if (previous != header.nonzeros) {
    scanner.refuse(
        fmt::format("the last offset is {}, but the first line says {} non-zeros", previous, header.nonzeros),
        "the last offset is the number of non-zeros");
  }
  scanner.end_line(fmt::format("the line holds {} offsets (rows + 1)", header.rows + 1));
}

void read_columns(TextScanner& scanner, const ReadOptions& options, const Header& header, SparseMatrix& matrix) {
  matrix.element = options.element;
  matrix.column_of.reserve(static_cast<std::size_t>(header.nonzeros));
  matrix.values.reserve(static_cast<std::size_t>(header.nonzeros));
  for (std::int64_t row = 0; row < header.rows; ++row) {
    std::int64_t previous = -1;
    for (std::int64_t at = matrix.offsets[static_cast<std::size_t>(row)];
         at < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++at) {
      const std::string_view word = scanner.word();
      if (word.empty()) {
        scanner.refuse(fmt::format("the line ends after {} of {} column indices", at, header.nonzeros), cut_remedy);
      }
      const std::int64_t column = parse_integer(scanner, word, "the column index");
      if (column < 0 || column >= header.columns) {
        scanner.refuse(fmt::format("column {} of row {} is outside 0 to {}", column, row, header.columns - 1),
                       "column indices count from 0");
      }
      if (column <= previous) {
        scanner.refuse(column == previous ? fmt::format("column {} is repeated in row {}", column, row)
                                          : fmt::format("column {} follows column {} in row {}", column, previous, row),
                       "sort the columns of every row and name each once");
      }
      matrix.column_of.push_back(static_cast<std::int32_t>(column));
      matrix.values.push_back(drawn_value(options.seed, row, column, options.element));
      previous = column;
    }
  }
}

}  // namespace

SparseMatrix read_smtx(ByteSource& source, const ReadOptions& options) {
  TextScanner scanner(source);
  const Header header = read_header(scanner, source);
  SparseMatrix matrix;
  matrix.rows = header.rows;
  matrix.columns = header.columns;
  read_offsets(scanner, header, matrix);
  read_columns(scanner, options, header, matrix);
  scanner.end_file();
  return matrix;
}

}  // namespace esc
