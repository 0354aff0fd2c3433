// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include "generator/schedule/schedule_database.h"

namespace esc {

extern const std::string_view a100_database;
extern const std::string_view h200_database;
extern const std::string_view h200_half_database;

const std::vector<ScheduleDatabase>& shipped_databases() {
  static const std::vector<ScheduleDatabase> databases = [] {
    std::vector<ScheduleDatabase> all;
    for (const auto& [text, file] : {std::pair{h200_database, "sm90-132sm-60mib_f32.txt"},
                                     std::pair{h200_half_database, "sm90-132sm-60mib_f16.txt"},
                                     std::pair{a100_database, "sm80-108sm-40mib_f32.txt"}}) {
      std::ranges::transform(databases_in(text, file), std::back_inserter(all), &ScheduleDatabase::as_shipped);
    }
    return all;
  }();
  return databases;
}

const ScheduleDatabase& shipped_database() { return shipped_databases().front(); }

const ScheduleDatabase& nearest_database(const DeviceKey& device) {
  return nearest_database(shipped_databases(), device);
}

const ScheduleDatabase& published_database() {
  return *std::ranges::find(shipped_databases(), DatabaseOrigin::published,
                            [](const ScheduleDatabase& database) { return database.head().origin; });
}

}  // namespace esc
