// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/pack_sparse24.h"

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "generator/lower/packed_tiles.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

constexpr int group_registers = 4;  ///< of a lane in 32 columns, which mma.sp multiplies at once: two elements each

Block multiply_block() {
  const Node load =
      perform("load_sparse_a", {of_packed_tile("Values"), index("half") * pair_blocks + index("block_of_pair"),
                                index("group"), 0, 0, index("lane"), element("a", {Affine::of("group")})});
  const Node multiply =
      perform("mma_sp", {element("pair_sums", {Affine::of("block_of_pair"), Affine::of("n8_tile", 4)}),
                         element("a", {Affine::of("group")}), element("b"),
                         element("bits", {Affine::of("block_of_pair")}), index("group")});
  return {unrolled("group", block_groups, {load}), multiply_by_n8_tiles({multiply})};
}

}  // namespace

LoopNest pack_sparse24(const LoopNest& nest, const PackSparse24& directive) {
  check_sparse(nest, directive, directive.array);
  ThreadNest parts = take_apart(nest, directive);
  check_lanes(nest, parts, directive);
  refuse_if(nest.constant("tile_columns") > BitmapSchedule::max_warp_columns, directive,
            "a warp by itself has no registers for so many sums",
            fmt::format("write fragment(j, {})", BitmapSchedule::max_warp_columns));
  const ScalarType type = nest.element();
  const Affine blocks = Affine::of("packed_tile_blocks");
  LoopNest result = with_packed_tiles(
      nest, std::move(parts),
      {.find = {},
       .bits = "Metadata",
       .multiply_block = multiply_block(),
       .complete_sums = add_pair_sums(),
       .registers = {{"bits", {pair_blocks}, ArrayRole::registers, ScalarType::u32},
                     register_pairs("a", {block_groups, group_registers}, type),
                     register_pairs("b", {2, 2}, type),
                     pair_sums(nest)},
       .arrays = {of_packed_tiles("Metadata", {blocks, warp_size}, ArrayRole::packed_index, ScalarType::u32),
                  of_packed_tiles("Values", {blocks, block_groups, warp_size, group_registers, 2},
                                  ArrayRole::packed_value, type)}});
  result.packed.kind = PackedForm::Kind::sparse24;
  result.explicit_zeros = true;
  result.description.emplace_back(
      "Of each four elements of a row of A two are stored, which the sparse tensor core multiplies, and two bits for "
      "each of them say which ones. All packed tiles have the same size, and the packed matrix is the same for every "
      "number of columns.");
  return result;
}

}  // namespace esc
