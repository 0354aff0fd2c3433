// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/run/tuning_run.h"

namespace esc::tuning {

/// What a GPU that nobody has measured is calibrated by: synthetic layers of sizes, zeros, columns of B, element types
/// and layouts that lie far apart, the same everywhere. None of them is a file: their names say what they are.
std::vector<ItemRequest> calibration_items();

/// The matrix of one of them. Throws Defect for another name.
SparseMatrix calibration_matrix(const std::string& name, ScalarType element);

/// What is measured of an item: of each family the schedule that is expected to be the fastest, the best first.
std::vector<Schedule> calibration_schedules(const WorkItem& item);

/// The run that measures them: no libraries, no finals.
RunRequest calibration_request();

}  // namespace esc::tuning
