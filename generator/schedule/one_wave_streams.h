// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/stream_schedule.h"
#include "generator/schedule/target.h"

namespace esc {

/// Whether C has blocks of 32 rows and 32 columns, the smallest that stream float32 well, for about all
/// multiprocessors.
bool fills_one_wave(const LayerShape& shape);

/// Whether a layer of float32 or tf32 with B in rows that is too small to fill the device with streams several times
/// over was measured to be faster streamed than with a kernel that skips zeros: the more columns of C, the more zeros
/// its empty slots may hold.
bool pays_in_one_wave(const LayerShape& shape);

/// The schedule for it, and one that asks for less shared memory: blocks so large that each multiprocessor has about
/// one, or two.
std::vector<StreamSchedule> one_wave_streams(const LayerShape& shape, const KernelTarget& target);

}  // namespace esc
