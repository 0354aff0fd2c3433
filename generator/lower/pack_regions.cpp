#include "generator/lower/pack_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/lower/mapped_nest.h"
#include "generator/lower/panel_nest.h"
#include "generator/schedule/panel_schedule.h"

namespace esc {
namespace {

void check_directive(const LoopNest& nest, const PackRegions& directive) {
  const bool sparse = std::ranges::any_of(nest.arrays, [&](const ArrayDeclaration& array) {
    return array.role == ArrayRole::sparse && array.name == directive.array;
  });
  if (!sparse) {
    throw ScheduleError(directive, fmt::format("'{}' is not a sparse array of the nest", directive.array),
                        "transform the sparse array, once");
  }
  if (directive.multiple < 1 || directive.multiple > PanelSchedule::max_ufk) {
    throw ScheduleError(
        directive, fmt::format("a multiple of {} is outside 1 to {}", directive.multiple, PanelSchedule::max_ufk),
        fmt::format("the nearest legal value is {}", std::clamp(directive.multiple, 1, PanelSchedule::max_ufk)));
  }
}

/// The loop over the columns of a part, which adds up in scalars; null when the nest is not that far.
Loop* find_sums(const PanelNest& parts, Phase& phase) {
  Loop* dealt = parts.tiles ? find_loop_over(phase.body, Role::reduction) : nullptr;
  return dealt != nullptr && std::holds_alternative<std::string>(update_of(dealt->body.back()).target) ? dealt
                                                                                                       : nullptr;
}

/// One step of a lane group: its column and its values of A taken from the region.
class RegionStep {
 public:
  RegionStep(const LoopNest& nest, const std::vector<Loop>& threads)
      : rows_(nest.array(ArrayRole::output).extents[0]),
        group_(digit(threads, "panel") * extent(threads, "group") + digit(threads, "group")) {}

  Loop build(const Loop& dealt, std::int64_t multiple) const {
    Loop steps{"step", 0, Affine::of("steps"), 1, Role::reduction, Mapping::sequential, {}, multiple};
    const auto& column = std::get<DefineIndex>(std::get<Statement>(dealt.body.front().content).action);
    steps.body = {define(column.name, place("Columns"))};
    for (auto node = dealt.body.begin() + 1; node != dealt.body.end(); ++node) {
      Statement statement = std::get<Statement>(node->content);
      std::erase_if(statement.guard, [&](const Condition& condition) {
        const auto* less = std::get_if<Less>(&condition);
        return less != nullptr && less->right == rows_;
      });
      Operand& sparse = std::get<Update>(statement.action).factors.front();
      const Affine row = std::get<Access>(sparse).subscripts[0].affine.constant();
      Access value = place("Values");
      value.subscripts.push_back({"", row});
      sparse = value;
      steps.body.push_back(Node{std::move(statement)});
    }
    return steps;
  }

 private:
  Access place(const std::string& array) const {
    return {array, {{"", Affine::of("region")}, {"", Affine::of("step")}, {"", group_}}};
  }

  Affine rows_;
  Affine group_;
};

/// The regions of a block stand one behind the other, those of a set too.
Affine region_of(const std::vector<Loop>& threads) {
  const std::int64_t warps = extent(threads, "warp");
  return Affine::of("block", extent(threads, "set") * warps) + digit(threads, "set") * warps + digit(threads, "warp");
}

}  // namespace

LoopNest pack_regions(const LoopNest& nest, const PackRegions& directive) {
  check_directive(nest, directive);
  PanelNest parts = take_apart(nest, directive);
  Phase& phase = parts.phases.front();
  Loop* dealt = find_sums(parts, phase);
  if (dealt == nullptr) {
    throw ScheduleError(directive, "the sums are not reduced", "split the reduction loop and reduce its sums first");
  }
  const std::int64_t rows =
      std::get<Access>(update_of(dealt->body.back()).factors.front()).subscripts[0].affine.constant() + 1;
  *dealt = RegionStep(nest, phase.threads).build(*dealt, directive.multiple);
  *find_definition(phase.body, "count") = {"steps", Access{"Steps", {{"", Affine::of("region")}}}};
  const auto first_row = phase.body.begin();
  if (mentions(Block(first_row + 1, phase.body.end()), "i")) {
    phase.body.insert(first_row, define("region", region_of(phase.threads)));
  } else {
    *first_row = define("region", region_of(phase.threads));
  }

  LoopNest result = put_together(nest, parts);
  std::erase_if(result.arrays, [](const ArrayDeclaration& array) { return array.role == ArrayRole::sparse; });
  const Affine regions = Affine::of("regions");
  const Affine steps = Affine::of("most_steps");
  const Affine groups = extent(phase.threads, "panel") * extent(phase.threads, "group");
  result.arrays.push_back({"Steps", {regions}, ArrayRole::packed_index});
  result.arrays.push_back({"Columns", {regions, steps, groups}, ArrayRole::packed_index});
  result.arrays.push_back({"Values", {regions, steps, groups, rows}, ArrayRole::packed_value});
  return result;
}

bool has_regions(const LoopNest& nest) {
  return std::ranges::any_of(nest.arrays, [](const ArrayDeclaration& array) { return array.name == "Steps"; });
}

}  // namespace esc
