#include "generator/lower/batch_columns.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "generator/lower/mapped_nest.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/rows_schedule.h"

namespace esc {
namespace {

constexpr std::int64_t steps_of_quad = 4;

Node perform(const std::string& name, std::vector<Expression> arguments, std::vector<std::string> results = {}) {
  return Node{Statement{{}, Perform{name, std::move(arguments), std::move(results)}}};
}

Access whole(const std::string& array) { return {array, {}}; }

/// The loop over the quads of a region, in place of that over its steps.
void batch_region(LoopNest& nest, ThreadNest& parts, std::size_t at, const BatchColumns& directive) {
  const Loop steps = std::get<Loop>(parts.body[at].content);
  if (directive.factor < steps_of_quad || steps.multiple % directive.factor != 0) {
    throw ScheduleError(directive,
                        fmt::format("the steps of a region are a multiple of {}, not of {}", steps.multiple, directive.factor),
                        fmt::format("the nearest legal value is {}",
                                    std::max(steps_of_quad, std::gcd<std::int64_t>(steps.multiple, std::max(1, directive.factor)))));
  }
  const Access quad{"current", {{"", Affine::of("q")}}};
  const Block body{
      Node{Declare{"current"}},
      unrolled_loop("q", "quads_at_once", Role::none,
                    {perform("load_quad", {quad, whole("Columns"), whole("Values"), index("region"), index("here"),
                                           index("q"), index("group_of_warp")})}),
      Node{Statement{{}, Update{Name{"here"}, index("quads_at_once")}}},
      unrolled_loop("q", "quads_at_once", Role::none,
                    {perform("multiply_quad", {quad, whole("B"), whole("columns"), whole("sums")})})};
  parts.body[at] = Node{Loop{"quad", 0, Affine::of("quads"), Affine::of("quads_at_once"), Role::reduction,
                             Mapping::sequential, body, directive.factor / steps_of_quad}};
  parts.body[at - 1] = perform("count_quads", {whole("Steps"), index("region")}, {"quads"});
  parts.body.insert(parts.body.begin() + static_cast<std::ptrdiff_t>(at), perform("first_quad", {index("region")}, {"here"}));
  nest.constants.push_back({"quads_at_once", directive.factor / steps_of_quad,
                            fmt::format("ufk / {}: quads of columns that a lane group has in flight", steps_of_quad)});
  nest.arrays.push_back({"current",
                         {Affine::of("quads_at_once"), Affine::of("panel_height", steps_of_quad) + steps_of_quad},
                         ArrayRole::registers,
                         nest.element(),
                         "Quad"});
}

/// The loop over the non-zeros of a task, several at a time.
void batch_task(LoopNest& nest, ThreadNest& parts, std::size_t at, const BatchColumns& directive) {
  check_between(directive, "unroll", directive.factor, RowsSchedule::max_unroll);
  Loop pairs = std::get<Loop>(parts.body[at].content);
  pairs.step = Affine::of("step");
  pairs.body = {Node{Declare{"current"}},
                perform("load_pairs", {whole("current"), whole("Columns"), whole("Values"), index("first"),
                                       index(pairs.iterator), index("stride"), index("length")}),
                perform("multiply_pairs", {whole("current"), whole("B"), whole("columns"), whole("sums")})};
  parts.body[at] = Node{std::move(pairs)};
  parts.body.insert(parts.body.begin() + static_cast<std::ptrdiff_t>(at),
                    define("step", index("stride") * index("pairs_at_once"), ScalarType::u32));
  nest.constants.push_back({"pairs_at_once", directive.factor, "unroll: non-zeros that a lane group has in flight"});
  nest.arrays.push_back({"current", {Affine::of("pairs_at_once", 2)}, ArrayRole::registers, nest.element(), "Pairs"});
}

}  // namespace

LoopNest batch_columns(const LoopNest& nest, const BatchColumns& directive) {
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  if (!nest.vectors || at == parts.body.size()) {
    throw ScheduleError(directive, "rows of B are not loaded in parts", "vectorize the columns of C first");
  }
  if (nest.find_array("current") != nullptr) {
    throw ScheduleError(directive, "columns of A are already taken several at a time", "batch once");
  }
  const auto& column = std::get<Statement>(std::get<Loop>(parts.body[at].content).body.front().content);
  if (std::get<Define>(column.action).name != directive.loop) {
    throw ScheduleError(directive, fmt::format("there is no loop over columns '{}' of A", directive.loop),
                        "name the reduction loop");
  }
  LoopNest result = nest;
  switch (nest.packed.kind) {
    case PackedForm::Kind::regions:
      batch_region(result, parts, at, directive);
      break;
    case PackedForm::Kind::tasks:
      batch_task(result, parts, at, directive);
      break;
    case PackedForm::Kind::lists:
    case PackedForm::Kind::none:
      throw ScheduleError(directive, "the sparse array is stored neither in regions nor in tasks",
                          "transform it into regions or tasks first");
  }
  return put_together(result, parts);
}

}  // namespace esc
