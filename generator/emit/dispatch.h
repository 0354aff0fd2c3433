#pragma once

#include <cstdint>

#include "generator/ir/loop_nest.h"

namespace esc {

/// By what a launcher decides which variant of its kernel a call gets, and how it cuts the call into launches.
///
/// A call is vectorised when n and both leading dimensions are multiples of `vector_width` and B and C begin at multiples of
/// that many elements. It is tuned when, beyond that, n and both leading dimensions are `tuned_columns`, and one launch takes it.
struct Dispatch {
  std::int64_t tuned_columns = 1;  ///< bCol
  bool has_vectors = false;        ///< whether there is a vectorised variant
  std::int64_t vector_width = 1;   ///< columns that it moves at once; 1 where there is none
  std::int64_t tile_columns = 0;   ///< of a block, where the grid's y goes over tiles of columns; else 0
  bool programmatic = false;       ///< launches may begin before the kernel in front has ended
  std::int64_t turn_columns = 0;   ///< that a block takes at a time, where its threads take turns over all columns; else 0
};

/// The most tiles of one launch: the largest y of a grid.
inline constexpr std::int64_t most_tiles = 65535;

/// That of the lowered nest of a kernel made for `bcol`.
Dispatch dispatch_of(const LoopNest& lowered, std::int64_t bcol);

}  // namespace esc
