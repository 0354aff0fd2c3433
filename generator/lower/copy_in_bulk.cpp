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
Block with_bulk_copies(const Block& block, bool copies_windows) {
  return rewrite(block, {.statement = [&](const Statement& statement) -> Block {
                   Statement changed = statement;
                   if (auto* performed = std::get_if<Perform>(&changed.action)) {
                     if (performed->instruction == "stage_unit") {
                       performed->instruction = "copy_unit";
                     } else if (performed->instruction == "stage_windows" && copies_windows) {
                       performed->instruction = "copy_windows";
                     }
                   }
                   return {Node{std::move(changed)}};
                 }});
}

constexpr const char* units_alone =
    "From compute capability 9.0 on the matrix comes by bulk copies, a unit each, which one thread asks for.";
constexpr const char* units_and_windows =
    "From compute capability 9.0 on these are bulk copies, which one thread asks for: units, and windows of B as "
    "boxes.";

/// Windows of rows that threads copy as they are, 16 bytes of B and C at once where a call allows it.
bool has_windows_of_rows(const LoopNest& nest) {
  return performs(nest, "stage_windows") && !nest.array(ArrayRole::output).layout;
}

bool has_boxes(const LoopNest& nest) {
  return has_windows_of_rows(nest) && nest.constant("tile_columns") >= StreamSchedule::least_columns_of_boxes;
}

LoopNest with_bulk_copies(const LoopNest& nest, const Directive& directive, bool boxes) {
  refuse_if(nest.find_array("StagedB") == nullptr, directive, "nothing is copied ahead of its use",
            "copy it first: pipeline(k, 4)");
  ThreadNest parts = take_apart(nest, directive);
  refuse_if(performs(nest, "make_barriers"), directive, "the copies are bulk copies already", "ask for them once");
  parts.body = with_bulk_copies(parts.body, boxes);
  auto& turns = std::get<Loop>(parts.body[find_place(parts.body, Role::reduction)].content);
  const auto products =
      std::ranges::find_if(turns.body, [](const Node& node) { return std::holds_alternative<Branch>(node.content); });
  insert(std::get<Branch>(products->content).then, 0,
         {perform("wait_for_operands", {index("turn"), index("stage"), index("part")})});
  insert(parts.body, find_definition(parts.body, "team_thread") + 1,
         {perform("make_barriers", {index("thread")}), Node{Barrier{Scope::block}}});
  LoopNest result = put_together(nest, parts);
  result.story.emplace_back(boxes ? units_and_windows : units_alone);
  return result;
}

}  // namespace

LoopNest copy_in_bulk(const LoopNest& nest, const CopyInBulk& directive) {
  return with_bulk_copies(nest, directive, has_boxes(nest));
}

LoopNest copy_lines_in_bulk(const LoopNest& nest) {
  if (!has_windows_of_rows(nest)) {
    return nest;
  }
  LoopNest result = nest;
  result.body = with_bulk_copies(nest.body, true);
  std::ranges::replace(result.story, units_alone, units_and_windows);
  return result;
}

LoopNest copy_units_in_bulk(const LoopNest& nest, const CopyUnits& directive) {
  return with_bulk_copies(nest, directive, false);
}

}  // namespace esc
