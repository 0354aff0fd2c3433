// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/layout_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "generator/emit/half_text.h"
#include "generator/emit/print_kernel.h"
#include "generator/ir/instruction.h"
#include "generator/support/error.h"

namespace esc {
namespace {

using Terms = std::vector<std::string>;

/// As many as a word has bits.
constexpr std::int64_t most_taps = 64;

std::string sum_of(const Terms& terms) { return terms.empty() ? "0" : fmt::format("{}", fmt::join(terms, " + ")); }

/// A digit as a variable of a device function, where no other name ends like that. A user's own names end in an underscore.
std::string named(const Digit& digit, const char* ending) { return digit.name + (digit.name.ends_with('_') ? "" : "_") + ending; }
std::string variable_of(const Digit& digit) { return named(digit, "at"); }

std::string times(const std::string& factor, std::int64_t number) {
  return number == 1 ? factor : fmt::format("{} * {}", factor, number);
}

/// The layout of an array, with numbers for its sizes.
class LayoutText {
 public:
  LayoutText(const ArrayDeclaration& array, const Environment& sizes)
      : array_(array), layout_(array.layout.value_or(row_major("row", array.extents.at(0), "column", array.extents.at(1)))), sizes_(sizes) {
    std::int64_t stride = 1;
    strides_.resize(layout_.dimensions.size(), 1);
    for (std::size_t at = layout_.dimensions.size(); at-- > 0;) {
      strides_[at] = stride;
      if (is_over_items(at)) {
        inner_items_ = inner_items_ || at != 0;
      } else if (at != 0) {
        stride *= layout_.dimensions[at].extent.evaluate(sizes_);
      }
    }
    inner_ = stride;
  }

  bool is_over_items(std::size_t dimension) const { return esc::is_over_items(layout_, layout_.dimensions[dimension]); }

  std::string least_leading_dimension(const std::string& items) const {
    return !inner_items_ ? fmt::format("{}", inner_) : inner_ == 1 ? items : fmt::format("{} * {}", items, inner_);
  }

  std::string outermost_extent(const std::string& items) const {
    return is_over_items(0) ? items : fmt::format("{}", layout_.dimensions[0].extent.evaluate(sizes_));
  }

  std::string distance_of_items(const std::string& items, const std::string& leading_dimension) const {
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

  std::string form(const std::string& name) const {
    std::string text = name;
    for (std::size_t at = 0; at < layout_.dimensions.size(); ++at) {
      text += is_over_items(at) ? "[n]" : fmt::format("[{}]", layout_.dimensions[at].extent.evaluate(sizes_));
    }
    return text;
  }

  bool has_padding() const {
    return std::ranges::any_of(layout_.dimensions, [](const StoredDimension& one) { return one.padded; });
  }

  /// How far the digits of a row, or of a column, are from the first element; of a column also what is always added.
  std::string offset(const std::vector<Digit>& digits, bool constants, const std::string& leading_dimension) const {
    Terms terms;
    for (std::size_t at = 0; at < layout_.dimensions.size(); ++at) {
      const std::string index = index_text(layout_.dimensions[at].index, digits, constants);
      if (index == "0") {
        continue;
      }
      const bool sum = index.find(' ') != std::string::npos;
      if (at == 0) {
        terms.push_back(fmt::format("{} * {}", sum ? "(" + index + ")" : index, leading_dimension));
      } else {
        terms.push_back(strides_[at] == 1 ? index : fmt::format("{} * {}", sum ? "(" + index + ")" : index, strides_[at]));
      }
    }
    return sum_of(terms);
  }

  /// What defines those digits of a number that subscripts name.
  std::string define_digits(const std::vector<Digit>& digits, const std::string& number, const std::string& type) const {
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

  /// The same of a row of B, which a kernel asks for each non-zero.
  std::string define_row_digits() const {
    std::string text;
    std::string rest = "row";
    for (std::size_t at = layout_.row.size(); at-- > 0;) {
      const std::string& name = layout_.row[at].name;
      if (at == 0) {
        text += is_used(name) ? fmt::format("const {0} {1} = static_cast<{0}>({2});\n", row_type(), variable_of(layout_.row[at]), rest) : "";
        break;
      }
      const std::int64_t extent = layout_.row[at].extent.evaluate(sizes_);
      const std::string above = named(layout_.row[at], "above");
      text += fmt::format("const unsigned int {} = {};  // {} / {}\n", above, quotient(rest, extent, sizes_.at("K")), rest, extent);
      if (is_used(name)) {
        text += fmt::format("const {0} {1} = static_cast<{0}>({2} - {3} * {4});\n", row_type(), variable_of(layout_.row[at]), rest, above, extent);
      }
      rest = above;
    }
    return text;
  }

  /// The bit of each padded dimension that stands for the digit of a row in it, one behind the other.
  struct Tap {
    std::size_t dimension;
    const Digit* digit = nullptr;  ///< none: rows do not index the dimension
    std::int64_t first_bit = 0;
    std::int64_t count = 1;
  };
  std::vector<Tap> taps() const {
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
    require(bits <= most_taps, fmt::format("pads for {} taps of a filter, rows and columns together, more than {}", bits, most_taps));
    return taps;
  }

  /// What has a bit for each tap, and how its numbers end.
  struct TapWord {
    const char* type;
    const char* ending;
  };
  TapWord tap_word() const {
    std::int64_t bits = 0;
    for (const Tap& tap : taps()) {
      bits += tap.count;
    }
    return bits <= 32 ? TapWord{"unsigned int", "u"} : TapWord{"unsigned long long", "ull"};
  }

  /// Which bits of the taps a row has.
  std::string taps_of_row() const {
    Terms terms;
    for (const Tap& tap : taps()) {
      const char* const ending = tap_word().ending;
      terms.push_back(tap.digit == nullptr ? fmt::format("{}{}", std::uint64_t{1} << tap.first_bit, ending)
                                           : fmt::format("1{} << ({} + {})", ending, tap.first_bit, variable_of(*tap.digit)));
    }
    return fmt::format("{}", fmt::join(terms, " | "));
  }

  /// Sets the bits of the taps that lie outside for a column.
  std::string taps_outside() const {
    const TapWord word = tap_word();
    std::string text = fmt::format("{} outside = 0;\n", word.type);
    for (const Tap& tap : taps()) {
      const StoredDimension& dimension = layout_.dimensions[tap.dimension];
      const std::string first = index_text(dimension.index, layout_.column, true);
      const std::int64_t step = tap.digit == nullptr ? 0 : dimension.index.coefficient(tap.digit->name);
      text += fmt::format(
          "#pragma unroll\nfor (int tap = 0; tap < {}; ++tap) {{\n"
          "const long long index = {}{};\noutside |= (index >= 0 && index < {} ? 0{} : 1{}) << ({} + tap);\n}}\n",
          tap.count, first, step == 0 ? std::string() : " + " + times("tap", step), dimension.extent.evaluate(sizes_), word.ending, word.ending,
          tap.first_bit);
    }
    return text;
  }

  const Layout& layout() const { return layout_; }
  /// Whether digits of these index the outermost dimension, whose distance is not known before a call.
  bool indexes_outermost(const std::vector<Digit>& digits) const {
    return std::ranges::any_of(digits, [&](const Digit& digit) { return layout_.dimensions.front().index.mentions(digit.name); });
  }
  /// Of a distance inside of the outermost dimension.
  const char* row_type() const {
    return indexes_outermost(layout_.row) || inner_items_ || inner_ > std::numeric_limits<std::int32_t>::max() ? "long long" : "int";
  }

 private:
  void require(bool holds, const std::string& rule) const {
    if (!holds) {
      throw UserError("loop nest", fmt::format("{}: {}", array_.name, rule), "pad the array itself, and leave the guards out");
    }
  }

  bool is_used(const std::string& digit) const {
    return std::ranges::any_of(layout_.dimensions, [&](const StoredDimension& one) { return one.index.mentions(digit); });
  }

  /// A quotient of a number of a row. In 32 bits it is the upper half of a product, of which compilers make more where they see that a number
  /// has 16.
  std::string quotient(const std::string& number, std::int64_t divisor, std::int64_t rows) const {
    constexpr std::int64_t two_to_32 = std::int64_t{1} << 32;
    if (rows * divisor >= two_to_32) {
      return fmt::format("{} / {}", number, divisor);
    }
    return fmt::format("static_cast<unsigned int>({} * {}ull >> 32)", number, (two_to_32 + divisor - 1) / divisor);
  }

  static std::string index_text(const Affine& index, const std::vector<Digit>& digits, bool constants) {
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

  const ArrayDeclaration& array_;
  Layout layout_;
  const Environment& sizes_;
  std::vector<std::int64_t> strides_;
  std::int64_t inner_ = 1;
  bool inner_items_ = false;
};

std::string place_function(const ArrayDeclaration& array, const Environment& sizes) {
  const LayoutText text(array, sizes);
  return fmt::format(
      "// Where the element of a row and a column of {0} is.\n"
      "__device__ __forceinline__ long long place_in_{0}(unsigned int row, unsigned int column, long long leading_dimension) {{\n"
      "{1}{2}return {3} + {4};\n}}\n\n",
      array.name, text.define_digits(text.layout().row, "row", "long long"),
      text.define_digits(text.layout().column, "column", "long long"),
      text.offset(text.layout().row, false, "leading_dimension"), text.offset(text.layout().column, true, "leading_dimension"));
}

/// Of B what depends on the column alone is an address that a lane has, and what depends on the row alone a distance from it, mostly of 32
/// bits: adding them up is one instruction.
std::string dense_functions(const ArrayDeclaration& array, const Environment& sizes, ScalarType element,
                            bool is_copied) {
  const LayoutText text(array, sizes);
  const Layout& layout = text.layout();
  const bool padded = text.has_padding();
  const std::string taps = padded ? fmt::format("{} taps;\n", text.tap_word().type) : "";
  std::string functions = fmt::format(
      "// A column of {0}: where it begins{1}.\n"
      "struct ColumnOfB {{\n const {2}* first;\n{3}}};\n\n"
      "__device__ __forceinline__ ColumnOfB column_of_B(const {2}* __restrict__ B, unsigned int column, long long{4}) {{\n"
      "{5}{6}return {{B + ({7}){8}}};\n}}\n\n",
      array.name, padded ? ", and which taps of a filter lie outside: around the elements there are zeros, which nothing is stored for" : "",
      c_name(element), taps, text.indexes_outermost(layout.column) ? " ldb" : "", text.define_digits(layout.column, "column", "long long"),
      padded ? text.taps_outside() : "", text.offset(layout.column, true, "ldb"), padded ? ", outside" : "");
  functions += fmt::format(
      "// A row: how far its element is from where a column begins{}.\n"
      "struct RowOfB {{\n {} distance;\n{}}};\n\n"
      "__device__ __forceinline__ RowOfB row_of_B(unsigned int row, long long{}) {{\n"
      "{}return {{{}{}}};\n}}\n\n",
      padded ? ", and which taps it stands for" : "", text.row_type(), taps, text.indexes_outermost(layout.row) ? " ldb" : "",
      text.define_row_digits(), text.offset(layout.row, false, "ldb"), padded ? ", " + text.taps_of_row() : "");
  if (is_copied) {
    return functions +
           fmt::format(
               "// Where the element of both is{1}.\n"
               "__device__ __forceinline__ const {0}* address_in_B(const RowOfB& row, const ColumnOfB& column) {{\n"
               "return {2}column.first + row.distance;\n}}\n\n",
               c_name(element), padded ? "; null where it lies outside" : "",
               padded ? "(column.taps & row.taps) != 0 ? nullptr : " : "");
  }
  return functions + fmt::format(
      "__device__ __forceinline__ {} element_of_B(const RowOfB& row, const ColumnOfB& column) {{\n"
      "return {}column.first[row.distance];\n}}\n\n",
      c_name(element), padded ? fmt::format("(column.taps & row.taps) != 0 ? {} : ", zero_of(element)) : "");
}

}  // namespace

std::string layout_functions(const LoopNest& nest, const Environment& sizes) {
  const std::vector<std::string> instructions = performed_instructions(nest);
  const bool is_copied = std::ranges::find(instructions, "stage_elements") != instructions.end();
  std::string text;
  for (const ArrayDeclaration& array : nest.arrays) {
    if (array.layout) {
      text += array.role == ArrayRole::dense ? dense_functions(array, sizes, nest.element(), is_copied)
                                             : place_function(array, sizes);
    }
  }
  return text;
}

bool is_placed(const LoopNest& nest, const ArrayDeclaration& array) {
  return (array.holds_columns ? nest.array(ArrayRole::dense) : array).layout.has_value();
}

bool is_placed(const LoopNest& nest, const Perform& perform) {
  const Access* const first = instruction(perform.instruction).placed_call.empty() ? nullptr : perform.arguments.front().access();
  return first != nullptr && is_placed(nest, *nest.find_array(first->array));
}

std::map<std::string, std::string> dense_holes(const LoopNest& nest) {
  if (!nest.array(ArrayRole::dense).layout) {
    return {{"ROW_OF_B", fmt::format("const {}* __restrict__", c_name(nest.element()))},
            {"COLUMN_OF_B", "unsigned int"},
            {"PLACE_OF_B", "row + columns[0]"},
            {"ELEMENT_OF_B", "row[columns[v]]"},
            {"ROW_OPENS", "B + "},
            {"ROW_CLOSES", " * ldb"}};
  }
  return {{"ROW_OF_B", "const RowOfB&"},
          {"COLUMN_OF_B", "ColumnOfB"},
          {"PLACE_OF_B", "columns[0].first + row.distance"},
          {"ELEMENT_OF_B", "element_of_B(row, columns[v])"},
          {"ROW_OPENS", "row_of_B("},
          {"ROW_CLOSES", ", ldb)"}};
}

bool moves_vectors(const LoopNest& nest, const Environment& sizes) {
  if (!nest.vectors) {
    return false;
  }
  return std::ranges::all_of(nest.arrays, [&](const ArrayDeclaration& array) {
    const bool moved = array.role == ArrayRole::dense || array.role == ArrayRole::output;
    return !moved || !array.layout || PlacedLayout(*array.layout, sizes).moves_vectors(nest.constant("vector_width"));
  });
}

std::string least_leading_dimension(const ArrayDeclaration& array, const Environment& sizes, const std::string& items) {
  return LayoutText(array, sizes).least_leading_dimension(items);
}

std::string outermost_extent(const ArrayDeclaration& array, const Environment& sizes, const std::string& items) {
  return LayoutText(array, sizes).outermost_extent(items);
}

std::int64_t item_columns(const LoopNest& nest) {
  const ArrayDeclaration& output = nest.array(ArrayRole::output);
  return output.layout ? columns_of_item(*output.layout) : 1;
}

std::string distance_of_items(const ArrayDeclaration& array, const Environment& sizes, const std::string& items,
                              const std::string& leading_dimension) {
  return LayoutText(array, sizes).distance_of_items(items, leading_dimension);
}

std::string form_of(const ArrayDeclaration& array, const Environment& sizes, const std::string& name) {
  return LayoutText(array, sizes).form(name);
}

}  // namespace esc
