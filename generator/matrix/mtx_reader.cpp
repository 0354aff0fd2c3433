// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/mtx_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/matrix/csr_builder.h"
#include "generator/matrix/drawn_value.h"
#include "generator/matrix/row_order.h"
#include "generator/matrix/text_scanner.h"
#include "generator/matrix/typed_elements.h"

namespace esc {
namespace {

constexpr const char* banner_remedy =
    "start the file with: %%MatrixMarket matrix (coordinate|array) (real|integer|pattern) (general|symmetric)";
constexpr const char* cut_remedy = "the file is cut short or its size line is wrong: fetch or write it again";

enum class Field { real, integer, pattern };

struct Header {
  bool is_array = false;
  Field field = Field::real;
  bool is_symmetric = false;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;  // that the file lists
};

std::string lower_case(std::string_view word) {
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

Header read_banner(TextScanner& scanner) {
  if (const std::string_view magic = scanner.word(); magic != "%%MatrixMarket") {
    scanner.refuse(fmt::format("the file starts with {}, not with %%MatrixMarket", in_quotes(magic)), banner_remedy);
  }
  Header header;
  if (const std::string object = lower_case(scanner.word()); object != "matrix") {
    scanner.refuse(fmt::format("the object {} is not a matrix", in_quotes(object)), banner_remedy);
  }
  const std::string layout = lower_case(scanner.word());
  if (layout != "coordinate" && layout != "array") {
    scanner.refuse(fmt::format("the layout {} is neither coordinate nor array", in_quotes(layout)), banner_remedy);
  }
  header.is_array = layout == "array";
  const std::string field = lower_case(scanner.word());
  if (field != "real" && field != "integer" && field != "pattern") {
    scanner.refuse(fmt::format("the field {} is none of real, integer, pattern", in_quotes(field)), banner_remedy);
  }
  header.field = field == "real" ? Field::real : field == "integer" ? Field::integer : Field::pattern;
  if (header.is_array && header.field == Field::pattern) {
    scanner.refuse("an array has values, so it cannot be a pattern", banner_remedy);
  }
  const std::string symmetry = lower_case(scanner.word());
  if (symmetry != "general" && symmetry != "symmetric") {
    scanner.refuse(fmt::format("the symmetry {} is neither general nor symmetric", in_quotes(symmetry)), banner_remedy);
  }
  header.is_symmetric = symmetry == "symmetric";
  scanner.end_line("the first line holds five words");
  return header;
}

/// The next word of the file, blank lines skipped; nothing at the end of the file.
std::string_view next_word(TextScanner& scanner) {
  std::string_view word = scanner.word();
  while (word.empty() && scanner.skip_line()) {
    word = scanner.word();
  }
  return word;
}

/// A number of the size line; its `meaning` is named in messages.
std::int64_t size_number(TextScanner& scanner, std::string_view word, std::string_view meaning, std::int64_t smallest) {
  if (word.empty()) {
    scanner.refuse(fmt::format("the {} is missing", meaning),
                   "after the comments comes the line: rows columns entries");
  }
  const std::int64_t number = parse_integer(scanner, word, fmt::format("the {}", meaning));
  if (number < smallest) {
    scanner.refuse(fmt::format("the {} is {}, below {}", meaning, number, smallest), "correct the size line");
  }
  return number;
}

/// Everything that is allocated later is bounded here by the size of the file, whatever the size line claims.
void check_size(const TextScanner& scanner, const ByteSource& source, const Header& header) {
  for (const std::int64_t dimension : {header.rows, header.columns}) {
    if (dimension > largest_dimension) {
      scanner.refuse(fmt::format("a dimension of {} is beyond 2^31 - 1", dimension), "cut the matrix into parts");
    }
  }
  if (header.is_symmetric && header.rows != header.columns) {
    scanner.refuse(fmt::format("a matrix of {} x {} cannot be symmetric", header.rows, header.columns),
                   "say general in the first line");
  }
  if (header.entries > header.rows * header.columns) {
    scanner.refuse(
        fmt::format("{} entries do not fit a matrix of {} x {}", header.entries, header.rows, header.columns),
        "correct the size line");
  }
  // The shortest entries, with the blank or line end after each number.
  const std::uint64_t entry_bytes = header.is_array ? 2 : header.field == Field::pattern ? 4 : 6;
  if (static_cast<std::uint64_t>(header.entries) > source.size() / entry_bytes) {
    scanner.refuse(fmt::format("{} entries cannot be in a file of {} bytes", header.entries, source.size()),
                   cut_remedy);
  }
  if (header.rows > rows_without_evidence && static_cast<std::uint64_t>(header.rows) > source.size()) {
    scanner.refuse(fmt::format("{} rows are more than a file of {} bytes bears out", header.rows, source.size()),
                   "correct the size line");
  }
}

Header read_header(TextScanner& scanner, const ByteSource& source) {
  if (source.size() == 0) {
    scanner.refuse("the file is empty", banner_remedy);
  }
  Header header = read_banner(scanner);
  std::string_view word = next_word(scanner);
  while (!word.empty() && word[0] == '%') {
    scanner.skip_line();
    word = next_word(scanner);
  }
  header.rows = size_number(scanner, word, "number of rows", 1);
  header.columns = size_number(scanner, scanner.word(), "number of columns", 1);
  if (!header.is_array) {
    header.entries = size_number(scanner, scanner.word(), "number of entries", 0);
  } else if (header.rows <= largest_dimension && header.columns <= largest_dimension) {
    header.entries = header.is_symmetric ? header.rows * (header.rows + 1) / 2 : header.rows * header.columns;
  }
  check_size(scanner, source, header);
  scanner.end_line(header.is_array ? "the size line of an array holds two numbers"
                                   : "the size line of coordinates holds three numbers");
  return header;
}

/// The rows and columns of the file, which count from 1, as ours, which count from 0.
std::int64_t coordinate(TextScanner& scanner, std::string_view word, std::string_view meaning, std::int64_t bound) {
  if (word.empty()) {
    scanner.refuse(fmt::format("the {} is missing", meaning),
                   "a line holds: row column, and the value if there is one");
  }
  const std::int64_t number = parse_integer(scanner, word, fmt::format("the {}", meaning));
  if (number < 1 || number > bound) {
    scanner.refuse(fmt::format("the {} {} is outside 1 to {}", meaning, number, bound),
                   "rows and columns count from 1");
  }
  return number - 1;
}

double in_type(std::int64_t whole, ScalarType element) {
  return with_read_type(element, [whole](auto zero) -> double { return static_cast<decltype(zero)>(whole); });
}

double entry_value(TextScanner& scanner, std::string_view word, const Header& header, const ReadOptions& options,
                   std::int64_t row, std::int64_t column) {
  if (header.field == Field::integer) {
    return in_type(parse_integer(scanner, word, "the value"), options.element);
  }
  const double value = parse_real(scanner, word, "the value", options.element);
  if (!std::isfinite(value) && !options.allow_nonfinite) {
    scanner.refuse(fmt::format("the value at row {}, column {} (counted from 1) is {}", row + 1, column + 1, value),
                   "mend the matrix, or allow values that are not finite (--allow-nonfinite)");
  }
  return value;
}

/// Calls `visit(scanner, row, column, value)` for every entry of the array part of a file.
template <typename Visit>
void visit_array(TextScanner& scanner, const Header& header, const ReadOptions& options, const Visit& visit) {
  std::int64_t seen = 0;
  for (std::int64_t column = 0; column < header.columns; ++column) {
    for (std::int64_t row = header.is_symmetric ? column : 0; row < header.rows; ++row, ++seen) {
      const std::string_view word = next_word(scanner);
      if (word.empty()) {
        scanner.refuse(fmt::format("the file ends after {} of {} values", seen, header.entries), cut_remedy);
      }
      visit(scanner, row, column, entry_value(scanner, word, header, options, row, column));
    }
  }
}

/// Calls `visit(scanner, row, column, value)` for every entry of the coordinate part of a file.
template <typename Visit>
void visit_coordinates(TextScanner& scanner, const Header& header, const ReadOptions& options, const Visit& visit) {
  for (std::int64_t seen = 0; seen < header.entries; ++seen) {
    const std::string_view word = next_word(scanner);
    if (word.empty()) {
      scanner.refuse(fmt::format("the file ends after {} of {} entries", seen, header.entries), cut_remedy);
    }
    const std::int64_t row = coordinate(scanner, word, "row", header.rows);
    const std::int64_t column = coordinate(scanner, scanner.word(), "column", header.columns);
    double value = 0;
    if (header.field == Field::pattern) {
      // Both of a mirrored pair take the value that is below the diagonal.
      value = header.is_symmetric
                  ? drawn_value(options.seed, std::max(row, column), std::min(row, column), options.element)
                  : drawn_value(options.seed, row, column, options.element);
    } else {
      const std::string_view digits = scanner.word();
      if (digits.empty()) {
        scanner.refuse("the value is missing", "a line holds: row column value");
      }
      value = entry_value(scanner, digits, header, options, row, column);
    }
    visit(scanner, row, column, value);
    scanner.end_line(header.field == Field::pattern ? "an entry of a pattern is: row column"
                                                    : "an entry is: row column value");
  }
}

/// One pass over the file: calls `visit(scanner, row, column, value)` for every entry, mirrored ones included, and
/// refuses whatever follows the last one.
template <typename Visit>
void visit_entries(ByteSource& source, const ReadOptions& options, const Visit& visit) {
  TextScanner scanner(source);
  const Header header = read_header(scanner, source);
  const auto visit_mirrored = [&](TextScanner& at, std::int64_t row, std::int64_t column, double value) {
    visit(at, row, column, value);
    if (header.is_symmetric && row != column) {
      visit(at, column, row, value);
    }
  };
  if (header.is_array) {
    visit_array(scanner, header, options, [&](TextScanner& at, std::int64_t row, std::int64_t column, double value) {
      if (value != 0) {  // no position repeats here, so zeros need no memory even for a while
        visit_mirrored(at, row, column, value);
      }
    });
  } else {
    visit_coordinates(scanner, header, options, visit_mirrored);
  }
  scanner.end_file();
}

Header read_header(ByteSource& source) {
  TextScanner scanner(source);
  return read_header(scanner, source);
}

/// Finds the line that gives (row, column) for the second time, and refuses the file there.
[[noreturn]] void refuse_repetition(ByteSource& source, const ReadOptions& options, std::int64_t row,
                                    std::int64_t column) {
  bool seen = false;
  visit_entries(source, options, [&](TextScanner& scanner, std::int64_t r, std::int64_t c, double) {
    if (r != row || c != column) {
      return;
    }
    if (seen) {
      scanner.refuse(fmt::format("the entry at row {}, column {} (counted from 1) is repeated", row + 1, column + 1),
                     "give every entry once, and only one of two that a symmetric matrix mirrors");
    }
    seen = true;
  });
  refuse_change(source);
}

}  // namespace

SparseMatrix read_mtx(ByteSource& source, const ReadOptions& options) {
  const Header header = read_header(source);
  CsrBuilder builder(header.rows, header.columns, options.element);
  visit_entries(source, options, [&](TextScanner&, std::int64_t row, std::int64_t column, double) {
    if (row >= header.rows || column >= header.columns) {
      refuse_change(source);
    }
    builder.count(row);
  });
  builder.start_placing();
  visit_entries(source, options, [&](TextScanner&, std::int64_t row, std::int64_t column, double value) {
    if (row >= header.rows || column >= header.columns || !builder.place(row, column, value)) {
      refuse_change(source);
    }
  });
  if (!builder.complete()) {
    refuse_change(source);
  }
  SparseMatrix matrix = std::move(builder).take();
  sort_rows(matrix);
  if (const auto [row, column] = find_repetition(matrix); row >= 0) {
    refuse_repetition(source, options, row, column);
  }
  drop_zeros(matrix);
  return matrix;
}

}  // namespace esc
