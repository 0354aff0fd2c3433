// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/assign_row_tiles.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/panel_schedule.h"

namespace esc {
namespace {

void check_row_tiles(const AssignRowTiles& directive) {
  check_between(directive, "block", directive.row_tiles, PanelSchedule::max_row_tiles);
  check_between(directive, "warp", directive.warp_row_tiles, warp_size);
  const int warps = directive.row_tiles / directive.warp_row_tiles;
  refuse_if(directive.row_tiles % directive.warp_row_tiles != 0, directive,
            fmt::format("block={} is no multiple of warp={}", directive.row_tiles, directive.warp_row_tiles),
            nearest(std::max(1, warps) * directive.warp_row_tiles));
  refuse_if(warps > PanelSchedule::max_warps, directive,
            fmt::format("a block of {} warps is more than {}", warps, PanelSchedule::max_warps),
            nearest(PanelSchedule::max_warps * directive.warp_row_tiles));
}

}  // namespace

LoopNest assign_row_tiles(const LoopNest& nest, const AssignRowTiles& directive) {
  check_row_tiles(directive);
  const Loop& row = loop_of_role(nest.body, directive.loop, Role::row, directive);
  refuse_if(only<ColumnLoop>(only<Loop>(&row)) == nullptr, directive,
            fmt::format("the patterns under loop '{}' are not merged", directive.loop),
            "unroll the row loop and merge its patterns first");

  ThreadNest parts{{mapped_loop(Mapping::grid, "block", Affine::of("blocks"), Role::row)}, {}, {}};
  parts.add_warps("set", "block_sets", Role::row);
  parts.add_lanes("place", "warp_row_tiles", Role::row);
  parts.body = {define("set_of_grid", index("set") * index("blocks") + index("block"), ScalarType::u32),
                define("tile_slot", index("set_of_grid") * index("warp_row_tiles") + index("place"), ScalarType::u32),
                define("row_tile", index("tile_slot"), ScalarType::u32),
                define(row.iterator, index("row_tile") * index("row_tile_height"), ScalarType::u32)};
  append(parts.body, row.body);

  LoopNest result = put_together(nest, parts);
  result.constants.push_back({"block_row_tiles", directive.row_tiles, "row tiles of a block"});
  result.constants.push_back({"warp_row_tiles", directive.warp_row_tiles, "row tiles of a warp: a row group"});
  result.constants.push_back({"block_sets", quotient(index("block_row_tiles"), index("warp_row_tiles")), ""});
  result.constants.push_back({"block_rows", index("block_row_tiles") * index("row_tile_height"), ""});
  result.derived_sizes.push_back({"blocks", row.upper, row.step.constant() * directive.row_tiles});
  result.description.push_back(
      "A thread block owns whole row tiles and a tile of the columns of C: no other block has a part of their sums.");
  return result;
}

}  // namespace esc
