// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/layout_terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "generator/support/error.h"

namespace esc {
namespace {

using Terms = std::vector<std::string>;

/// As many as a word has bits.
constexpr std::int64_t most_taps = 64;

std::string named(const Digit& digit, const char* ending) {
  return digit.name + (digit.name.ends_with('_') ? "" : "_") + ending;
}

/// A quotient of a number of a row. In 32 bits it is the upper half of a product, of which compilers make more where
/// they see that a number has 16.
std::string quotient(const std::string& number, std::int64_t divisor, std::int64_t rows) {
  constexpr std::int64_t two_to_32 = std::int64_t{1} << 32;
  if (rows * divisor >= two_to_32) {
    return fmt::format("{} / {}", number, divisor);
  }
  return fmt::format("static_cast<unsigned int>({} * {}ull >> 32)", number, (two_to_32 + divisor - 1) / divisor);
}

std::string index_text(const Affine& index, const std::vector<Digit>& digits, bool constants) {
  Terms terms;
  for (const Digit& digit : digits) {
    if (const std::int64_t coefficient = index.coefficient(digit.name); coefficient != 0) {
      terms.push_back(times(variable_of(digit), coefficient));
    }
  }
  std::string text = sum_of(terms);
  if (constants && index.constant() != 0) {
    text += fmt::format(" {} {}", index.constant() < 0 ? "-" : "+", std::abs(index.constant()));
  }
  return text;
}

}  // namespace

std::string sum_of(const Terms& terms) { return terms.empty() ? "0" : fmt::format("{}", fmt::join(terms, " + ")); }

std::string times(const std::string& factor, std::int64_t number) {
  return number == 1 ? factor : fmt::format("{} * {}", factor, number);
}

std::string variable_of(const Digit& digit) { return named(digit, "at"); }

LayoutTerms::LayoutTerms(const ArrayDeclaration& array, const Environment& sizes)
    : array_(array),
      layout_(array.layout.value_or(row_major("row", array.extents.at(0), "column", array.extents.at(1)))),
      sizes_(sizes) {
  std::int64_t stride = 1;
  strides_.resize(layout_.dimensions.size(), 1);
  for (std::size_t at = layout_.dimensions.size(); at-- > 0;) {
    strides_[at] = stride;
    if (is_over_items(at)) {
      inner_items_ = inner_items_ || at != 0;
    } else if (at != 0) {
      stride *= extent(at);
    }
  }
  inner_ = stride;
}

bool LayoutTerms::has_padding() const {
  return std::ranges::any_of(layout_.dimensions, [](const StoredDimension& one) { return one.padded; });
}

bool LayoutTerms::indexes_outermost(const std::vector<Digit>& digits) const {
  return std::ranges::any_of(digits,
                             [&](const Digit& digit) { return layout_.dimensions.front().index.mentions(digit.name); });
}

const char* LayoutTerms::row_type() const {
  return indexes_outermost(layout_.row) || inner_items_ || inner_ > std::numeric_limits<std::int32_t>::max()
             ? "long long"
             : "int";
}

std::string LayoutTerms::least_leading_dimension(const std::string& items) const {
  return !inner_items_ ? fmt::format("{}", inner_) : inner_ == 1 ? items : fmt::format("{} * {}", items, inner_);
}

std::string LayoutTerms::outermost_extent(const std::string& items) const {
  return is_over_items(0) ? items : fmt::format("{}", extent(0));
}

std::string LayoutTerms::distance_of_items(const std::string& items, const std::string& leading_dimension) const {
  const std::string& name = layout_.column.front().name;
  Terms terms;
  for (std::size_t at = 0; at < layout_.dimensions.size(); ++at) {
    if (const std::int64_t coefficient = layout_.dimensions[at].index.coefficient(name); coefficient != 0) {
      const std::string step = times(items, coefficient * (at == 0 ? 1 : strides_[at]));
      terms.push_back(at == 0 ? fmt::format("{} * {}", step, leading_dimension) : step);
    }
  }
  return sum_of(terms);
}

std::string LayoutTerms::form(const std::string& name) const {
  std::string text = name;
  for (std::size_t at = 0; at < layout_.dimensions.size(); ++at) {
    text += is_over_items(at) ? "[n]" : fmt::format("[{}]", extent(at));
  }
  return text;
}

std::string LayoutTerms::offset(const std::vector<Digit>& digits, bool constants,
                                const std::string& leading_dimension) const {
  Terms terms;
  for (std::size_t at = 0; at < layout_.dimensions.size(); ++at) {
    const std::string index = index_text(layout_.dimensions[at].index, digits, constants);
    if (index != "0") {
      terms.push_back(distance(at, index, leading_dimension));
    }
  }
  return sum_of(terms);
}

std::string LayoutTerms::distance(std::size_t dimension, const std::string& index,
                                  const std::string& leading_dimension) const {
  const std::string factor = index.find(' ') != std::string::npos ? "(" + index + ")" : index;
  if (dimension == 0) {
    return fmt::format("{} * {}", factor, leading_dimension);
  }
  return strides_[dimension] == 1 ? index : fmt::format("{} * {}", factor, strides_[dimension]);
}

std::string LayoutTerms::define_digits(const std::vector<Digit>& digits, const std::string& number,
                                       const std::string& type) const {
  std::string text;
  std::int64_t below = 1;
  for (std::size_t at = digits.size(); at-- > 0;) {
    std::string value = below == 1 ? number : fmt::format("{} / {}", number, below);
    if (at > 0) {
      const std::int64_t extent = digits[at].extent.evaluate(sizes_);
      value += fmt::format(" % {}", extent);
      below *= extent;
    }
    if (is_used(digits[at].name)) {
      text += fmt::format("const {0} {1} = static_cast<{0}>({2});\n", type, variable_of(digits[at]), value);
    }
  }
  return text;
}

std::string LayoutTerms::define_row_digits() const {
  std::string text;
  std::string rest = "row";
  for (std::size_t at = layout_.row.size(); at-- > 0;) {
    const std::string& name = layout_.row[at].name;
    if (at == 0) {
      text += is_used(name) ? fmt::format("const {0} {1} = static_cast<{0}>({2});\n", row_type(),
                                          variable_of(layout_.row[at]), rest)
                            : "";
      break;
    }
    const std::int64_t extent = layout_.row[at].extent.evaluate(sizes_);
    const std::string above = named(layout_.row[at], "above");
    text += fmt::format("const unsigned int {} = {};  // {} / {}\n", above, quotient(rest, extent, sizes_.at("K")),
                        rest, extent);
    if (is_used(name)) {
      text += fmt::format("const {0} {1} = static_cast<{0}>({2} - {3} * {4});\n", row_type(),
                          variable_of(layout_.row[at]), rest, above, extent);
    }
    rest = above;
  }
  return text;
}

std::vector<LayoutTerms::Tap> LayoutTerms::taps() const {
  std::vector<Tap> taps;
  std::int64_t bits = 0;
  for (std::size_t at = 0; at < layout_.dimensions.size(); ++at) {
    if (!layout_.dimensions[at].padded) {
      continue;
    }
    Tap tap{at, nullptr, bits};
    for (const Digit& digit : layout_.row) {
      if (layout_.dimensions[at].index.mentions(digit.name)) {
        require(tap.digit == nullptr, "has a padded subscript with two iterators of the reduction");
        tap.digit = &digit;
        tap.count = digit.extent.evaluate(sizes_);
      }
    }
    bits += tap.count;
    taps.push_back(tap);
  }
  require(bits <= most_taps,
          fmt::format("pads for {} taps of a filter, rows and columns together, more than {}", bits, most_taps));
  return taps;
}

LayoutTerms::TapWord LayoutTerms::tap_word() const {
  std::int64_t bits = 0;
  for (const Tap& tap : taps()) {
    bits += tap.count;
  }
  return bits <= 32 ? TapWord{"unsigned int", "u"} : TapWord{"unsigned long long", "ull"};
}

std::string LayoutTerms::taps_of_row() const {
  Terms terms;
  for (const Tap& tap : taps()) {
    const char* const ending = tap_word().ending;
    terms.push_back(tap.digit == nullptr
                        ? fmt::format("{}{}", std::uint64_t{1} << tap.first_bit, ending)
                        : fmt::format("1{} << ({} + {})", ending, tap.first_bit, variable_of(*tap.digit)));
  }
  return fmt::format("{}", fmt::join(terms, " | "));
}

std::string LayoutTerms::taps_outside() const {
  const TapWord word = tap_word();
  std::string text = fmt::format("{} outside = 0;\n", word.type);
  for (const Tap& tap : taps()) {
    const StoredDimension& dimension = layout_.dimensions[tap.dimension];
    const std::string first = index_text(dimension.index, layout_.column, true);
    const std::int64_t step = tap.digit == nullptr ? 0 : dimension.index.coefficient(tap.digit->name);
    text += fmt::format(
        "#pragma unroll\nfor (int tap = 0; tap < {}; ++tap) {{\n"
        "const long long index = {}{};\noutside |= (index >= 0 && index < {} ? 0{} : 1{}) << ({} + tap);\n}}\n",
        tap.count, first, step == 0 ? std::string() : " + " + times("tap", step), extent(tap.dimension), word.ending,
        word.ending, tap.first_bit);
  }
  return text;
}

void LayoutTerms::require(bool holds, const std::string& rule) const {
  if (!holds) {
    throw UserError("loop nest", fmt::format("{}: {}", array_.name, rule),
                    "pad the array itself, and leave the guards out");
  }
}

bool LayoutTerms::is_used(const std::string& digit) const {
  return std::ranges::any_of(layout_.dimensions, [&](const StoredDimension& one) { return one.index.mentions(digit); });
}

}  // namespace esc
