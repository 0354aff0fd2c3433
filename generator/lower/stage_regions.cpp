// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/stage_regions.h"

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "generator/lower/refusals.h"
#include "generator/lower/staged_copies.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

/// Whether lane groups beside each other take columns of A beside each other: where one after the other are rows of B,
/// and not columns.
bool deals_columns(const LoopNest& nest) {
  const std::optional<Layout>& dense = nest.array(ArrayRole::dense).layout;
  return dense && !has_contiguous_columns(*dense) && nest.constant("sharing_groups") > 1;
}

/// The rounds over the copy.
Loop read_copy(Loop rounds, bool dealt) {
  const Expression number = Affine::of("packet") + Affine::of("group") + index("q") * index("cyclic_packets");
  std::vector<Expression> arguments{element("current", {Affine::of("q")}),
                                    element("StagedColumns"),
                                    element("StagedValues"),
                                    index("copy"),
                                    index("here"),
                                    index("q") * index("sharing_groups"),
                                    number};
  if (dealt) {
    arguments.push_back(index("group"));
  }
  const Node load = perform(dealt ? "load_cyclic_packet" : "load_packet", std::move(arguments));
  rounds.body = {Node{Declare{"current"}}, unrolled_loop("q", "packets_at_once", Role::none, {load}),
                 statement(Update{Name{"here"}, index("staged_round")}), rounds.body.back()};
  return rounds;
}

}  // namespace

LoopNest stage_regions(const LoopNest& nest, const StageRegions& directive) {
  refuse_if(directive.array != "A" || nest.packed.kind != PackedForm::Kind::regions, directive,
            fmt::format("'{}' is not stored in regions", directive.array),
            "transform the sparse array into regions first");
  refuse_if(nest.find_array("next") != nullptr || nest.find_array(staged_name("Columns")) != nullptr, directive,
            fmt::format("'{}' is already prefetched or staged", directive.array), "stage once");
  refuse_if(nest.find_array("current") == nullptr, directive, "columns of A are not taken several at a time",
            "batch the columns of A first");
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  parts.body[at] = Node{read_copy(std::get<Loop>(parts.body[at].content), deals_columns(nest))};
  // The copy in place of where the packets begin and how many are left, which nothing asks any more.
  const std::size_t opening = find_opening(parts.body);
  parts.body[opening - 2] =
      Node{Note{"Each warp copies its packets to shared memory with cp.async and waits for them once."}};
  parts.body[opening - 1] = define("copy", index("warp") * index("warp_row_tiles") + index("place"));
  insert(parts.body, opening,
         {perform("stage_packets",
                  {element("Columns"), element("Values"), element("StagedColumns"), element("StagedValues"),
                   index("first_of_row_tile"), index("packets"), index("part"), index("copy"), index("group")},
                  {"here"})});
  insert(parts.body, at + 1, {perform("wait_for_copies", {}), Node{Barrier{Scope::warp}}});

  LoopNest result = put_together(nest, parts);
  const std::vector<ArrayDeclaration> staged =
      staged_copies(nest, {"Columns", "Values"}, {Affine::of("block_copies"), Affine::of("staged_steps")}, "packets");
  // Before the sums, as in the memory of the block.
  result.arrays.insert(result.arrays.begin(), staged.begin(), staged.end());
  result.constants.push_back(
      {"block_copies", index("row_tile_warps") * index("block_sets") * index("warp_row_tiles"), ""});
  result.constants.push_back(
      {"staged_round", index("packets_at_once") * index("sharing_groups"), "packets of a warp and row tile"});
  return result;
}

}  // namespace esc
