#include "generator/pipeline.h"

#include <functional>
#include <utility>

#include "generator/lower/canonicalize.h"
#include "generator/lower/coarsen.h"
#include "generator/lower/compact.h"
#include "generator/lower/cut_rows.h"
#include "generator/lower/enumerate.h"
#include "generator/lower/map_blocks.h"
#include "generator/lower/map_panels.h"
#include "generator/lower/map_tasks.h"
#include "generator/lower/map_threads.h"
#include "generator/lower/map_tiles.h"
#include "generator/lower/merge_patterns.h"
#include "generator/lower/pack_regions.h"
#include "generator/lower/pack_tasks.h"
#include "generator/lower/panel_nest.h"
#include "generator/lower/reduce_sums.h"
#include "generator/lower/share_tasks.h"
#include "generator/lower/split_columns.h"
#include "generator/lower/stage_regions.h"
#include "generator/lower/sum_tasks.h"
#include "generator/lower/transform_data.h"
#include "generator/lower/unroll.h"
#include "generator/lower/unroll_steps.h"
#include "generator/lower/unroll_tasks.h"

namespace esc {
namespace {

using Patterns = std::optional<std::vector<Pattern>>;
using Visit = std::function<void(const std::string&, const LoopNest&)>;

/// A directive on the nest; the row loop is enumerated as soon as it is unrolled, which no directive says.
class Pipeline {
 public:
  Pipeline(LoopNest nest, const Patterns& patterns, const Visit& visit)
      : nest_(std::move(nest)), patterns_(patterns), visit_(visit) {
    visit_("input", nest_);
    step("canonicalize", canonicalize(nest_));
  }

  void apply(const Unroll& directive) {
    if (directive.loop == "k") {
      step(print(Directive(directive)), has_tasks(nest_)   ? unroll_tasks(nest_, directive)
                                        : has_tiles(nest_) ? unroll_steps(nest_, directive)
                                                           : coarsen(nest_, directive));
      return;
    }
    step(print(Directive(directive)), unroll(nest_, directive));
    step("enumerate", enumerate(nest_, patterns_));
  }
  void apply(const MapGrid& directive) { step(print(Directive(directive)), map_blocks(nest_, directive)); }
  void apply(const MapLanes& directive) { step(print(Directive(directive)), map_threads(nest_, directive)); }
  void apply(const Transform& directive) { step(print(Directive(directive)), transform_data(nest_, directive)); }
  void apply(const Compact& directive) { step(print(Directive(directive)), compact(nest_)); }
  void apply(const MergePatterns& directive) { step(print(Directive(directive)), merge_patterns(nest_, directive)); }
  void apply(const MapPanels& directive) { step(print(Directive(directive)), map_panels(nest_, directive)); }
  void apply(const MapTiles& directive) { step(print(Directive(directive)), map_tiles(nest_, directive)); }
  void apply(const SplitColumns& directive) {
    step(print(Directive(directive)), has_tasks(nest_) ? share_tasks(nest_, directive) : split_columns(nest_, directive));
  }
  void apply(const ReduceSums& directive) {
    step(print(Directive(directive)), has_tasks(nest_) ? sum_tasks(nest_, directive) : reduce_sums(nest_, directive));
  }
  void apply(const PackRegions& directive) { step(print(Directive(directive)), pack_regions(nest_, directive)); }
  void apply(const StageRegions& directive) { step(print(Directive(directive)), stage_regions(nest_, directive)); }
  void apply(const CutRows& directive) { step(print(Directive(directive)), cut_rows(nest_, directive)); }
  void apply(const PackTasks& directive) { step(print(Directive(directive)), pack_tasks(nest_, directive)); }
  void apply(const MapTasks& directive) { step(print(Directive(directive)), map_tasks(nest_, directive)); }

  LoopNest result() && { return std::move(nest_); }

 private:
  void step(const std::string& name, LoopNest nest) {
    nest_ = std::move(nest);
    visit_(name, nest_);
  }

  LoopNest nest_;
  const Patterns& patterns_;
  const Visit& visit_;
};

LoopNest run(const LoopNest& nest, const std::vector<Directive>& directives, const Patterns& patterns,
             const Visit& visit) {
  Pipeline pipeline(nest, patterns, visit);
  for (const Directive& directive : directives) {
    std::visit([&](const auto& one) { pipeline.apply(one); }, directive);
  }
  return std::move(pipeline).result();
}

}  // namespace

std::vector<LoweredStep> lower_by_steps(const LoopNest& nest, const std::vector<Directive>& directives,
                                        const Patterns& patterns) {
  std::vector<LoweredStep> steps;
  run(nest, directives, patterns, [&](const std::string& name, const LoopNest& form) {
    steps.push_back({name, form});
  });
  return steps;
}

LoopNest lower(const LoopNest& nest, const std::vector<Directive>& directives, const Patterns& patterns) {
  return run(nest, directives, patterns, [](const std::string&, const LoopNest&) {});
}

}  // namespace esc
