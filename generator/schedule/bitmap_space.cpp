// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/bitmap_space.h"

#include <algorithm>

namespace esc {
namespace {

constexpr int steps[] = {BitmapSchedule::half_tile, BitmapSchedule::tile_columns_of_a};
constexpr int clusters[] = {1, 2};  ///< larger ones were never faster

void add_warps(int columns, BitmapSchedule::Format format, std::vector<BitmapSchedule>& space) {
  constexpr int most_row_tiles = 8, most_stages = 4, most_packed_tiles = 3;
  for (int row_tiles = 1; row_tiles <= most_row_tiles; ++row_tiles) {
    for (int warps = 1; warps <= BitmapSchedule::max_warps / row_tiles; ++warps) {
      for (int stages = 2; stages <= most_stages; ++stages) {
        for (int packed_tiles = 2; packed_tiles <= most_packed_tiles; ++packed_tiles) {
          for (const int step : steps) {
            for (const int cluster : clusters) {
              space.push_back({.columns = columns,
                               .row_tiles = row_tiles,
                               .warps = warps,
                               .stages = stages,
                               .packed_tiles = packed_tiles,
                               .step = step,
                               .cluster = cluster,
                               .format = format});
            }
          }
        }
      }
    }
  }
}

/// Tiles of B in shared memory: two that are in use, and as many on their way as hide the latency of L2, at least two.
/// More were never faster.
int most_stages_of_warpgroups(int columns) {
  constexpr int in_use = 2, least_on_the_way = 2;
  constexpr int bytes_on_the_way = 32 * 1024;
  const int tile_bytes = BitmapSchedule::block_columns * columns * 2;
  return std::min(BitmapSchedule::max_stages, in_use + std::max(least_on_the_way, bytes_on_the_way / tile_bytes));
}

void add_warpgroups(int columns, std::vector<BitmapSchedule>& space) {
  constexpr int least_stages = 3;
  for (const int row_tiles : {4, 8}) {
    for (const int warps : {1, 2, 4}) {
      for (const int cluster : clusters) {
        for (const int packed_tiles : {2, 3}) {
          for (int stages = most_stages_of_warpgroups(columns); stages >= least_stages; --stages) {
            space.push_back({.columns = columns,
                             .row_tiles = row_tiles,
                             .warps = warps,
                             .stages = stages,
                             .packed_tiles = packed_tiles,
                             .mma = BitmapSchedule::Mma::warpgroup,
                             .cluster = cluster});
          }
        }
      }
    }
  }
}

}  // namespace

std::vector<BitmapSchedule> bitmap_space(const ProductColumns& given, bool sparse24) {
  std::vector<BitmapSchedule> space;
  for (int columns = BitmapSchedule::least_columns; columns <= widest_bitmap_tile(given.count); columns *= 2) {
    if (columns <= BitmapSchedule::max_warp_columns) {
      add_warps(columns, BitmapSchedule::Format::bitmap, space);
      if (sparse24) {
        add_warps(columns, BitmapSchedule::Format::sparse24, space);
      }
    }
    if (columns >= BitmapSchedule::least_warpgroup_columns) {
      add_warpgroups(columns, space);
    }
  }
  return space;
}

}  // namespace esc
