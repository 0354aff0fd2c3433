// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which column of a window stands in which slot of a unit of fragments. As in packed_bytes.h, the text between the
// markers is part of the generated transformers of kernels that read fragments.

#include "transformer/fragment_format.h"
#include "transformer/panel_sources.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Slots. Of the slots of a group the sparse tensor core takes half as many non-zeros of each row, two of four or one of
// two; further ones are left over. Which columns share a group is free, and a search makes few be left over: a column
// that has too much around it changes places with the one for which the most is gained, also when nothing is, as the
// next change may then gain.
//
// Two groups are a set: their rows of B are read at once, and quickest if the columns are distinct modulo the slots of
// a set. The search begins with sets that are, and of changes that gain the same takes the one with fewer repetitions.
//
// Columns that have no slot stand behind the slots, where all they have is left over. The search draws from a generator
// that is seeded with the unit's place: who packs it, and when, makes no difference.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t no_column = max_window_columns;
inline constexpr uint32_t max_places = max_fragment_steps * FragmentElement{2}.step_slots();
inline constexpr uint32_t compared_places = 64;   ///< at a time, which a compiler can make vectors of
inline constexpr uint32_t most_changes = 12000;   ///< that the search tries for a unit
inline constexpr uint32_t most_fruitless = 5000;  ///< of them, since the fewest were left over
inline constexpr uint32_t most_mendings = 800;    ///< changes tried for the sake of distinct columns alone
inline constexpr uint32_t most_fruitless_mendings = 200;

/// The rows of a panel in which each column of a window has non-zeros.
struct WindowRows {
  uint16_t of_column[max_window_columns];
};

/// Which column a unit has in each slot, or no_column, which of its rows it has there, and what is in no slot.
struct UnitSlots {
  uint16_t column[max_places];
  uint16_t rows[max_places];
  WindowRows left;
};

/// Columns in slots, and behind them those that have none. What belongs to place i stands at [i].
template <uint32_t element_bytes>
class SlotSearch {
 public:
  SlotSearch(const WindowRows& window, uint32_t steps, uint64_t seed) : slots_(steps * step_slots), random_(seed | 1) {
    uint32_t columns = 0;
    for (const uint16_t rows : window.of_column) {
      columns += rows != 0 ? 1 : 0;
    }
    places_ = static_cast<uint32_t>(round_up(columns < slots_ ? slots_ : columns, compared_places));
    for (uint32_t place = 0; place < places_; ++place) {
      put(place, no_column, 0);
    }
    place_columns(window);
    for (uint32_t group = 0; group < places_; group += group_slots) {
      count_left(group, 1);
      weigh(group);
    }
    for (uint32_t set = 0; set < places_; set += set_slots) {
      note_residues(set);
    }
  }

  /// Changes places until nothing is left over, or for as long as is reasonable.
  void run() {
    uint32_t fewest = total_;
    uint32_t fruitless = 0;
    for (uint32_t change = 0; change < most_changes && fruitless < most_fruitless && total_ != 0; ++change) {
      improve(next_with(own_), cost_of(1, -2, 0));
      ++fruitless;
      if (total_ < fewest) {
        fewest = total_;
        fruitless = 0;
      }
    }
    fruitless = 0;
    for (uint32_t change = 0; change < most_mendings && fruitless < most_fruitless_mendings; ++change) {
      const uint32_t place = next_with(repeated_);
      if (place == places_) {
        return;
      }
      improve(place, cost_of(0, 1, 0));
      fruitless = repeated_[place] == 0 ? 0 : fruitless + 1;
    }
  }

  /// What the slots have now: the first non-zeros of each row in a group. Of those behind them as many as can be are
  /// given a second slot, one that no column stands in.
  void take(UnitSlots& unit) const {
    memset(&unit, 0, sizeof unit);
    for (uint32_t place = 0; place < places_; ++place) {
      const uint32_t group = place / group_slots * group_slots;
      const uint32_t full = place < slots_ ? full_rows(rows_, group, place) : 0xffff;
      if (place < slots_) {
        unit.column[place] = column_[place];
        unit.rows[place] = static_cast<uint16_t>(rows_[place] & ~full);
      }
      if (column_[place] != no_column) {
        unit.left.of_column[column_[place]] = static_cast<uint16_t>(rows_[place] & full);
      }
    }
    fill_free_slots(unit);
  }

 private:
  static constexpr FragmentElement element{element_bytes};
  static constexpr uint32_t window_columns = element.window_columns();
  static constexpr uint32_t step_slots = element.step_slots();
  static constexpr uint32_t group_slots = element.group_slots();
  static constexpr uint32_t set_slots = element.set_slots();

  /// The number of bits that are set in two numbers of 16 bits.
  static constexpr uint16_t bits_in(uint16_t a, uint16_t b) {
    a = static_cast<uint16_t>(a - ((a >> 1) & 0x5555));
    b = static_cast<uint16_t>(b - ((b >> 1) & 0x5555));
    a = static_cast<uint16_t>((a & 0x3333) + ((a >> 2) & 0x3333));
    b = static_cast<uint16_t>((b & 0x3333) + ((b >> 2) & 0x3333));
    a = static_cast<uint16_t>(a + b);
    a = static_cast<uint16_t>((a & 0x0f0f) + ((a >> 4) & 0x0f0f));
    return static_cast<uint16_t>((a + (a >> 8)) & 0x3f);
  }

  uint32_t random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<uint32_t>((random_ * 0x2545f4914f6cdd1du) >> 32);
  }

  void put(uint32_t place, uint32_t column, uint32_t rows) {
    column_[place] = static_cast<uint16_t>(column);
    rows_[place] = static_cast<uint16_t>(rows);
    residue_[place] = static_cast<uint16_t>(column == no_column ? 0 : 1u << column % set_slots);
  }

  /// Each column at its own number, so that a matrix that fits as it is stays so. Where there are fewer slots, those
  /// that have non-zeros one behind the other among those that are equal modulo the slots of a set, and then in what is
  /// free.
  void place_columns(const WindowRows& window) {
    const bool as_it_is = slots_ >= window_columns;
    uint32_t next[set_slots];
    uint32_t free_place = 0;
    for (uint32_t residue = 0; residue < set_slots; ++residue) {
      next[residue] = residue;
    }
    uint32_t homeless[window_columns];
    uint32_t homeless_count = 0;
    for (uint32_t column = 0; column < window_columns; ++column) {
      if (window.of_column[column] == 0) {
        continue;
      }
      uint32_t& own_place = next[column % set_slots];
      if (as_it_is || own_place < places_) {
        put(as_it_is ? column : own_place, column, window.of_column[column]);
        own_place += set_slots;
      } else {
        homeless[homeless_count++] = column;
      }
    }
    for (uint32_t i = 0; i < homeless_count; ++i) {
      while (column_[free_place] != no_column) {
        ++free_place;
      }
      put(free_place, homeless[i], window.of_column[homeless[i]]);
    }
  }

  /// Counts what a group leaves over, or no longer does where the sign is -1.
  void count_left(uint32_t group, int32_t sign) {
    const uint16_t* const rows = rows_ + group;
    uint32_t left = 0;
    if (group >= slots_) {
      for (uint32_t i = 0; i < group_slots; ++i) {
        left += popcount(rows[i]);
      }
    } else if (group_slots == 2) {
      left += popcount(rows[0] & rows[1]);
    } else {
      const uint32_t both = rows[0] & rows[1], others = rows[2] & rows[3];
      left += popcount((both & (rows[2] | rows[3])) | (others & (rows[0] | rows[1])));  // at least three
      left += popcount(both & others);
    }
    total_ += static_cast<uint32_t>(sign) * left;
  }

  /// Finds for each place of a group the rows that are full there: those in which the other three have two or more, or
  /// the other one has one.
  void weigh(uint32_t group) {
    const uint16_t* const rows = rows_ + group;
    if (group_slots == 2) {
      fill(group, rows[1]);
      fill(group + 1, rows[0]);
      return;
    }
    const uint32_t either = rows[0] | rows[1], both = rows[0] & rows[1];
    const uint32_t either_other = rows[2] | rows[3], both_others = rows[2] & rows[3];
    fill(group, both_others | (rows[1] & either_other));
    fill(group + 1, both_others | (rows[0] & either_other));
    fill(group + 2, both | (rows[3] & either));
    fill(group + 3, both | (rows[2] & either));
  }
  void fill(uint32_t place, uint32_t full) {
    full_[place] = static_cast<uint16_t>(place < slots_ ? full : 0xffff);
    own_[place] = bits_in(static_cast<uint16_t>(rows_[place] & full_[place]), 0);
  }

  /// Finds which numbers modulo 8 the columns of a set have, and which of them have one that another has too.
  void note_residues(uint32_t set) {
    uint32_t present = 0;
    uint32_t repeated = 0;
    for (uint32_t place = set; place < set + set_slots && set < slots_; ++place) {
      repeated |= present & residue_[place];
      present |= residue_[place];
    }
    for (uint32_t place = set; place < set + set_slots; ++place) {
      present_[place] = static_cast<uint16_t>(present);
      repeated_[place] = (residue_[place] & repeated) != 0 ? 1 : 0;
    }
  }

  /// The first place, from any on, that has something of what is counted there, or `places_`.
  uint32_t next_with(const uint16_t* counted) {
    const uint32_t first = static_cast<uint32_t>((static_cast<uint64_t>(random()) * places_) >> 32);
    for (uint32_t place = first; place < places_; ++place) {
      if (counted[place] != 0) {
        return place;
      }
    }
    for (uint32_t place = 0; place < first; ++place) {
      if (counted[place] != 0) {
        return place;
      }
    }
    return places_;
  }

  /// What a change of places costs, of which the least is the best: what is left over, then repetitions, then chance.
  static constexpr int cost_of(int left, int repetitions, int chance) { return left * 512 + repetitions * 64 + chance; }
  static constexpr int16_t impossible = 0x7fff;

  /// Finds the costs of a change of `place` with 64 others; `chance` decides between equals. All is computed in 16
  /// bits, of which a vector has many.
  void compare(uint32_t place, uint32_t first, uint32_t chance, int16_t (&costs)[compared_places]) const {
    const uint16_t rows = rows_[place], full = full_[place], residue = residue_[place], present = present_[place];
    const uint16_t before = static_cast<uint16_t>(cost_of(own_[place], 0, 0));
    const uint16_t repeated = repeated_[place];
    const uint16_t drawn = static_cast<uint16_t>(chance);
    const uint16_t *const rows_of = rows_ + first, *const full_of = full_ + first, *const own_of = own_ + first;
    const uint16_t *const residue_of = residue_ + first, *const present_of = present_ + first,
                          *const repeated_of = repeated_ + first;
    for (size_t i = 0; i < compared_places; ++i) {
      const uint16_t theirs = static_cast<uint16_t>(rows_of[i] & full), mine = static_cast<uint16_t>(rows & full_of[i]);
      const uint16_t left = static_cast<uint16_t>(bits_in(theirs, mine) - own_of[i]);
      const uint16_t comes = static_cast<uint16_t>((residue_of[i] & present) != 0);
      const uint16_t goes = static_cast<uint16_t>((residue & present_of[i]) != 0);
      const uint16_t more = static_cast<uint16_t>(comes + goes - repeated - repeated_of[i]);
      const uint16_t repetitions = residue_of[i] == residue ? uint16_t{0} : more;
      const uint16_t tie = static_cast<uint16_t>((i * 29 + drawn) % 64);
      costs[i] = static_cast<int16_t>(static_cast<uint16_t>(cost_of(left, repetitions, tie) - before));
    }
    const uint32_t set = place / set_slots * set_slots;
    for (uint32_t other = set; other < set + set_slots && set / compared_places == first / compared_places; ++other) {
      const uint16_t theirs = static_cast<uint16_t>(rows_[other] & full),
                     mine = static_cast<uint16_t>(rows & full_[other]);
      const int left = bits_in(theirs, mine) - own_[place] - own_[other];
      const bool same_group = other / group_slots == place / group_slots;
      costs[other - first] =
          same_group ? impossible : static_cast<int16_t>(cost_of(left, 0, static_cast<int>(chance % 64)));
    }
  }

  /// Changes the column at a place with the one for which it costs least, if that is below `bound`.
  void improve(uint32_t place, int bound) {
    const uint32_t chance = random();
    int least = bound;
    uint32_t best = place;
    for (uint32_t first = 0; first < places_; first += compared_places) {
      int16_t costs[compared_places];
      compare(place, first, chance >> first / compared_places, costs);
      int16_t lowest = impossible;
      for (uint32_t i = 0; i < compared_places; ++i) {
        lowest = costs[i] < lowest ? costs[i] : lowest;
      }
      if (lowest < least) {
        least = lowest;
        for (best = first; costs[best - first] != lowest; ++best) {
        }
      }
    }
    if (best != place) {
      exchange(place, best);
    }
  }

  /// Puts what is left over into slots that no column stands in, each time where most of a column goes.
  void fill_free_slots(UnitSlots& unit) const {
    uint16_t free_slots[max_places];
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < slots_; ++slot) {
      free_slots[count] = static_cast<uint16_t>(slot);
      count += unit.column[slot] == no_column ? 1 : 0;
    }
    for (uint32_t column = 0; column < window_columns; ++column) {
      uint16_t& left = unit.left.of_column[column];
      while (left != 0 && count != 0) {
        uint32_t best = 0;
        uint32_t most = 0;
        for (uint32_t i = 0; i < count; ++i) {
          const uint32_t fitting = popcount(left & ~full_rows(unit.rows, free_slots[i] / group_slots * group_slots));
          if (fitting > most) {
            most = fitting;
            best = i;
          }
        }
        if (most == 0) {
          break;
        }
        const uint32_t slot = free_slots[best];
        unit.column[slot] = static_cast<uint16_t>(column);
        unit.rows[slot] = static_cast<uint16_t>(left & ~full_rows(unit.rows, slot / group_slots * group_slots));
        left = static_cast<uint16_t>(left & ~unit.rows[slot]);
        free_slots[best] = free_slots[--count];
      }
    }
  }
  /// The rows of which a group has as many non-zeros as it can, those before `behind` counted.
  static uint32_t full_rows(const uint16_t* rows, uint32_t group, uint32_t behind) {
    uint32_t once = 0;
    uint32_t twice = 0;
    for (uint32_t slot = group; slot < behind; ++slot) {
      twice |= once & rows[slot];
      once |= rows[slot];
    }
    return group_slots == 2 ? once : twice;
  }
  static uint32_t full_rows(const uint16_t* rows, uint32_t group) { return full_rows(rows, group, group + group_slots); }

  void exchange(uint32_t a, uint32_t b) {
    const uint32_t groups[] = {a / group_slots * group_slots, b / group_slots * group_slots};
    for (const uint32_t group : groups) {
      count_left(group, -1);
    }
    const uint32_t column = column_[a];
    const uint32_t rows = rows_[a];
    put(a, column_[b], rows_[b]);
    put(b, column, rows);
    for (const uint32_t group : groups) {
      count_left(group, 1);
      weigh(group);
      note_residues(group / set_slots * set_slots);
    }
  }

  uint32_t slots_;
  uint32_t places_;
  uint64_t random_;
  uint32_t total_ = 0;
  uint16_t column_[max_places];
  uint16_t rows_[max_places];
  uint16_t full_[max_places];
  uint16_t own_[max_places];       ///< of its non-zeros, in rows that are full
  uint16_t residue_[max_places];   ///< modulo the slots of a set, as a bit
  uint16_t present_[max_places];   ///< residues of its set
  uint16_t repeated_[max_places];  ///< whether another of its set has its residue
};

/// Finds what stands in the slots of a unit with the non-zeros of a window.
inline void search_slots(FragmentElement element, const WindowRows& window, uint32_t steps, uint64_t seed,
                         UnitSlots& unit) {
  const auto take_from = [&](auto search) {
    search.run();
    search.take(unit);
  };
  if (element.bytes == 2) {
    take_from(SlotSearch<2>(window, steps, seed));
  } else {
    take_from(SlotSearch<4>(window, steps, seed));
  }
}

// [packing text ends]
}  // namespace esc::transformer
