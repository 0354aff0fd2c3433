// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "transformer/format_error.h"
#include "transformer/half_floats.h"
#include "transformer/packed.h"
#include "transformer/row_tile_sources.h"

namespace esc::transformer {

/// Reads the sections of packed bytes, of any alignment, that nobody vouches for. A place after the end is refused
/// with a FormatError; what is read means nothing yet. The bytes must outlive the reader.
template <typename Format>
class SectionReader {
 public:
  SectionReader(std::span<const std::byte> packed, const Format& format) : packed_(packed), format_(format) {}

  const Format& format() const { return format_; }

 protected:
  template <typename Value>
  Value load(std::uint64_t at) const {
    if (packed_.size() < sizeof(Value) || at > packed_.size() - sizeof(Value)) {
      refuse("byte {} is asked for, after the end of the packed matrix", at);
    }
    Value value;
    std::memcpy(&value, packed_.data() + at, sizeof value);
    return value;
  }
  std::uint64_t load_number(ScalarType type, std::uint64_t at) const {
    return type == ScalarType::u16   ? load<std::uint16_t>(at)
           : type == ScalarType::u32 ? load<std::uint32_t>(at)
                                     : load<std::uint64_t>(at);
  }
  double load_value(std::uint64_t at) const {
    switch (format_.shape.element) {
      case ScalarType::f64:
        return load<double>(at);
      case ScalarType::f16:
        return static_cast<double>(load<Float16>(at));
      case ScalarType::bf16:
        return static_cast<double>(load<BFloat16>(at));
      default:
        return load<float>(at);
    }
  }

 private:
  std::span<const std::byte> packed_;
  Format format_;
};

/// The sections of lists by their names.
class ListReader : public SectionReader<ListFormat> {
 public:
  using SectionReader::SectionReader;

  std::int64_t row_tile(std::uint64_t list) const {
    return static_cast<std::int64_t>(number(SectionId::row_tiles, list));
  }
  std::uint64_t pattern(std::uint64_t list) const {
    return load<std::uint8_t>(format().section(SectionId::patterns).at(list));
  }
  std::uint64_t rpp(std::uint64_t list) const { return number(SectionId::rpp, list); }
  std::uint64_t npp(std::uint64_t list) const { return number(SectionId::npp, list); }
  std::int64_t column(std::uint64_t index) const { return static_cast<std::int64_t>(number(SectionId::cols, index)); }
  double value(std::uint64_t index) const { return load_value(format().section(SectionId::annz).at(index)); }

 private:
  std::uint64_t number(SectionId id, std::uint64_t index) const {
    const Section& section = format().section(id);
    return load_number(section.type, section.at(index));
  }
};

/// What is at the places of row tiles. Step i of a row tile is column i % 4 of its packet i / 4.
class RegionReader : public SectionReader<RegionFormat> {
 public:
  using SectionReader::SectionReader;

  /// The row tile at a place of whole blocks; the number of row tiles, or more, where there is none.
  std::int64_t row_tile(std::uint64_t place) const {
    return static_cast<std::int64_t>(format().has_numbers() ? load_number(format().number, format().number_of(place))
                                                            : place);
  }
  std::uint64_t steps(std::uint64_t place) const {
    return std::uint64_t{packet_columns} * format().counts.classes[format().class_of_place(place)].packets;
  }
  std::int64_t column(std::uint64_t place, std::uint64_t step) const {
    const ScalarType type = format().column;
    const std::uint64_t column =
        format().counts.every_column
            ? step
            : load_number(type, format().columns_of(first_packet(place)) + step * size_of(type));
    return static_cast<std::int64_t>(column);
  }
  /// The value in a row of the row tile.
  double value(std::uint64_t place, std::uint64_t step, std::uint32_t row) const {
    const Shape<RegionCut>& shape = format().shape;
    return load_value(format().values_of(first_packet(place)) + (step * shape.height + row) * size_of(shape.element));
  }

 private:
  std::uint64_t first_packet(std::uint64_t place) const {
    return format().packet_of(format().class_of_place(place), place);
  }
};

/// One task as it is in the packed bytes.
struct Task {
  std::uint64_t first = 0;  ///< of its pairs
  std::uint32_t row = 0;
  bool split = false;  ///< whether the row has further tasks
  std::uint32_t length = 0;
};

/// One non-zero.
struct TaskPair {
  std::uint32_t column = 0;
  double value = 0;
};

class TaskReader : public SectionReader<TaskFormat> {
 public:
  using SectionReader::SectionReader;

  Task task(std::uint64_t number) const {
    const std::uint64_t at = format().task_at(number);
    const auto row = load<std::uint32_t>(at + 8);
    return {load<std::uint64_t>(at), row & ~split_bit, (row & split_bit) != 0, load<std::uint32_t>(at + 12)};
  }
  TaskPair pair(std::uint64_t number) const {
    const std::uint64_t at = format().pair_at(number);
    return {load<std::uint32_t>(at), load_value(format().value_at(number))};
  }
  std::uint32_t split_row(std::uint64_t number) const { return load<std::uint32_t>(format().split_row_at(number)); }
};

/// The value that a row may have in a slot group.
struct SlotValue {
  std::uint32_t slot = 0;  ///< of the step
  double value = 0;
};

/// A non-zero that is in no slot.
struct ResidualValue {
  std::uint32_t row = 0;     ///< of the row tile
  std::uint32_t column = 0;  ///< of the K tile
  double value = 0;
};

/// What is in packed tiles, each given by where it begins.
class FragmentReader : public SectionReader<FragmentFormat> {
 public:
  using SectionReader::SectionReader;

  /// Also after the last block, where it is the number of rounds.
  std::uint64_t first_round(std::uint64_t block) const {
    return format().regular() ? block * format().k_tiles() : load<std::uint32_t>(format().first_round_at(block));
  }
  std::uint64_t k_tile(std::uint64_t round) const {
    return format().regular() ? round % format().k_tiles() : load_number(format().k_tile, format().k_tile_at(round));
  }
  std::uint32_t column(std::uint64_t packed_tile, std::uint32_t step, std::uint32_t slot) const {
    return format().is_dense() ? step * format().step_slots() + slot
                               : load<std::uint8_t>(packed_tile + format().column_at(step, slot));
  }
  /// Zero where there is none.
  SlotValue value(std::uint64_t packed_tile, std::uint32_t step, std::uint32_t group, std::uint32_t row) const {
    if (format().is_listed()) {
      return {group, listed_value(packed_tile, format().list_place_of(step, group, row))};
    }
    const GroupPlace place = format().place_of(step, group, row);
    const double value = load_value(packed_tile + place.value);
    if (format().is_dense()) {
      return {group, value};
    }
    const std::uint32_t metadata = load<std::uint32_t>(packed_tile + place.metadata) >> place.shift;
    return {group * group_slots + (metadata >> 3 & 1), value};
  }
  /// How many residuals a row set and those before it have, as many as there can be at most.
  std::uint32_t residuals_end(std::uint64_t packed_tile, std::uint32_t row_set) const {
    const std::uint32_t most = format().shape.residuals;
    return most == 0
               ? 0
               : std::min<std::uint32_t>(load<std::uint8_t>(packed_tile + format().residuals_end_at(row_set)), most);
  }
  /// The extra of this number, which belongs to the row set.
  ResidualValue residual(std::uint64_t packed_tile, std::uint32_t row_set, std::uint32_t number) const {
    const std::uint64_t at = packed_tile + format().residual_at(number);
    const std::uint32_t place = load<std::uint16_t>(at + fragment_value_bytes);
    return {row_set + (place >> 8) % (format().shape.height / row_sets) * row_sets, place & 0xff, load_value(at)};
  }

  /// How many placed values a packed tile has, with the zeros among them; no more than there is room for.
  std::uint32_t placed_values(std::uint64_t packed_tile) const {
    return std::min<std::uint32_t>(load<std::uint16_t>(packed_tile + format().share_begin_at(format().shape.shares)),
                                   format().placed_room());
  }
  /// The one of this number; its row is of all row tiles of the packed tile.
  ResidualValue placed_value(std::uint64_t packed_tile, std::uint32_t number) const {
    const PlaceOrder order = format().place_order();
    const std::uint32_t place = load<std::uint16_t>(packed_tile + format().place_at(number)) / order.place_bytes();
    const RowColumn at = order.element_of(place % format().packed_tile_places());
    return {at.row, at.column, load_value(packed_tile + format().listed_at(number))};
  }

 private:
  /// The value of an element; zero where its bit says that it is not listed, or no packed tile has so many.
  double listed_value(std::uint64_t packed_tile, const ListPlace& place) const {
    const std::uint32_t bits = load<std::uint16_t>(packed_tile + place.bits);
    std::uint32_t number = load<std::uint16_t>(packed_tile + place.begin) + popcount(bits & ((1u << place.bit) - 1));
    for (std::uint32_t in_front = 1; in_front <= place.lane; ++in_front) {
      number += popcount(std::uint32_t{load<std::uint16_t>(packed_tile + place.bits - 2 * in_front)});
    }
    return (bits >> place.bit & 1) == 0 || number >= format().shape.listed
               ? 0
               : load_value(packed_tile + format().listed_at(number));
  }
};

/// What a row tile of gathered rows has for a K tile.
struct GatheredPackedTile {
  std::uint64_t at = 0;     ///< the first entry
  std::uint32_t steps = 0;  ///< no more than the format has
};

/// An entry of a row in it.
struct GatheredEntry {
  std::uint64_t column = 0;  ///< of the matrix, if the packed tile's K tile or one beside it has it
  double value = 0;
};

class GatherReader : public SectionReader<GatherFormat> {
 public:
  using SectionReader::SectionReader;

  /// The row at a tile slot; the number of rows, or more, where there is none.
  std::uint32_t row(std::uint64_t tile_slot) const { return load<std::uint32_t>(format().row_at(tile_slot)); }
  /// What a row tile has for a K tile.
  GatheredPackedTile packed_tile(std::uint64_t block, std::uint64_t k_tile, std::uint32_t row_tile) const {
    const std::uint64_t list = format().list_at(load<std::uint32_t>(format().begin_at(block, k_tile)));
    const auto begin = load<std::uint32_t>(list + format().row_tile_begin_at(row_tile));
    const auto behind = load<std::uint32_t>(list + format().row_tile_begin_at(row_tile + 1));
    return {list + std::uint64_t{begin} * piece_bytes,
            behind < begin ? 0 : std::min((behind - begin) / format().shape.height, format().shape.steps)};
  }
  /// An entry of a row of the row tile, of its packed tile for this K tile.
  GatheredEntry entry(const GatheredPackedTile& packed_tile, std::uint64_t k_tile, std::uint32_t step,
                      std::uint32_t row, std::uint32_t number) const {
    const std::uint64_t at = packed_tile.at + format().entry_at(step, row, number);
    const std::uint64_t place = load<std::uint32_t>(at + 4) / gather_row_bytes;
    const std::uint64_t before = k_tile + gather_k_tiles - 1;  // equal, modulo 4, to the K tile before
    const std::uint64_t behind = (place / gather_columns + gather_k_tiles - before % gather_k_tiles) % gather_k_tiles;
    return {(k_tile + behind) * gather_columns + place % gather_columns - gather_columns, load_value(at)};
  }
};

/// A packed tile of a bitmap.
struct BitmapPackedTile {
  std::uint64_t at = 0;
  std::uint32_t words = 0;  ///< rows of them
};

/// What is in packed tiles. K block, lane and p, a register of the lane, say which elements.
class BitmapReader : public SectionReader<BitmapFormat> {
 public:
  using SectionReader::SectionReader;

  /// Where a packed tile begins, in pieces; also after the last one, where packed tiles end.
  std::uint32_t begin(std::uint64_t row_tile, std::uint64_t tile) const {
    return load<std::uint32_t>(format().begin_at(row_tile, tile));
  }
  BitmapPackedTile packed_tile(std::uint64_t row_tile, std::uint64_t tile) const {
    BitmapPackedTile packed_tile{format().packed_tile_at(begin(row_tile, tile)), 0};
    for (std::uint32_t lane = 0; lane < bitmap_count_bits; ++lane) {
      packed_tile.words |= (column_byte(packed_tile, lane) >> bitmap_count_bit & 1U) << lane;
    }
    return packed_tile;
  }
  std::uint32_t odd_column(const BitmapPackedTile& packed_tile, std::uint32_t lane) const {
    return column_byte(packed_tile, lane) & bitmap_column_mask;
  }
  std::uint32_t bits(const BitmapPackedTile& packed_tile, std::uint32_t block, std::uint32_t lane) const {
    return load<std::uint32_t>(packed_tile.at + format().bits_at(block, lane));
  }
  std::uint32_t code(const BitmapPackedTile& packed_tile, std::uint32_t block, std::uint32_t lane,
                     std::uint32_t p) const {
    return bits(packed_tile, block, lane) >> format().element().bit_of(p) & 3;
  }
  /// A half of a word, the lower one or the upper one, as a value.
  double half_word(const BitmapPackedTile& packed_tile, std::uint32_t row, std::uint32_t column,
                   std::uint32_t half) const {
    return load_value(packed_tile.at + format().word_at(row, column) + half * std::uint64_t{format().element().bytes});
  }
  /// The first value of a register, or the second one, by its number; zero where there is none.
  double value(const BitmapPackedTile& packed_tile, std::uint32_t block, std::uint32_t lane, std::uint32_t p,
               std::uint32_t number) const {
    constexpr std::uint32_t first_alone = 1, both = 2, second_alone = 3;
    const std::uint32_t all = bits(packed_tile, block, lane), in_front = all & bits_in_front(p);
    const std::uint32_t found = code(packed_tile, block, lane, p);
    if (found == both) {
      return lane_value(packed_tile, block, lane, popcount(registers_with_two(in_front)), number);
    }
    if (found != (number == 0 ? first_alone : second_alone)) {
      return 0;
    }
    const std::uint32_t alone = popcount(registers_with_one(in_front));
    return lane_value(packed_tile, block, lane, popcount(registers_with_two(all)) + alone / 2, alone % 2);
  }

 private:
  std::uint32_t column_byte(const BitmapPackedTile& packed_tile, std::uint32_t lane) const {
    return load<std::uint8_t>(packed_tile.at + format().odd_column_at(lane));
  }
  /// How many words the lane has in the block.
  std::uint32_t lane_words(const BitmapPackedTile& packed_tile, std::uint32_t block, std::uint32_t lane) const {
    const std::uint32_t all = bits(packed_tile, block, lane);
    return popcount(registers_with_two(all)) + (popcount(registers_with_one(all)) + 1) / 2;
  }
  /// A half of the word of this number that the lane has in the block.
  double lane_value(const BitmapPackedTile& packed_tile, std::uint32_t block, std::uint32_t lane, std::uint32_t number,
                    std::uint32_t half) const {
    const std::uint32_t place = number + (block < 2 ? 0 : lane_words(packed_tile, block - 2, lane));
    if (place >= packed_tile.words) {
      refuse("word {} of lane {} is asked for, of a packed tile with {} rows of words", place, lane, packed_tile.words);
    }
    return block % 2 == 0 ? half_word(packed_tile, place, lane, half)
                          : half_word(packed_tile, packed_tile.words - 1 - place, odd_column(packed_tile, lane), half);
  }
};

/// Which columns of a group of four are stored.
struct StoredPair {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};

/// What is in packed tiles, each given by its number.
class Sparse24Reader : public SectionReader<Sparse24Format> {
 public:
  using SectionReader::SectionReader;

  std::uint32_t metadata(std::uint64_t packed_tile, std::uint32_t block, std::uint32_t lane) const {
    return load<std::uint32_t>(format().packed_tile_at(packed_tile) + format().metadata_at(block, lane));
  }
  /// Which two of its columns are stored of a group, which begins in this column of the K block.
  StoredPair pair(std::uint64_t packed_tile, std::uint32_t block, const RegisterPlace& group) const {
    const std::uint64_t at = format().packed_tile_at(packed_tile) +
                             format().codes_at(block, group.row, group.column / sparse24_codes_columns);
    const std::uint32_t shift = group.column / sparse24_group % sparse24_row_codes * sparse24_code_bits;
    const std::uint32_t code = std::uint32_t{load<std::uint16_t>(at)} >> shift;
    const StoredPair pair{code & 3, code >> 2 & 3};
    if (pair.first >= pair.second) {
      refuse("packed tile {} has metadata that names column {} of four before column {}, in row {} of K block {}",
             packed_tile, pair.first, pair.second, group.row, block);
    }
    return pair;
  }
  /// The first element of a register, or the second one.
  double value(std::uint64_t packed_tile, std::uint32_t block, std::uint32_t half, std::uint32_t lane,
               std::uint32_t number, std::uint32_t which) const {
    return load_value(format().packed_tile_at(packed_tile) + format().register_at(block, half, lane, number) +
                      which * size_of(format().shape.element));
  }
};

/// The reader for a format.
inline ListReader reader_of(std::span<const std::byte> packed, const ListFormat& format) { return {packed, format}; }
inline RegionReader reader_of(std::span<const std::byte> packed, const RegionFormat& format) {
  return {packed, format};
}
inline TaskReader reader_of(std::span<const std::byte> packed, const TaskFormat& format) { return {packed, format}; }
inline FragmentReader reader_of(std::span<const std::byte> packed, const FragmentFormat& format) {
  return {packed, format};
}
inline GatherReader reader_of(std::span<const std::byte> packed, const GatherFormat& format) {
  return {packed, format};
}
inline BitmapReader reader_of(std::span<const std::byte> packed, const BitmapFormat& format) {
  return {packed, format};
}
inline Sparse24Reader reader_of(std::span<const std::byte> packed, const Sparse24Format& format) {
  return {packed, format};
}

}  // namespace esc::transformer
