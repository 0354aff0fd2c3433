// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/gathered_rows.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "generator/schedule/gather_times.h"
#include "generator/schedule/quotient_up.h"

namespace esc {
namespace {

constexpr double large_elements = 4096.0 * 4096;

/// 28,672 x 8192, 8192 x 8192, 13,824 x 5120, 4096 x 11,008, 11,008 x 4096, 5120 x 5120, 4096 x 4096, 2048 x 8192 and,
/// of the smaller ones, 3072 x 3072, 2048 x 4096, 4096 x 2048 and 2048 x 2048, with 32 to 256 columns. B of what is
/// smaller stays in the cache.
bool is_of_measured_sizes(const LayerShape& shape) {
  constexpr double smallest = 2048.0 * 2048;
  constexpr std::int64_t least_columns = 2048;
  return can_gather(shape.dtype, shape.layout) && shape.bcol >= GatherSchedule::columns &&
         shape.elements() >= smallest && shape.columns >= least_columns && !follows_power_law(shape);
}

std::int64_t tiles_of(const LayerShape& shape) { return quotient_up(shape.bcol, GatherSchedule::columns); }

double entries_of_window(const LayerShape& shape) { return shape.density() * GatherSchedule::window_columns; }

/// How many blocks the busiest multiprocessor has one after the other.
std::int64_t turns_of(const GatherSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  return quotient_up(quotient_up(shape.rows, schedule.block_rows()) * tiles_of(shape), target.multiprocessors);
}

/// What that takes, in the time of a set of four rows: few warps wait longer, and each block waits for its windows, as
/// long as some hundred entries of four rows take.
double cost_of(const GatherSchedule& schedule, std::int64_t turns, double window_entries) {
  constexpr double entries_of_wait = 89;
  return static_cast<double>(turns) * (schedule.warps * schedule.sets * gather_times::slowed_by_few_warps(schedule) +
                                       entries_of_wait / (window_entries + gather_times::filled_up));
}

/// Whether lanes have registers for their sums, those of a turn, and entries read ahead. Those of a scheduler's warps
/// are dealt in eights, and the warp that asks is one of them.
bool has_registers(const GatherSchedule& schedule) {
  constexpr std::int64_t registers = 16384, schedulers = 4, lanes = 32, dealt = 8;
  constexpr std::int64_t of_set = 12, of_all = 24;
  const std::int64_t warps = quotient_up(schedule.warps + 1, schedulers);
  return of_all + of_set * schedule.sets <= registers / (warps * lanes) / dealt * dealt;
}

/// The cheapest of those whose lists and sums fit, with so many sets at most; of equal ones the one with the fewest
/// warps.
std::optional<GatherSchedule> cheapest(const LayerShape& shape, const KernelTarget& target, int most_sets) {
  constexpr int fewest_warps = 6;
  std::optional<GatherSchedule> best;
  double least = std::numeric_limits<double>::infinity();
  for (int sets = most_sets; sets >= 1; --sets) {
    for (int warps = fewest_warps; warps <= GatherSchedule::max_warps; ++warps) {
      const GatherSchedule schedule{.sets = sets, .warps = warps};
      const double cost = cost_of(schedule, turns_of(schedule, shape, target), entries_of_window(shape));
      if (cost < least && has_registers(schedule) &&
          shared_bytes(schedule, entries_of_window(shape)) <= target.shared_bytes) {
        best = schedule;
        least = cost;
      }
    }
  }
  return best;
}

/// Whether multiplying takes so long that the copies of the next window are behind it: entries that a multiprocessor
/// has in a window, for each row that stands beside three others.
bool hides_copies(const LayerShape& shape, const KernelTarget& target) {
  constexpr double least_of_few_elements = 140;
  constexpr double least = 115;
  constexpr double least_of_many_columns = 95;  ///< where launch and store are a small part of all
  constexpr std::int64_t many_columns = 8192;
  const double sets = static_cast<double>(shape.rows) / GatherSchedule::set_rows *
                      static_cast<double>(tiles_of(shape)) / target.multiprocessors;
  return sets * entries_of_window(shape) >= (shape.columns >= many_columns        ? least_of_many_columns
                                             : shape.elements() >= large_elements ? least
                                                                                  : least_of_few_elements);
}

}  // namespace

bool gathers_faster_than_streams(const LayerShape& shape) {
  const std::int64_t tiles = tiles_of(shape);
  const double densest = shape.dtype == "f32" ? (tiles == 1 ? 0.16 : 0.085)
                         : tiles == 1         ? 0.11
                         : tiles == 2         ? 0.055
                                              : 0.03;
  return shape.density() <= densest;
}

std::vector<ScheduleChoice> gathered_rows(const LayerShape& shape, const KernelTarget& target) {
  constexpr double densest = 0.16;
  if (!is_of_measured_sizes(shape) || shape.density() > densest || !hides_copies(shape, target) ||
      target.oldest_architecture < GatherSchedule::least_architecture) {
    return {};
  }
  const std::optional<GatherSchedule> best = cheapest(shape, target, GatherSchedule::max_sets);
  if (!best) {
    return {};
  }
  const char* const source =
      "by rule: large layers of few non-zeros gather rows of B from shared memory; measured on one NVIDIA H100";
  std::vector<ScheduleChoice> choices{{*best, source}};
  if (best->sets > 1) {
    choices.push_back({*cheapest(shape, target, best->sets - 1), source});
  }
  return choices;
}

}  // namespace esc
