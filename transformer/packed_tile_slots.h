// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is in the slots of a packed tile of fragments, and what they have room for. As in packed_bytes.h, the text
// between the markers is part of the generated transformers of kernels that read fragments.

#include "transformer/fragment_format.h"
#include "transformer/row_tile_sources.h"

namespace esc::transformer {
// [packing text begins]

inline constexpr uint32_t no_column = max_k_tile_columns;
inline constexpr uint32_t max_places = max_fragment_steps * FragmentElement{2}.step_slots();

/// The rows of a row tile in which each column of a K tile has non-zeros.
struct KTileRows {
  uint32_t of_column[max_k_tile_columns];
};

/// Which column a packed tile has in each slot, or no_column, which of its rows it has there, and what is in no slot.
struct PackedTileSlots {
  uint16_t column[max_places];
  uint32_t rows[max_places];
  KTileRows left;
};

/// How many non-zeros of each row the groups of a packed tile have room for.
template <uint32_t element_bytes>
struct GroupRoom {
  static constexpr FragmentElement element{element_bytes};
  static constexpr uint32_t group_slots = element.group_slots();

  uint32_t slots;
  uint32_t half_slots;  ///< of them, first: those of half steps

  /// Whether a group has room for one value of each row, and not for two.
  constexpr bool has_one_value(uint32_t slot) const { return group_slots == 2 || slot >= half_slots; }

  /// The rows of which the group of a slot has as many non-zeros as it can, those before `end` counted.
  template <typename Rows>
  constexpr uint32_t full_rows(const Rows* rows, uint32_t of_group, uint32_t end) const {
    uint32_t once = 0;
    uint32_t twice = 0;
    for (uint32_t slot = of_group / group_slots * group_slots; slot < end; ++slot) {
      twice |= once & rows[slot];
      once |= rows[slot];
    }
    return has_one_value(of_group) ? once : twice;
  }

  /// The rows of a packed tile's column that have room in the group of a slot.
  uint32_t fitting(const PackedTileSlots& packed_tile, uint32_t rows, uint32_t slot) const {
    return rows & ~full_rows(packed_tile.rows, slot, (slot / group_slots + 1) * group_slots);
  }

  /// Puts what is left over into slots that no column is in, each time where most of a column goes.
  void fill_free_slots(PackedTileSlots& packed_tile) const {
    uint16_t free_slots[max_places];
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < slots; ++slot) {
      free_slots[count] = static_cast<uint16_t>(slot);
      count += packed_tile.column[slot] == no_column ? 1 : 0;
    }
    for (uint32_t column = 0; column < element.k_tile_columns(); ++column) {
      uint32_t& left = packed_tile.left.of_column[column];
      while (left != 0 && count != 0) {
        uint32_t best = 0;
        uint32_t most = 0;
        for (uint32_t i = 0; i < count; ++i) {
          const uint32_t rows = popcount(fitting(packed_tile, left, free_slots[i]));
          if (rows > most) {
            most = rows;
            best = i;
          }
        }
        if (most == 0) {
          break;
        }
        const uint32_t slot = free_slots[best];
        packed_tile.column[slot] = static_cast<uint16_t>(column);
        packed_tile.rows[slot] = fitting(packed_tile, left, slot);
        left &= ~packed_tile.rows[slot];
        free_slots[best] = free_slots[--count];
      }
    }
  }
};

// [packing text ends]
}  // namespace esc::transformer
