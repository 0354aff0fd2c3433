// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/packed_form.h"

#include <fmt/format.h>

#include <variant>

namespace esc {
namespace {

std::string form_of(const AtomicSchedule& schedule) { return fmt::format("atomic: row_tile={}", schedule.ufi); }

std::string form_of(const PanelSchedule& schedule) {
  return fmt::format("panel: row_tile={}, warp={}, rows={}", schedule.ufi, schedule.warp_row_tiles(),
                     schedule.ufi * schedule.row_tiles);
}

std::string form_of(const RowsSchedule& schedule) {
  return fmt::format("rows: task={}, light={}, warps={}, groups={}", schedule.task, schedule.light, schedule.warps,
                     schedule.warp_groups());
}

/// Which non-zeros are outside of steps, and how many a packed tile has room for, is weighed by what a tile of so many
/// columns takes, for so many K tiles at once.
std::string form_of(const StreamSchedule& schedule) {
  return fmt::format("stream: tile={}x{}, rows={}, warps={}, share={}, cluster={}, ahead={}, format={}",
                     schedule.row_tiles, schedule.columns, schedule.rows, schedule.warps, schedule.share,
                     schedule.cluster, schedule.ahead, static_cast<int>(schedule.dense));
}

std::string form_of(const GatherSchedule& schedule) {
  return fmt::format("gather: sets={}, warps={}", schedule.sets, schedule.warps);
}

std::string form_of(const BitmapSchedule& schedule) { return schedule.is_sparse24() ? "sparse24" : "bitmap"; }

}  // namespace

std::string packed_form(const Schedule& schedule) {
  return std::visit([&](const auto& one) { return form_of(one); }, schedule);
}

}  // namespace esc
