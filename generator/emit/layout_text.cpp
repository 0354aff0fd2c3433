// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/layout_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "generator/emit/half_text.h"
#include "generator/emit/layout_terms.h"
#include "generator/emit/patch_text.h"
#include "generator/ir/instruction.h"
#include "generator/ir/joined_digits.h"
#include "generator/ir/performed_instructions.h"
#include "generator/ir/placed_layout.h"

namespace esc {
namespace {

/// The array as it is read: of columns that only count on one division makes the place.
ArrayDeclaration with_joined_columns(ArrayDeclaration array) {
  array.layout = join_columns(array.layout.value());
  return array;
}

std::string place_function(const ArrayDeclaration& given, const Environment& sizes) {
  const ArrayDeclaration array = with_joined_columns(given);
  const LayoutTerms text(array, sizes);
  return fmt::format(
      "// Where the element of a row and a column of {0} is.\n"
      "__device__ __forceinline__ long long place_in_{0}(unsigned int row, unsigned int column, long long "
      "leading_dimension) {{\n"
      "{1}{2}return {3} + {4};\n}}\n\n",
      array.name, text.define_digits(text.layout().row, "row", "long long"),
      text.define_digits(text.layout().column, "column", "long long"),
      text.offset(text.layout().row, false, "leading_dimension"),
      text.offset(text.layout().column, true, "leading_dimension"));
}

/// Of B what depends on the column alone is an address that a lane has, and what depends on the row alone a distance
/// from it, mostly of 32 bits: adding them up is one instruction.
std::string dense_functions(const ArrayDeclaration& given, const Environment& sizes, ScalarType element,
                            bool is_copied) {
  const ArrayDeclaration array = with_joined_columns(given);
  const LayoutTerms text(array, sizes);
  const Layout& layout = text.layout();
  const bool padded = text.has_padding();
  const std::string taps = padded ? fmt::format("{} taps;\n", text.tap_word().type) : "";
  std::string functions = fmt::format(
      "// A column of {0}: where it begins{1}.\n"
      "struct ColumnOfB {{\n const {2}* first;\n{3}}};\n\n"
      "__device__ __forceinline__ ColumnOfB column_of_B(const {2}* __restrict__ B, unsigned int column, long long{4}) "
      "{{\n"
      "{5}{6}return {{B + ({7}){8}}};\n}}\n\n",
      array.name,
      padded
          ? ", and which taps of a filter lie outside: around the elements there are zeros, which nothing is stored for"
          : "",
      c_name(element), taps, text.indexes_outermost(layout.column) ? " ldb" : "",
      text.define_digits(layout.column, "column", "long long"), padded ? text.taps_outside() : "",
      text.offset(layout.column, true, "ldb"), padded ? ", outside" : "");
  functions += fmt::format(
      "// A row: how far its element is from where a column begins{}.\n"
      "struct RowOfB {{\n {} distance;\n{}}};\n\n"
      "__device__ __forceinline__ RowOfB row_of_B(unsigned int row, long long{}) {{\n"
      "{}return {{{}{}}};\n}}\n\n",
      padded ? ", and which taps it stands for" : "", text.row_type(), taps,
      text.indexes_outermost(layout.row) ? " ldb" : "", text.define_row_digits(), text.offset(layout.row, false, "ldb"),
      padded ? ", " + text.taps_of_row() : "");
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
                         c_name(element),
                         padded ? fmt::format("(column.taps & row.taps) != 0 ? {} : ", zero_of(element)) : "");
}

}  // namespace

std::string layout_functions(const LoopNest& nest, const Environment& sizes) {
  std::string text;
  for (const ArrayDeclaration& array : nest.arrays) {
    if (array.layout) {
      text += array.role != ArrayRole::dense ? place_function(array, sizes)
              : performs(nest, "stage_patches")
                  ? patch_functions(nest, k_tile_patches(nest).value(), sizes)
                  : dense_functions(array, sizes, nest.element(), performs(nest, "stage_elements"));
    }
  }
  return text;
}

bool is_placed(const LoopNest& nest, const ArrayDeclaration& array) {
  return (array.holds_columns ? nest.array(ArrayRole::dense) : array).layout.has_value();
}

bool is_placed(const LoopNest& nest, const Perform& perform) {
  const Access* const first =
      instruction(perform.instruction).placed_call.empty() ? nullptr : perform.arguments.front().access();
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
  return LayoutTerms(array, sizes).least_leading_dimension(items);
}

std::string outermost_extent(const ArrayDeclaration& array, const Environment& sizes, const std::string& items) {
  return LayoutTerms(array, sizes).outermost_extent(items);
}

std::int64_t item_columns(const LoopNest& nest) {
  const ArrayDeclaration& output = nest.array(ArrayRole::output);
  return output.layout ? columns_of_item(*output.layout) : 1;
}

std::string distance_of_items(const ArrayDeclaration& array, const Environment& sizes, const std::string& items,
                              const std::string& leading_dimension) {
  return LayoutTerms(array, sizes).distance_of_items(items, leading_dimension);
}

std::string form_of(const ArrayDeclaration& array, const Environment& sizes, const std::string& name) {
  return LayoutTerms(array, sizes).form(name);
}

}  // namespace esc
