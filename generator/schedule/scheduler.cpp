#include "generator/schedule/scheduler.h"

#include <fmt/format.h>

#include <algorithm>

namespace esc {
namespace {

struct Published {
  long long bcol;
  AtomicSchedule schedule;
};

/// Best single schedule over all matrices on an A100 (paper, 4.4), by ascending bCol.
constexpr Published published[] = {
    {32, {.ufi = 4, .ufk = 7, .warptile = 1, .threads = 32}},
    {64, {.ufi = 3, .ufk = 7, .warptile = 2, .threads = 32}},
    {128, {.ufi = 3, .ufk = 8, .warptile = 2, .threads = 64}},
};

/// The entry's class in words.
std::string describe(const DatabaseEntry& entry) {
  return fmt::format("about {} columns of B, {} x {}, 1 of {} elements non-zero", 1LL << entry.layers.bcol,
                     1LL << entry.layers.rows, 1LL << entry.layers.columns, 1LL << entry.layers.sparsity);
}

}  // namespace

PanelSchedule fitted(PanelSchedule schedule, long long bcol) {
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

ScheduleChoice uneven_rows_schedule(long long bcol) {
  RowsSchedule schedule = bcol < 32 ? RowsSchedule{.columns = widest_tile(bcol), .unroll = 4, .task = 512, .light = 16}
                                    : RowsSchedule{.columns = 32, .unroll = 4, .task = 256, .light = 64};
  schedule.vector = std::min({schedule.vector, schedule.columns, widest_vector(bcol)});
  return {schedule, "default: measured on power laws of row lengths on one NVIDIA H200"};
}

ScheduleChoice published_schedule(long long bcol) {
  const Published* best = &published[0];
  for (const Published& candidate : published) {
    if (candidate.bcol <= bcol) {
      best = &candidate;
    }
  }
  return {best->schedule, fmt::format("default: best single schedule published for the A100 at bCol {}", best->bcol)};
}

ScheduleChoice choose_schedule(const LayerShape& shape) {
  const auto match = shipped_database().nearest(shape);
  if (!match) {
    return published_schedule(shape.bcol);
  }
  Schedule schedule = match->entry.schedule;
  if (const auto* panel = std::get_if<PanelSchedule>(&schedule)) {
    schedule = fitted(*panel, shape.bcol);
  }
  const bool same_class = class_of(shape) == match->entry.layers;
  return {schedule, fmt::format("database: {}, {} of {}", shipped_database().device(),
                                same_class ? "the class" : "the nearest class", describe(match->entry))};
}

}  // namespace esc
