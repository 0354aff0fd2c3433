// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/schedule/schedule.h"

namespace esc {

/// What of a schedule decides how a matrix is packed. Schedules of one form pack every matrix of these sizes into the
/// same bytes, so that kernels for several numbers of columns of C share them: "row tile: row_tile=2, warp=4, rows=16".
std::string packed_form(const Schedule& schedule);

}  // namespace esc
