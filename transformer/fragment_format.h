// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packed format of fragments: what is stored where. As in packed_bytes.h, the text between the markers is part of
// the generated transformers of kernels that read it.

#include "transformer/description.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// The packed format of fragments: floats as the sparse tensor core takes them. Of 16 bits that is mma.sp.m16n8k32 with
// two non-zeros of every four, of 32 bits mma.sp.m16n8k16 with one of every two: eight groups, and 4 bytes of each row
// in a group.
//
// A row tile is one m16 tile of 16 rows, or two; rows g, g + 8 and so on of it are row set g. A K tile is 256 columns
// of A, or 128 of 32 bits, or 32 where values are placed; the last one may have fewer. A packed tile belongs to a row
// tile and a K tile. It has `steps` steps, each one mma.sp for each m16 tile, and each with eight groups of 4 slots, or
// of 2. A slot stands for a column of the K tile, in any order, and a column may be in several; of the slots of a group
// each row has non-zeros in half at most. In the last `sparse14_steps` steps, which there are of 16-bit values, it has
// one at most, a quarter, and one is stored. What a row tile has in a K tile and fits in no slot is an extra, of which
// there are `residuals` at most.
// Where `dense` is 1, a step is one mma.m16n8k16, or mma.m16n8k8 of 32 bits, for each m16 tile: a group is two columns,
// or one, the next ones of the K tile. Such packed tiles have 16 steps, and beside values nothing. Of 32 bits all
// elements of the columns may be stored, zeros too; where `listed` is not 0, those that are zero are left out, and a
// packed tile has `listed` places for the others. What has no place is left for a further round. Where `placed` is 1,
// as it may be of 32 bits, a packed tile has 4 steps, belongs to `joined` consecutive row tiles of its block, and 16
// bits of each value say where it is, in place of a bit of each element. Where it is 2 the same holds of values that
// are put in their places as two numbers of 16 bits each, one in the same place of another table.
// Two groups are a set, whose rows of B are read at once: quickest if their residues differ. That of a column is what
// it is modulo the slots of a set or, where `line_rows` rows of B are in a line of shared memory whose pieces change
// places from line to line, what says which piece it is there. Slots without a column have zeros, and name a column of
// a residue that no other of their set has, or column 0.
//
// Bytes of a packed tile, where a lane is one of 32:
//   values    [step][m16 tile][lane] 16 bytes, the registers a0 to a3 of the lane, 4 bytes each. Those of row i of the
// m16 tile
//             and group q = 0..7 are in lane (i % 8) * 4 + q % 4, register (q / 4) * 2 + i / 8, in the order of their
//             slots. Of 1:4 steps 8 bytes, the one value of each of these registers
//   metadata  [step][m16 tile][row set][2] uint32, as lanes 4 * g and 4 * g + 1 tell the tensor core: the first one of
// groups
//             0 to 3, the second one of 4 to 7; bits 0 to 15 for row g of the m16 tile, 16 to 31 for row g + 8; 4 bits
//             a group. Of 16-bit values: the place in the group of the first one and, shifted by 2, of the
//             second one, of which the first is the lower. A value alone in place 0 to 2 is the first, beside place 3;
//             one in place 3 is the second, beside place 0; where there is none the places are 0 and 1. The one of a
//             1:4 steps is the first in place 0, beside 2, and in place 1, beside 3, the second in place 2, beside
//             1, and in place 3, beside 0: so it is the second where just one of the bits 0 and 2 is set. Of a 32-bit
//             value: 4 in place 0, and where there is none; 14 in place 1
//   columns   which column of the K tile each slot is, a byte. Of 16-bit values [step][slot], of 32-bit values
//             [step][4] 4 bytes: byte b of number c is of slot 4 * b + c
//   ends      where there are residuals, [row set] 1 byte: how many of them this one and those before it have
//   residuals    [extra] the value, and after it in as many bytes its column in the K tile and, shifted by 8, r where
//   it
//             is of row g + 8 * r. Those of a row set are together, their columns ascend; what is not used is 0
//
// Bytes of a packed tile with listed values, where a list is of 32 columns and an m16 tile:
//   bits      [list of columns][m16 tile][lane] uint16: which of the lane's 16 elements are stored, in the order of
//   steps,
//             registers and columns
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
// as
//             there are of different banks, from the fullest ones. Where a share has an odd number, another zero of it
// follows
//             as a value. What is not used is 0
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
inline constexpr uint32_t lanes = 32;
inline constexpr uint32_t max_fragment_steps =
    16;  ///< which take a full K tile, half of each group's slots a column, or dense steps
inline constexpr uint32_t max_residuals = 254;  ///< of a packed tile, counted in a byte
inline constexpr uint32_t list_columns = 32;    ///< of which a lane's elements are listed
inline constexpr uint32_t four_lanes = 4;       ///< whose bits are beside each other, and which have a row set
inline constexpr uint32_t placed_columns = 32;  ///< of a K tile whose values are placed
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
inline constexpr uint32_t max_line_rows = 8;
inline constexpr uint32_t packed_tile_alignment = 32;  ///< what memory gives at once

/// What the tensor core takes of elements of so many bytes, 2 or 4.
struct FragmentElement {
  uint32_t bytes;

  constexpr uint32_t group_values() const { return bytes == 2 ? 2 : 1; }  ///< of a row
  constexpr uint32_t group_slots() const { return 2 * group_values(); }
  constexpr uint32_t step_slots() const { return step_groups * group_slots(); }
  constexpr uint32_t set_slots() const { return 2 * group_slots(); }  ///< whose rows of B are read at once
  /// Of `set_slots` residues that of a column, and the first column that has a residue.
  constexpr uint32_t residue_of(uint32_t column, uint32_t line_rows) const {
    const uint32_t pieces = set_slots() / line_rows;  // of a row
    return ((column ^ column / set_slots()) % line_rows) * pieces + column / line_rows % pieces;
  }
  constexpr uint32_t first_of_residue(uint32_t residue, uint32_t line_rows) const {
    const uint32_t pieces = set_slots() / line_rows;
    return residue % pieces * line_rows + residue / pieces;
  }
  constexpr uint32_t k_tile_columns() const { return 128 * group_values(); }
  constexpr uint32_t residual_bytes() const { return 2 * bytes; }
  constexpr bool has_sparse14_steps() const { return bytes == 2; }
  constexpr bool has_whole_dense_steps() const { return bytes == 4; }
  constexpr bool has_placed_values() const { return bytes == 4; }
  constexpr bool has_lines() const { return bytes == 2; }
};

inline constexpr uint32_t max_k_tile_columns = FragmentElement{2}.k_tile_columns();
inline constexpr uint32_t max_listed = max_fragment_rows * max_k_tile_columns;

inline constexpr Rule single_or_half_elements = {static_cast<uint64_t>(ScalarType::f32),
                                                 static_cast<uint64_t>(ScalarType::bf16), 1, false,
                                                 static_cast<uint64_t>(ScalarType::f64)};

/// The steps of a packed tile.
struct PackedTileSteps {
  uint32_t all = 8;
  uint32_t sparse14 = 0;  ///< of them, the last ones

  constexpr uint32_t half() const { return all - sparse14; }
};

/// How a matrix is cut into fragments.
struct FragmentCut {
  uint32_t height = m16_tile_rows;  ///< rows of a row tile
  uint32_t block_row_tiles = 1;     ///< row tiles of a thread block
  uint32_t steps = 8;               ///< of a packed tile
  uint32_t sparse14_steps = 0;      ///< of them
  uint32_t residuals = 0;           ///< of a packed tile, at most
  uint32_t dense = 0;               ///< 1 where steps have consecutive columns, and there are no others
  uint32_t listed = 0;  ///< of dense steps: values of a packed tile, at most; 0 where every element is stored
  uint32_t placed =
      0;  ///< where each of the listed values has its place beside it, in place of bits: placed_words or placed_halves
  uint32_t joined = 1;     ///< of placed values: row tiles that have a packed tile together
  uint32_t shares = 1;     ///< of placed values: groups of threads that put the values of a packed tile in their places
  uint32_t line_rows = 1;  ///< rows of B that are in a line of shared memory whose pieces change places

  constexpr PackedTileSteps packed_tile_steps() const { return {steps, sparse14_steps}; }

  static constexpr Rule elements = single_or_half_elements;

  template <typename Visit>
  constexpr void visit_cut(const Visit& visit) {
    visit("height", height, multiple_of(m16_tile_rows, max_fragment_rows));
    visit("block_row_tiles", block_row_tiles, between(1, max_fragment_row_tiles));
    visit("steps", steps, between(1, max_fragment_steps));
    visit("sparse14_steps", sparse14_steps, between(0, steps));
    visit("residuals", residuals, between(0, max_residuals));
    visit("dense", dense, between(0, 1));
    visit("listed", listed, between(0, max_listed));
    visit("placed", placed, between(0, placed_halves));
    visit("joined", joined, between(1, block_row_tiles));
    visit("shares", shares, power_of_two(max_shares));
    visit("line_rows", line_rows, power_of_two(max_line_rows));
  }
};

using FragmentShape = Shape<FragmentCut>;

constexpr FragmentElement element_of(const FragmentShape& shape) {
  return {static_cast<uint32_t>(size_of(shape.element))};
}
/// Whether values are placed, also where the shape says so of steps that have none.
constexpr bool has_placed_values(const FragmentShape& shape) {
  return shape.placed != 0 && shape.dense != 0 && shape.listed > 1 && element_of(shape).has_placed_values() &&
         shape.block_row_tiles % shape.joined == 0 && shape.joined * shape.height <= max_joined_rows;
}
constexpr uint32_t k_tile_columns_of(const FragmentShape& shape) {
  const FragmentElement element = element_of(shape);
  return has_placed_values(shape) ? placed_columns : element.k_tile_columns();
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
  uint64_t values;    ///< 4 bytes, in a 1:4 steps 2
  uint64_t metadata;  ///< a word
  uint32_t shift;     ///< of the four bits in the word, of which a 1:4 steps has bits 0 and 2 alone
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

  constexpr FragmentElement element() const { return element_of(shape); }
  constexpr uint32_t m16_tiles() const { return shape.height / m16_tile_rows; }
  constexpr bool is_dense() const { return shape.dense != 0; }
  constexpr bool is_listed() const { return shape.listed != 0; }  ///< with bits or with places
  constexpr bool is_placed() const { return has_placed_values(shape); }
  constexpr uint32_t k_tile_columns() const { return k_tile_columns_of(shape); }
  constexpr uint32_t group_slots() const { return is_dense() ? element().group_values() : element().group_slots(); }
  constexpr uint32_t step_slots() const { return step_groups * group_slots(); }
  constexpr uint64_t blocks() const { return blocks_of(shape); }
  constexpr uint64_t k_tiles() const { return k_tiles_of(shape); }
  /// Whether every block has every K tile once.
  constexpr bool regular() const { return counts.rounds == blocks() * k_tiles(); }

  // Places in a packed tile.
  constexpr bool is_sparse14(uint32_t step) const { return step >= shape.packed_tile_steps().half(); }
  constexpr uint64_t sparse14_steps_at() const {
    return uint64_t{shape.packed_tile_steps().half()} * m16_tiles() * lanes * 16;
  }
  constexpr uint64_t values_at(uint32_t step, uint32_t m16_tile, uint32_t lane) const {
    const uint32_t half = shape.packed_tile_steps().half();
    return step < half ? ((uint64_t{step} * m16_tiles() + m16_tile) * lanes + lane) * 16
                       : sparse14_steps_at() + ((uint64_t{step - half} * m16_tiles() + m16_tile) * lanes + lane) * 8;
  }
  constexpr uint64_t metadata_at(uint32_t step, uint32_t m16_tile, uint32_t row_set, uint32_t half) const {
    return values_at(shape.steps, 0, 0) +
           (((uint64_t{step} * m16_tiles() + m16_tile) * row_sets + row_set) * 2 + half) * 4;
  }
  /// Of 1:4 steps, in which two bits say where the one value of a group is: whether in the last two columns, and
  /// whether in the second one of two. Rows g and g + 8 of an m16 tile have a word.
  constexpr uint64_t sparse14_metadata_at(uint32_t sparse14_step, uint32_t m16_tile, uint32_t row_set) const {
    return metadata_at(is_dense() ? 0 : shape.packed_tile_steps().half(), 0, 0, 0) +
           ((uint64_t{sparse14_step} * m16_tiles() + m16_tile) * row_sets + row_set) * 4;
  }
  constexpr uint64_t columns_at() const { return sparse14_metadata_at(shape.sparse14_steps, 0, 0); }
  constexpr uint64_t column_at(uint32_t step, uint32_t slot) const {
    return columns_at() + uint64_t{step} * step_slots() + (element().bytes == 2 ? slot : slot % 4 * 4 + slot / 4);
  }
  constexpr uint64_t residuals_end_at(uint32_t row_set) const {
    return (is_dense() ? columns_at() : column_at(shape.steps, 0)) + row_set;
  }
  constexpr uint64_t residual_at(uint32_t residual) const {
    return residuals_end_at(row_sets) + uint64_t{residual} * element().residual_bytes();
  }
  constexpr uint64_t packed_tile_bytes() const {
    return round_up(is_placed()            ? place_at(placed_room())
                    : is_listed()          ? listed_at(shape.listed)
                    : shape.residuals == 0 ? residuals_end_at(0)
                                           : residual_at(shape.residuals),
                    packed_tile_alignment);
  }

  // The same of a packed tile with listed values.
  constexpr uint32_t list_steps() const { return list_columns / step_slots(); }
  constexpr uint64_t lists() const { return uint64_t{shape.steps} / list_steps() * m16_tiles(); }
  constexpr uint64_t bits_at(uint64_t list, uint32_t lane) const { return (list * lanes + lane) * 2; }
  constexpr uint64_t begin_at(uint64_t list, uint32_t row_set) const {
    return bits_at(lists(), 0) + (list * row_sets + row_set) * 2;
  }
  constexpr uint64_t listed_at(uint64_t value) const {
    return (is_placed() ? uint64_t{placed_at} : begin_at(lists(), 0)) + value * element().bytes;
  }
  constexpr ListPlace list_place_of(uint32_t step, uint32_t group, uint32_t row, uint32_t number) const {
    const uint64_t list = uint64_t{step} / list_steps() * m16_tiles() + row / m16_tile_rows;
    const uint32_t row_set = row % row_sets, upper = row % m16_tile_rows / row_sets;
    const uint32_t registers = step % list_steps() * 4 + group / 4 * 2 + upper;
    const uint32_t lane = group % four_lanes;
    return {bits_at(list, row_set * four_lanes + lane), begin_at(list, row_set), lane,
            registers * group_slots() + number};
  }

  // The same of a packed tile with placed values.
  constexpr PlaceOrder place_order() const { return {shape.placed}; }
  constexpr uint32_t round_packed_tiles() const { return shape.block_row_tiles / shape.joined; }  ///< of a block
  constexpr uint32_t packed_tile_places() const { return shape.joined * shape.height * placed_columns; }
  constexpr uint32_t share_places() const { return packed_tile_places() / shape.shares; }
  constexpr uint32_t placed_room() const { return shape.listed / 2 * 2; }  ///< for values, which go in pairs
  constexpr uint64_t share_begin_at(uint32_t share) const { return uint64_t{share} * 2; }
  constexpr uint64_t place_at(uint64_t value) const { return listed_at(placed_room()) + value * 2; }

  /// Where the values of a row in a slot group are, and its bits of metadata, of which dense steps have none.
  constexpr GroupPlace place_of(uint32_t step, uint32_t group, uint32_t row) const {
    const uint32_t row_set = row % row_sets, m16_tile = row / m16_tile_rows, upper = row % m16_tile_rows / row_sets;
    const uint32_t sparse14 = group % 4, half = group / 4;
    const uint64_t values = values_at(step, m16_tile, row_set * 4 + sparse14);
    const uint32_t shift = upper * 16 + sparse14 * 4;
    if (is_sparse14(step)) {
      return {values + (half * 2 + upper) * 2,
              sparse14_metadata_at(step - shape.packed_tile_steps().half(), m16_tile, row_set), shift + half};
    }
    return {values + (half * 2 + upper) * 4, metadata_at(step, m16_tile, row_set, half), shift};
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
  if (!format.element().has_sparse14_steps()) {
    format.shape.sparse14_steps = 0;  // a header that says otherwise is none of these
  }
  if (!format.element().has_whole_dense_steps() && !format.is_listed()) {
    format.shape.dense = 0;
  }
  if (!format.is_placed()) {
    format.shape.placed = 0;
    format.shape.joined = format.shape.shares = 1;
  }
  if (format.is_dense() || !format.element().has_lines()) {
    format.shape.line_rows = 1;
  }
  if (format.is_dense()) {
    format.shape.steps = format.k_tile_columns() / format.step_slots();
    format.shape.sparse14_steps = 0;
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
