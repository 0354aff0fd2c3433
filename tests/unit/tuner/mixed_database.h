// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/schedule/schedule_database.h"

namespace esc {

inline const std::string digits(64, 'a');

inline Schedule schedule(const char* text) { return parse_schedule(text); }

/// The class of even 512 x 512 layers with 64 non-zeros in a row.
inline constexpr LayerClass small_even{.bcol = 32, .rows = 18, .columns = 18, .mean_row = 12, .longest_row = 13};

/// Middle of the class, with this many rows and longest row.
inline LayerShape layer_of(long long bcol, std::int64_t rows, std::int64_t longest_row = 91) {
  return {.bcol = bcol, .rows = rows, .columns = 512, .nonzeros = 64 * rows, .longest_row = longest_row};
}

/// A database with something of every kind.
inline ScheduleDatabase mixed() {
  LayerClass tall = small_even;
  tall.rows = 24;
  LayerClass wide = small_even;
  wide.bcol = 128;
  return {{.key = {90, 132, 60ULL << 20}, .device = "NVIDIA H200"},
          {.candidates = {{32, 0, schedule("panel:warps=4")},
                          {32, 1, schedule("panel:warps=1,panels=4")},
                          {32, 2, schedule("rows:task=64")},
                          {128, 0, schedule("panel:warps=2")}},
           .classes = {{small_even, 2, 2.5, 1.75, {{0, false}, {12.5, false}, {40, true}}, 7.5},
                       {tall, 1, 0.8, 0.5, {{25, false}, {0, false}, {33.1, false}}},
                       {wide, 1, {}, {}, {{0, false}}}},
           .layers = {{32, digits.substr(0, 16), schedule("panel:warps=16"), 1.05, 0.9, {}}},
           .defaults = {{32, schedule("panel:ufi=1,warps=8"), {4, 1.1, 1.3, 2.0, {}}}}}};
}

}  // namespace esc
