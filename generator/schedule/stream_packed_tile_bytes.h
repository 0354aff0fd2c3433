// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/schedule/stream_schedule.h"

namespace esc {

/// About the bytes of a packed tile of 16 rows, where so large a share of the elements is not zero.
std::int64_t streamed_packed_tile_bytes(double density);

/// The same of a packed tile of so many rows with listed values, and of one with dense steps of any kind.
std::int64_t listed_packed_tile_bytes(double density, int rows);
std::int64_t dense_packed_tile_bytes(StreamSchedule::Dense dense, double density, int rows);

}  // namespace esc
