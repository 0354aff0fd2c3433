// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/fitted_schedule.h"

#include <algorithm>

namespace esc {
namespace {

Schedule fit(PanelSchedule schedule, const ProductColumns& columns) {
  schedule.columns = std::min(schedule.columns, widest_tile(columns));
  schedule.vector = std::min({schedule.vector, schedule.columns, widest_vector(columns)});
  schedule.columns = std::min(schedule.columns, 32 * schedule.vector);
  schedule.groups = std::min(schedule.groups, schedule.warp_groups());
  schedule.row_tiles = std::max(schedule.row_tiles, schedule.warp_row_tiles());
  while (schedule.block_warps() > PanelSchedule::max_warps) {
    int& parameter = schedule.row_tiles > schedule.warp_row_tiles() ? schedule.row_tiles : schedule.warps;
    parameter /= 2;
  }
  return schedule;
}

Schedule fit(RowsSchedule schedule, const ProductColumns& columns) {
  schedule.columns = std::min(schedule.columns, widest_tile(columns));
  schedule.vector = std::min({schedule.vector, schedule.columns, widest_vector(columns)});
  schedule.columns = std::min(schedule.columns, 32 * schedule.vector);
  return schedule;
}

Schedule fit(AtomicSchedule schedule, const ProductColumns& columns) {
  const auto widest = static_cast<int>(std::clamp(columns.count / 32 * 32, 32LL, 1LL * AtomicSchedule::max_threads));
  schedule.threads = std::min(schedule.threads, widest);
  schedule.warptile = std::min(schedule.warptile, widest / 32);
  return schedule;
}

Schedule fit(StreamSchedule schedule, const ProductColumns& columns) {
  schedule.columns = std::clamp(schedule.columns, 8, std::max(8, widest_tile(columns)));
  return schedule;
}

Schedule fit(const GatherSchedule& schedule, const ProductColumns&) { return schedule; }

Schedule fit(BitmapSchedule schedule, const ProductColumns& columns) {
  const int widest = widest_bitmap_tile(columns.count);
  if (widest < BitmapSchedule::least_warpgroup_columns) {
    schedule.mma = BitmapSchedule::Mma::warp;
  }
  schedule.columns = std::min(schedule.columns, widest);
  return schedule;
}

}  // namespace

Schedule fitted(const Schedule& schedule, const ProductColumns& columns) {
  return std::visit([&](const auto& one) { return fit(one, columns); }, schedule);
}

}  // namespace esc
