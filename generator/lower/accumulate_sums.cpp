#include "generator/lower/accumulate_sums.h"

#include <utility>

#include "generator/lower/mapped_nest.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

Access sum_of_lane() { return {"sums", {{"", Affine::of("e") + Affine::of("w")}}}; }
Access element_of_c() { return {"C", {{"", Affine::of("row")}, {"", Affine::of("at") + Affine::of("w")}}}; }

Node add_or_store(Guard guard, bool add) {
  guard.push_back(less(Affine::of("at") + Affine::of("w"), index("N")));
  if (add) {
    return Node{Statement{std::move(guard), Update{element_of_c(), sum_of_lane(), true}}};
  }
  return Node{Statement{std::move(guard), Store{element_of_c(), sum_of_lane()}}};
}

Node columns_of_lane(Node statement) {
  return unrolled_loop("w", "vector_width", Role::column, {std::move(statement)});
}

/// The sums of a lane go to C, `vector_width` consecutive ones after the other.
Node sums_to_c(const Access& first_element, Block writes) {
  Block body{define("row", Affine(first_element.subscripts[0].affine.substitute("u", 0)) +
                               quotient(index("e"), index("vector_width")),
                    ScalarType::u32),
             define("at", index("j") + remainder(index("e"), index("vector_width")), ScalarType::u32)};
  body.insert(body.end(), writes.begin(), writes.end());
  return Node{
      Loop{"e", 0, Affine::of("lane_sums"), Affine::of("vector_width"), Role::row, Mapping::unrolled, std::move(body)}};
}

/// A panel has its rows to itself; other parts of it may add to them.
Node panel_to_c(const Access& first_element, bool several_parts) {
  return sums_to_c(first_element, {columns_of_lane(add_or_store({less(index("row"), index("M"))}, several_parts))});
}

/// A row may have other tasks, and a heavy one other lane groups.
Node task_to_c(const Access& first_element) {
  const Expression shared = less(0, Affine::of("split") + Affine::of("is_heavy"));
  return Node{Branch{index("present"),
                     {sums_to_c(first_element, {Node{Branch{shared,
                                                            {columns_of_lane(add_or_store({}, true))},
                                                            {columns_of_lane(add_or_store({}, false))}}}})}}};
}

}  // namespace

LoopNest accumulate_sums(const LoopNest& nest, const AccumulateSums& directive) {
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t place = find_place(parts.body, Role::reduction);
  if (parts.grid.size() < 2 || place == parts.body.size()) {
    throw ScheduleError(directive, "the columns of A are not dealt to the threads",
                        "map the columns of C and split the reduction loop first");
  }
  if (nest.find_array("sums") != nullptr) {
    throw ScheduleError(directive, "the sums are already in registers", "accumulate once");
  }
  Loop& dealt = std::get<Loop>(parts.body[place].content);
  Statement statement = innermost(dealt);
  auto& update = std::get<Update>(statement.action);
  const Access target = *update.target.access();
  const bool several_parts = update.atomic;
  const bool rows_of_panel = target.subscripts[0].affine.mentions("u");
  update = {Access{"sums", {{"", (rows_of_panel ? Affine::of("u", nest.constant("vector_width")) : Affine(0)) +
                                     Affine::of("v")}}},
            update.value};
  dealt = with_innermost(dealt, {Node{statement}});

  const bool tasks = nest.packed.kind == PackedForm::Kind::tasks;
  parts.body.insert(parts.body.begin() + static_cast<std::ptrdiff_t>(place) + 1,
                    tasks ? task_to_c(target) : panel_to_c(target, several_parts));
  // The sums are there before the columns of A are counted: nothing waits for them.
  parts.body.insert(parts.body.begin() + static_cast<std::ptrdiff_t>(tasks ? place : place - 1),
                    Node{Declare{"sums", true}});

  LoopNest result = put_together(nest, parts);
  result.constants.push_back({"lane_sums", index("panel_height") * index("vector_width"), ""});
  result.arrays.push_back({"sums", {Affine::of("lane_sums")}, ArrayRole::registers, nest.element()});
  return result;
}

}  // namespace esc
