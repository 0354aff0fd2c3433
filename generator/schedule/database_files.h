// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "generator/schedule/device_catalog.h"
#include "generator/schedule/gone_schedules.h"
#include "generator/schedule/schedule_database.h"

namespace esc {

/// What a user has measured, as `--database` names it.
struct UserMeasurements {
  std::vector<ScheduleDatabase> databases = {};      ///< one for each layout of each file, in the order of their names
  std::vector<Device> devices = {};                  ///< as their files say
  std::vector<DeviceMeasurements> corrections = {};  ///< one for each device
  /// What this program knows, with those devices and corrections laid over it.
  std::shared_ptr<const DeviceCatalog> catalog = std::make_shared<DeviceCatalog>();
  std::vector<GoneEntries> gone = {};  ///< of the files that have any

  /// Whether there is anything by which schedules are chosen otherwise than by this program alone.
  bool is_empty() const { return databases.empty() && devices.empty() && corrections.empty(); }
};

/// Reads a file, or those of a folder that `esctune publish` and `esctune calibrate` have written, told apart by what
/// is in them: schedule databases, corrections and devices. Other files of a folder are passed over. Throws UserError
/// for what cannot be read, what is none of these (place: file and line), two devices of a name, and a folder that has
/// none of them.
UserMeasurements read_measurements(const std::filesystem::path& file_or_folder);

/// Whether it is a folder, or a file that says by its first lines that it is one of these.
bool holds_measurements(const std::filesystem::path& file_or_folder);

/// What decides the choice of schedules in these files, as one text: the same for the same measurements.
std::string print(const UserMeasurements& measurements);

}  // namespace esc
