// SPDX-License-Identifier: Apache-2.0
#pragma once

// How large the packed tiles of 16-bit elements are, whatever their format. As in packed_bytes.h, the text between the
// markers is part of the generated transformers of kernels that read such formats.

#include "transformer/description.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Packed tiles of 16-bit elements. A row tile is 16 rows of A, as many as an instruction of a tensor core takes, and a
// K tile 256 columns; the last ones may have fewer, and what they lack is zero. A packed tile belongs to a row tile and
// a K tile, and a K block is 64 of its columns.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t packed_tile_rows = 16;      ///< of a row tile
inline constexpr uint32_t packed_tile_columns = 256;  ///< of a K tile
inline constexpr uint32_t packed_block_columns = 64;  ///< of a K block
inline constexpr uint32_t packed_tile_blocks = packed_tile_columns / packed_block_columns;
inline constexpr uint32_t packed_tile_lanes = 32;  ///< of a warp, which share its elements
inline constexpr uint32_t packed_word_bytes = 4;   ///< of a register of a lane

inline constexpr Rule half_elements =
    between(static_cast<uint64_t>(ScalarType::f16), static_cast<uint64_t>(ScalarType::bf16));

/// Which elements of a K block a register has: in this row of the row tile, from this column of the K block on.
struct RegisterPlace {
  uint32_t row;
  uint32_t column;
};

// [packing text ends]
}  // namespace esc::transformer
