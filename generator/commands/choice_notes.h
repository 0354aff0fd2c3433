// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/commands/layer_task.h"

namespace esc {

// What is said of a schedule that was chosen: in notes for the user, and in the source that the manifest has.

std::string no_gpu_note();

/// Whether the kernel is built for devices that cannot all be the one whose schedule auto takes.
bool is_shared(const LayerRequest& request);
std::string sharing_note(const LayerRequest& request);
/// The choice with a word, for the manifest too, on whose it is, where devices share it.
ScheduleChoice with_sharing_note(ScheduleChoice choice, const LayerRequest& request);

/// The choice beside a dense product on the device that it is made for.
ScheduleChoice beside_dense(ScheduleChoice choice, const LayerTask& task);

/// The choice with what was measured of this layer's like with exactly this schedule, on this device, without an
/// epilogue: or with why nothing was, and where dense is known to be faster.
ScheduleChoice with_measurements(ScheduleChoice choice, const LayerTask& task);

/// All of that, with a word on the device and on the type of its measurements.
ScheduleChoice with_notes(ScheduleChoice choice, const LayerTask& task);

}  // namespace esc
