// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/k_tile_patches.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "generator/ir/loop_nest.h"

namespace esc {
namespace {

/// Shared memory has 32 banks. Patches that begin at odd multiples of 8 after each other leave the 8 columns of two
/// channels in different ones.
constexpr std::int64_t bank_period = 16;
constexpr std::int64_t bank_shift = 8;

std::int64_t pitch_for(std::int64_t positions) {
  return (positions - bank_shift + bank_period - 1) / bank_period * bank_period + bank_shift;
}

std::int64_t number(const Affine& extent) { return extent.is_constant() ? extent.constant() : 0; }

/// How many of a layout's dimensions index with the digit.
std::ptrdiff_t count_of(const Layout& layout, const Digit& digit) {
  return std::ranges::count_if(layout.dimensions,
                               [&](const StoredDimension& one) { return one.index.mentions(digit.name); });
}

bool mentions_any(const Affine& index, const std::vector<Digit>& digits) {
  return std::ranges::any_of(digits, [&](const Digit& digit) { return index.mentions(digit.name); });
}

/// The dimension of each digit of the column, none where one has several dimensions, or a dimension several of them.
std::vector<KTilePatches::Span> spans_of_columns(const Layout& layout) {
  std::vector<KTilePatches::Span> spans;
  for (std::size_t at = 0; at < layout.column.size(); ++at) {
    const auto dimension = std::ranges::find_if(
        layout.dimensions, [&](const StoredDimension& one) { return one.index.mentions(layout.column[at].name); });
    if (count_of(layout, layout.column[at]) != 1 || dimension->index.coefficient(layout.column[at].name) < 0) {
      return {};
    }
    const auto number_of = static_cast<std::size_t>(dimension - layout.dimensions.begin());
    if (std::ranges::any_of(spans, [&](const KTilePatches::Span& span) { return span.dimension == number_of; })) {
      return {};
    }
    spans.push_back({number_of, at});
  }
  return spans;
}

/// Whether the digit indexes with digits of the column, in one direction, wherever it indexes.
bool is_tap(const Layout& layout, const Digit& digit) {
  return count_of(layout, digit) == 1 && std::ranges::all_of(layout.dimensions, [&](const StoredDimension& one) {
           return !one.index.mentions(digit.name) ||
                  (one.index.coefficient(digit.name) > 0 && mentions_any(one.index, layout.column));
         });
}

/// The position of a column that begins `column` columns after the first of an item.
std::int64_t position_of_column(const Layout& layout, const KTilePatches& patches, std::int64_t column) {
  std::int64_t position = 0;
  for (std::size_t at = patches.spans.size(); at-- > 0;) {
    const KTilePatches::Span& span = patches.spans[at];
    const Digit& digit = layout.column[span.column_digit];
    const std::int64_t index = at == 0 ? column : column % number(digit.extent);
    column = at == 0 ? 0 : column / number(digit.extent);
    position += index * layout.dimensions[span.dimension].index.coefficient(digit.name) * span.positions;
  }
  return position;
}

/// From the first position of a tile of columns to that of its last column, at most: tiles begin at multiples of their
/// columns.
std::int64_t positions_of_tile(const Layout& layout, const KTilePatches& patches, std::int64_t tile_columns) {
  const std::int64_t of_item = columns_of_item(layout);
  std::int64_t most = 0;
  for (std::int64_t tile = 0; tile < of_item / std::gcd(of_item, tile_columns); ++tile) {
    const std::int64_t first = tile * tile_columns;
    most = std::max(most, position_of_column(layout, patches, first + tile_columns - 1) -
                              position_of_column(layout, patches, first));
  }
  return most;
}

}  // namespace

std::optional<KTilePatches> find_k_tile_patches(const Layout& layout, std::int64_t k_tile_rows,
                                                std::int64_t tile_columns) {
  KTilePatches patches{.spans = spans_of_columns(layout)};
  const auto first_tap = std::find_if(layout.row.rbegin(), layout.row.rend(), [&](const Digit& digit) {
                           return !is_tap(layout, digit);
                         }).base();
  patches.channel_digits = static_cast<std::size_t>(first_tap - layout.row.begin());
  if (patches.spans.empty() || patches.channel_digits == 0 ||
      mentions_any(layout.dimensions[patches.spans.front().dimension].index, layout.row)) {
    return std::nullopt;
  }
  std::int64_t positions = 1;
  for (std::size_t at = patches.spans.size(); at-- > 0;) {
    KTilePatches::Span& span = patches.spans[at];
    const Affine& index = layout.dimensions[span.dimension].index;
    span.positions = positions;
    std::int64_t last_tap = 0;
    for (auto tap = first_tap; tap != layout.row.end(); ++tap) {
      last_tap += index.coefficient(tap->name) * (number(tap->extent) - 1);
    }
    patches.tap_positions += last_tap * positions;
    if (at != 0) {
      const Digit& digit = layout.column[span.column_digit];
      span.extent = index.coefficient(digit.name) * (number(digit.extent) - 1) + last_tap + 1;
      positions *= span.extent;
    }
  }
  for (auto tap = first_tap; tap != layout.row.end(); ++tap) {
    patches.taps *= number(tap->extent);
  }
  if (positions > std::numeric_limits<std::int32_t>::max() / 2) {
    return std::nullopt;
  }
  patches.channels = (k_tile_rows + patches.taps - 2) / patches.taps + 1;
  patches.patch_positions = positions_of_tile(layout, patches, tile_columns) + patches.tap_positions + 1;
  patches.pitch = pitch_for(patches.patch_positions);
  return patches.elements() < k_tile_rows * tile_columns ? std::optional(patches) : std::nullopt;
}

std::optional<KTilePatches> k_tile_patches(const LoopNest& nest) {
  const std::optional<Layout>& layout = nest.array(ArrayRole::dense).layout;
  return layout ? find_k_tile_patches(*layout, nest.constant("k_tile_columns"), nest.constant("tile_columns"))
                : std::nullopt;
}

}  // namespace esc
