// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace esc {

/// A table, to be shown as Markdown or as HTML. Each row has a cell for each column.
struct Table {
  struct Column {
    std::string name;
    bool number = true;  ///< numbers are at the right, texts at the left
  };

  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

/// A column of texts.
inline Table::Column text_column(const std::string& name) { return {name, false}; }

/// The title, then the table with its columns filled up to one width, so that it also reads well on a terminal.
std::string markdown(const Table& table);

/// The names of the columns and the rows as lines of comma-separated values (RFC 4180), without the title.
std::string csv(const Table& table);

/// A table element with its title as the caption, in a frame that scrolls where the page is narrower; everything is
/// escaped.
std::string html(const Table& table);

/// "1.25"; "-" where there is no number.
std::string with_digits(std::optional<double> number, int digits = 2);
/// "87.5" of 0.875; "-" where there is no share.
std::string percent(std::optional<double> share, int digits = 0);

}  // namespace esc
