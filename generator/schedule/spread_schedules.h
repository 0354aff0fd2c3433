// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"

namespace esc {

/// What `auto` takes for nests whose rows of B do not have their columns one behind the other (layout nk and its like),
/// behind what the databases know: by a rule, the best guess first. A lane holds eight columns of C there, and the
/// lanes of a warp take columns of A. All are legal for every bCol >= 1; whether one is for the matrix too shows when
/// that is packed. The last one, of family rows, takes every matrix; power laws of row lengths have it alone.
std::vector<ScheduleChoice> spread_schedules(const LayerShape& shape);

}  // namespace esc
