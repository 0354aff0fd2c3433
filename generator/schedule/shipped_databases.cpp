#include <algorithm>
#include <utility>

#include "generator/schedule/schedule_database.h"

namespace esc {

extern const std::string_view a100_database;
extern const std::string_view h200_database;

namespace {

bool is_measured(const ScheduleDatabase& database) { return database.head().origin == DatabaseOrigin::measured; }

}  // namespace

const std::vector<ScheduleDatabase>& shipped_databases() {
  static const std::vector<ScheduleDatabase> databases{
      ScheduleDatabase::parse(h200_database, "sm90-132sm-60mib_f32.txt"),
      ScheduleDatabase::parse(a100_database, "sm80-108sm-40mib_f32.txt")};
  return databases;
}

const ScheduleDatabase& shipped_database() { return shipped_databases().front(); }

const ScheduleDatabase& nearest_database(const DeviceKey& device) {
  return *std::ranges::min_element(shipped_databases(), {}, [&](const ScheduleDatabase& database) {
    return std::pair(!is_measured(database), device_distance(device, database.head().key));
  });
}

const ScheduleDatabase& published_database() {
  return *std::ranges::find_if_not(shipped_databases(), is_measured);
}

}  // namespace esc
