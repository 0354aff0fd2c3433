// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/commands/layer_task.h"

namespace esc {

/// All that auto may choose, the best first: by the databases, or by a rule where these say nothing of such columns.
std::vector<ScheduleChoice> ranking_of(const LayerTask& task, const GenerateMode& mode);

/// What auto falls back to after its ranking: a schedule that takes every matrix and, where the nest has an epilogue,
/// gives each row to threads that have all of its sum.
ScheduleChoice last_resort(const LayerTask& task);

/// The fastest schedule of family bitmap for a layer, by expectation, that the matrix of the task allows, which may be
/// a part of the layer's.
ScheduleChoice bitmap_choice(const LayerTask& task, const LayerShape& layer);

}  // namespace esc
