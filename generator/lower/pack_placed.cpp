// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/pack_placed.h"

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "generator/lower/fragment_rounds.h"
#include "generator/lower/lane_sums.h"
#include "generator/lower/refusals.h"
#include "generator/lower/stream_windows.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

Access placed_for_team() { return element("PlacedA", {Affine::of("part")}); }

constexpr const char* story_of_halves =
    "The tensor core takes 11 bits of a number of 16 bits, at twice the rate of TF32's: so each float32 is two such "
    "numbers, its leading bits and the rest, scaled by a power of two, the "
    "same for a panel of A in a window, or for a column of B. Those of A stand in two tables; the leading bits of B "
    "are multiplied by both, and its rests by the leading bits of A. What "
    "that gives of a window is added in float32.";

bool is_rounded(const LoopNest& nest) { return nest.element() == ScalarType::tf32; }

/// Puts the warp's part of its panel's unit into shared memory.
Node place_values(const LoopNest& nest) {
  const Expression member = shares_windows(nest) ? index("member") : Expression(0);
  return perform(
      is_rounded(nest) ? "place_rounded_values" : "place_split_values",
      {of_unit("Values"), placed_for_team(), index("place"), member, lane_of_warp(nest), 0, 0, index("part")});
}

/// Multiplies what all warps have placed, in the warp's own columns.
Node multiply_placed(const LoopNest& nest) {
  return perform(is_rounded(nest) ? "multiply_rounded_placed" : "multiply_split_placed",
                 {placed_for_team(), element("B"), index("window") * index("window_columns"), index("K"),
                  index("tile") * index("tile_columns"), index("N"), index("team_warp"), index("row_pair"),
                  index("column_pair"), element("sums"), 0, 0, 0, index("part")});
}

Node turns_of_warp(const LoopNest& nest) {
  Block place = round_of_turn();
  place.push_back(place_values(nest));
  Block multiply = round_of_turn();
  multiply.push_back(multiply_placed(nest));
  return turns_loop({if_there(std::move(place)), Node{Barrier{Scope::block}}, if_there(std::move(multiply)),
                     Node{Barrier{Scope::block}}});
}

}  // namespace

LoopNest pack_placed(const LoopNest& nest, const PackPlaced& directive) {
  check_sparse(nest, directive, directive.array);
  refuse_if(is_half(nest.element()), directive, "numbers of 16 bits are not placed for the tensor core",
            "list them: transform(A, compressed); or choose --dtype f32 or tf32");
  refuse_if(
      !has_own_columns(nest), directive, "the warps have no columns of their own",
      "stream the rows and give the warps their columns first: mainloop(i, row_tiles=2, warps=8, warp_m=32, split_k=4, "
      "tile_k=32); fragment(j, 128, warp_n=16)");
  refuse_if(nest.constant("window_columns") != StreamSchedule::placed_columns, directive,
            fmt::format("windows have {} columns, and places are for {}", nest.constant("window_columns"),
                        StreamSchedule::placed_columns),
            fmt::format("write tile_k={} in mainloop()", StreamSchedule::placed_columns));
  const std::int64_t rows = nest.constant("block_rows");
  const auto threads = static_cast<int>(nest.constant("threads_per_block"));
  const int most = StreamSchedule::most_placed_rows(StreamSchedule::thread_registers(threads));
  refuse_if(rows > most, directive,
            fmt::format("a block has {} rows, and the lanes of {} warps have registers for the sums of {}", rows,
                        threads / 32, most),
            fmt::format("choose panels and rows so that their product is {} at most", most));
  LoopNest result = store_in_fragments(nest, directive, turns_of_warp(nest));
  result.packed.dense_steps = true;
  result.packed.listed_values = true;
  result.packed.placed_values = true;
  result.packed.splits_values = !is_rounded(nest);
  constexpr int step_slots = 8;
  result.constants.push_back({"placing_warps", shares_windows(nest) ? index("window_warps") : Expression(1),
                              "that place the values of a unit together"});
  result.packed.placing_warps = result.constant("placing_warps");
  result.constants.push_back({"step_slots", step_slots, "columns of A that the tensor core takes at once"});
  // Behind the copies in the memory of a block, once it has some.
  result.arrays.push_back({"PlacedA",
                           {Affine::of("turn_windows"), Affine::of("window_columns"), Affine::of("block_rows")},
                           ArrayRole::shared,
                           nest.element(),
                           "placed"});
  result.story.push_back(
      fmt::format("Of {} columns those elements that are not zero are stored, each with 16 bits that say where it "
                  "stands. The warps that multiply the same windows "
                  "put them into shared memory, where the tensor core reads rows of A at once for four warps. These "
                  "have {} columns of C each, for which they hold their elements of B "
                  "in registers: what is multiplied is the transposed product.",
                  StreamSchedule::placed_columns, StreamSchedule::warp_columns));
  result.story.emplace_back(is_rounded(nest) ? story_of_digits(nest.element()) : story_of_halves);
  return result;
}

}  // namespace esc
