// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is in the slots of a packed tile of fragments, and what they have room for. As in packed_bytes.h, the text
// between the markers is part of the generated transformers of kernels that read fragments.

#include "transformer/fragment_format.h"
#include "transformer/row_tile_sources.h"

namespace esc::transformer {
// [packing text begins]

inline constexpr uint32_t no_column = max_k_tile_columns;
inline constexpr uint32_t max_places = max_fragment_steps * sparse_step_slots;

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

/// The rows of a packed tile's column that have room in the group of a slot, which has one value of each row.
inline uint32_t fitting(const PackedTileSlots& packed_tile, uint32_t rows, uint32_t slot) {
  const uint32_t group = slot / group_slots * group_slots;
  return rows & ~(packed_tile.rows[group] | packed_tile.rows[group + 1]);
}

/// Puts what is left over into those of the first `slots` slots that no column is in, each time where most of a column
/// goes.
inline void fill_free_slots(uint32_t slots, PackedTileSlots& packed_tile) {
  uint16_t free_slots[max_places];
  uint32_t count = 0;
  for (uint32_t slot = 0; slot < slots; ++slot) {
    free_slots[count] = static_cast<uint16_t>(slot);
    count += packed_tile.column[slot] == no_column ? 1 : 0;
  }
  for (uint32_t column = 0; column < max_k_tile_columns; ++column) {
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

// [packing text ends]
}  // namespace esc::transformer
