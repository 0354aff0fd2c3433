// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packing into bitmaps, one packed tile at a time. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read them.

#include "transformer/bitmap_format.h"
#include "transformer/packed_tile_elements.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Packing into bitmaps. The bits of a packed tile are found first; they say how many words each lane has, and so where
// all words are. Then every lane takes its registers in order, without asking which of them have non-zeros: what has
// none is overwritten by what comes next.
// ---------------------------------------------------------------------------------------------------------------------

/// What a packed tile adds to its matrix.
struct PackedTileSize {
  uint32_t words = 0;  ///< rows of them
  uint32_t nonzeros = 0;
  uint64_t pattern = 0;  ///< digest of where they are
};

/// What is known of a packed tile before its words are written.
struct PlannedPackedTile {
  uint32_t bits[packed_tile_blocks][packed_tile_lanes];
  uint32_t odd_column[packed_tile_lanes];
  PackedTileSize size;
};

/// The pairs of a lane in a row whose first one begins at bit 0. They are 8 columns apart, and those of columns 32 to
/// 63 belong between those of columns 0 to 31.
constexpr uint32_t pairs_of_lane(uint64_t nonzeros) {
  const uint64_t pairs = nonzeros & 0x0303030303030303u;
  return static_cast<uint32_t>(pairs | pairs >> 30);
}

/// Registers of a lane in a K block by how many non-zeros they have.
struct LaneRegisters {
  uint32_t with_one;
  uint32_t with_two;

  /// Counts both at once, each in a half of a number, of which every other bit is zero.
  explicit constexpr LaneRegisters(uint32_t bits) : with_one(0), with_two(0) {
    uint64_t counts = registers_with_one(bits) | static_cast<uint64_t>(registers_with_two(bits)) << 32;
    counts = (counts & 0x3333333333333333u) + (counts >> 2 & 0x3333333333333333u);
    counts = ((counts + (counts >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x01010101u;
    with_one = static_cast<uint32_t>(counts >> 24 & 0xff);
    with_two = static_cast<uint32_t>(counts >> 56);
  }
  constexpr uint32_t words() const { return with_two + (with_one + 1) / 2; }
  constexpr uint32_t nonzeros() const { return 2 * with_two + with_one; }
};

/// Numbers of lanes, those with the fewest words first.
struct LaneOrder {
  uint32_t lanes[packed_tile_lanes];

  explicit LaneOrder(const uint32_t (&words)[packed_tile_lanes]) {
    uint32_t next[max_bitmap_words + 1] = {};
    for (const uint32_t count : words) {
      ++next[count + 1];
    }
    for (uint32_t count = 0; count < max_bitmap_words; ++count) {
      next[count + 1] += next[count];
    }
    for (uint32_t lane = 0; lane < packed_tile_lanes; ++lane) {
      lanes[next[words[lane]]++] = lane;
    }
  }
};

/// Gives lanes their odd columns, where they have so many words in even and in odd K blocks.
inline void pair_columns(const uint32_t (&even)[packed_tile_lanes], const uint32_t (&odd)[packed_tile_lanes],
                         PlannedPackedTile& packed_tile) {
  uint32_t missing[packed_tile_lanes];
  for (uint32_t lane = 0; lane < packed_tile_lanes; ++lane) {
    missing[lane] = max_bitmap_words / 2 - even[lane];
  }
  const LaneOrder longest(missing), shortest(odd);
  for (uint32_t i = 0; i < packed_tile_lanes; ++i) {
    const uint32_t column = longest.lanes[i], lane = shortest.lanes[i];
    packed_tile.odd_column[lane] = column;
    const uint32_t rows = even[column] + (odd[lane] == 0 ? 1 : odd[lane]);
    packed_tile.size.words = rows > packed_tile.size.words ? rows : packed_tile.size.words;
  }
}

inline PlannedPackedTile plan_packed_tile(const PackedTileNonzeros& nonzeros) {
  PlannedPackedTile packed_tile;
  packed_tile.size.pattern = checksum(nonzeros.of_row, sizeof nonzeros.of_row);
  uint32_t words[2][packed_tile_lanes] = {};
  for (uint32_t block = 0; block < packed_tile_blocks; ++block) {
    for (uint32_t lane = 0; lane < packed_tile_lanes; ++lane) {
      const uint32_t row = lane / 4, shift = lane % 4 * 2;
      const uint32_t pairs = pairs_of_lane(nonzeros.of_row[row][block] >> shift) |
                             pairs_of_lane(nonzeros.of_row[row + 8][block] >> shift) << 4;
      const uint32_t bits = pairs ^ (pairs >> 1 & lower_code_bits);
      packed_tile.bits[block][lane] = bits;
      const LaneRegisters registers(bits);
      packed_tile.size.nonzeros += registers.nonzeros();
      words[block % 2][lane] += registers.words();
    }
  }
  pair_columns(words[0], words[1], packed_tile);
  return packed_tile;
}

/// Writes the words of a lane in a K block: the first one at `next`, each further one `step` bytes after. Returns
/// where the next one belongs.
template <typename Element>
unsigned char* write_words(const PackedTileElements<Element>& elements, uint32_t block, uint32_t lane, uint32_t bits,
                           unsigned char* next, int32_t step) {
  constexpr BitmapElement element{sizeof(Element)};
  static_assert(element.word_values() == 2, "a register has none, one or two non-zeros");
  const Element* const upper = elements.of_row[lane / 4];
  const Element* const lower = elements.of_row[lane / 4 + 8];
  uint32_t words[element.block_registers() + 1], values[element.block_registers() + 1];
  uint32_t word_count = 0, value_count = 0;
  const auto take = [&](const Element* at, uint32_t code, uint32_t has_two) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    words[word_count] = word;
    values[value_count] = word >> (code & 2) * 8 & 0xffff;
    word_count += has_two & 1;
    value_count += code & 1;
  };
  uint32_t column = block * packed_block_columns + lane % 4 * element.word_values();
  for (uint32_t first_bit = 0; first_bit < 4; first_bit += element.word_values()) {
    uint32_t codes = bits >> first_bit, has_two = registers_with_two(bits) >> first_bit;
    for (uint32_t pair = 0; pair < 4; ++pair) {
      take(upper + column, codes, has_two);
      take(lower + column, codes >> 4, has_two >> 4);
      column += 4 * element.word_values();
      codes >>= 8;
      has_two >>= 8;
    }
  }
  values[value_count] = 0;
  for (uint32_t i = 0; i < word_count; ++i) {
    memcpy(next, &words[i], sizeof words[i]);
    next += step;
  }
  for (uint32_t i = 0; i < value_count; i += 2) {
    const uint32_t word = values[i] | values[i + 1] << 16;
    memcpy(next, &word, sizeof word);
    next += step;
  }
  return next;
}

/// Writes a packed tile, packed_tile_bytes(unit.size.words) bytes.
template <typename Element>
void write_packed_tile(const BitmapFormat& format, const PackedTileElements<Element>& elements,
                       const PlannedPackedTile& packed_tile, unsigned char* bytes) {
  constexpr int32_t row_bytes = packed_tile_lanes * packed_word_bytes;
  memset(bytes, 0, static_cast<size_t>(format.packed_tile_bytes(packed_tile.size.words)));
  for (uint32_t lane = 0; lane < packed_tile_lanes; ++lane) {
    const uint32_t column = packed_tile.odd_column[lane];
    const uint32_t count_bit = lane < bitmap_count_bits ? packed_tile.size.words >> lane & 1 : 0;
    bytes[format.odd_column_at(lane)] = static_cast<unsigned char>(column | count_bit << bitmap_count_bit);
    unsigned char* top = bytes + format.word_at(0, lane);
    unsigned char* bottom = bytes + format.word_at(packed_tile.size.words, column) - row_bytes;
    for (uint32_t block = 0; block < packed_tile_blocks; ++block) {
      const uint32_t bits = packed_tile.bits[block][lane];
      memcpy(bytes + format.bits_at(block, lane), &bits, sizeof bits);
      if (block % 2 == 0) {
        top = write_words(elements, block, lane, bits, top, row_bytes);
      } else {
        bottom = write_words(elements, block, lane, bits, bottom, -row_bytes);
      }
    }
  }
}

/// What packed tiles need, one after the other.
struct BitmapTally {
  uint64_t nonzeros = 0;
  uint64_t pieces = 0;
  uint64_t pattern = 0;  ///< digest of where the non-zeros are
  uint64_t packed_tiles = 0;
  uint64_t fullest = 0;  ///< number of the first packed tile that has the most words
  uint32_t most_words = 0;

  void add(const BitmapFormat& format, const PackedTileSize& packed_tile) {
    nonzeros += packed_tile.nonzeros;
    pieces += format.packed_tile_pieces(packed_tile.words);
    pattern = mix(pattern, packed_tile.pattern);
    fullest = packed_tile.words > most_words ? packed_tiles : fullest;
    most_words = packed_tile.words > most_words ? packed_tile.words : most_words;
    ++packed_tiles;
  }
  /// The format of a matrix of which these are all packed tiles.
  constexpr BitmapFormat format_of(BitmapShape shape) const {
    shape.most_words = most_words;
    return describe(shape, {nonzeros, pieces, pattern >> 1});
  }
};

/// Writes where a packed tile begins, or, after the last one, where packed tiles end.
inline void write_begin(const BitmapFormat& format, uint64_t row_tile, uint64_t tile, uint64_t begin,
                        unsigned char* packed) {
  const uint32_t narrow = static_cast<uint32_t>(begin);
  memcpy(packed + format.begin_at(row_tile, tile), &narrow, sizeof narrow);
}

/// Sets what lies between the sections to zero, and writes the header, after everything else.
inline void seal(const BitmapFormat& format, unsigned char* packed) {
  const uint64_t behind_begins = format.begin_at(format.row_tiles(), 0) + size_of(ScalarType::u32);
  memset(packed + behind_begins, 0, static_cast<size_t>(format.packed_tiles_at - behind_begins));
  write_header(format, packed);
}

/// What a matrix needs, whatever there is for it.
struct BitmapNeed {
  BitmapFormat format;   ///< of the packed matrix
  uint64_t fullest = 0;  ///< number of the first packed tile that has the most words
};

/// For a kernel that has room for most_words of the shape.
constexpr FullestPart fullest_part(const BitmapNeed& need, const BitmapShape& shape) {
  const int64_t row_tile = static_cast<int64_t>(need.fullest / need.format.tiles());
  const int64_t first_column = static_cast<int64_t>(need.fullest % need.format.tiles() * packed_tile_columns);
  const int64_t left = shape.columns - first_column;
  return {shape.first_row(row_tile),
          shape.first_row(row_tile) + shape.rows_in(row_tile),
          first_column,
          first_column + (left < packed_tile_columns ? left : packed_tile_columns),
          need.format.shape.most_words,
          shape.most_words,
          "rows of words"};
}

/// More bytes than that no matrix of the shape may need: where a packed tile begins is a number of 32 bits.
constexpr uint64_t most_bytes(const BitmapShape& shape) { return describe(shape, {0, max_bitmap_pieces, 0}).bytes; }

/// Packs A, whatever its pattern, into `packed`, of `bytes` bytes and aligned to 8, and says what it needs. Where that
/// is more than `bytes` or most_bytes, or than the shape's most_words in a packed tile, nothing is promised of
/// `packed`, which for no bytes may be null; nothing is ever written outside it. What is after the packed matrix
/// becomes zero.
template <typename Source>
BitmapNeed pack_serially(const Source& source, const BitmapShape& shape, void* packed, uint64_t bytes) {
  const BitmapFormat frame = describe(shape, {});
  unsigned char* const to = static_cast<unsigned char*>(packed);
  const uint64_t room = bytes < frame.packed_tiles_at ? 0 : bytes - frame.packed_tiles_at;
  bool fits = bytes >= frame.packed_tiles_at;
  BitmapTally tally;
  for (uint64_t row_tile = 0; row_tile < frame.row_tiles(); ++row_tile) {
    for (uint64_t tile = 0; tile < frame.tiles(); ++tile) {
      PackedTileElements<typename Source::ElementType> elements;
      read_packed_tile(source, shape, row_tile, tile, elements);
      const PlannedPackedTile packed_tile = plan_packed_tile(nonzeros_of(elements));
      const uint64_t begin = tally.pieces;
      tally.add(frame, packed_tile.size);
      fits = fits && tally.pieces <= room / bitmap_piece_bytes;
      if (fits) {
        write_begin(frame, row_tile, tile, begin, to);
        write_packed_tile(frame, elements, packed_tile, to + frame.packed_tile_at(begin));
      }
    }
  }
  const BitmapNeed need{tally.format_of(shape), tally.fullest};
  if (fits && need.format.shape.most_words <= shape.most_words) {
    write_begin(frame, frame.row_tiles(), 0, tally.pieces, to);
    seal(need.format, to);
    memset(to + need.format.bytes, 0, static_cast<size_t>(bytes - need.format.bytes));
  }
  return need;
}

/// Packs A into `packed` where its packed matrix has this very format, and says whether it has.
template <typename Source>
bool pack_serially(const Source& source, const BitmapFormat& format, void* packed) {
  return pack_serially(source, format.shape, packed, format.bytes).format == format;
}

/// What a matrix needs, without packing it.
template <typename Source>
BitmapNeed measure(const Source& source, const BitmapShape& shape) {
  return pack_serially(source, shape, nullptr, 0);
}

// [packing text ends]
}  // namespace esc::transformer
