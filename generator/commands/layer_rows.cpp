// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/layer_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/support/page_text.h"
#include "generator/support/plain_text.h"

namespace esc {
namespace {

constexpr std::size_t most_name_columns = 44;
constexpr std::size_t least_word_columns = 30;
constexpr std::size_t gap = 2;

}  // namespace

void LayerRows::expect(const std::string& name, const std::string& shape) {
  const std::size_t columns = columns_of(plain_text(name));
  name_columns_ = std::max(name_columns_, std::min(columns, most_name_columns));
  shape_columns_ = std::max(shape_columns_, shape.size());
}

std::string LayerRows::head(const std::string& name, const std::string& shape) const {
  const std::string plain = plain_text(name);
  const std::size_t columns = columns_of(plain);
  const std::string first = columns > name_columns_ ? plain + "\n" + std::string(name_columns_, ' ')
                                                    : plain + std::string(name_columns_ - columns, ' ');
  return fmt::format("{}  {:<{}}  ", first, shape, shape_columns_);
}

std::string LayerRows::row(const std::string& name, const std::string& shape, const std::string& figures,
                           const std::string& words) const {
  const std::size_t indent = name_columns_ + gap + shape_columns_ + gap + figures.size();
  const std::size_t columns = std::max(least_word_columns, page_columns - std::min(page_columns, indent));
  std::string text = head(name, shape) + figures;
  for (const std::string& line : wrapped(words, columns)) {
    text += (text.ends_with('\n') ? std::string(indent, ' ') : "") + line + "\n";
  }
  return text;
}

}  // namespace esc
