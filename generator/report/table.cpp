// SPDX-License-Identifier: Apache-2.0
#include "generator/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "generator/support/error.h"
#include "generator/support/escaped.h"
#include "generator/support/replace_all.h"

namespace esc {
namespace {

/// A cell that neither ends its column nor its line.
std::string cell_text(const std::string& text) {
  std::string result;
  for (const char character : text) {
    if (character == '|') {
      result += "\\|";
    } else {
      result += static_cast<unsigned char>(character) < ' ' ? ' ' : character;
    }
  }
  return result;
}

/// Characters, not bytes: those of UTF-8 that continue one are not counted.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

std::string filled(const std::string& text, std::size_t width, bool number) {
  const std::string blanks(width - width_of(text), ' ');
  return number ? blanks + text : text + blanks;
}

std::vector<std::size_t> widths_of(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    constexpr std::size_t rule = 3;
    std::size_t width = std::max(rule, width_of(cell_text(table.columns[column].name)));
    for (const std::vector<std::string>& row : table.rows) {
      width = std::max(width, width_of(cell_text(row[column])));
    }
    widths.push_back(width);
  }
  return widths;
}

void check_shape(const Table& table) {
  for (const std::vector<std::string>& row : table.rows) {
    ESC_CHECK(row.size() == table.columns.size(), "a row of '" + table.title + "' has a cell for each column");
  }
}

/// In quotes where it has a comma, a quote or a line break.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) {
    return text;
  }
  return "\"" + replace_all(text, "\"", "\"\"") + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    line += (&cell == &cells.front() ? "" : ",") + csv_cell(cell);
  }
  return line + "\r\n";
}

}  // namespace

std::string csv(const Table& table) {
  check_shape(table);
  std::vector<std::string> names;
  for (const Table::Column& column : table.columns) {
    names.push_back(column.name);
  }
  std::string text = csv_line(names);
  for (const std::vector<std::string>& row : table.rows) {
    text += csv_line(row);
  }
  return text;
}

std::string markdown(const Table& table) {
  check_shape(table);
  const std::vector<std::size_t> widths = widths_of(table);
  std::string text = table.title.empty() ? "" : cell_text(table.title) + "\n\n";
  std::string rule = "|";
  text += "|";
  for (std::size_t column = 0; column < widths.size(); ++column) {
    const bool number = table.columns[column].number;
    text += fmt::format(" {} |", filled(cell_text(table.columns[column].name), widths[column], number));
    rule += fmt::format(" {}{} |", std::string(widths[column] - 1, '-'), number ? ':' : '-');
  }
  text += "\n" + rule + "\n";
  for (const std::vector<std::string>& row : table.rows) {
    text += "|";
    for (std::size_t column = 0; column < widths.size(); ++column) {
      text += fmt::format(" {} |", filled(cell_text(row[column]), widths[column], table.columns[column].number));
    }
    text += "\n";
  }
  return text;
}

std::string html(const Table& table) {
  check_shape(table);
  std::string text = "<div class=\"scroll\"><table>\n";
  if (!table.title.empty()) {
    text += fmt::format("<caption>{}</caption>\n", escaped(table.title));
  }
  text += "<thead><tr>";
  for (const Table::Column& column : table.columns) {
    text += fmt::format("<th scope=\"col\"{}>{}</th>", column.number ? " class=\"number\"" : "", escaped(column.name));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    text += "<tr>";
    for (std::size_t column = 0; column < row.size(); ++column) {
      text +=
          fmt::format("<td{}>{}</td>", table.columns[column].number ? " class=\"number\"" : "", escaped(row[column]));
    }
    text += "</tr>\n";
  }
  return text + "</tbody>\n</table></div>\n";
}

std::string with_digits(std::optional<double> number, int digits) {
  return number ? fmt::format("{:.{}f}", *number, digits) : "-";
}

std::string percent(std::optional<double> share, int digits) {
  return share ? fmt::format("{:.{}f}", 100 * *share, digits) : "-";
}

}  // namespace esc
