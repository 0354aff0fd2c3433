// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/accumulate_sums.h"

#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

/// The loop over consecutive columns of a lane, whose sums are added to C or stored.
Node columns_to_c(Guard guard, bool add) {
  const Affine column = Affine::of("at") + Affine::of("w");
  const Access target = element("C", {Affine::of("row"), column});
  const Access sum = element("sums", {Affine::of("e") + Affine::of("w")});
  guard.push_back(less(column, index("N")));
  Statement write{std::move(guard), Store{target, sum}};
  if (add) {
    write.action = Update{target, sum, true};
  }
  return unrolled_loop("w", "vector_width", Role::column, {Node{std::move(write)}});
}

/// The sums of a lane go to C, `vector_width` consecutive ones after the other.
Node sums_to_c(const Access& first_element, Node write) {
  const Expression first_row = first_element.subscripts[0].affine.substitute("u", 0);
  Loop sums = mapped_loop(
      Mapping::unrolled, "e", Affine::of("lane_sums"), Role::row,
      {define("row", first_row + quotient(index("e"), index("vector_width")), ScalarType::u32),
       define("at", index("j") + remainder(index("e"), index("vector_width")), ScalarType::u32), std::move(write)});
  sums.step = Affine::of("vector_width");
  return Node{std::move(sums)};
}

/// A row tile has its rows to itself; other parts of it may add to them.
Node row_tile_to_c(const Access& first_element, bool several_parts) {
  return sums_to_c(first_element, columns_to_c({less(index("row"), index("M"))}, several_parts));
}

/// A row may have other tasks, and a heavy one other lane groups.
Node task_to_c(const Access& first_element) {
  const Expression shared = less(0, Affine::of("split") + Affine::of("is_heavy"));
  const Branch writes{shared, {columns_to_c({}, true)}, {columns_to_c({}, false)}};
  return Node{Branch{index("present"), {sums_to_c(first_element, Node{writes})}, {}}};
}

}  // namespace

LoopNest accumulate_sums(const LoopNest& nest, const AccumulateSums& directive) {
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t place = find_place(parts.body, Role::reduction);
  refuse_if(parts.grid.size() < 2 || place == parts.body.size(), directive,
            "the columns of A are not dealt to the threads", "map the columns of C and split the reduction loop first");
  refuse_if(nest.find_array("sums") != nullptr, directive, "the sums are already in registers", "accumulate once");
  Access target;
  bool several_parts = false;
  auto& dealt = std::get<Loop>(parts.body[place].content);
  dealt.body = change_updates(dealt.body, [&](Guard&, Update& update) {
    target = *update.target.access();
    several_parts = update.atomic;
    // Where the rows of a row tile have a loop, each has its own sums.
    const Affine row = target.subscripts[0].affine.mentions("u") ? Affine::of("u", nest.constant("vector_width")) : 0;
    update = {element("sums", {row + Affine::of("v")}), update.value};
  });

  const bool tasks = nest.packed.kind == PackedForm::Kind::tasks;
  insert(parts.body, place + 1, {tasks ? task_to_c(target) : row_tile_to_c(target, several_parts)});
  // The sums are there before the columns of A are counted: nothing waits for them.
  insert(parts.body, tasks ? place : place - 1, {Node{Declare{"sums", true}}});

  LoopNest result = put_together(nest, parts);
  result.constants.push_back({"lane_sums", index("row_tile_height") * index("vector_width"), ""});
  result.arrays.push_back({"sums", {Affine::of("lane_sums")}, ArrayRole::registers, nest.sum()});
  return result;
}

}  // namespace esc
