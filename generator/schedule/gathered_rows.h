// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/target.h"

namespace esc {

/// The schedules of family gather for float32 and TF32 layers of few non-zeros, 2048 columns and 2^22 elements of A and
/// more, whose rows of equal lengths go through 32 columns of B and more in layout kn: the one whose busiest
/// multiprocessor has the fewest rows, and one of smaller blocks for where its lists do not fit. None where a
/// multiprocessor has so few entries in a window that waiting for windows takes longer, and for GPUs before compute
/// capability 9.0.
std::vector<ScheduleChoice> gathered_rows(const LayerShape& shape, const KernelTarget& target);

/// Whether such a layer is so sparse that the schedules of gathered_rows are faster than those that stream it through
/// tensor cores.
bool gathers_faster_than_streams(const LayerShape& shape);

}  // namespace esc
