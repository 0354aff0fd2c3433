// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/pack_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

Access of_panel(const std::string& array) {
  return element(array, {Affine::of("first_of_panel"), Affine::of("quad", quad_columns) + Affine::of("s")});
}

Node look_up(const std::string& seat, const std::string& panel) {
  return perform("panel_at", {element("Numbers"), index(seat)}, {panel});
}

/// The quads of a lane group: columns and values of A taken from the packed matrix.
Node read_quads(const Loop& dealt) {
  const auto& column = *action<Define>(dealt.body.front());
  Access value = of_panel("Values");
  value.subscripts.push_back({"", Affine::of("u")});
  Loop steps = mapped_loop(Mapping::unrolled, "s", quad_columns, Role::none,
                           change_updates(dealt.body, [&](Guard& guard, Update& update) {
                             guard = without_bound(guard, "M");
                             update.value = with_factor(update.value, 0, value);
                           }));
  steps.body.front() = define(column.name, of_panel("Columns"), column.type);
  return sequential_loop("quad", Affine::of("warp_first") + Affine::of("group"), Affine::of("quads"),
                         Affine::of("dealt_quads"), Role::reduction, {Node{std::move(steps)}});
}

/// Panels are looked up by their seats, wherever a panel is named.
Block look_up_panels(const Block& block) {
  return rewrite(block, {.statement = [](const Statement& statement) -> Block {
                   const auto* defined = std::get_if<Define>(&statement.action);
                   const auto* stored = std::get_if<Store>(&statement.action);
                   if (defined != nullptr && defined->value == index("seat")) {
                     return {look_up("seat", defined->name)};
                   }
                   if (stored != nullptr && stored->value == index("seat_of_store")) {
                     return {look_up("seat_of_store", "stored_panel"),
                             esc::statement(Store{stored->target, index("stored_panel")})};
                   }
                   return {Node{statement}};
                 }});
}

}  // namespace

LoopNest pack_regions(const LoopNest& nest, const PackRegions& directive) {
  check_sparse(nest, directive, directive.array);
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  refuse_if(parts.thread("part") == nullptr || at == parts.body.size() || nest.find_array("sums") == nullptr, directive,
            "the sums are not in registers", "split the reduction loop and accumulate its sums first");
  check_full_warps(parts.count_threads(nest, Mapping::lane_digit), nest.constant("sharing_groups"), directive);
  parts.body[at] = read_quads(std::get<Loop>(parts.body[at].content));
  parts.body = look_up_panels(parts.body);
  const auto count = std::ranges::find_if(parts.body, counts_columns);
  *count = perform("find_panel", {element("Quads"), index("set_of_grid"), index("seat")}, {"quads", "first_of_panel"});
  parts.body.insert(count + 1, define("warp_first", index("part") * index("sharing_groups")));

  LoopNest result = put_together(nest, parts);
  // How many blocks there are follows from the seats of the packed matrix.
  std::erase_if(result.derived_sizes, [](const DerivedSize& size) { return size.name == "blocks"; });
  const Affine seats = Affine::of("seats");
  const Affine steps = Affine::of("most_steps");
  replace_sparse(result,
                 {{"Numbers", {seats}, ArrayRole::packed_index, ScalarType::u32},
                  {"Quads", {seats}, ArrayRole::packed_index, ScalarType::i32},
                  {"Columns", {seats, steps}, ArrayRole::packed_index, ScalarType::u32},
                  {"Values", {seats, steps, Affine::of("panel_height")}, ArrayRole::packed_value, nest.element()}});
  result.constants.push_back(
      {"dealt_quads", index("sharing_groups") * index("panel_warps"), "one for each lane group that shares a panel"});
  result.packed = {.kind = PackedForm::Kind::regions,
                   .height = nest.constant("panel_height"),
                   .warps = nest.constant("panel_warps"),
                   .groups = nest.constant("sharing_groups"),
                   .warp_panels = nest.constant("warp_panels"),
                   .block_panels = nest.constant("block_panels")};
  result.story.push_back(
      "A is stored as quads: four columns of a panel with the values of its rows, dealt in turn to the lane groups. "
      "Panels of "
      "about the same length are stored with equally many quads, longest first: where a panel begins follows from its "
      "place "
      "and constants, so that the kernel waits for memory twice, for A and for B.");
  return result;
}

}  // namespace esc
