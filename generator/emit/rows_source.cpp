#include "generator/emit/rows_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "generator/emit/dependent_launch.h"
#include "generator/emit/kernel_holes.h"
#include "generator/emit/templates.h"
#include "generator/emit/text_template.h"

namespace esc {
namespace {

using transformer::TaskFormat;

const RowsSchedule& schedule_of(const Layer& layer) { return std::get<RowsSchedule>(layer.choice.schedule); }
const TaskFormat& format_of(const Layer& layer) { return std::get<TaskFormat>(layer.format); }

}  // namespace

ZeroingShape zeroing_shape(const Layer& layer) {
  const auto wanted = static_cast<unsigned int>(std::min<std::int64_t>(layer.bcol, ZeroingShape::threads));
  const unsigned int row_threads = std::bit_ceil(wanted);
  const std::uint64_t block_rows = ZeroingShape::threads / row_threads;
  const std::uint64_t split_rows = format_of(layer).counts.split_rows;
  return {row_threads, static_cast<unsigned int>((split_rows + block_rows - 1) / block_rows)};
}

std::string rows_device_source(const Layer& layer) {
  const RowsSchedule& schedule = schedule_of(layer);
  return fill(rows_device_template, {{"NAME", layer.name},
                                     {"BCOL", number(layer.bcol)},
                                     {"TILE", number(schedule.columns)},
                                     {"VECTOR", number(schedule.vector)},
                                     {"UNROLL", number(schedule.unroll)},
                                     {"WARPS", number(schedule.warps)},
                                     {"ZEROING_THREADS", number(ZeroingShape::threads)},
                                     {"ROW_THREADS", number(zeroing_shape(layer).row_threads)},
                                     {"PARTS", fill(lane_parts_template, {})},
                                     {"ADD_GROUPS", fill(lane_sums_template, {})},
                                     {"DEPENDENCY", dependency_functions(schedule.pdl)},
                                     {"ALLOW", allow_successor_call(schedule.pdl)},
                                     {"WAIT", wait_call(schedule.pdl)}});
}

std::string rows_kernel_source(const Layer& layer) {
  const RowsSchedule& schedule = schedule_of(layer);
  const TaskFormat& format = format_of(layer);
  return fill(rows_kernel_template, kernel_holes(layer, {{"TASK", number(schedule.task)},
                                     {"LIGHT", number(schedule.light)},
                                     {"DEVICE", rows_device_source(layer)},
                                     {"HEAVY", number(format.counts.heavy)},
                                     {"TASKS", number(format.counts.tasks)},
                                     {"SPLIT_ROWS", number(format.counts.split_rows)},
                                     {"BLOCKS", number(format.blocks())},
                                     {"ZEROING_BLOCKS", number(zeroing_shape(layer).blocks)},
                                     {"LAUNCH_ATTRIBUTES", launch_attributes(schedule.pdl)}}));
}

}  // namespace esc
