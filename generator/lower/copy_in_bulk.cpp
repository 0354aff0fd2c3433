// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/copy_in_bulk.h"

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/performed_instructions.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

/// The copies of lanes become those of the engine.
Block with_bulk_copies(const Block& block, bool copies_k_tiles) {
  return rewrite(block, {.statement = [&](const Statement& statement) -> Block {
                   Statement changed = statement;
                   if (auto* performed = std::get_if<Perform>(&changed.action)) {
                     if (performed->instruction == "stage_packed_tile") {
                       performed->instruction = "copy_packed_tile";
                     } else if (performed->instruction == "stage_k_tiles" && copies_k_tiles) {
                       performed->instruction = "copy_k_tiles";
                     }
                   }
                   return {Node{std::move(changed)}};
                 }});
}

constexpr const char* packed_tiles_alone =
    "From compute capability 9.0 on one thread issues a bulk copy of each packed tile of the matrix instead.";
constexpr const char* packed_tiles_and_k_tiles =
    "From compute capability 9.0 on one thread issues these copies instead: bulk copies of packed tiles, and TMA "
    "copies of the K tiles of B.";

/// Whether K tiles are of rows that threads copy as they are, 16 bytes of B and C at once where a call allows it, and
/// rows are long enough for the engine.
bool has_boxes(const LoopNest& nest) {
  return performs(nest, "stage_k_tiles") && !nest.array(ArrayRole::output).layout &&
         nest.constant("tile_columns") >= StreamSchedule::least_columns_of_boxes;
}

LoopNest with_bulk_copies(const LoopNest& nest, const Directive& directive, bool boxes) {
  refuse_if(nest.find_array("StagedB") == nullptr, directive, "nothing is copied ahead of its use",
            "copy it first: pipeline(k, 4)");
  ThreadNest parts = take_apart(nest, directive);
  refuse_if(performs(nest, "make_barriers"), directive, "the copies are bulk copies already", "ask for them once");
  parts.body = with_bulk_copies(parts.body, boxes);
  auto& iterations = std::get<Loop>(parts.body[find_place(parts.body, Role::reduction)].content);
  const auto products = std::ranges::find_if(
      iterations.body, [](const Node& node) { return std::holds_alternative<Branch>(node.content); });
  insert(std::get<Branch>(products->content).then, 0,
         {perform("wait_for_operands", {index("iteration"), index("stage"), index("part")})});
  insert(parts.body, find_definition(parts.body, "consumer_group_thread") + 1,
         {perform("make_barriers", {index("thread")}), Node{Barrier{Scope::block}}});
  LoopNest result = put_together(nest, parts);
  result.description.emplace_back(boxes ? packed_tiles_and_k_tiles : packed_tiles_alone);
  return result;
}

}  // namespace

LoopNest copy_in_bulk(const LoopNest& nest, const CopyInBulk& directive) {
  return with_bulk_copies(nest, directive, has_boxes(nest));
}

LoopNest copy_packed_tiles_in_bulk(const LoopNest& nest, const CopyPackedTiles& directive) {
  return with_bulk_copies(nest, directive, false);
}

}  // namespace esc
