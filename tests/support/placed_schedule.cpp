// SPDX-License-Identifier: Apache-2.0
#include "tests/support/placed_schedule.h"

#include <algorithm>
#include <array>

namespace esc::tests {
namespace {

struct Block {
  int row_tiles;
  int rows;
  int share;
};

/// The first ones have four warps for a K tile, the others eight.
constexpr int narrow_blocks = 5;
constexpr std::array<Block, placed_schedules / 2> blocks{{{4, 16, 1},
                                                          {2, 32, 2},
                                                          {4, 32, 1},
                                                          {1, 80, 4},
                                                          {2, 48, 2},
                                                          {4, 16, 2},
                                                          {2, 32, 4},
                                                          {4, 32, 2},
                                                          {8, 16, 1},
                                                          {1, 96, 8},
                                                          {1, 160, 8}}};

}  // namespace

StreamSchedule with_placed_values(StreamSchedule schedule, int number, bool is_wide) {
  const Block& block =
      blocks[static_cast<std::size_t>(number / 2 % (is_wide ? static_cast<int>(blocks.size()) : narrow_blocks))];
  schedule.row_tiles = block.row_tiles;
  schedule.rows = block.rows;
  schedule.share = block.share;
  schedule.warps = block.share * (1 + number % 2);
  schedule.columns = StreamSchedule::warp_columns * schedule.consumer_group_warps();
  schedule.dense = StreamSchedule::Dense::placed;
  schedule.ahead = number % 3 == 0 && schedule.copies != StreamSchedule::Copies::cp_async &&
                   schedule.row_tiles * schedule.warps <= StreamSchedule::max_consumer_warps;
  schedule.stages = schedule.ahead ? std::max(schedule.stages, StreamSchedule::least_stages_ahead) : schedule.stages;
  return schedule;
}

}  // namespace esc::tests
