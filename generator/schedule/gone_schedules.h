// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "generator/schedule/schedule.h"

namespace esc {

// Schedules that the releases before had and this one has not: those of family stream in 16 bits, in whose place family
// bitmap is. Databases, corrections and journals that name them are read without them.

/// Whether a text is of those that only kernels of 16 bits had, which parse_schedule refuses: streams with sparse14,
/// and of one column.
bool is_gone(std::string_view text);

/// Whether a schedule is gone for elements of this type.
bool is_gone(const Schedule& schedule, std::string_view dtype);
bool is_gone(std::string_view text, std::string_view dtype);

/// What of a file is left out because it names them.
struct GoneEntries {
  std::string file;
  std::size_t count = 0;
  bool operator==(const GoneEntries&) const = default;
};

/// "mine.txt: 12 entries name schedules that this version does not have (family stream in 16 bits); they are left out".
std::string describe(const GoneEntries& gone);

}  // namespace esc
