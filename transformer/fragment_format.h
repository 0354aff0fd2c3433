// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packed format of fragments: what is stored where. As in packed_bytes.h, the text between the markers is part of
// the generated transformers of kernels that read it.

#include "transformer/description.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// The packed format of fragments: floats of 32 bits as the sparse tensor core takes them in mma.sp.m16n8k16, with one
// non-zero of every two: eight groups, and one value of each row in a group.
//
// A row tile is one m16 tile of 16 rows, or two; rows g, g + 8 and so on of it are row set g. A K tile is 128 columns
// of A, or 32 where values are placed; the last one may have fewer. A packed tile belongs to a row tile and a K tile.
// It has `steps` steps, each one mma.sp for each m16 tile, and each with eight groups of 2 slots. A slot stands for a
// column of the K tile, in any order, and a column may be in several; of the slots of a group each row has a non-zero
// in one at most. What a row tile has in a K tile and fits in no slot is an extra, of which there are `residuals` at
// most.
// Where `dense` is 1, a step is one mma.m16n8k8 for each m16 tile: a group is one column, the next one of the K tile.
// Such packed tiles have 16 steps, and beside values nothing. All elements of the columns may be stored, zeros too;
// where `listed` is not 0, those that are zero are left out, and a packed tile has `listed` places for the others. What
// has no place is left for a further round. Where `placed` is 1, a packed tile has 4 steps, belongs to `joined`
// consecutive row tiles of its block, and 16 bits of each value say where it is, in place of a bit of each element.
// Where it is 2 the same holds of values that are put in their places as two numbers of 16 bits each, one in the same
// place of another table.
// Two groups are a set, whose rows of B are read at once: quickest if their residues differ. That of a column is what
// it is modulo 4. Slots without a column have zeros, and name a column of a residue that no other of their set has, or
// column 0.
//
// Bytes of a packed tile, where a lane is one of 32:
//   values    [step][m16 tile][lane] 16 bytes, the registers a0 to a3 of the lane, 4 bytes each. That of row i of the
//             m16 tile and group q = 0..7 is in lane (i % 8) * 4 + q % 4, register (q / 4) * 2 + i / 8
//   metadata  [step][m16 tile][row set][2] uint32, as lanes 4 * g and 4 * g + 1 tell the tensor core: the first one of
//             groups 0 to 3, the second one of 4 to 7; bits 0 to 15 for row g of the m16 tile, 16 to 31 for row g + 8;
//             4 bits a group: 4 for a value in its first slot, and where there is none; 14 in its second one
//   columns   which column of the K tile each slot is, a byte, [step][4] 4 bytes: byte b of number c is of slot
//             4 * b + c
//   ends      where there are residuals, [row set] 1 byte: how many of them this one and those before it have
//   residuals    [extra] the value, and after it in as many bytes its column in the K tile and, shifted by 8, r where
//             it is of row g + 8 * r. Those of a row set are together, their columns ascend; what is not used is 0
//
// Bytes of a packed tile with listed values, where a list is of 32 columns and an m16 tile:
//   bits      [list of columns][m16 tile][lane] uint16: which of the lane's 16 elements are stored, in the order of
//             steps and registers
//   begins    [list of columns][m16 tile][8] uint16: of every four lanes the number of the first value
//   values    in the order of lists, lanes and bits; what is not used is 0
//
// Bytes of a packed tile with placed values, for as many groups of threads as it has `shares`. An element in row r and
// column c of the packed tile has the place r / 8 * 256 + c / 4 * 32 + r % 8 * 4 + c % 4, of 4 bytes, which modulo 32
// is its bank. Of two numbers of 16 bits it is r / 8 * 256 + c / 8 * 64 + r % 8 * 8 + c % 4 * 2 + c / 4 % 2, of 2
// bytes, and two are in a bank. Of all places a share has as many as each other one, those that follow each other:
//   begins    [share] uint16: the number of its first value, which is even, and after the last one how many there are;
//             zeros up to byte 20
//   exponent  uint32: that of the greatest finite value, as a float has it, and 14 at least. Values that are left for a
//             further round count, too
//   zeros up to byte 32
//   values    in the order of shares; of each 64 of a share those in even places, then those in odd ones, are as many
//             as there are of different banks, from the fullest ones. Where a share has an odd number, another zero of
//             it follows as a value. What is not used is 0
//   places    [value] uint16: the bytes of all places before it; what is not used is 0
//
// A thread block owns block_row_tiles row tiles, the last one may own fewer. A round of it is a K tile with a packed
// tile for each of its row tiles. It has each K tile once, ascending; where the slots and the residuals of a packed
// tile do not take all, another round of that K tile with the rest comes right after. Places without a row tile, and
// row tiles without a rest, have packed tiles without non-zeros.
//
//   rounds    at header_bytes, uint32: the first round of each block, and after the last one how many there are
//   K tiles   [round], 16 or 32 bits wide, at the next multiple of 256: which K tile
//   packed tiles     [round][row tile of the block, or row tiles with one packed tile], at the next multiple of 256
//
// Where every block has every K tile once, rounds and K tiles are left out: round r of block b is b * K tiles + r. What
// lies between the sections is zero.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t m16_tile_rows = 16;
inline constexpr uint32_t max_m16_tiles = 2;  ///< of a row tile
inline constexpr uint32_t max_fragment_rows = max_m16_tiles * m16_tile_rows;
inline constexpr uint32_t row_sets = 8;
inline constexpr uint32_t step_groups = 8;
inline constexpr uint32_t group_slots = 2;  ///< of sparse steps
inline constexpr uint32_t sparse_step_slots = step_groups * group_slots;
inline constexpr uint32_t set_slots = 2 * group_slots;  ///< whose rows of B are read at once
inline constexpr uint32_t fragment_value_bytes = 4;
inline constexpr uint32_t residual_bytes = 2 * fragment_value_bytes;
inline constexpr uint32_t lanes = 32;
inline constexpr uint32_t max_fragment_steps =
    16;  ///< which take a full K tile, half of each group's slots a column, or dense steps
inline constexpr uint32_t max_residuals = 254;  ///< of a packed tile, counted in a byte
inline constexpr uint32_t list_columns = 32;    ///< of which a lane's elements are listed
inline constexpr uint32_t four_lanes = 4;       ///< whose bits are beside each other, and which have a row set
inline constexpr uint32_t list_steps = list_columns / step_groups;
inline constexpr uint32_t max_k_tile_columns = 128;
inline constexpr uint32_t placed_columns = 32;                          ///< of a K tile whose values are placed
inline constexpr uint32_t placed_steps = placed_columns / step_groups;  ///< of a packed tile of it
inline constexpr uint32_t tile_rows = 8;          ///< which are together, in 16 bytes each, where values are put
inline constexpr uint32_t placed_words = 1;       ///< values that are put in their places as they are
inline constexpr uint32_t placed_halves = 2;      ///< those that are put there as two numbers of 16 bits
inline constexpr uint32_t banks = 32;             ///< of shared memory, where values are put in their places
inline constexpr uint32_t max_joined_rows = 192;  ///< of a packed tile with placed values
inline constexpr uint32_t max_packed_tile_places = max_joined_rows * placed_columns;
inline constexpr uint32_t max_shares = 8;    ///< of a packed tile
inline constexpr uint32_t exponent_at = 20;  ///< in a packed tile with placed values, after where up to 8 shares begin
inline constexpr uint32_t placed_at = 32;    ///< the values
inline constexpr uint32_t least_exponent =
    14;  ///< so that a power of two that makes the greatest value 2^14 is a normal float
inline constexpr uint32_t max_fragment_row_tiles = 16;
inline constexpr uint32_t max_listed = 8192;  ///< above all elements of a packed tile; headers of before may have it
inline constexpr uint32_t packed_tile_alignment = 32;  ///< what memory gives at once

/// How a matrix is cut into fragments.
struct FragmentCut {
  uint32_t height = m16_tile_rows;  ///< rows of a row tile
  uint32_t block_row_tiles = 1;     ///< row tiles of a thread block
  uint32_t steps = 8;               ///< of a packed tile
  uint32_t residuals = 0;           ///< of a packed tile, at most
  uint32_t dense = 0;               ///< 1 where steps have consecutive columns, and there are no others
  uint32_t listed = 0;  ///< of dense steps: values of a packed tile, at most; 0 where every element is stored
  uint32_t placed =
      0;  ///< where each of the listed values has its place beside it, in place of bits: placed_words or placed_halves
  uint32_t joined = 1;  ///< of placed values: row tiles that have a packed tile together
  uint32_t shares = 1;  ///< of placed values: groups of threads that put the values of a packed tile in their places

  static constexpr Rule elements = single_elements;

  template <typename Visit>
  constexpr void visit_cut(const Visit& visit) {
    // Fragments of 16-bit elements had other values of these. Headers keep their places, so that files of before are
    // read, and numbers after them stay where their readers look.
    uint32_t sparse14_steps = 0, line_rows = 1;
    visit("height", height, multiple_of(m16_tile_rows, max_fragment_rows));
    visit("block_row_tiles", block_row_tiles, between(1, max_fragment_row_tiles));
    visit("steps", steps, between(1, max_fragment_steps));
    visit("sparse14_steps", sparse14_steps, between(0, 0));
    visit("residuals", residuals, between(0, max_residuals));
    visit("dense", dense, between(0, 1));
    visit("listed", listed, between(0, max_listed));
    visit("placed", placed, between(0, placed_halves));
    visit("joined", joined, between(1, block_row_tiles));
    visit("shares", shares, power_of_two(max_shares));
    visit("line_rows", line_rows, between(1, 1));
  }
};

using FragmentShape = Shape<FragmentCut>;

/// Whether values are placed, also where the shape says so of steps that have none.
constexpr bool has_placed_values(const FragmentShape& shape) {
  return shape.placed != 0 && shape.dense != 0 && shape.listed > 1 && shape.block_row_tiles % shape.joined == 0 &&
         shape.joined * shape.height <= max_joined_rows;
}
constexpr uint32_t k_tile_columns_of(const FragmentShape& shape) {
  return has_placed_values(shape) ? placed_columns : max_k_tile_columns;
}
constexpr uint64_t k_tiles_of(const FragmentShape& shape) {
  const uint32_t columns = k_tile_columns_of(shape);
  return (static_cast<uint64_t>(shape.columns) + columns - 1) / columns;
}
constexpr uint64_t blocks_of(const FragmentShape& shape) {
  return (static_cast<uint64_t>(shape.row_tiles()) + shape.block_row_tiles - 1) / shape.block_row_tiles;
}

/// How much there is in all blocks.
struct FragmentCounts {
  uint64_t nonzeros = 0;
  uint64_t rounds = 0;

  template <typename Visit>
  constexpr void visit(const FragmentShape& shape, const Visit& visit) {
    constexpr uint64_t most_rounds = 0xffffffffu;
    const uint64_t least = blocks_of(shape) * k_tiles_of(shape);
    visit("nonzeros", nonzeros, between(0, max_count));
    visit("rounds", rounds, between(least, least + nonzeros < most_rounds ? least + nonzeros : most_rounds));
  }
};

/// Places in a packed tile, in bytes from its beginning.
struct GroupPlace {
  uint64_t value;
  uint64_t metadata;  ///< a word
  uint32_t shift;     ///< of the four bits in the word
};

/// Places of listed values in a packed tile, in bytes from its beginning.
struct ListPlace {
  uint64_t bits;   ///< two bytes, of the lane; those of the lanes in front, of the same four, are before them
  uint64_t begin;  ///< two bytes, of the four lanes
  uint32_t lane;   ///< of the four
  uint32_t bit;    ///< of the element
};

/// Which element of what a packed tile has in a K tile.
struct RowColumn {
  uint32_t row;
  uint32_t column;
};

/// Where the elements of a packed tile are: in tiles of 8 rows of 16 bytes, as the tensor core takes them, 4 columns of
/// words or 8 of halves, of which columns c and c + 4 are beside each other.
struct PlaceOrder {
  uint32_t placed;  ///< placed_words or placed_halves

  constexpr bool has_halves() const { return placed == placed_halves; }
  constexpr uint32_t place_bytes() const { return has_halves() ? 2 : 4; }
  constexpr uint32_t tile_columns() const { return 16 / place_bytes(); }
  constexpr uint32_t bank_of(uint32_t place) const { return place * place_bytes() / 4 % banks; }

  constexpr uint32_t place_of(const RowColumn& element) const {
    const uint32_t columns = tile_columns(), column = element.column % columns;
    return element.row / tile_rows * (tile_rows * placed_columns) + element.column / columns * (tile_rows * columns) +
           element.row % tile_rows * columns + (has_halves() ? column % 4 * 2 + column / 4 : column);
  }
  constexpr RowColumn element_of(uint32_t place) const {
    const uint32_t columns = tile_columns(), tiles = placed_columns / columns;
    const uint32_t tile = place / (tile_rows * columns), column = place % columns;
    return {tile / tiles * tile_rows + place / columns % tile_rows,
            tile % tiles * columns + (has_halves() ? column % 2 * 4 + column / 2 : column)};
  }
};

/// The whole description of a packed matrix; packer, unpacker and kernel read sizes and places from it alone.
struct FragmentFormat : Description<FragmentCut, FragmentCounts> {
  static constexpr char magic[9] = "ESCFRAG\x1a";
  static constexpr uint32_t version = 12;

  ScalarType k_tile = ScalarType::u16;
  uint64_t k_tiles_at = 0;
  uint64_t packed_tiles_at = 0;
  uint64_t bytes = 0;  ///< of the whole, header included

  constexpr uint32_t m16_tiles() const { return shape.height / m16_tile_rows; }
  constexpr bool is_dense() const { return shape.dense != 0; }
  constexpr bool is_listed() const { return shape.listed != 0; }  ///< with bits or with places
  constexpr bool is_placed() const { return has_placed_values(shape); }
  constexpr uint32_t k_tile_columns() const { return k_tile_columns_of(shape); }
  constexpr uint32_t step_slots() const { return is_dense() ? step_groups : sparse_step_slots; }
  constexpr uint64_t blocks() const { return blocks_of(shape); }
  constexpr uint64_t k_tiles() const { return k_tiles_of(shape); }
  /// Whether every block has every K tile once.
  constexpr bool regular() const { return counts.rounds == blocks() * k_tiles(); }

  // Places in a packed tile.
  constexpr uint64_t values_at(uint32_t step, uint32_t m16_tile, uint32_t lane) const {
    return ((uint64_t{step} * m16_tiles() + m16_tile) * lanes + lane) * 4 * fragment_value_bytes;
  }
  constexpr uint64_t metadata_at(uint32_t step, uint32_t m16_tile, uint32_t row_set, uint32_t half) const {
    return values_at(shape.steps, 0, 0) +
           (((uint64_t{step} * m16_tiles() + m16_tile) * row_sets + row_set) * 2 + half) * 4;
  }
  constexpr uint64_t columns_at() const { return metadata_at(is_dense() ? 0 : shape.steps, 0, 0, 0); }
  constexpr uint64_t column_at(uint32_t step, uint32_t slot) const {
    return columns_at() + uint64_t{step} * sparse_step_slots + slot % 4 * 4 + slot / 4;
  }
  constexpr uint64_t residuals_end_at(uint32_t row_set) const {
    return (is_dense() ? columns_at() : column_at(shape.steps, 0)) + row_set;
  }
  constexpr uint64_t residual_at(uint32_t residual) const {
    return residuals_end_at(row_sets) + uint64_t{residual} * residual_bytes;
  }
  constexpr uint64_t packed_tile_bytes() const {
    return round_up(is_placed()            ? place_at(placed_room())
                    : is_listed()          ? listed_at(shape.listed)
                    : shape.residuals == 0 ? residuals_end_at(0)
                                           : residual_at(shape.residuals),
                    packed_tile_alignment);
  }

  // The same of a packed tile with listed values.
  constexpr uint64_t lists() const { return uint64_t{shape.steps} / list_steps * m16_tiles(); }
  constexpr uint64_t bits_at(uint64_t list, uint32_t lane) const { return (list * lanes + lane) * 2; }
  constexpr uint64_t begin_at(uint64_t list, uint32_t row_set) const {
    return bits_at(lists(), 0) + (list * row_sets + row_set) * 2;
  }
  constexpr uint64_t listed_at(uint64_t value) const {
    return (is_placed() ? uint64_t{placed_at} : begin_at(lists(), 0)) + value * fragment_value_bytes;
  }
  constexpr ListPlace list_place_of(uint32_t step, uint32_t group, uint32_t row) const {
    const uint64_t list = uint64_t{step} / list_steps * m16_tiles() + row / m16_tile_rows;
    const uint32_t row_set = row % row_sets, upper = row % m16_tile_rows / row_sets;
    const uint32_t lane = group % four_lanes;
    return {bits_at(list, row_set * four_lanes + lane), begin_at(list, row_set), lane,
            step % list_steps * 4 + group / four_lanes * 2 + upper};
  }

  // The same of a packed tile with placed values.
  constexpr PlaceOrder place_order() const { return {shape.placed}; }
  constexpr uint32_t round_packed_tiles() const { return shape.block_row_tiles / shape.joined; }  ///< of a block
  constexpr uint32_t packed_tile_places() const { return shape.joined * shape.height * placed_columns; }
  constexpr uint32_t share_places() const { return packed_tile_places() / shape.shares; }
  constexpr uint32_t placed_room() const { return shape.listed / 2 * 2; }  ///< for values, which go in pairs
  constexpr uint64_t share_begin_at(uint32_t share) const { return uint64_t{share} * 2; }
  constexpr uint64_t place_at(uint64_t value) const { return listed_at(placed_room()) + value * 2; }

  /// Where the value of a row in a slot group is, and its bits of metadata, of which dense steps have none.
  constexpr GroupPlace place_of(uint32_t step, uint32_t group, uint32_t row) const {
    const uint32_t row_set = row % row_sets, m16_tile = row / m16_tile_rows, upper = row % m16_tile_rows / row_sets;
    const uint32_t lane = group % four_lanes, half = group / four_lanes;
    return {values_at(step, m16_tile, row_set * four_lanes + lane) + (half * 2 + upper) * fragment_value_bytes,
            metadata_at(step, m16_tile, row_set, half), upper * 16 + lane * 4};
  }

  // Places in the packed matrix; the first two only where it is not regular.
  constexpr uint64_t first_round_at(uint64_t block) const { return header_bytes + block * size_of(ScalarType::u32); }
  constexpr uint64_t k_tile_at(uint64_t round) const { return k_tiles_at + round * size_of(k_tile); }
  constexpr uint64_t packed_tile_at(uint64_t round, uint32_t packed_tile_of_round) const {
    return packed_tiles_at + (round * round_packed_tiles() + packed_tile_of_round) * packed_tile_bytes();
  }
};

/// The format that a matrix of this shape and with these counts has.
constexpr FragmentFormat describe(const FragmentShape& shape, const FragmentCounts& counts) {
  FragmentFormat format;
  format.shape = shape;
  format.counts = counts;
  if (!format.is_placed()) {
    format.shape.placed = 0;  // a header that says otherwise is none of these
    format.shape.joined = format.shape.shares = 1;
  }
  if (format.is_dense()) {
    format.shape.steps = format.k_tile_columns() / format.step_slots();
    format.shape.residuals = 0;
  } else {
    format.shape.listed = 0;
  }
  format.k_tile = format.k_tiles() <= 65536 ? ScalarType::u16 : ScalarType::u32;
  format.k_tiles_at = format.packed_tiles_at = header_bytes;
  if (!format.regular()) {
    format.k_tiles_at = round_up(format.first_round_at(format.blocks() + 1), section_alignment);
    format.packed_tiles_at = round_up(format.k_tile_at(counts.rounds), section_alignment);
  }
  format.bytes = format.packed_tile_at(counts.rounds, 0);
  return format;
}

// [packing text ends]
}  // namespace esc::transformer
