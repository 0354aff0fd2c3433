// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/stream_schedule.h"
#include "generator/schedule/target.h"

namespace esc {

/// How float32 and tf32 are streamed where blocks that do much with each element of B would fill half of the
/// multiprocessors: two blocks of a cluster share the windows of their panels. The best one and what needs less shared
/// memory; none where other schedules are as fast, or a device has no clusters. Measured with
/// 32 to 256 columns, 512 to 4096 rows and 2048 to 11,008 columns of A, 50 to 90 % zeros
/// (docs/journal/2026-11-26-clusters.md).
std::vector<StreamSchedule> clustered_streams(const LayerShape& shape, const KernelTarget& target);

}  // namespace esc
