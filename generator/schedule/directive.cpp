#include "generator/schedule/directive.h"

#include <fmt/format.h>

namespace esc {
namespace {

std::string text(const Unroll& unroll) { return fmt::format("unroll({}, {})", unroll.loop, unroll.factor); }
std::string text(const MapGrid& map) { return fmt::format("map({}, grid)", map.loop); }
std::string text(const MapLanes& map) {
  return fmt::format("map({}, {}, threads={})", map.loop, map.columns, map.threads);
}
std::string text(const Transform& transform) { return fmt::format("transform({})", transform.array); }
std::string text(const Compact&) { return "compact()"; }
std::string text(const MergePatterns&) { return "merge()"; }
std::string text(const MapPanels& map) {
  return fmt::format("map({}, grid, panels={}, warp={})", map.loop, map.panels, map.warp_panels);
}
std::string text(const MapTiles& map) {
  return fmt::format("map({}, grid, columns={}, vector={})", map.loop, map.columns, map.vector);
}
std::string text(const SplitColumns& split) {
  return fmt::format("split({}, warps={}, groups={})", split.loop, split.warps, split.groups);
}
std::string text(const ReduceSums&) { return "reduce()"; }
std::string text(const PackRegions& pack) { return fmt::format("transform({}, regions, {})", pack.array, pack.multiple); }
std::string text(const StageRegions& stage) { return fmt::format("stage({})", stage.array); }
std::string text(const CutRows& cut) { return fmt::format("cut({}, {})", cut.loop, cut.task); }
std::string text(const PackTasks& pack) { return fmt::format("transform({}, tasks, light={})", pack.array, pack.light); }
std::string text(const MapTasks& map) {
  return fmt::format("map({}, grid, warps={}, groups={})", map.loop, map.warps, map.groups);
}

}  // namespace

std::string print(const Directive& directive) {
  return std::visit([](const auto& one) { return text(one); }, directive);
}

std::string print(const std::vector<Directive>& directives) {
  std::string joined;
  for (const Directive& directive : directives) {
    joined += (joined.empty() ? "" : ", ") + print(directive);
  }
  return joined;
}

}  // namespace esc
