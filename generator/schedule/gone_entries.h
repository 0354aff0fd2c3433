// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "generator/schedule/schedule_database.h"

namespace esc {

/// Leaves out the entries whose schedules are gone for the element type (`is_gone`) and returns how many there were.
/// The candidates that are left are numbered anew, whatever gaps there are between them, and classes have the losses
/// of those alone; one without any goes.
std::size_t leave_out_gone(DatabaseEntries& entries, std::string_view dtype);

}  // namespace esc
