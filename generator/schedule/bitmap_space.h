// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/bitmap_schedule.h"

namespace esc {

/// The schedules of family bitmap that may be the fastest for so many columns of B, those of bitmaps and, where a
/// matrix allows it (`sparse24`), of two of each four elements. Some are beyond a GPU's shared memory or registers.
std::vector<BitmapSchedule> bitmap_space(const ProductColumns& given, bool sparse24 = false);

}  // namespace esc
