// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "transformer/format_error.h"
#include "transformer/half_floats.h"
#include "transformer/packed.h"
#include "transformer/panel_sources.h"

namespace esc::transformer {

/// Reads the sections of packed bytes, of any alignment, that nobody vouches for. A place behind the end is refused
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
      refuse("byte {} is asked for, behind the end of the packed matrix", at);
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

  std::int64_t panel(std::uint64_t list) const { return static_cast<std::int64_t>(number(SectionId::panels, list)); }
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

/// What stands at the places of panels. Step i of a panel is column i % 4 of its quad i / 4.
class RegionReader : public SectionReader<RegionFormat> {
 public:
  using SectionReader::SectionReader;

  /// The panel at a place of whole blocks; the number of panels, or more, where there is none.
  std::int64_t panel(std::uint64_t place) const {
    return static_cast<std::int64_t>(format().has_numbers() ? load_number(format().number, format().number_of(place))
                                                            : place);
  }
  std::uint64_t steps(std::uint64_t place) const {
    return std::uint64_t{quad_columns} * format().counts.classes[format().class_of_place(place)].quads;
  }
  std::int64_t column(std::uint64_t place, std::uint64_t step) const {
    const ScalarType type = format().column;
    const std::uint64_t column = format().counts.every_column
                                     ? step
                                     : load_number(type, format().columns_of(first_quad(place)) + step * size_of(type));
    return static_cast<std::int64_t>(column);
  }
  /// The value in a row of the panel.
  double value(std::uint64_t place, std::uint64_t step, std::uint32_t row) const {
    const Shape<RegionCut>& shape = format().shape;
    return load_value(format().values_of(first_quad(place)) + (step * shape.height + row) * size_of(shape.element));
  }

 private:
  std::uint64_t first_quad(std::uint64_t place) const {
    return format().quad_of(format().class_of_place(place), place);
  }
};

/// One task as it stands in the packed bytes.
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

/// One of the values that a row may have in a slot group.
struct SlotValue {
  std::uint32_t slot = 0;  ///< of the step
  double value = 0;
};

/// A non-zero that is in no slot.
struct ExtraValue {
  std::uint32_t row = 0;     ///< of the panel
  std::uint32_t column = 0;  ///< of the window
  double value = 0;
};

/// What stands in units, each given by where it begins.
class FragmentReader : public SectionReader<FragmentFormat> {
 public:
  using SectionReader::SectionReader;

  /// Also behind the last block, where it is the number of rounds.
  std::uint64_t first_round(std::uint64_t block) const {
    return format().regular() ? block * format().windows() : load<std::uint32_t>(format().first_round_at(block));
  }
  std::uint64_t window(std::uint64_t round) const {
    return format().regular() ? round % format().windows() : load_number(format().window, format().window_at(round));
  }
  std::uint32_t column(std::uint64_t unit, std::uint32_t step, std::uint32_t slot) const {
    return format().is_dense() ? step * format().step_slots() + slot
                               : load<std::uint8_t>(unit + format().column_at(step, slot));
  }
  /// The value of this number, below those of a group; zero where there is none.
  SlotValue value(std::uint64_t unit, std::uint32_t step, std::uint32_t group, std::uint32_t row,
                  std::uint32_t number) const {
    if (format().is_listed()) {
      return {group * format().group_slots() + number,
              listed_value(unit, format().list_place_of(step, group, row, number))};
    }
    const GroupPlace place = format().place_of(step, group, row);
    if (format().is_dense()) {
      return {group, load_value(unit + place.values)};
    }
    const std::uint32_t metadata = load<std::uint32_t>(unit + place.metadata) >> place.shift;
    const FragmentElement element = format().element();
    if (format().is_quarter(step)) {
      const bool is_stored = number == (metadata >> 2 & 1);
      return {group * element.group_slots() + (metadata & 1) * 2 + number,
              is_stored ? load_value(unit + place.values) : 0};
    }
    const std::uint32_t slot = element.group_values() == 1 ? metadata >> 3 & 1 : metadata >> 2 * number & 3;
    return {group * element.group_slots() + slot,
            load_value(unit + place.values + std::uint64_t{element.bytes} * number)};
  }
  /// How many extras a row set and those in front of it have, as many as there can be at most.
  std::uint32_t extras_end(std::uint64_t unit, std::uint32_t row_set) const {
    const std::uint32_t most = format().shape.extras;
    return most == 0 ? 0 : std::min<std::uint32_t>(load<std::uint8_t>(unit + format().extras_end_at(row_set)), most);
  }
  /// The extra of this number, which belongs to the row set.
  ExtraValue extra(std::uint64_t unit, std::uint32_t row_set, std::uint32_t number) const {
    const std::uint64_t at = unit + format().extra_at(number);
    const std::uint32_t place = load<std::uint16_t>(at + format().element().bytes);
    return {row_set + (place >> 8) % (format().shape.height / row_sets) * row_sets, place & 0xff, load_value(at)};
  }

  /// How many placed values a unit has, with the zeros among them; no more than there is room for.
  std::uint32_t placed_values(std::uint64_t unit) const {
    return std::min<std::uint32_t>(load<std::uint16_t>(unit + format().share_begin_at(format().shape.shares)),
                                   format().placed_room());
  }
  /// The one of this number; its row is of all panels of the unit.
  ExtraValue placed_value(std::uint64_t unit, std::uint32_t number) const {
    const PlaceOrder order = format().place_order();
    const std::uint32_t place = load<std::uint16_t>(unit + format().place_at(number)) / order.place_bytes();
    const RowColumn at = order.element_of(place % format().unit_places());
    return {at.row, at.column, load_value(unit + format().listed_at(number))};
  }

 private:
  /// The value of an element; zero where its bit says that it is not listed, or no unit has so many.
  double listed_value(std::uint64_t unit, const ListPlace& place) const {
    const std::uint32_t bits = load<std::uint16_t>(unit + place.bits);
    std::uint32_t number = load<std::uint16_t>(unit + place.begin) + popcount(bits & ((1u << place.bit) - 1));
    for (std::uint32_t in_front = 1; in_front <= place.lane; ++in_front) {
      number += popcount(std::uint32_t{load<std::uint16_t>(unit + place.bits - 2 * in_front)});
    }
    return (bits >> place.bit & 1) == 0 || number >= format().shape.listed
               ? 0
               : load_value(unit + format().listed_at(number));
  }
};

/// What a panel of gathered rows has for a window.
struct GatheredUnit {
  std::uint64_t at = 0;     ///< the first entry
  std::uint32_t steps = 0;  ///< no more than the format has
};

/// An entry of a row in it.
struct GatheredEntry {
  std::uint64_t column = 0;  ///< of the matrix, if the unit's window or one beside it has it
  double value = 0;
};

class GatherReader : public SectionReader<GatherFormat> {
 public:
  using SectionReader::SectionReader;

  /// The row at a seat; the number of rows, or more, where there is none.
  std::uint32_t row(std::uint64_t seat) const { return load<std::uint32_t>(format().row_at(seat)); }
  /// What a panel has for a window.
  GatheredUnit unit(std::uint64_t block, std::uint64_t window, std::uint32_t panel) const {
    const std::uint64_t list = format().list_at(load<std::uint32_t>(format().begin_at(block, window)));
    const auto begin = load<std::uint32_t>(list + format().panel_begin_at(panel));
    const auto behind = load<std::uint32_t>(list + format().panel_begin_at(panel + 1));
    return {list + std::uint64_t{begin} * piece_bytes,
            behind < begin ? 0 : std::min((behind - begin) / format().shape.height, format().shape.steps)};
  }
  /// An entry of a row of the panel, of its unit for this window.
  GatheredEntry entry(const GatheredUnit& unit, std::uint64_t window, std::uint32_t step, std::uint32_t row,
                      std::uint32_t number) const {
    const std::uint64_t at = unit.at + format().entry_at(step, row, number);
    const std::uint64_t place = load<std::uint32_t>(at + 4) / gather_row_bytes;
    const std::uint64_t before = window + gather_windows - 1;  // equal, modulo 4, to the window before
    const std::uint64_t behind = (place / gather_columns + gather_windows - before % gather_windows) % gather_windows;
    return {(window + behind) * gather_columns + place % gather_columns - gather_columns, load_value(at)};
  }
};

/// A unit of a bitmap.
struct BitmapUnit {
  std::uint64_t at = 0;
  std::uint32_t words = 0;  ///< rows of them
};

/// What stands in units. K block, lane and p, a register of the lane, say which elements.
class BitmapReader : public SectionReader<BitmapFormat> {
 public:
  using SectionReader::SectionReader;

  /// Where a unit begins, in pieces; also behind the last one, where units end.
  std::uint32_t begin(std::uint64_t panel, std::uint64_t tile) const {
    return load<std::uint32_t>(format().begin_at(panel, tile));
  }
  BitmapUnit unit(std::uint64_t panel, std::uint64_t tile) const {
    BitmapUnit unit{format().unit_at(begin(panel, tile)), 0};
    for (std::uint32_t lane = 0; lane < bitmap_count_bits; ++lane) {
      unit.words |= (column_byte(unit, lane) >> bitmap_count_bit & 1U) << lane;
    }
    return unit;
  }
  std::uint32_t odd_column(const BitmapUnit& unit, std::uint32_t lane) const {
    return column_byte(unit, lane) & bitmap_column_mask;
  }
  std::uint32_t bits(const BitmapUnit& unit, std::uint32_t block, std::uint32_t lane) const {
    return load<std::uint32_t>(unit.at + format().bits_at(block, lane));
  }
  std::uint32_t code(const BitmapUnit& unit, std::uint32_t block, std::uint32_t lane, std::uint32_t p) const {
    return bits(unit, block, lane) >> format().element().bit_of(p) & 3;
  }
  /// A half of a word, the lower one or the upper one, as a value.
  double half_word(const BitmapUnit& unit, std::uint32_t row, std::uint32_t column, std::uint32_t half) const {
    return load_value(unit.at + format().word_at(row, column) + half * std::uint64_t{format().element().bytes});
  }
  /// The first value of a register, or the second one, by its number; zero where there is none.
  double value(const BitmapUnit& unit, std::uint32_t block, std::uint32_t lane, std::uint32_t p,
               std::uint32_t number) const {
    constexpr std::uint32_t first_alone = 1, both = 2, second_alone = 3;
    const std::uint32_t all = bits(unit, block, lane), in_front = all & bits_in_front(p);
    const std::uint32_t found = code(unit, block, lane, p);
    if (found == both) {
      return lane_value(unit, block, lane, popcount(registers_with_two(in_front)), number);
    }
    if (found != (number == 0 ? first_alone : second_alone)) {
      return 0;
    }
    const std::uint32_t alone = popcount(registers_with_one(in_front));
    return lane_value(unit, block, lane, popcount(registers_with_two(all)) + alone / 2, alone % 2);
  }

 private:
  std::uint32_t column_byte(const BitmapUnit& unit, std::uint32_t lane) const {
    return load<std::uint8_t>(unit.at + format().odd_column_at(lane));
  }
  /// How many words the lane has in the block.
  std::uint32_t lane_words(const BitmapUnit& unit, std::uint32_t block, std::uint32_t lane) const {
    const std::uint32_t all = bits(unit, block, lane);
    return popcount(registers_with_two(all)) + (popcount(registers_with_one(all)) + 1) / 2;
  }
  /// A half of the word of this number that the lane has in the block.
  double lane_value(const BitmapUnit& unit, std::uint32_t block, std::uint32_t lane, std::uint32_t number,
                    std::uint32_t half) const {
    const std::uint32_t place = number + (block < 2 ? 0 : lane_words(unit, block - 2, lane));
    if (place >= unit.words) {
      refuse("word {} of lane {} is asked for, of a unit with {} rows of words", place, lane, unit.words);
    }
    return block % 2 == 0 ? half_word(unit, place, lane, half)
                          : half_word(unit, unit.words - 1 - place, odd_column(unit, lane), half);
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

}  // namespace esc::transformer
