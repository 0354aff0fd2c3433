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
  return element(array, {Affine::of("block"), Affine::of("k_tile"), Affine::of("set"), Affine::of("step"),
                         Affine::of("u", GatherSchedule::set_rows) + Affine::of("place"), Affine::of("n")});
}

/// The columns of a K tile that the lists of a warp have, each for all columns of C that a lane holds.
Node k_tiles_loop(const Loop& dealt) {
  const auto& column = *action<Define>(dealt.body.front());
  const auto& rows_of_row_tile = std::get<Loop>(dealt.body.back().content);
  auto products = std::get<Loop>(rows_of_row_tile.body.front().content);
  products.body = change_updates(products.body, [](Guard& guard, Update& update) {
    guard = without_bound(guard, "M");
    update.value = with_factor(update.value, 0, of_entry("ListValues"));
  });
  const Node entries =
      unrolled_loop("n", "step_entries", Role::none,
                    {define(column.name, of_entry("ListColumns"), column.type), Node{std::move(products)}});
  const Node rows = unrolled_loop("u", "row_tile_height", Role::row, {entries});
  return sequential_loop(
      "k_tile", 0, Affine::of("k_tiles"), 1, Role::reduction,
      {define("steps", element("ListSteps", {Affine::of("block"), Affine::of("k_tile"), Affine::of("set")})),
       sequential_loop("step", 0, Affine::of("steps"), 1, Role::none, {rows})});
}

/// Each row of a lane, whose tile slot says which it is.
Node store_rows() {
  const Expression tile_slot =
      index("first_tile_slot") + quotient(index("e"), index("vector_width")) * index("warp_row_tiles");
  const Perform store{"store_columns",
                      {element("C", {Affine::of("row"), Affine::of("at")}), element("sums", {Affine::of("e")}),
                       index("vector_width"), choose(less(index("at"), index("N")), index("N") - index("at"), 0)}};
  Loop rows =
      mapped_loop(Mapping::unrolled, "e", Affine::of("lane_sums"), Role::row,
                  {perform("row_at", {element("Rows"), tile_slot}, {"row"}), define("at", index("j"), ScalarType::u32),
                   Node{Statement{{less(index("row"), index("M"))}, store}}});
  rows.step = Affine::of("vector_width");
  return Node{std::move(rows)};
}

void check_shape(const LoopNest& nest, const PackGathered& directive) {
  refuse_if(nest.constant("row_tile_warps") != 1 || nest.constant("sharing_groups") != 1, directive,
            "several warps or lane groups have parts of a row",
            "give each row to one: split_k(k, warps=1, lane_groups=1)");
  refuse_if(nest.constant("warp_row_tiles") != GatherSchedule::set_rows ||
                nest.constant("tile_columns") != GatherSchedule::columns ||
                nest.constant("vector_width") != GatherSchedule::vector,
            directive, "a warp does not read four rows of B at once, 128 bytes of each",
            fmt::format("write {}", front));
  refuse_if(nest.element() != ScalarType::f32 && nest.element() != ScalarType::tf32, directive,
            "rows of B have 128 bytes of 32 columns", "choose --dtype f32 or tf32, or a schedule of family panel");
  refuse_if(nest.array(ArrayRole::dense).layout.has_value() || nest.array(ArrayRole::output).layout.has_value(),
            directive, "rows of B and C do not lie one after the other, with their columns side by side",
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
  const Node k_tiles = k_tiles_loop(std::get<Loop>(parts.body[at].content));
  parts.body = {define("first_tile_slot",
                       index("block") * index("block_rows") + index("set") * index("warp_rows") + index("place"),
                       ScalarType::u32),
                column, Node{Declare{"sums", true}}, k_tiles, store_rows()};

  LoopNest result = put_together(nest, parts);
  result.constants.push_back(
      {"warp_rows", index("warp_row_tiles") * index("row_tile_height"), "rows of a warp, four at once"});
  result.constants.push_back({"k_tile_columns", GatherSchedule::k_tile_columns,
                              "columns of A in a K tile; a list may name some of the previous and of the next one"});
  result.constants.push_back({"step_entries", 2, "entries of a row that are read at once"});
  result.derived_sizes.push_back({"k_tiles", Affine::of("K"), GatherSchedule::k_tile_columns});
  const std::vector<Affine> lists{Affine::of("blocks"), Affine::of("k_tiles"), Affine::of("block_sets")};
  std::vector<Affine> entries = lists;
  entries.insert(entries.end(), {Affine::of("most_steps"), Affine::of("warp_rows"), Affine::of("step_entries")});
  replace_sparse(result, {{"ListBegins", {Affine::of("list_begins")}, ArrayRole::packed_index, ScalarType::u32},
                          {"Rows", {Affine::of("tile_slots")}, ArrayRole::packed_index, ScalarType::u32},
                          {"ListSteps", lists, ArrayRole::packed_index, ScalarType::i32},
                          {"ListColumns", entries, ArrayRole::packed_index, ScalarType::u32},
                          {"ListValues", entries, ArrayRole::packed_value, nest.element()}});
  result.packed = {.kind = PackedForm::Kind::gathered,
                   .height = nest.constant("warp_row_tiles") * nest.constant("row_tile_height"),
                   .block_row_tiles = nest.constant("block_sets")};
  result.explicit_zeros = true;
  result.zeroed = Zeroed::nothing;
  result.vectors = true;
  result.description.push_back(
      fmt::format("A warp has rows of about the same length, four at once, each with a list of its non-zeros. Lists go "
                  "through K tiles of {} columns of A. They may name columns of the previous or the next K tile, so "
                  "that all rows of a warp have equally many entries in a K tile and need little padding.",
                  GatherSchedule::k_tile_columns));
  return result;
}

}  // namespace esc
