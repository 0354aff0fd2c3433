// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/stream_packed_tile_bytes.h"

#include <algorithm>
#include <cmath>

namespace esc {

std::int64_t streamed_packed_tile_bytes(double density) {
  // Of a random pattern: 8 steps from 70 % zeros on, with an extra now and then, more of both where there are fewer
  // zeros.
  return static_cast<std::int64_t>(4944 + 11000 * std::max(0.0, density - 0.3));
}

namespace {

/// Of so many elements with a random pattern the most non-zeros that a packed tile has, as which all packed tiles are
/// as long.
double fullest(double elements, double density) {
  constexpr double deviations = 3.6;
  return std::min(elements * density + deviations * std::sqrt(elements * density * (1 - density)), elements);
}

/// Of what a row tile has in a K tile.
std::int64_t placed_packed_tile_bytes(double density, int rows) {
  constexpr double begins = 32;
  constexpr double value_and_place = 6;
  constexpr double line = 128;
  constexpr double of_shares = 8;  // a further value each
  const double of_packed_tile =
      begins + (fullest(StreamSchedule::placed_columns * rows, density) + of_shares) * value_and_place;
  return static_cast<std::int64_t>(std::ceil(of_packed_tile / line) * line);
}

}  // namespace

std::int64_t listed_packed_tile_bytes(double density, int rows) {
  constexpr double bits_and_begins = 80.0 / 512;  // of an element, in bytes
  const double elements = static_cast<double>(StreamSchedule::k_tile_columns) * rows;
  return static_cast<std::int64_t>(elements * bits_and_begins +
                                   fullest(elements, density) * StreamSchedule::element_bytes);
}

std::int64_t dense_packed_tile_bytes(StreamSchedule::Dense dense, double density, int rows) {
  switch (dense) {
    case StreamSchedule::Dense::listed:
      return listed_packed_tile_bytes(density, rows);
    case StreamSchedule::Dense::placed:
      return placed_packed_tile_bytes(density, rows);
    default:
      return std::int64_t{StreamSchedule::k_tile_bytes} * rows;
  }
}

}  // namespace esc
