// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/schedule/schedule_database.h"
#include "tuner/publish/loss_table.h"

namespace esc::tuning {

/// A layer gets an entry of its own where the schedule that the classes give for it takes this many times as long as
/// its best one, or was not measured on it: 2 % is about what two measurements of one kernel differ by.
constexpr double least_gain_of_layer = 1.02;

/// What a device's measurements say of layers in general: for each bCol a portfolio of candidates, the classes with
/// what each candidate loses in them, and the single schedule for all.
ScheduleDatabase publish_classes(const MeasuredDevice& device);

/// The same with the layers that gain over what it gives for them. A pure function: the same measurements give the same
/// database.
ScheduleDatabase publish(const MeasuredDevice& device);

}  // namespace esc::tuning
