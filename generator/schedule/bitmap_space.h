// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/bitmap_schedule.h"

namespace esc {

/// The schedules of family bitmap that may be the fastest for so many columns of B. Some are beyond a GPU's shared
/// memory or registers.
std::vector<BitmapSchedule> bitmap_space(const ProductColumns& given);

}  // namespace esc
