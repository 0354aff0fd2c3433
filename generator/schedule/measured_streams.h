// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/stream_schedule.h"
#include "generator/schedule/target.h"

namespace esc {

/// The schedules of family stream that were measured for float32 where B lies as the layer's does, in rows or as images
/// whose channels lie apart, those that shared memory is expected to have room for, by the time that each is expected
/// to take. For tf32 too.
std::vector<StreamSchedule> measured_streams(const LayerShape& shape, const KernelTarget& target);

}  // namespace esc
