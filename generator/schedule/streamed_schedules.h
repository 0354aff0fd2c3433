// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/target.h"

namespace esc {

/// What `auto` takes for elements of 16 bits where no database has measurements of them: by a rule, schedules of family
/// stream, the best guess first. Behind it stand schedules that ask for less shared memory, for matrices whose packed
/// form is larger than the rule supposes; the last one fits wherever the family runs. All are legal for every bCol >=
/// 1. None where the family cannot serve the layer or the target, and where kernels that skip zeros were measured to be
/// faster: few non-zeros, a small matrix, rows of very different lengths.
std::vector<ScheduleChoice> streamed_schedules(const LayerShape& shape, const KernelTarget& target);

/// About what the packed matrix of a streamed layer takes, in bytes, where its non-zeros are spread at random; with
/// dense steps of every kind too.
double streamed_bytes(const LayerShape& shape, StreamSchedule::Dense dense);

}  // namespace esc
