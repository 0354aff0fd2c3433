#include "generator/lower/pack_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/lower/mapped_nest.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/panel_schedule.h"

namespace esc {
namespace {

constexpr int steps_of_quad = 4;

void check_directive(const LoopNest& nest, const PackRegions& directive) {
  check_sparse(nest, directive, directive.array);
  if (directive.multiple < steps_of_quad || directive.multiple > PanelSchedule::max_ufk ||
      directive.multiple % steps_of_quad != 0) {
    const int nearest = std::clamp(directive.multiple / steps_of_quad * steps_of_quad, steps_of_quad, PanelSchedule::max_ufk);
    throw ScheduleError(directive,
                        fmt::format("{} is not a multiple of {} from {} to {}", directive.multiple, steps_of_quad,
                                    steps_of_quad, PanelSchedule::max_ufk),
                        fmt::format("the nearest legal value is {}", nearest));
  }
}

Access place(const std::string& array) {
  return {array, {{"", Affine::of("region")}, {"", Affine::of("step")}, {"", Affine::of("group_of_warp")}}};
}

/// One step of a lane group: its column and its values of A taken from the region.
Loop read_region(const Loop& dealt, std::int64_t multiple) {
  Loop steps = dealt;
  steps.iterator = "step";
  steps.lower = 0;
  steps.upper = Affine::of("steps");
  steps.step = 1;
  steps.multiple = multiple;
  const auto& column = std::get<Define>(std::get<Statement>(dealt.body.front().content).action);
  steps.body.front() = define(column.name, place("Columns"), column.type);
  Statement statement = innermost(steps);
  std::erase_if(statement.guard, [](const Expression& condition) {
    const Operation* bound = condition.operation(Operator::less);
    return bound != nullptr && bound->operands.back() == index("M");
  });
  auto& update = std::get<Update>(statement.action);
  std::vector<Expression> both = factors(update.value);
  Access value = place("Values");
  value.subscripts.push_back({"", Affine::of("u")});
  both.front() = value;
  update.value = product(both);
  return with_innermost(steps, {Node{std::move(statement)}});
}

}  // namespace

LoopNest pack_regions(const LoopNest& nest, const PackRegions& directive) {
  check_directive(nest, directive);
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  if (parts.thread("part") == nullptr || at == parts.body.size() || nest.find_array("sums") == nullptr) {
    throw ScheduleError(directive, "the sums are not in registers",
                        "split the reduction loop and accumulate its sums first");
  }
  parts.body[at] = Node{read_region(std::get<Loop>(parts.body[at].content), directive.multiple)};
  // The count of the columns stands in front of their loop.
  parts.body[at - 1] = Node{Statement{{}, Perform{"count_steps", {Access{"Steps", {}}, index("region")}, {"steps"}}}};
  const Block opening{
      define("group_of_warp", quotient(remainder(index("thread"), warp_size), index("group_lanes"))),
      Node{Statement{{}, Perform{"find_region", {index("block"), index("set"), index("part")}, {"region"}}}}};
  parts.body.insert(parts.body.begin() + static_cast<std::ptrdiff_t>(at) - 1, opening.begin(), opening.end());

  LoopNest result = put_together(nest, parts);
  std::erase_if(result.arrays, [](const ArrayDeclaration& array) { return array.role == ArrayRole::sparse; });
  const Affine regions = Affine::of("regions");
  const Affine steps = Affine::of("most_steps");
  const Affine groups = Affine::of("warp_groups");
  result.arrays.push_back({"Steps", {regions}, ArrayRole::packed_index, ScalarType::i32});
  result.arrays.push_back({"Columns", {regions, steps, groups}, ArrayRole::packed_index, ScalarType::u32});
  result.arrays.push_back(
      {"Values", {regions, steps, groups, Affine::of("panel_height")}, ArrayRole::packed_value, nest.element()});
  result.packed = {.kind = PackedForm::Kind::regions,
                   .height = nest.constant("panel_height"),
                   .warps = nest.constant("panel_warps"),
                   .groups = nest.constant("sharing_groups"),
                   .warp_panels = nest.constant("warp_panels"),
                   .block_panels = nest.constant("block_panels"),
                   .multiple = directive.multiple};
  result.story.push_back("What a warp needs to know of A is one region of the packed matrix, at an address that follows from "
                         "the warp's place alone: the kernel waits for memory twice, for its region and for B.");
  return result;
}

}  // namespace esc
