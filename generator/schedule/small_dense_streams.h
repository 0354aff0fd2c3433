// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/stream_schedule.h"
#include "generator/schedule/target.h"

namespace esc {

/// The schedules with dense steps that are expected to take less time than family panel, the fastest first, for layers
/// of float32 or TF32 that a GPU multiplies in a few microseconds: with B in rows of 64 columns and more, where a row
/// of B that is copied once serves many rows of A. None for other layers, and for GPUs without clusters.
std::vector<StreamSchedule> small_dense_streams(const LayerShape& shape, const KernelTarget& target);

}  // namespace esc
