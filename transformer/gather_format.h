// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packed format of gathered rows: what is stored where. As in packed_bytes.h, the text between the markers is part
// of the generated transformers of kernels that read it.

#include "transformer/description.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// The packed format of gathered rows: lists for kernels that have rows of B in shared memory, four windows of them.
//
// A window is 256 columns of A, the last one may have fewer. `height` rows of A are a panel, of which a warp has one,
// and a thread block owns block_panels panels, the last one may own fewer. Rows stand in the order of their lengths: of
// 1024 classes of lengths that divide evenly what is between the longest row and the shortest one the longest comes
// first, and in a class rows ascend. `height` of them, one behind the other, are a panel; panels are dealt to the
// blocks forth and back, so that blocks have about equally much to do.
//
// All rows of a panel have equally many entries for a window, two for each of its steps: non-zeros of the row in the
// window, in the one before or in the one behind, in the order of their columns. When the entries of a window end,
// nothing is left of the window before. There are as many as the row that has most left takes of it if it takes equally
// many for each window to come, so that there is little to fill up: what a row lacks are zeros, which name the row of B
// that the entry in front of them names, or the window's first one.
//
// A list belongs to a block and a window, and has what all its panels have for it. Lists are as long as what they have;
// their bytes count in pieces of 16, an entry of a row in a step.
//
//   rows      at header_bytes, [block][panel][row] uint32: which row stands there, where none does the number of rows
//
//   begins    [block][window] uint32 and one more, at the next multiple of 16: the first piece of a list, of all lists
//
//   lists     [block][window], from the next multiple of 256 on:
//               begins [panel] uint32 and one more: the first piece of a panel's entries, of the list. Zeros up to the
//               next multiple of 16
//               entries [panel][step][row][2] 8 bytes each: the value, and uint32 where the row of B stands: of
//               windows whose numbers are equal modulo 4, 128 bytes for each column
//               a step of zeros, which is read ahead
//
// What lies between is zero.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t gather_columns = 256;    ///< of a window
inline constexpr uint32_t gather_windows = 4;      ///< that are in shared memory at once
inline constexpr uint32_t gather_row_bytes = 128;  ///< of a row of B in a window
inline constexpr uint32_t gather_set_rows = 4;     ///< of a panel, whose entries a warp reads at once
inline constexpr uint32_t max_gather_rows = 32;    ///< of a panel
inline constexpr uint32_t max_gather_panels = 24;  ///< of a thread block
inline constexpr uint32_t step_entries = 2;        ///< of each row
inline constexpr uint32_t entry_bytes = 8;
inline constexpr uint32_t piece_bytes = step_entries * entry_bytes;
inline constexpr uint32_t max_gather_steps = 3 * gather_columns / step_entries;  ///< of a panel for a window
inline constexpr uint64_t max_list_pieces =
    uint64_t{max_gather_panels} * max_gather_steps * max_gather_rows + max_gather_rows + max_gather_panels;
inline constexpr uint32_t length_classes = 1024;

inline constexpr Rule single_elements = {static_cast<uint64_t>(ScalarType::f32), static_cast<uint64_t>(ScalarType::f32),
                                         1, false, no_exception};

/// How a matrix is cut into panels with lists.
struct GatherCut {
  uint32_t height = gather_set_rows;  ///< rows of a panel
  uint32_t block_panels = 1;          ///< panels of a thread block
  uint32_t steps = 1;                 ///< of a panel for a window at most
  uint32_t list_pieces = 1;           ///< of a list at most

  static constexpr Rule elements = single_elements;

  template <typename Visit>
  constexpr void visit_cut(const Visit& visit) {
    visit("height", height, multiple_of(gather_set_rows, max_gather_rows));
    visit("block_panels", block_panels, between(1, max_gather_panels));
    visit("steps", steps, between(1, max_gather_steps));
    visit("list_pieces", list_pieces, between(1, max_list_pieces));
  }
};

using GatherShape = Shape<GatherCut>;

constexpr uint64_t windows_of(const GatherShape& shape) {
  return (static_cast<uint64_t>(shape.columns) + gather_columns - 1) / gather_columns;
}
constexpr uint64_t blocks_of(const GatherShape& shape) {
  return (static_cast<uint64_t>(shape.panels()) + shape.block_panels - 1) / shape.block_panels;
}

/// How much there is in all blocks.
struct GatherCounts {
  uint64_t nonzeros = 0;
  uint64_t pieces = 0;  ///< of all lists

  template <typename Visit>
  constexpr void visit(const GatherShape&, const Visit& visit) {
    visit("nonzeros", nonzeros, between(0, max_count));
    visit("pieces", pieces, between(0, UINT32_MAX));
  }
};

/// The whole description of a packed matrix; packer, unpacker and kernel read sizes and places from it alone.
struct GatherFormat : Description<GatherCut, GatherCounts> {
  static constexpr char magic[9] = "ESCGATH\x1a";
  static constexpr uint32_t version = 2;

  uint64_t begins_at = 0;
  uint64_t lists_at = 0;
  uint64_t bytes = 0;  ///< of the whole, header included

  constexpr uint64_t blocks() const { return blocks_of(shape); }
  constexpr uint64_t windows() const { return windows_of(shape); }
  constexpr uint64_t seats() const { return blocks() * shape.block_panels * shape.height; }
  constexpr uint64_t row_at(uint64_t seat) const { return header_bytes + seat * size_of(ScalarType::u32); }
  /// The seat of the row of this number in the order of lengths.
  constexpr uint64_t seat_of(uint64_t number) const {
    const uint64_t panel = number / shape.height, turn = panel / blocks(), dealt = panel % blocks();
    const uint64_t block = turn % 2 == 0 ? dealt : blocks() - 1 - dealt;
    return (block * shape.block_panels + turn) * shape.height + number % shape.height;
  }
  /// The first seat of a panel of a block.
  constexpr uint64_t first_seat(uint64_t block, uint32_t panel) const {
    return (block * shape.block_panels + panel) * shape.height;
  }
  constexpr uint64_t lists() const { return blocks() * windows(); }
  constexpr uint64_t begin_at(uint64_t block, uint64_t window) const {
    return begins_at + (block * windows() + window) * size_of(ScalarType::u32);
  }
  constexpr uint64_t list_at(uint64_t begin) const { return lists_at + begin * piece_bytes; }
  /// In a list, where a panel's entries begin stands there.
  constexpr uint64_t panel_begin_at(uint32_t panel) const { return uint64_t{panel} * size_of(ScalarType::u32); }
  constexpr uint64_t begins_pieces() const {
    return round_up(panel_begin_at(shape.block_panels + 1), piece_bytes) / piece_bytes;
  }
  /// What a list has besides the entries of its panels.
  constexpr uint64_t fixed_pieces() const { return begins_pieces() + shape.height; }
  /// In the entries of a panel.
  constexpr uint64_t entry_at(uint64_t step, uint32_t row, uint32_t number) const {
    return (step * shape.height + row) * piece_bytes + number * entry_bytes;
  }
};

/// Where the row of B stands that a column of a window is multiplied by.
constexpr uint32_t gathered_place(uint64_t window, uint32_t column) {
  return (static_cast<uint32_t>(window % gather_windows) * gather_columns + column) * gather_row_bytes;
}

/// The format that a matrix of this shape and with these counts has.
constexpr GatherFormat describe(const GatherShape& shape, const GatherCounts& counts) {
  GatherFormat format;
  format.shape = shape;
  format.counts = counts;
  format.begins_at = round_up(format.row_at(format.seats()), piece_bytes);
  format.lists_at = round_up(format.begin_at(format.blocks(), 0) + size_of(ScalarType::u32), section_alignment);
  format.bytes = format.list_at(counts.pieces);
  return format;
}

// [packing text ends]
}  // namespace esc::transformer
