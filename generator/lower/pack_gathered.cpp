// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/pack_gathered.h"

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/gather_schedule.h"

namespace esc {
namespace {

constexpr const char* front =
    "row_tiles(i, block=16, warp=4); tile(j, columns=32, vector=4); split_k(k, warps=1, lane_groups=1); accumulate()";

/// An entry of the lane group's row u.
Access of_entry(const char* array) {
  return element(array, {Affine::of("block"), Affine::of("window"), Affine::of("set"), Affine::of("step"),
                         Affine::of("u", GatherSchedule::set_rows) + Affine::of("place"), Affine::of("n")});
}

/// The columns of a window that the lists of a warp have, each for all columns of C that a lane holds.
Node windows_loop(const Loop& dealt) {
  const auto& column = *action<Define>(dealt.body.front());
  const auto& rows_of_panel = std::get<Loop>(dealt.body.back().content);
  auto products = std::get<Loop>(rows_of_panel.body.front().content);
  products.body = change_updates(products.body, [](Guard& guard, Update& update) {
    guard = without_bound(guard, "M");
    update.value = with_factor(update.value, 0, of_entry("ListValues"));
  });
  const Node entries =
      unrolled_loop("n", "step_entries", Role::none,
                    {define(column.name, of_entry("ListColumns"), column.type), Node{std::move(products)}});
  const Node rows = unrolled_loop("u", "panel_height", Role::row, {entries});
  return sequential_loop(
      "window", 0, Affine::of("windows"), 1, Role::reduction,
      {define("steps", element("ListSteps", {Affine::of("block"), Affine::of("window"), Affine::of("set")})),
       sequential_loop("step", 0, Affine::of("steps"), 1, Role::none, {rows})});
}

/// Each row of a lane, whose seat says which it is.
Node store_rows() {
  const Expression seat = index("first_seat") + quotient(index("e"), index("vector_width")) * index("warp_panels");
  const Perform store{"store_columns",
                      {element("C", {Affine::of("row"), Affine::of("at")}), element("sums", {Affine::of("e")}),
                       index("vector_width"), choose(less(index("at"), index("N")), index("N") - index("at"), 0)}};
  Loop rows =
      mapped_loop(Mapping::unrolled, "e", Affine::of("lane_sums"), Role::row,
                  {perform("row_at", {element("Rows"), seat}, {"row"}), define("at", index("j"), ScalarType::u32),
                   Node{Statement{{less(index("row"), index("M"))}, store}}});
  rows.step = Affine::of("vector_width");
  return Node{std::move(rows)};
}

void check_shape(const LoopNest& nest, const PackGathered& directive) {
  refuse_if(nest.constant("panel_warps") != 1 || nest.constant("sharing_groups") != 1, directive,
            "several warps or lane groups have parts of a row",
            "give each row to one: split_k(k, warps=1, lane_groups=1)");
  refuse_if(nest.constant("warp_panels") != GatherSchedule::set_rows ||
                nest.constant("tile_columns") != GatherSchedule::columns ||
                nest.constant("vector_width") != GatherSchedule::vector,
            directive, "a warp does not read four rows of B at once, 128 bytes of each",
            fmt::format("write {}", front));
  refuse_if(nest.element() != ScalarType::f32 && nest.element() != ScalarType::tf32, directive,
            "rows of B have 128 bytes of 32 columns", "choose --dtype f32 or tf32, or a schedule of family panel");
  refuse_if(nest.array(ArrayRole::dense).layout.has_value() || nest.array(ArrayRole::output).layout.has_value(),
            directive, "rows of B and C do not lie one behind the other, with their columns side by side",
            "choose --layout kn, or a schedule of family panel");
}

}  // namespace

LoopNest pack_gathered(const LoopNest& nest, const PackGathered& directive) {
  check_sparse(nest, directive, directive.array);
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  refuse_if(
      parts.thread("part") == nullptr || at == parts.body.size() || nest.find_array("sums") == nullptr || nest.vectors,
      directive, "the sums are not in registers, one by one",
      fmt::format("unroll the rows, merge their patterns, and give lanes their sums first: {}", front));
  check_shape(nest, directive);
  const Node column = parts.body[find_definition(parts.body, "j")];
  const Node windows = windows_loop(std::get<Loop>(parts.body[at].content));
  parts.body = {
      define("first_seat", index("block") * index("block_rows") + index("set") * index("warp_rows") + index("place"),
             ScalarType::u32),
      column, Node{Declare{"sums", true}}, windows, store_rows()};

  LoopNest result = put_together(nest, parts);
  result.constants.push_back(
      {"warp_rows", index("warp_panels") * index("panel_height"), "rows of a warp, four beside each other"});
  result.constants.push_back(
      {"window_columns", GatherSchedule::window_columns,
       "columns of A that are taken at once, with what is left of those before and some of those behind"});
  result.constants.push_back({"step_entries", 2, "of a row, which are read at once"});
  result.derived_sizes.push_back({"windows", Affine::of("K"), GatherSchedule::window_columns});
  const std::vector<Affine> lists{Affine::of("blocks"), Affine::of("windows"), Affine::of("block_sets")};
  std::vector<Affine> entries = lists;
  entries.insert(entries.end(), {Affine::of("most_steps"), Affine::of("warp_rows"), Affine::of("step_entries")});
  replace_sparse(result, {{"ListBegins", {Affine::of("list_begins")}, ArrayRole::packed_index, ScalarType::u32},
                          {"Rows", {Affine::of("seats")}, ArrayRole::packed_index, ScalarType::u32},
                          {"ListSteps", lists, ArrayRole::packed_index, ScalarType::i32},
                          {"ListColumns", entries, ArrayRole::packed_index, ScalarType::u32},
                          {"ListValues", entries, ArrayRole::packed_value, nest.element()}});
  result.packed = {.kind = PackedForm::Kind::gathered,
                   .height = nest.constant("warp_panels") * nest.constant("panel_height"),
                   .block_panels = nest.constant("block_sets")};
  result.explicit_zeros = true;
  result.zeroed = Zeroed::nothing;
  result.vectors = true;
  result.story.push_back(fmt::format(
      "A warp has rows of about the same length, four beside each other, each with a list of its non-zeros. Lists go "
      "through windows of {} columns of A, and may take what is in the window before or "
      "behind, so that all rows of a warp have equally many entries in a window and little is filled up.",
      GatherSchedule::window_columns));
  return result;
}

}  // namespace esc
