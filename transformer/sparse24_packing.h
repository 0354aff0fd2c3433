// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packing of matrices with the 2:4 pattern, one packed tile at a time. As in packed_bytes.h, the text between the
// markers is part of the generated transformers of kernels that read them.

#include "transformer/packed_tile_elements.h"
#include "transformer/sparse24_format.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Packing of matrices with the 2:4 pattern. The bits of a group that say where its non-zeros are give its code, and
// which of the two elements stay: there is no question for each element.
// ---------------------------------------------------------------------------------------------------------------------

constexpr unsigned char sparse24_code(uint32_t first, uint32_t second) {
  return static_cast<unsigned char>(first | second << 2);
}

/// The code of a group by the bits of its non-zeros; of those with more than two, the first two.
inline constexpr unsigned char sparse24_codes[1u << sparse24_group] = {
    sparse24_code(2, 3), sparse24_code(0, 3), sparse24_code(1, 3), sparse24_code(0, 1),
    sparse24_code(2, 3), sparse24_code(0, 2), sparse24_code(1, 2), sparse24_code(0, 1),
    sparse24_code(2, 3), sparse24_code(0, 3), sparse24_code(1, 3), sparse24_code(0, 1),
    sparse24_code(2, 3), sparse24_code(0, 2), sparse24_code(1, 2), sparse24_code(0, 1)};

/// What a packed tile adds to its matrix.
struct Sparse24TileCounts {
  uint32_t nonzeros = 0;
  uint64_t pattern = 0;   ///< digest of where they are
  Sparse24Group fullest;  ///< the first one of those with the most; in the packed tile
};

/// How many of each four bits are set, in their place.
constexpr uint64_t counts_of_groups(uint64_t bits) {
  bits -= bits >> 1 & 0x5555555555555555u;
  return (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
}

inline Sparse24TileCounts counts_of(const PackedTileNonzeros& nonzeros) {
  Sparse24TileCounts counts;
  counts.pattern = checksum(nonzeros.of_row, sizeof nonzeros.of_row);
  for (uint32_t row = 0; row < packed_tile_rows; ++row) {
    for (uint32_t block = 0; block < packed_tile_blocks; ++block) {
      const uint64_t of_groups = counts_of_groups(nonzeros.of_row[row][block]);
      counts.nonzeros += popcount(nonzeros.of_row[row][block]);
      const auto fuller_groups = [&] {  // no four bits overflow: a group has at most four non-zeros
        return (of_groups + (7 - counts.fullest.nonzeros) * 0x1111111111111111u) & 0x8888888888888888u;
      };
      for (uint64_t fuller = fuller_groups(); fuller != 0; fuller = fuller_groups()) {
        const uint32_t column = static_cast<uint32_t>(lowest_set(fuller)) / sparse24_group * sparse24_group;
        counts.fullest = {row, block * packed_block_columns + column, static_cast<uint32_t>(of_groups >> column & 7)};
      }
    }
  }
  return counts;
}

/// Writes a packed tile whose groups have at most two non-zeros each; of others, it writes as many bytes.
template <typename Element>
void write_packed_tile(const Sparse24Format& format, const PackedTileElements<Element>& elements,
                       const PackedTileNonzeros& nonzeros, unsigned char* bytes) {
  constexpr uint32_t half_groups = sparse24_half_columns / sparse24_group;
  static_assert(sizeof(Element) == sizeof(uint16_t), "a register has two elements");
  for (uint32_t row = 0; row < packed_tile_rows; ++row) {
    for (uint32_t block = 0; block < packed_tile_blocks; ++block) {
      const Element* group = elements.of_row[row] + block * packed_block_columns;
      uint64_t bits = nonzeros.of_row[row][block], codes = 0;
      for (uint32_t number = 0; number < sparse24_halves * half_groups; ++number) {
        const uint32_t of_group = static_cast<uint32_t>(bits & ((1u << sparse24_group) - 1));
        const uint32_t code = sparse24_codes[of_group], first = code & 3, second = code >> 2;
        uint16_t values[sparse24_stored];
        memcpy(&values[0], group + first, sizeof values[0]);
        memcpy(&values[1], group + second, sizeof values[1]);
        const uint32_t low = values[0] & (0 - (of_group >> first & 1));  // -0 becomes +0
        const uint32_t high = values[1] & (0 - (of_group >> second & 1));
        const uint32_t word = low | high << 16;
        const uint32_t lane = row % 8 * 4 + number % 4;
        memcpy(bytes + format.register_at(block, number / half_groups, lane, row / 8 + number % half_groups / 4 * 2),
               &word, sizeof word);
        codes |= static_cast<uint64_t>(code) << number * sparse24_code_bits;
        bits >>= sparse24_group;
        group += sparse24_group;
      }
      for (uint32_t sixteen = 0; sixteen < packed_block_columns / sparse24_codes_columns; ++sixteen) {
        const uint16_t of_sixteen = static_cast<uint16_t>(codes >> sixteen * 16);
        memcpy(bytes + format.codes_at(block, row, sixteen), &of_sixteen, sizeof of_sixteen);
      }
    }
  }
}

/// What a matrix needs, whatever there is for it.
struct Sparse24Need {
  Sparse24Format format;  ///< of the packed matrix; none has it where a group has too many non-zeros
  Sparse24Group fullest;  ///< the group with the most non-zeros: of those with as many, of the first row the first one

  constexpr bool is_met() const { return fullest.nonzeros <= sparse24_stored; }
};

/// What packed tiles need, one after the other.
struct Sparse24Tally {
  uint64_t nonzeros = 0;
  uint64_t pattern = 0;  ///< digest of where the non-zeros are
  uint64_t packed_tiles = 0;
  Sparse24Group fullest;

  void add(const Sparse24Format& format, const Sparse24TileCounts& packed_tile) {
    const int64_t row_tile = static_cast<int64_t>(packed_tiles / format.tiles());
    const int64_t tile = static_cast<int64_t>(packed_tiles % format.tiles());
    const int64_t row = format.shape.first_row(row_tile) + packed_tile.fullest.row;
    const uint32_t most = packed_tile.fullest.nonzeros;
    if (most > fullest.nonzeros || (most == fullest.nonzeros && row < fullest.row)) {
      fullest = {row, tile * packed_tile_columns + packed_tile.fullest.first_column, most};
    }
    nonzeros += packed_tile.nonzeros;
    pattern = mix(pattern, packed_tile.pattern);
    ++packed_tiles;
  }
  /// What a matrix needs of which these are all packed tiles.
  constexpr Sparse24Need need_of(const Sparse24Shape& shape) const {
    return {describe(shape, {nonzeros, pattern >> 1}), fullest};
  }
};

constexpr FullestPart fullest_part(const Sparse24Need& need, const Sparse24Shape& shape) {
  const int64_t behind_column = need.fullest.first_column + sparse24_group;
  return {need.fullest.row,
          need.fullest.row + 1,
          need.fullest.first_column,
          behind_column < shape.columns ? behind_column : shape.columns,
          need.fullest.nonzeros,
          sparse24_stored,
          "non-zeros of four neighbours"};
}

/// Every matrix of the shape needs as many bytes.
constexpr uint64_t most_bytes(const Sparse24Shape& shape) { return describe(shape, {}).bytes; }

/// Packs A into `packed`, of `bytes` bytes and aligned to 8, and says what it needs. Where that is more than `bytes`,
/// or a group has more than two non-zeros, nothing is promised of `packed`, which for no bytes may be null; nothing is
/// ever written outside it. What is after the packed matrix becomes zero.
template <typename Source>
Sparse24Need pack_serially(const Source& source, const Sparse24Shape& shape, void* packed, uint64_t bytes) {
  const Sparse24Format frame = describe(shape, {});
  unsigned char* const to = static_cast<unsigned char*>(packed);
  Sparse24Tally tally;
  for (uint64_t row_tile = 0; row_tile < frame.row_tiles(); ++row_tile) {
    for (uint64_t tile = 0; tile < frame.tiles(); ++tile) {
      PackedTileElements<typename Source::ElementType> elements;
      read_packed_tile(source, shape, row_tile, tile, elements);
      const PackedTileNonzeros nonzeros = nonzeros_of(elements);
      tally.add(frame, counts_of(nonzeros));
      if (frame.bytes <= bytes) {
        write_packed_tile(frame, elements, nonzeros, to + frame.packed_tile_at(row_tile * frame.tiles() + tile));
      }
    }
  }
  const Sparse24Need need = tally.need_of(shape);
  if (frame.bytes <= bytes && need.is_met()) {
    write_header(need.format, to);
    memset(to + frame.bytes, 0, static_cast<size_t>(bytes - frame.bytes));
  }
  return need;
}

/// Packs A into `packed` where its packed matrix has this very format, and says whether it has.
template <typename Source>
bool pack_serially(const Source& source, const Sparse24Format& format, void* packed) {
  const Sparse24Need need = pack_serially(source, format.shape, packed, format.bytes);
  return need.is_met() && need.format == format;
}

/// What a matrix needs, without packing it.
template <typename Source>
Sparse24Need measure(const Source& source, const Sparse24Shape& shape) {
  return pack_serially(source, shape, nullptr, 0);
}

// [packing text ends]
}  // namespace esc::transformer
