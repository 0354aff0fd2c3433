// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/report/table.h"
#include "generator/schedule/database_files.h"

namespace esc::tuning {

/// What a user's corrections say of a family on a device, in an element type and a layout.
struct CorrectionGroup {
  DeviceKey device;
  std::string dtype;
  std::string layout;
  std::string family;
  std::size_t products = 0;
  std::size_t kernels = 0;
  double ratio = 1;  ///< measured times over those that are expected without them: geometric mean
};

/// By device, element type, layout and family, sorted.
std::vector<CorrectionGroup> correction_groups(const UserMeasurements& measurements);

/// One row for each of the user's devices, databases and groups of corrections.
Table device_table(const std::vector<Device>& devices);
Table database_table(const std::vector<ScheduleDatabase>& databases);
Table correction_table(const std::vector<CorrectionGroup>& groups);

/// Those that are not empty, one after the other.
std::string user_tables(const UserMeasurements& measurements);

/// The same as JSON, one result.
std::string user_json(const UserMeasurements& measurements);

}  // namespace esc::tuning
