#include "generator/lower/share_sums.h"

#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

Node columns(const std::string& extent, Statement statement) {
  return unrolled_loop("w", extent, Role::column, {Node{std::move(statement)}});
}

/// The lane's sums at their place of the block's part of C.
Block leave_sums(const Loop& to_c) {
  Loop leaving = to_c;
  const Expression sum = index("e") + index("first_sum");
  leaving.body = {
      define("place_in_block",
             ((index("set") * index("warp_panels") + index("place")) * index("panel_height") +
              quotient(sum, index("vector_width"))) * index("tile_columns") +
                 index("lane") * index("vector_width") + remainder(sum, index("vector_width"))),
      columns("stored_width",
              {{},
               Store{{"shared_sums", {{"", Affine::of("part")}, {"", Affine::of("place_in_block") + Affine::of("w")}}},
                     Access{"sums", {{"", Affine::of("e") + Affine::of("w")}}}}})};
  return {Node{std::move(leaving)}};
}

Access sum_of_warp(const Affine& warp) {
  return {"shared_sums", {{"", warp}, {"", Affine::of("output") + Affine::of("w")}}};
}

Expression output_of_store() { return index("first_output") + index("s") * index("outputs_at_once"); }

/// The panels that a thread stores elements of, by their seats.
Block stored_panels() {
  const Expression panel = remainder(quotient(output_of_store(), index("panel_height") * index("tile_columns")), index("block_panels"));
  const Expression set = quotient(index("block_panel"), index("warp_panels")) * index("blocks") + index("block");
  return {define("first_output", index("thread") * index("output_width")), Node{Declare{"stored_panels"}},
          unrolled_loop("s", "stores", Role::none,
                        {define("block_panel", panel),
                         define("seat_of_store",
                                set * index("warp_panels") + remainder(index("block_panel"), index("warp_panels")), ScalarType::u32),
                         Node{Statement{{}, Store{{"stored_panels", {{"", Affine::of("s")}}}, index("seat_of_store")}}}})};
}

/// What a thread does with the elements of C that begin at `output`.
Block add_warps() {
  const Access total{"total", {{"", Affine::of("w")}}};
  const Affine column = Affine::of("at") + Affine::of("w");
  const Loop others{"other",
                    1,
                    Affine::of("panel_warps"),
                    1,
                    Role::none,
                    Mapping::unrolled,
                    {columns("output_width", {{}, Update{total, sum_of_warp(Affine::of("other"))}})}};
  return {Node{Declare{"total"}},
          columns("output_width", {{}, Store{total, sum_of_warp(0)}}),
          Node{others},
          define("row", Expression(Access{"stored_panels", {{"", Affine::of("s")}}}) * index("panel_height") +
                            remainder(quotient(index("output"), index("tile_columns")), index("panel_height")),
                 ScalarType::u32),
          define("at", index("tile") * index("tile_columns") + remainder(index("output"), index("tile_columns")),
                 ScalarType::u32),
          columns("output_width",
                  {{less(index("row"), index("M")), less(column, index("N"))},
                   Store{{"C", {{"", Affine::of("row")}, {"", column}}}, total}})};
}

bool shares(const LoopNest& nest) { return nest.find_array("shared_sums") != nullptr; }

}  // namespace

LoopNest share_sums(const LoopNest& nest, const ShareSums& directive) {
  ThreadNest parts = take_apart(nest, directive);
  if (shares(nest)) {
    throw ScheduleError(directive, "the sums of the warps are already added up", "share once");
  }
  auto* branch = parts.body.empty() ? nullptr : std::get_if<Branch>(&parts.body.back().content);
  if (parts.thread("part") == nullptr || branch == nullptr) {
    throw ScheduleError(directive, "the sums of the warps of a panel are not in their registers",
                        "split a panel's columns, accumulate the sums and shuffle them first");
  }
  if (nest.packed.kind != PackedForm::Kind::none || nest.vectors) {
    throw ScheduleError(directive, "the sparse array is already packed, or the columns of C are moved in vectors",
                        "share before the data is transformed and vectorized");
  }
  if (nest.constant("panel_warps") == 1) {
    throw ScheduleError(directive, "one warp has a panel to itself", "leave share() out, or split over several warps");
  }
  branch->then = leave_sums(std::get<Loop>(branch->then.front().content));
  parts.body.push_back(Node{Barrier{Scope::block}});
  parts.body.push_back(unrolled_loop("s", "stores", Role::none,
                                     {define("output", output_of_store()),
                                      Node{Branch{less(index("output"), index("outputs")), add_warps()}}}));
  const Block panels = stored_panels();
  parts.body.insert(parts.body.begin() + static_cast<std::ptrdiff_t>(find_place(parts.body, Role::reduction)),
                    panels.begin(), panels.end());

  LoopNest result = put_together(nest, parts);
  result.zeroed = Zeroed::nothing;
  result.constants.push_back({"outputs", index("block_rows") * index("tile_columns"), "elements of C of a block"});
  result.constants.push_back(
      {"output_width",
       choose(less(index("outputs"), index("vector_width") * index("threads_per_block")), 1, index("vector_width")),
       "consecutive ones that a thread adds up, where there are enough for all"});
  result.constants.push_back({"outputs_at_once", index("output_width") * index("threads_per_block"), ""});
  result.constants.push_back(
      {"stores", quotient(index("outputs") + index("outputs_at_once") - 1, index("outputs_at_once")), "of a thread, at most"});
  result.arrays.push_back({"shared_sums", {Affine::of("panel_warps"), Affine::of("outputs")}, ArrayRole::shared, nest.element()});
  result.arrays.push_back({"stored_panels", {Affine::of("stores")}, ArrayRole::registers, ScalarType::u32});
  result.arrays.push_back({"total", {Affine::of("output_width")}, ArrayRole::registers, nest.element()});
  result.story.push_back("Those of the warps are added in shared memory.");
  return result;
}

}  // namespace esc
