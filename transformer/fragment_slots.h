// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which column of a K tile is in which slot of a packed tile of fragments. As in packed_bytes.h, the text between the
// markers is part of the generated transformers of kernels that read fragments.

#include "transformer/packed_tile_slots.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Slots. Of the two slots of a group the sparse tensor core takes one non-zero of each row; further ones are left over.
// Which columns share a group is free, and a search makes few be left over: a column that has too much around it
// changes places with the one for which the most is gained, also when nothing is, as the next change may then gain.
//
// Of the columns of a set the residues shall differ. The search begins with sets where they do, and of changes that
// gain the same takes the one with fewer repetitions. In the end groups, two of which are a set, change places as a
// whole, which leaves over what was left over before.
//
// Columns that have no slot are after the slots, where all they have is left over. The search draws from a generator
// that is seeded with the packed tile's place: who packs it, and when, makes no difference.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t compared_places = 64;   ///< at a time, which a compiler can make vectors of
inline constexpr uint32_t most_changes = 12000;   ///< that the search tries for a packed tile
inline constexpr uint32_t most_fruitless = 1000;  ///< of them, since the fewest were left over
inline constexpr uint32_t most_mendings = 800;    ///< changes tried for the sake of distinct columns alone
inline constexpr uint32_t most_fruitless_mendings = 200;
inline constexpr uint32_t most_pairings = 400;  ///< changes of groups
inline constexpr uint32_t most_fruitless_pairings = 60;
inline constexpr uint32_t mending_rounds = 2;  ///< of both: what one has changed lets the other go on

/// The numbers that a search computes in, as narrow as the rows of a row tile allow, as a vector then has more of them.
template <uint32_t rows>
struct SearchNumbers {
  using Word = uint16_t;
  using Cost = int16_t;
};
template <>
struct SearchNumbers<max_fragment_rows> {
  using Word = uint32_t;
  using Cost = int32_t;
};

/// Columns in slots, and after them those that have none, for row tiles of so many rows. What belongs to place i is
/// at [i].
template <uint32_t row_tile_rows>
class SlotSearch {
 public:
  SlotSearch(const KTileRows& k_tile, uint32_t steps, uint64_t seed)
      : slots_(steps * sparse_step_slots), random_(seed | 1) {
    uint32_t columns = 0;
    for (const uint32_t rows : k_tile.of_column) {
      columns += rows != 0 ? 1 : 0;
    }
    places_ = static_cast<uint32_t>(round_up(columns < slots_ ? slots_ : columns, compared_places));
    for (uint32_t place = 0; place < places_; ++place) {
      put(place, no_column, 0);
    }
    place_columns(k_tile);
    for (uint32_t group = 0; group < places_; group += group_slots) {
      count_left(group, 1);
      weigh(group);
    }
    for (uint32_t set = 0; set < places_; set += set_slots) {
      note_residues(set);
    }
  }

  /// Changes places until nothing is left over and sets have distinct residues, or for as long as is reasonable.
  void run() {
    fit();
    for (uint32_t round = 0; round < mending_rounds; ++round) {
      mend_sets(most_mendings, most_fruitless_mendings, [&](uint32_t place) {
        improve(place, cost_of(0, 1, 0));
        return repeated_[place] == 0;
      });
      mend_sets(most_pairings, most_fruitless_pairings,
                [&](uint32_t place) { return pair_better(place / group_slots * group_slots); });
    }
  }

  /// What the slots have now: the first non-zeros of each row in a group. Of those after them as many as can be are
  /// given a second slot, one that no column is in.
  void take(PackedTileSlots& packed_tile) const {
    memset(&packed_tile, 0, sizeof packed_tile);
    for (uint32_t place = 0; place < places_; ++place) {
      const uint32_t before = place % group_slots != 0 ? rows_[place - 1] : 0;
      const uint32_t full = place < slots_ ? before : all_rows;
      if (place < slots_) {
        packed_tile.column[place] = static_cast<uint16_t>(column_[place]);
        packed_tile.rows[place] = rows_[place] & ~full;
      }
      if (column_[place] != no_column) {
        packed_tile.left.of_column[column_[place]] = rows_[place] & full;
      }
    }
    fill_free_slots(slots_, packed_tile);
  }

 private:
  using Word = typename SearchNumbers<row_tile_rows>::Word;
  using Cost = typename SearchNumbers<row_tile_rows>::Cost;

  static constexpr Word all_rows = static_cast<Word>(~Word{0});

  /// The number of bits that are set in two numbers.
  static constexpr Word bits_in(Word a, Word b) {
    constexpr Word twos = static_cast<Word>(0x55555555), fours = static_cast<Word>(0x33333333),
                   eights = static_cast<Word>(0x0f0f0f0f);
    a = static_cast<Word>(a - ((a >> 1) & twos));
    b = static_cast<Word>(b - ((b >> 1) & twos));
    a = static_cast<Word>((a & fours) + ((a >> 2) & fours));
    b = static_cast<Word>((b & fours) + ((b >> 2) & fours));
    a = static_cast<Word>(a + b);
    a = static_cast<Word>((a & eights) + ((a >> 4) & eights));
    a = static_cast<Word>(a + (a >> 8));
    return static_cast<Word>((a + (a >> 16)) & 0x7f);
  }

  uint32_t random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<uint32_t>((random_ * 0x2545f4914f6cdd1du) >> 32);
  }

  void put(uint32_t place, uint32_t column, uint32_t rows) {
    column_[place] = static_cast<Word>(column);
    rows_[place] = static_cast<Word>(rows);
    residue_[place] = static_cast<Word>(column == no_column ? 0 : 1u << column % set_slots);
  }

  /// Each column at its own number, so that a matrix that fits as it is stays so. Where there are fewer slots, those
  /// that have non-zeros one after the other among those of the same residue, and then in what is free.
  void place_columns(const KTileRows& k_tile) {
    const bool as_it_is = slots_ >= max_k_tile_columns;
    uint32_t next[set_slots];
    uint32_t free_place = 0;
    for (uint32_t residue = 0; residue < set_slots; ++residue) {
      next[residue] = residue;
    }
    uint32_t homeless[max_k_tile_columns];
    uint32_t homeless_count = 0;
    for (uint32_t column = 0; column < max_k_tile_columns; ++column) {
      if (k_tile.of_column[column] == 0) {
        continue;
      }
      uint32_t& own_place = next[column % set_slots];
      if (as_it_is || own_place < places_) {
        put(as_it_is ? column : own_place, column, k_tile.of_column[column]);
        own_place += set_slots;
      } else {
        homeless[homeless_count++] = column;
      }
    }
    for (uint32_t i = 0; i < homeless_count; ++i) {
      while (column_[free_place] != no_column) {
        ++free_place;
      }
      put(free_place, homeless[i], k_tile.of_column[homeless[i]]);
    }
  }

  /// Counts what a group leaves over, or no longer does where the sign is -1.
  void count_left(uint32_t group, int32_t sign) {
    const Word first = rows_[group], second = rows_[group + 1];
    const uint32_t left = group < slots_ ? popcount(first & second) : popcount(first) + popcount(second);
    total_ += static_cast<uint32_t>(sign) * left;
  }

  /// Finds for each place of a group the rows that are full there: those in which the other place has a non-zero.
  void weigh(uint32_t group) {
    fill(group, rows_[group + 1]);
    fill(group + 1, rows_[group]);
  }
  void fill(uint32_t place, uint32_t full) {
    full_[place] = static_cast<Word>(place < slots_ ? full : all_rows);
    own_[place] = bits_in(static_cast<Word>(rows_[place] & full_[place]), 0);
  }

  /// Finds which residues the columns of a set have, and which of them have one that another has too.
  void note_residues(uint32_t set) {
    uint32_t present = 0;
    uint32_t repeated = 0;
    for (uint32_t place = set; place < set + set_slots && set < slots_; ++place) {
      repeated |= present & residue_[place];
      present |= residue_[place];
    }
    for (uint32_t place = set; place < set + set_slots; ++place) {
      present_[place] = static_cast<Word>(present);
      repeated_[place] = (residue_[place] & repeated) != 0 ? 1 : 0;
    }
  }

  /// The first place, from any on, that has something of what is counted there, or `places_`.
  uint32_t next_with(const Word* counted) {
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
  static constexpr Cost impossible = 0x7fff;

  /// Finds the costs of a change of `place` with 64 others; `chance` decides between equals. All is computed in words,
  /// of which a vector has many, and `costs` is no part of what is read, so that GCC makes vectors with -O2, too.
  void compare(uint32_t place, uint32_t first, uint32_t chance, Cost* __restrict costs) const {
    const Word rows = rows_[place], full = full_[place], residue = residue_[place], present = present_[place];
    const Word before = static_cast<Word>(cost_of(own_[place], 0, 0));
    const Word repeated = repeated_[place];
    const Word drawn = static_cast<Word>(chance);
    const Word *const rows_of = rows_ + first, *const full_of = full_ + first, *const own_of = own_ + first;
    const Word *const residue_of = residue_ + first, *const present_of = present_ + first,
                      *const repeated_of = repeated_ + first;
    for (uint32_t i = 0; i < compared_places; ++i) {
      const Word theirs = static_cast<Word>(rows_of[i] & full), mine = static_cast<Word>(rows & full_of[i]);
      const Word left = static_cast<Word>(bits_in(theirs, mine) - own_of[i]);
      const Word comes = static_cast<Word>((residue_of[i] & present) != 0);
      const Word goes = static_cast<Word>((residue & present_of[i]) != 0);
      const Word more = static_cast<Word>(comes + goes - repeated - repeated_of[i]);
      const Word repetitions = residue_of[i] == residue ? Word{0} : more;
      const Word tie = static_cast<Word>((i * 29 + drawn) % 64);
      costs[i] = static_cast<Cost>(static_cast<Word>(cost_of(left, repetitions, tie) - before));
    }
    const uint32_t set = place / set_slots * set_slots;
    for (uint32_t other = set; other < set + set_slots && set / compared_places == first / compared_places; ++other) {
      const Word theirs = static_cast<Word>(rows_[other] & full), mine = static_cast<Word>(rows & full_[other]);
      const int left =
          static_cast<int>(bits_in(theirs, mine)) - static_cast<int>(own_[place]) - static_cast<int>(own_[other]);
      const bool same_group = other / group_slots == place / group_slots;
      costs[other - first] =
          same_group ? impossible : static_cast<Cost>(cost_of(left, 0, static_cast<int>(chance % 64)));
    }
  }

  /// Changes the column at a place with the one for which it costs least, if that is below `bound`.
  void improve(uint32_t place, int bound) {
    const uint32_t chance = random();
    int least = bound;
    uint32_t best = place;
    for (uint32_t first = 0; first < places_; first += compared_places) {
      Cost costs[compared_places];
      compare(place, first, chance >> first / compared_places, costs);
      Cost lowest = impossible;
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

  /// Changes places until nothing is left over.
  void fit() {
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
  }

  /// Changes places of columns whose residue another of their set has, which `change` does for one and returns whether
  /// that was fruitful.
  template <typename Change>
  void mend_sets(uint32_t most, uint32_t most_without_fruit, Change change) {
    uint32_t fruitless = 0;
    for (uint32_t tried = 0; tried < most && fruitless < most_without_fruit; ++tried) {
      const uint32_t place = next_with(repeated_);
      if (place == places_) {
        return;
      }
      fruitless = change(place) ? 0 : fruitless + 1;
    }
  }

  /// Changes a group with the one for which two sets have the most residues more, also when they have as many. Returns
  /// whether they have more.
  bool pair_better(uint32_t group) {
    const uint32_t groups = slots_ / group_slots;
    const uint32_t own = residues_of(group), mates = residues_of(mate_of(group));
    const uint32_t chance = random() % groups;
    int most = -1;
    uint32_t best = group;
    for (uint32_t i = 0; i < groups; ++i) {
      const uint32_t other = (i + chance) % groups * group_slots;
      const uint32_t theirs = residues_of(other), of_their_mate = residues_of(mate_of(other));
      const int more = static_cast<int>(popcount(theirs | mates) + popcount(own | of_their_mate)) -
                       static_cast<int>(popcount(present_[group]) + popcount(present_[other]));
      if (more > most && other / set_slots != group / set_slots) {
        most = more;
        best = other;
      }
    }
    if (best != group) {
      exchange_groups(group, best);
    }
    return most > 0;
  }

  /// The other group of a group's set.
  static constexpr uint32_t mate_of(uint32_t group) { return group ^ group_slots; }

  /// The residues of a group's columns.
  uint32_t residues_of(uint32_t group) const { return static_cast<uint32_t>(residue_[group] | residue_[group + 1]); }

  void swap_columns(uint32_t a, uint32_t b) {
    const uint32_t column = column_[a];
    const uint32_t rows = rows_[a];
    put(a, column_[b], rows_[b]);
    put(b, column, rows);
  }

  /// Changes the places of two groups.
  void exchange_groups(uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < group_slots; ++i) {
      swap_columns(a + i, b + i);
    }
    const uint32_t groups[] = {a, b};
    for (const uint32_t group : groups) {
      weigh(group);
      note_residues(group / set_slots * set_slots);
    }
  }

  void exchange(uint32_t a, uint32_t b) {
    const uint32_t groups[] = {a / group_slots * group_slots, b / group_slots * group_slots};
    for (const uint32_t group : groups) {
      count_left(group, -1);
    }
    swap_columns(a, b);
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
  Word column_[max_places];
  Word rows_[max_places];
  Word full_[max_places];
  Word own_[max_places];       ///< of its non-zeros, in rows that are full
  Word residue_[max_places];   ///< as a bit
  Word present_[max_places];   ///< residues of its set
  Word repeated_[max_places];  ///< whether another of its set has its residue
};

/// Finds what is in the slots of a packed tile with the non-zeros of a K tile, where row tiles have such a height.
inline void search_slots(uint32_t height, const KTileRows& k_tile, uint32_t steps, uint64_t seed,
                         PackedTileSlots& packed_tile) {
  const auto take_from = [&](auto search) {
    search.run();
    search.take(packed_tile);
  };
  height == m16_tile_rows ? take_from(SlotSearch<m16_tile_rows>(k_tile, steps, seed))
                          : take_from(SlotSearch<max_fragment_rows>(k_tile, steps, seed));
}

// [packing text ends]
}  // namespace esc::transformer
