#include "generator/schedule/scheduler.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/schedule/class_interpolation.h"
#include "generator/support/error.h"

namespace esc {
namespace {

Schedule fit(PanelSchedule schedule, long long bcol) {
  schedule.columns = std::min(schedule.columns, widest_tile(bcol));
  schedule.vector = std::min({schedule.vector, schedule.columns, widest_vector(bcol)});
  schedule.columns = std::min(schedule.columns, 32 * schedule.vector);
  schedule.groups = std::min(schedule.groups, schedule.warp_groups());
  schedule.panels = std::max(schedule.panels, schedule.warp_panels());
  while (schedule.block_warps() > PanelSchedule::max_warps) {
    int& parameter = schedule.panels > schedule.warp_panels() ? schedule.panels : schedule.warps;
    parameter /= 2;
  }
  return schedule;
}

Schedule fit(RowsSchedule schedule, long long bcol) {
  schedule.columns = std::min(schedule.columns, widest_tile(bcol));
  schedule.vector = std::min({schedule.vector, schedule.columns, widest_vector(bcol)});
  schedule.columns = std::min(schedule.columns, 32 * schedule.vector);
  return schedule;
}

Schedule fit(AtomicSchedule schedule, long long bcol) {
  const auto widest = static_cast<int>(std::clamp(bcol / 32 * 32, 32LL, 1LL * AtomicSchedule::max_threads));
  schedule.threads = std::min(schedule.threads, widest);
  schedule.warptile = std::min(schedule.warptile, widest / 32);
  return schedule;
}

/// Regions of family panel have one size, that of the largest: not for rows of which a few are very long.
bool suits(const Schedule& schedule, const LayerShape& shape) {
  return !follows_power_law(shape) || !std::holds_alternative<PanelSchedule>(schedule);
}

ScheduleChoice family_default(const LayerShape& shape, const ScheduleDatabase& database) {
  const bool power_law = follows_power_law(shape);
  ScheduleChoice choice = power_law ? uneven_rows_schedule(shape.bcol)
                                    : ScheduleChoice{fitted(PanelSchedule{}, shape.bcol), "default: of family panel"};
  choice.source += fmt::format("; the database of {} has nothing for {}", database.describe(),
                               power_law ? "power-law rows" : "such layers");
  return choice;
}

/// Whether a library was faster than the schedule where both were measured, in sentences.
std::vector<std::string> library_notes(const std::string& where, std::optional<double> over_exact,
                                       std::optional<double> over_tf32) {
  std::vector<std::string> notes;
  if (over_exact && *over_exact < 1) {
    notes.push_back(
        fmt::format("{}, cuBLAS or cuSPARSE in float32 was {:.2f} times as fast as this kernel: use that instead",
                    where, 1 / *over_exact));
  }
  if (over_tf32 && *over_tf32 < 1) {
    notes.push_back(
        fmt::format("{}, a dense product in TF32 was {:.2f} times as fast as this kernel, with fewer digits", where,
                    1 / *over_tf32));
  }
  return notes;
}

ScheduleChoice choice_of(const LayerEntry& entry, const ScheduleDatabase& database) {
  const std::string where = fmt::format("for this layer on {}", database.describe());
  return {entry.schedule, fmt::format("database: {}, this very layer", database.describe()),
          library_notes(where, entry.over_exact, entry.over_tf32)};
}

/// A library's time over that of a schedule which takes this many times as long as the best one.
std::optional<double> over_slower(std::optional<double> over_best, double times) {
  return over_best ? std::optional(*over_best / times) : std::nullopt;
}

ScheduleChoice choice_of(const Interpolation& classes, const LayerShape& shape, const ScheduleDatabase& database) {
  const RankedCandidate& best = classes.ranking.front();
  const ClassEntry& nearest = *classes.nearest;
  const std::string whose =
      fmt::format("{} of {}", classes.own_class ? "the class" : "the nearest class", describe(nearest.layers));
  const double times = 1 + nearest.losses[static_cast<std::size_t>(best.candidate->number)].percent / 100;
  std::string source = fmt::format("database: {}, {}", database.describe(), whose);
  if (classes.classes > 1) {
    source += fmt::format(", interpolated between {} classes", classes.classes);
  }
  return {fitted(best.candidate->schedule, shape.bcol), source,
          library_notes(fmt::format("in {} on {}", whose, database.describe()), over_slower(nearest.over_exact, times),
                        over_slower(nearest.over_tf32, times))};
}

ScheduleChoice choice_of(const DefaultEntry& entry, const LayerShape& shape, const ScheduleDatabase& database) {
  return {fitted(entry.schedule, shape.bcol),
          fmt::format("database: {}, the best single schedule at bCol {}", database.describe(), entry.bcol)};
}

}  // namespace

Schedule fitted(const Schedule& schedule, long long bcol) {
  return std::visit([&](const auto& one) { return fit(one, bcol); }, schedule);
}

ScheduleChoice uneven_rows_schedule(long long bcol) {
  const RowsSchedule schedule = bcol < 32
                                    ? RowsSchedule{.columns = widest_tile(bcol), .unroll = 4, .task = 512, .light = 16}
                                    : RowsSchedule{.columns = 32, .unroll = 4, .task = 256, .light = 64};
  return {fitted(schedule, bcol), "default: measured on power laws of row lengths on one NVIDIA H200"};
}

ScheduleChoice published_schedule(long long bcol) {
  const DefaultEntry* entry = published_database().default_for(bcol);
  ESC_CHECK(entry != nullptr, "the database of the A100 has the paper's schedules");
  return {entry->schedule, fmt::format("published: the paper's best single schedule on an A100 at bCol {}", entry->bcol)};
}

ScheduleChoice choose_schedule(const LayerShape& shape, const ScheduleDatabase& database) {
  if (const LayerEntry* entry = database.layer(shape)) {
    return choice_of(*entry, database);
  }
  if (const auto classes = interpolate_classes(database, shape);
      classes && class_distance(shape, classes->nearest->layers) <= farthest_class) {
    return choice_of(*classes, shape, database);
  }
  if (const DefaultEntry* entry = database.default_for(shape.bcol); entry != nullptr && suits(entry->schedule, shape)) {
    return choice_of(*entry, shape, database);
  }
  return family_default(shape, database);
}

}  // namespace esc
