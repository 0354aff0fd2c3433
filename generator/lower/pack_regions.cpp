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

Access of_row_tile(const std::string& array) {
  return element(array, {Affine::of("first_of_row_tile"), Affine::of("packet", packet_columns) + Affine::of("s")});
}

Node look_up(const std::string& tile_slot, const std::string& row_tile) {
  return perform("row_tile_at", {element("Numbers"), index(tile_slot)}, {row_tile});
}

/// The packets of a lane group: columns and values of A taken from the packed matrix.
Node read_packets(const Loop& dealt) {
  const auto& column = *action<Define>(dealt.body.front());
  Access value = of_row_tile("Values");
  value.subscripts.push_back({"", Affine::of("u")});
  Loop steps = mapped_loop(Mapping::unrolled, "s", packet_columns, Role::none,
                           change_updates(dealt.body, [&](Guard& guard, Update& update) {
                             guard = without_bound(guard, "M");
                             update.value = with_factor(update.value, 0, value);
                           }));
  steps.body.front() = define(column.name, of_row_tile("Columns"), column.type);
  return sequential_loop("packet", Affine::of("warp_first") + Affine::of("group"), Affine::of("packets"),
                         Affine::of("cyclic_packets"), Role::reduction, {Node{std::move(steps)}});
}

/// Row tiles are looked up by their tile slots, wherever a row tile is named.
Block look_up_row_tiles(const Block& block) {
  return rewrite(block, {.statement = [](const Statement& statement) -> Block {
                   const auto* defined = std::get_if<Define>(&statement.action);
                   const auto* stored = std::get_if<Store>(&statement.action);
                   if (defined != nullptr && defined->value == index("tile_slot")) {
                     return {look_up("tile_slot", defined->name)};
                   }
                   if (stored != nullptr && stored->value == index("tile_slot_of_store")) {
                     return {look_up("tile_slot_of_store", "stored_row_tile"),
                             esc::statement(Store{stored->target, index("stored_row_tile")})};
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
  parts.body[at] = read_packets(std::get<Loop>(parts.body[at].content));
  parts.body = look_up_row_tiles(parts.body);
  const auto count = std::ranges::find_if(parts.body, counts_columns);
  *count = perform("find_row_tile", {element("Packets"), index("set_of_grid"), index("tile_slot")},
                   {"packets", "first_of_row_tile"});
  parts.body.insert(count + 1, define("warp_first", index("part") * index("sharing_groups")));

  LoopNest result = put_together(nest, parts);
  // How many blocks there are follows from the tile slots of the packed matrix.
  std::erase_if(result.derived_sizes, [](const DerivedSize& size) { return size.name == "blocks"; });
  const Affine tile_slots = Affine::of("tile_slots");
  const Affine steps = Affine::of("most_steps");
  replace_sparse(
      result,
      {{"Numbers", {tile_slots}, ArrayRole::packed_index, ScalarType::u32},
       {"Packets", {tile_slots}, ArrayRole::packed_index, ScalarType::i32},
       {"Columns", {tile_slots, steps}, ArrayRole::packed_index, ScalarType::u32},
       {"Values", {tile_slots, steps, Affine::of("row_tile_height")}, ArrayRole::packed_value, nest.element()}});
  result.constants.push_back({"cyclic_packets", index("sharing_groups") * index("row_tile_warps"),
                              "packets of a round: one for each lane group that shares a row tile"});
  result.packed = {.kind = PackedForm::Kind::regions,
                   .height = nest.constant("row_tile_height"),
                   .warps = nest.constant("row_tile_warps"),
                   .groups = nest.constant("sharing_groups"),
                   .warp_row_tiles = nest.constant("warp_row_tiles"),
                   .block_row_tiles = nest.constant("block_row_tiles")};
  result.description.push_back(
      "A is stored as packets: four columns of a row tile with the values of its rows, dealt block-cyclically to the "
      "lane groups. Row tiles of about the same length are stored with equally many packets, longest first. So where a "
      "row tile begins follows from its place and from constants, and the kernel waits for memory only twice, for A "
      "and for B.");
  return result;
}

}  // namespace esc
