#include "generator/schedule/scheduler.h"

#include <fmt/format.h>

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

}  // namespace

ScheduleChoice choose_schedule(long long bcol) {
  const Published* best = &published[0];
  for (const Published& candidate : published) {
    if (candidate.bcol <= bcol) {
      best = &candidate;
    }
  }
  return {best->schedule, fmt::format("default: best single schedule published for the A100 at bCol {}", best->bcol)};
}

}  // namespace esc
