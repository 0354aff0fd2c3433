#include "generator/emit/launch_plan.h"

#include "generator/emit/panel_source.h"

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
          .grid_x = static_cast<unsigned int>(format.shape.blocks()),
          .grid_y = static_cast<unsigned int>((layer.bcol + schedule.columns - 1) / schedule.columns),
          .threads = static_cast<unsigned int>(schedule.threads()),
          .shared_bytes = panel_shared_bytes(schedule, format),
          .programmatic = schedule.pdl,
          .sizes = {static_cast<unsigned int>(layer.statistics.rows), static_cast<unsigned int>(format.region_bytes)}};
}

}  // namespace

LaunchPlan launch_plan(const Layer& layer) {
  return std::visit([&](const auto& schedule) { return plan(schedule, layer); }, layer.choice.schedule);
}

}  // namespace esc
