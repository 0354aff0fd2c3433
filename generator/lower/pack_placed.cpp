// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/pack_placed.h"

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "generator/lower/fragment_rounds.h"
#include "generator/lower/lane_sums.h"
#include "generator/lower/mainloop.h"
#include "generator/lower/refusals.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

Access placed_for_consumer_group() { return element("PlacedA", {Affine::of("part")}); }

constexpr const char* description_of_halves =
    "The tensor core multiplies numbers of 16 bits, with 11 significant bits, at twice the rate of TF32. So each "
    "float32 is split into two such numbers, its leading bits and the rest, scaled by a power of two that is the same "
    "for a row tile of A in a K tile, or for a column of B. Those of A are in two tables: the leading bits of B are "
    "multiplied by both, the rest of B by the leading bits of A. The products of a K tile are added in float32.";

bool is_rounded(const LoopNest& nest) { return nest.element() == ScalarType::tf32; }

/// Puts the warp's part of its row tile's packed tile into shared memory.
Node place_values(const LoopNest& nest) {
  const Expression member = shares_k_tiles(nest) ? index("member") : Expression(0);
  return perform(is_rounded(nest) ? "place_rounded_values" : "place_split_values",
                 {of_packed_tile("Values"), placed_for_consumer_group(), index("place"), member, lane_of_warp(nest), 0,
                  0, index("part")});
}

/// Multiplies what all warps have placed, in the warp's own columns.
Node multiply_placed(const LoopNest& nest) {
  return perform(is_rounded(nest) ? "multiply_rounded_placed" : "multiply_split_placed",
                 {placed_for_consumer_group(), element("B"), index("k_tile") * index("k_tile_columns"), index("K"),
                  index("tile") * index("tile_columns"), index("N"), index("consumer_group_warp"), index("row_pair"),
                  index("column_pair"), element("sums"), 0, 0, 0, index("part")});
}

Node iterations_of_warp(const LoopNest& nest) {
  Block place = round_of_iteration();
  place.push_back(place_values(nest));
  Block multiply = round_of_iteration();
  multiply.push_back(multiply_placed(nest));
  return iterations_loop({if_there(std::move(place)), Node{Barrier{Scope::block}}, if_there(std::move(multiply)),
                          Node{Barrier{Scope::block}}});
}

}  // namespace

LoopNest pack_placed(const LoopNest& nest, const PackPlaced& directive) {
  check_sparse(nest, directive, directive.array);
  refuse_if(
      !has_own_columns(nest), directive, "the warps have no columns of their own",
      "stream the rows and give the warps their columns first: mainloop(i, row_tiles=2, warps=8, warp_m=32, split_k=4, "
      "tile_k=32); fragment(j, 128, warp_n=16)");
  refuse_if(nest.constant("k_tile_columns") != StreamSchedule::placed_columns, directive,
            fmt::format("K tiles have {} columns, and places are for {}", nest.constant("k_tile_columns"),
                        StreamSchedule::placed_columns),
            fmt::format("write tile_k={} in mainloop()", StreamSchedule::placed_columns));
  const std::int64_t rows = nest.constant("block_rows");
  const auto threads = static_cast<int>(nest.constant("threads_per_block"));
  const int most = StreamSchedule::most_placed_rows(StreamSchedule::thread_registers(threads));
  refuse_if(rows > most, directive,
            fmt::format("a block has {} rows, and the lanes of {} warps have registers for the sums of {}", rows,
                        threads / 32, most),
            fmt::format("choose row_tiles and warp_m so that their product is {} at most", most));
  LoopNest result = store_in_fragments(nest, directive, iterations_of_warp(nest));
  result.packed.dense_steps = true;
  result.packed.listed_values = true;
  result.packed.placed_values = true;
  result.packed.splits_values = !is_rounded(nest);
  constexpr int step_slots = 8;
  result.constants.push_back({"placing_warps", shares_k_tiles(nest) ? index("k_tile_warps") : Expression(1),
                              "warps that decompress a packed tile together"});
  result.packed.placing_warps = result.constant("placing_warps");
  result.constants.push_back({"step_slots", step_slots, "columns of A that the tensor core takes at once"});
  // After the copies in the memory of a block, once it has some.
  result.arrays.push_back({"PlacedA",
                           {Affine::of("iteration_k_tiles"), Affine::of("k_tile_columns"), Affine::of("block_rows")},
                           ArrayRole::shared,
                           nest.element(),
                           "placed"});
  result.description.push_back(
      fmt::format("Of {} columns the non-zeros are stored, each with 16 bits that say where it is. The warps that "
                  "multiply the same K tiles decompress them to shared memory, where the tensor core reads rows of A "
                  "for four warps at once. Each warp has {} columns of C, whose elements of B it holds in registers: "
                  "the kernel multiplies the transposed product.",
                  StreamSchedule::placed_columns, StreamSchedule::warp_columns));
  result.description.emplace_back(is_rounded(nest) ? description_of_digits(nest.element()) : description_of_halves);
  return result;
}

}  // namespace esc
