// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/patch_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "generator/emit/c_constant.h"
#include "generator/emit/layout_terms.h"

namespace esc {
namespace {

/// Of what is copied at once, and so that a packed tile after a K tile begins at a line.
constexpr std::int64_t line_bytes = 128;
constexpr std::int64_t place_bytes = 2;
constexpr std::int64_t warp_lanes = 32;

std::int64_t patches_at(const LoopNest& nest) {
  return place_bytes * (nest.constant("k_tile_columns") + nest.constant("tile_columns"));
}

std::string position_of_column(const LayoutTerms& terms, const KTilePatches& patches) {
  const std::vector<Digit>& digits = terms.layout().column;
  std::vector<std::string> positions;
  for (const KTilePatches::Span& span : patches.spans) {
    const std::string digit = variable_of(digits[span.column_digit]);
    const std::int64_t step =
        terms.layout().dimensions[span.dimension].index.coefficient(digits[span.column_digit].name) * span.positions;
    positions.push_back(times(span.extent == 0 ? fmt::format("({} - first_item)", digit) : digit, step));
  }
  return fmt::format(
      "// Where a column begins among the positions from the first of an item on.\n"
      "__device__ __forceinline__ unsigned int position_of_column(unsigned int column, unsigned int first_item) "
      "{{\n{}return {};\n}}\n\n",
      terms.define_digits(digits, "column", "unsigned int"), sum_of(positions));
}

std::string position_of_tap(const LayoutTerms& terms, const KTilePatches& patches) {
  const std::vector<Digit> taps(terms.layout().row.begin() + static_cast<std::ptrdiff_t>(patches.channel_digits),
                                terms.layout().row.end());
  std::vector<std::string> positions;
  for (const KTilePatches::Span& span : patches.spans) {
    for (const Digit& tap : taps) {
      if (const std::int64_t step = terms.layout().dimensions[span.dimension].index.coefficient(tap.name); step != 0) {
        positions.push_back(times(variable_of(tap), step * span.positions));
      }
    }
  }
  return fmt::format(
      "// And how far after it a tap is.\n"
      "__device__ __forceinline__ unsigned int position_of_tap(unsigned int tap) {{\n{}return {};\n}}\n\n",
      terms.define_digits(taps, "tap", "unsigned int"), sum_of(positions));
}

std::string distance_of_channel(const LayoutTerms& terms, const KTilePatches& patches) {
  const std::vector<Digit> channel(terms.layout().row.begin(),
                                   terms.layout().row.begin() + static_cast<std::ptrdiff_t>(patches.channel_digits));
  return fmt::format(
      "// How far the elements of a channel are from those of the first one.\n"
      "__device__ __forceinline__ {0} distance_of_channel(unsigned int channel, long long{1}) {{\n{2}return "
      "{3};\n}}\n\n",
      terms.row_type(), terms.indexes_outermost(channel) ? " ldb" : "",
      terms.define_digits(channel, "channel", terms.row_type()), terms.offset(channel, false, "ldb"));
}

/// Indices of what is at a position, and where that is.
std::string element_at_position(const LayoutTerms& terms, const KTilePatches& patches, const char* element) {
  const Layout& layout = terms.layout();
  std::string text;
  std::string rest = "position";
  std::vector<std::string> distances;
  std::vector<std::string> inside;
  std::vector<bool> is_spanned(layout.dimensions.size(), false);
  for (std::size_t at = patches.spans.size(); at-- > 0;) {
    const KTilePatches::Span& span = patches.spans[at];
    const StoredDimension& dimension = layout.dimensions[span.dimension];
    const std::string name = variable_of(layout.column[span.column_digit]);
    const std::int64_t least = dimension.index.constant();
    const std::string index =
        at == 0 ? times(fmt::format("(item + {})", rest), dimension.index.coefficient(layout.column.front().name))
                : fmt::format("{} % {}", rest, span.extent);
    text += fmt::format("const long long {} = static_cast<long long>({}){};\n", name, index,
                        least == 0 ? "" : fmt::format(" {} {}", least < 0 ? "-" : "+", std::abs(least)));
    rest = fmt::format("position / {}", span.positions * span.extent);
    distances.push_back(terms.distance(span.dimension, name, "ldb"));
    is_spanned[span.dimension] = true;
    if (dimension.padded) {
      inside.push_back(fmt::format("{0} >= 0 && {0} < {1}", name, terms.extent(span.dimension)));
    }
  }
  for (std::size_t at = 0; at < layout.dimensions.size(); ++at) {
    if (const std::int64_t constant = layout.dimensions[at].index.constant(); constant != 0 && !is_spanned[at]) {
      distances.push_back(terms.distance(at, fmt::format("{}", constant), "ldb"));
    }
  }
  const std::string address = fmt::format("B + ({})", sum_of(distances));
  return fmt::format(
      "// The element of the first channel at a position after those before an item{0}.\n"
      "__device__ __forceinline__ const {1}* element_at_position(const {1}* __restrict__ B, unsigned int item, "
      "unsigned int position, long long ldb) "
      "{{\n{2}return {3};\n}}\n\n",
      inside.empty() ? "" : "; null where it lies outside, where B is zero", element, text,
      inside.empty() ? address : fmt::format("{} ? {} : nullptr", fmt::join(inside, " && "), address));
}

}  // namespace

std::string patch_functions(const LoopNest& nest, const KTilePatches& patches, const Environment& sizes) {
  const LayoutTerms terms(nest.array(ArrayRole::dense), sizes);
  return fmt::format(
             "// Each element of B is at a position of its channel, which a column and a tap say together.\n"
             "__device__ __forceinline__ unsigned int item_of_column(unsigned int column) {{\nreturn column / "
             "{};\n}}\n\n",
             columns_of_item(terms.layout())) +
         position_of_column(terms, patches) + position_of_tap(terms, patches) + distance_of_channel(terms, patches) +
         element_at_position(terms, patches, c_name(nest.element()));
}

std::string places_in_patches() {
  return R"(// Where an element of a K tile is.
__device__ __forceinline__ int element_at(const unsigned char* k_tile, int row, int column) {
  const unsigned short* const places = reinterpret_cast<const unsigned short*>(k_tile);
  return places[row] + places[k_tile_columns + column];
}
)";
}

std::vector<std::string> patch_constants(const LoopNest& nest, const KTilePatches& patches) {
  return {
      c_constant("unsigned int", "channel_taps", patches.taps, "rows of B of a channel"),
      c_constant("unsigned int", "tap_positions", patches.tap_positions, "from a column's first position to its last"),
      c_constant("int", "lane_positions", (patches.patch_positions + warp_lanes - 1) / warp_lanes,
                 fmt::format("of the {} that a patch has at most", patches.patch_positions)),
      c_constant("unsigned int", "patch_pitch", patches.pitch, "elements from a patch to the next"),
      c_constant("unsigned int", "patches_at", patches_at(nest),
                 "in a K tile, after the places of its rows and columns")};
}

std::int64_t patched_k_tile_bytes(const LoopNest& nest, const KTilePatches& patches) {
  const std::int64_t bytes = patches_at(nest) + patches.elements() * bytes_of(nest.element());
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

}  // namespace esc
