// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/share_sums.h"

#include <utility>

#include "generator/ir/build.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

Node columns(const std::string& extent, Node write) {
  return unrolled_loop("w", extent, Role::column, {std::move(write)});
}

/// The lane's sums at their place of the block's part of C.
Block leave_sums(Loop sums) {
  const Expression sum = index("e") + index("first_sum");
  const Expression row_tile = index("set") * index("warp_row_tiles") + index("place");
  const Expression row = row_tile * index("row_tile_height") + quotient(sum, index("vector_width"));
  const Expression place = row * index("tile_columns") + index("lane") * index("vector_width");
  const Access kept = element("sums", {Affine::of("e") + Affine::of("w")});
  const Access left = element("shared_sums", {Affine::of("part"), Affine::of("place_in_block") + Affine::of("w")});
  sums.body = {define("place_in_block", place + remainder(sum, index("vector_width"))),
               columns("stored_width", statement(Store{left, kept}))};
  return {Node{std::move(sums)}};
}

Access sum_of_warp(const Affine& warp) {
  return element("shared_sums", {warp, Affine::of("output") + Affine::of("w")});
}

Expression output_of_store() { return index("first_output") + index("s") * index("outputs_at_once"); }

/// The row tiles that a thread stores elements of, by their tile slots.
Block stored_row_tiles() {
  const Expression row_tile = remainder(quotient(output_of_store(), index("row_tile_height") * index("tile_columns")),
                                        index("block_row_tiles"));
  const Expression set = quotient(index("block_row_tile"), index("warp_row_tiles")) * index("blocks") + index("block");
  const Expression tile_slot =
      set * index("warp_row_tiles") + remainder(index("block_row_tile"), index("warp_row_tiles"));
  return {
      define("first_output", index("thread") * index("output_width")), Node{Declare{"stored_row_tiles"}},
      unrolled_loop("s", "stores", Role::none,
                    {define("block_row_tile", row_tile), define("tile_slot_of_store", tile_slot, ScalarType::u32),
                     statement(Store{element("stored_row_tiles", {Affine::of("s")}), index("tile_slot_of_store")})})};
}

/// What a thread does with the elements of C that begin at `output`.
Block add_warps() {
  const Access total = element("total", {Affine::of("w")});
  const Affine column = Affine::of("at") + Affine::of("w");
  const Guard inside{less(index("row"), index("M")), less(column, index("N"))};
  const Expression row_of_row_tile =
      remainder(quotient(index("output"), index("tile_columns")), index("row_tile_height"));
  Loop others = mapped_loop(Mapping::unrolled, "other", Affine::of("row_tile_warps"), Role::none,
                            {columns("output_width", statement(Update{total, sum_of_warp(Affine::of("other"))}))});
  others.lower = 1;
  return {
      Node{Declare{"total"}},
      columns("output_width", statement(Store{total, sum_of_warp(0)})),
      Node{std::move(others)},
      define("row",
             Expression(element("stored_row_tiles", {Affine::of("s")})) * index("row_tile_height") + row_of_row_tile,
             ScalarType::u32),
      define("at", index("tile") * index("tile_columns") + remainder(index("output"), index("tile_columns")),
             ScalarType::u32),
      columns("output_width", Node{Statement{inside, Store{element("C", {Affine::of("row"), column}), total}}})};
}

}  // namespace

LoopNest share_sums(const LoopNest& nest, const ShareSums& directive) {
  ThreadNest parts = take_apart(nest, directive);
  refuse_if(nest.find_array("shared_sums") != nullptr, directive, "the sums of the warps are already added up",
            "share once");
  auto* branch = parts.body.empty() ? nullptr : std::get_if<Branch>(&parts.body.back().content);
  refuse_if(parts.thread("part") == nullptr || branch == nullptr, directive,
            "the sums of the warps of a row tile are not in their registers",
            "split a row tile's columns, accumulate the sums and shuffle them first");
  refuse_if(nest.packed.kind != PackedForm::Kind::none || nest.vectors, directive,
            "the sparse array is already packed, or the columns of C are moved in vectors",
            "give reduce_warps() before transform() and vectorize()");
  refuse_if(nest.constant("row_tile_warps") == 1, directive, "one warp has a row tile to itself",
            "leave reduce_warps() out, or split over several warps");
  branch->then = leave_sums(std::get<Loop>(branch->then.front().content));
  append(parts.body, {Node{Barrier{Scope::block}},
                      unrolled_loop("s", "stores", Role::none,
                                    {define("output", output_of_store()),
                                     Node{Branch{less(index("output"), index("outputs")), add_warps(), {}}}})});
  insert(parts.body, find_place(parts.body, Role::reduction), stored_row_tiles());

  LoopNest result = put_together(nest, parts);
  result.zeroed = Zeroed::nothing;
  result.constants.push_back({"outputs", index("block_rows") * index("tile_columns"), "elements of C of a block"});
  result.constants.push_back(
      {"output_width",
       choose(less(index("outputs"), index("vector_width") * index("threads_per_block")), 1, index("vector_width")),
       "consecutive elements that a thread adds up, if there are enough for all threads"});
  result.constants.push_back({"outputs_at_once", index("output_width") * index("threads_per_block"), ""});
  result.constants.push_back({"stores",
                              quotient(index("outputs") + index("outputs_at_once") - 1, index("outputs_at_once")),
                              "of a thread, at most"});
  result.arrays.push_back(
      {"shared_sums", {Affine::of("row_tile_warps"), Affine::of("outputs")}, ArrayRole::shared, nest.sum()});
  result.arrays.push_back({"stored_row_tiles", {Affine::of("stores")}, ArrayRole::registers, ScalarType::u32});
  result.arrays.push_back({"total", {Affine::of("output_width")}, ArrayRole::registers, nest.sum()});
  result.description.push_back("The sums of the warps are added in shared memory.");
  return result;
}

}  // namespace esc
