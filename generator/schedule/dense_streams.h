// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/stream_schedule.h"
#include "generator/schedule/target.h"

namespace esc {

/// The schedules with dense steps that were measured to be the fastest, the best first, for large layers of float32, or
/// TF32, with B in rows of 32 columns and more whose non-zeros are so many that steps of the sparse tensor core are
/// hardly fewer, or which are listed in less time; none for others, for matrices whose blocks are few, and for GPUs
/// without clusters.
std::vector<StreamSchedule> dense_streams(const LayerShape& shape, const KernelTarget& target);

}  // namespace esc
