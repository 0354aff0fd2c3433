// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/ir/layout.h"

namespace esc {

struct LoopNest;

/// A K tile of B as what a tile of columns reads of each channel, an element once however many rows share it: the taps
/// of a filter do.
///
/// The rows of a channel differ in the last digits, its taps, which index dimensions together with a digit of the
/// column, as r and s do in X[b][c][2p + r - 1][2q + s - 1]. A *patch* is a range of a channel's *positions*: position
/// (b * height + 2p + r) * width + 2q + s is where column (b, p, q) meets tap (r, s), so that a column is where it
/// begins and a tap how far it is from there, whatever the channel.
struct KTilePatches {
  /// A dimension that columns and, where it has any, taps index: what they say of it is from 0 to below `extent`.
  struct Span {
    std::size_t dimension = 0;  ///< of the layout
    std::size_t column_digit = 0;
    std::int64_t extent = 0;     ///< 0 for the first one, of items
    std::int64_t positions = 1;  ///< from one index to the next
  };

  std::vector<Span> spans;           ///< outermost first, a digit of the column each
  std::size_t channel_digits = 0;    ///< of a row, before those that are taps
  std::int64_t taps = 1;             ///< rows of a channel
  std::int64_t tap_positions = 0;    ///< how far the last tap is
  std::int64_t channels = 0;         ///< of which a K tile has rows, at most
  std::int64_t patch_positions = 0;  ///< of a tile of columns, at most
  std::int64_t pitch = 0;            ///< elements from a patch to the next in shared memory

  std::int64_t elements() const { return channels * pitch; }
};

/// None where a K tile in rows and columns takes no more elements than its patches, or the layout is none of a filter's
/// taps.
std::optional<KTilePatches> find_k_tile_patches(const Layout& layout, std::int64_t k_tile_rows,
                                                std::int64_t tile_columns);

/// Those of a nest whose K tiles and tiles are chosen.
std::optional<KTilePatches> k_tile_patches(const LoopNest& nest);

}  // namespace esc
