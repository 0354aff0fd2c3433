// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "generator/schedule/stream_schedule.h"

namespace esc {

/// About the bytes of a unit of 16 rows, where so large a share of the elements is not zero.
std::int64_t streamed_unit_bytes(std::string_view dtype, double density, bool quarters);

/// The same of a unit of so many rows with listed values, and of one with dense steps of any kind.
std::int64_t listed_unit_bytes(std::string_view dtype, double density, int rows);
std::int64_t dense_unit_bytes(StreamSchedule::Dense dense, std::string_view dtype, double density, int rows);

}  // namespace esc
