// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/packed_form.h"

#include <fmt/format.h>

#include <variant>

#include "generator/schedule/element_types.h"

namespace esc {
namespace {

std::string form_of(const AtomicSchedule& schedule, const LayerShape&) {
  return fmt::format("atomic: row_tile={}", schedule.ufi);
}

std::string form_of(const PanelSchedule& schedule, const LayerShape&) {
  return fmt::format("panel: row_tile={}, warp={}, rows={}", schedule.ufi, schedule.warp_row_tiles(),
                     schedule.ufi * schedule.row_tiles);
}

std::string form_of(const RowsSchedule& schedule, const LayerShape&) {
  return fmt::format("rows: task={}, light={}, warps={}, groups={}", schedule.task, schedule.light, schedule.warps,
                     schedule.warp_groups());
}

/// Which non-zeros are outside of steps, and how many a packed tile has room for, is weighed by what a tile of so many
/// columns takes, for so many K tiles at once.
std::string form_of(const StreamSchedule& schedule, const LayerShape& shape) {
  const bool has_boxes = schedule.copies == StreamSchedule::Copies::tma && is_half_type(shape.dtype);
  return fmt::format(
      "stream: tile={}x{}, rows={}, warps={}, share={}, cluster={}, ahead={}, format={}, sparse14={}, lines={}",
      schedule.row_tiles, schedule.columns, schedule.rows, schedule.warps, schedule.share, schedule.cluster,
      schedule.ahead, static_cast<int>(schedule.dense), schedule.sparse14,
      has_boxes ? line_rows_of_boxes(schedule.columns, shape.columns, shape.bcol) : 1);
}

std::string form_of(const GatherSchedule& schedule, const LayerShape&) {
  return fmt::format("gather: sets={}, warps={}", schedule.sets, schedule.warps);
}

std::string form_of(const BitmapSchedule&, const LayerShape&) { return "bitmap"; }

}  // namespace

std::string packed_form(const Schedule& schedule, const LayerShape& shape) {
  return std::visit([&](const auto& one) { return form_of(one, shape); }, schedule);
}

}  // namespace esc
