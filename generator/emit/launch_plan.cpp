#include "generator/emit/launch_plan.h"

#include "generator/emit/panel_source.h"
#include "generator/emit/rows_source.h"

namespace esc {
namespace {

LaunchPlan plan(const AtomicSchedule& schedule, const Layer& layer) {
  return {.kernel = layer.name + "_kernel<true>",
          .grid_x = static_cast<unsigned int>(std::get<transformer::PackedFormat>(layer.format).counts.lists),
          .threads = static_cast<unsigned int>(schedule.threads),
          .zeroes_c = true};
}

LaunchPlan plan(const PanelSchedule& schedule, const Layer& layer) {
  const auto& format = std::get<transformer::RegionFormat>(layer.format);
  return {.kernel = layer.name + "_kernel<true, true>",
          .grid_x = static_cast<unsigned int>(format.blocks()),
          .grid_y = static_cast<unsigned int>((layer.bcol + schedule.columns - 1) / schedule.columns),
          .threads = static_cast<unsigned int>(schedule.threads()),
          .shared_bytes = panel_shared_bytes(schedule, format),
          .programmatic = schedule.pdl};
}

LaunchPlan plan(const RowsSchedule& schedule, const Layer& layer) {
  const auto& format = std::get<transformer::TaskFormat>(layer.format);
  const auto heavy = static_cast<unsigned int>(format.counts.heavy);
  const auto tasks = static_cast<unsigned int>(format.counts.tasks);
  const auto split_rows = static_cast<unsigned int>(format.counts.split_rows);
  LaunchPlan result{.kernel = layer.name + "_kernel<true, true>",
                    .grid_x = static_cast<unsigned int>(format.blocks()),
                    .grid_y = static_cast<unsigned int>((layer.bcol + schedule.columns - 1) / schedule.columns),
                    .threads = static_cast<unsigned int>(schedule.threads()),
                    .programmatic = schedule.pdl,
                    .sizes = {heavy, tasks, split_rows}};
  if (split_rows != 0) {
    result.zeroing = LaunchPlan::Zeroing{.kernel = layer.name + "_zero_rows",
                                         .grid_x = zeroing_shape(layer).blocks,
                                         .threads = ZeroingShape::threads,
                                         .sizes = {tasks, split_rows}};
  }
  return result;
}

}  // namespace

std::vector<std::string> kernels_of(const LaunchPlan& plan) {
  std::vector<std::string> kernels{plan.kernel};
  if (plan.zeroing) {
    kernels.push_back(plan.zeroing->kernel);
  }
  return kernels;
}

LaunchPlan launch_plan(const Layer& layer) {
  return std::visit([&](const auto& schedule) { return plan(schedule, layer); }, layer.choice.schedule);
}

}  // namespace esc
