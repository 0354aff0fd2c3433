// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/first_operands.h"

#include <utility>

#include "generator/ir/build.h"
#include "generator/lower/packed_tile_copies.h"
#include "generator/lower/packed_tiles.h"
#include "generator/lower/staged_copies.h"
#include "generator/lower/thread_nest.h"
#include "generator/lower/tile_copies.h"

namespace esc {
namespace {

/// The packed tiles of the first iterations: as many as have room, or all but the one that the first iteration asks
/// for.
Node first_packed_tiles(const LoopNest& nest) {
  const Affine count = Affine::of(has_warpgroups(nest) ? "packed_tile_stages" : "early_packed_tiles");
  return sequential_loop("u", 0, count, 1, Role::none, copy_of_packed_tile(nest, index("u"), index("u")));
}

/// Those that are on their way before tiles of B.
Node early_packed_tiles(const LoopNest& nest) {
  const Expression is_early = less(index("copy"), index("early_copies"));
  return has_later_packed_tiles(nest) ? Node{Branch{is_early, {first_packed_tiles(nest)}, {}}}
                                      : first_packed_tiles(nest);
}

/// The first tiles of B. Later packed tiles belong to the first group of copies, whose tile the first iteration waits
/// for.
Node first_tiles(const LoopNest& nest) {
  const Expression number = index("s");
  Block copies{copy_of_tile(nest, number)};
  if (has_later_packed_tiles(nest)) {
    const Expression is_late = less(index("early_copies") - 1, index("copy"));
    copies.push_back(Node{Branch{all_of({less(number, 1), is_late}), {first_packed_tiles(nest)}, {}}});
  }
  copies.push_back(commit_copies());
  return sequential_loop("s", 0, Affine::of("early_tiles"), 1, Role::none, std::move(copies));
}

}  // namespace

bool has_later_packed_tiles(const LoopNest& nest) {
  return !has_warpgroups(nest) && nest.constant("iteration_k_tiles") * nest.constant("block_row_tiles") > early_copies;
}

Block first_operands(const LoopNest& nest) {
  const bool boxes = may_have_boxes(nest);
  Block result{define("copy", index("part") * index("block_row_tiles") + index("place")),
               define("consumer_group_thread", index("place") * warp_size + index("lane")),
               Node{Declare{"packed_tile"}}, find_packed_tile(nest, 0)};
  append(result, boxes ? Block{perform("make_stage_barriers", {index("thread")}), Node{Barrier{Scope::block}}}
                       : Block{perform("make_packed_tile_barriers", {index("copy"), index("lane")}),
                               Node{Barrier{Scope::warp}}});
  append(result,
         {Node{Note{"The operands of the first iterations. Those of A are there whatever the previous kernel does."}},
          early_packed_tiles(nest)});
  if (boxes) {
    result.push_back(perform("uses_boxes", {}, {"boxed"}));
  }
  result.push_back(first_tiles(nest));
  return result;
}

}  // namespace esc
