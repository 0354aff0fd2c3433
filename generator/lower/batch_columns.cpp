#include "generator/lower/batch_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/lower/mapped_nest.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/panel_schedule.h"
#include "generator/schedule/rows_schedule.h"

namespace esc {
namespace {

constexpr int quad_columns = 4;

Node perform(const std::string& name, std::vector<Expression> arguments, std::vector<std::string> results = {}) {
  return Node{Statement{{}, Perform{name, std::move(arguments), std::move(results)}}};
}

Access whole(const std::string& array) { return {array, {}}; }

Node update(const std::string& variable, const Expression& value) {
  return Node{Statement{{}, Update{Name{variable}, value}}};
}

/// A quad for each of those at once, zero where the panel has no more.
Node load_quads() {
  const Access quad{"current", {{"", Affine::of("q")}}};
  const Expression ahead = index("q") * index("dealt_quads");
  return unrolled_loop(
      "q", "quads_at_once", Role::none,
      {perform("clear_quad", {quad}),
       Node{Branch{less(ahead, index("left")),
                   {perform("load_quad", {quad, whole("Columns"), whole("Values"), index("first_of_panel"), index("here"), ahead,
                                          index("quads") - index("left") + ahead})}}}});
}

/// The rounds of a warp's lane groups over the quads of a panel, in place of a loop over them.
void batch_quads(LoopNest& nest, ThreadNest& parts, std::size_t at, const BatchColumns& directive) {
  if (directive.factor < quad_columns || directive.factor > PanelSchedule::max_ufk || directive.factor % quad_columns != 0) {
    const int nearest = std::clamp(directive.factor / quad_columns * quad_columns, quad_columns, PanelSchedule::max_ufk);
    throw ScheduleError(directive,
                        fmt::format("{} is not a multiple of {} from {} to {}", directive.factor, quad_columns, quad_columns,
                                    PanelSchedule::max_ufk),
                        fmt::format("the nearest legal value is {}", nearest));
  }
  const Access quad{"current", {{"", Affine::of("q")}}};
  const Expression own_first = index("warp_first") + index("group");
  const Block body{Node{Declare{"current", true}}, load_quads(), update("here", index("round_quads")),
                   update("left", Affine::of("round_quads", -1)),
                   unrolled_loop("q", "quads_at_once", Role::none,
                                 {perform("multiply_quad", {quad, whole("B"), whole("columns"), whole("sums")})})};
  parts.body[at] = Node{Loop{"quad", Affine::of("warp_first"), Affine::of("quads"), Affine::of("round_quads"),
                             Role::reduction, Mapping::sequential, body}};
  const Block opening{perform("find_quad", {index("first_of_panel"), own_first}, {"here"}),
                      Node{Statement{{}, Define{ScalarType::i32, "left", index("quads") - own_first, true}}}};
  parts.body.insert(parts.body.begin() + static_cast<std::ptrdiff_t>(find_opening(parts.body)), opening.begin(), opening.end());
  nest.constants.push_back({"quads_at_once", directive.factor / quad_columns,
                            fmt::format("ufk / {}: quads of columns that a lane group has in flight", quad_columns)});
  nest.constants.push_back({"round_quads", index("quads_at_once") * index("dealt_quads"), ""});
  nest.arrays.push_back({"current",
                         {Affine::of("quads_at_once"), Affine::of("panel_height", quad_columns) + quad_columns},
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

/// The column of A that a loop takes in an iteration.
const std::string& column_of(const Loop& loop) {
  if (const auto* steps = std::get_if<Loop>(&loop.body.front().content)) {
    return column_of(*steps);
  }
  return std::get<Define>(std::get<Statement>(loop.body.front().content).action).name;
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
  if (column_of(std::get<Loop>(parts.body[at].content)) != directive.loop) {
    throw ScheduleError(directive, fmt::format("there is no loop over columns '{}' of A", directive.loop),
                        "name the reduction loop");
  }
  LoopNest result = nest;
  switch (nest.packed.kind) {
    case PackedForm::Kind::regions:
      batch_quads(result, parts, at, directive);
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
