// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/pack_fragments.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/lower/fragment_rounds.h"
#include "generator/lower/lane_sums.h"
#include "generator/lower/mainloop.h"
#include "generator/lower/refusals.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

/// Where in B the rows and columns are that are multiplied, how many columns there are, and what lane and memory the
/// sums and operands are of.
std::vector<Expression> with_place(std::vector<Expression> packed) {
  packed.insert(packed.end(),
                {element("B"), index("k_tile") * index("k_tile_columns"), index("tile") * index("tile_columns"),
                 index("N"), index("row_set"), index("pair"), element("sums"), 0, 0, index("part"), index("place")});
  return packed;
}

/// The products of steps: of float32 as terms, or of float32 that may be rounded.
const char* multiply_steps(const LoopNest& nest, bool dense) {
  return nest.element() == ScalarType::tf32 ? (dense ? "multiply_rounded_dense_steps" : "multiply_rounded_steps")
                                            : (dense ? "multiply_split_dense_steps" : "multiply_split_steps");
}

/// An unrolled loop over the steps of a packed tile from one on, some at once.
Node each_steps(const char* iterator, const Affine& first, const char* at_once, Block body) {
  Loop result = mapped_loop(Mapping::unrolled, iterator, Affine::of("packed_tile_steps"), Role::none, std::move(body));
  result.lower = first;
  result.step = Affine::of(at_once);
  return Node{std::move(result)};
}

/// The products of the steps of a packed tile that a warp has, some in a chain: two have their metadata in one word.
/// Warps that share a K tile have a chain each. Where there are not as many left, all of them multiply these, each by
/// its part of the columns of C, and each reads what is of A.
Node steps_loop(const LoopNest& nest, bool dense) {
  const auto multiply = [&](const Expression& step, const Expression& behind, const Expression& first_n8_tile,
                            const Expression& n8_tiles_end) {
    return perform(multiply_steps(nest, dense), with_place({of_packed_tile("Slots"), of_packed_tile("Values"), step,
                                                            behind, first_n8_tile, n8_tiles_end}));
  };
  const Expression all_steps = index("packed_tile_steps");
  if (!shares_k_tiles(nest)) {
    return each_steps("step", 0, "unrolled_steps", {multiply(index("step"), all_steps, 0, index("n8_tiles"))});
  }
  const auto part_at = [](const Expression& member) {
    return quotient(index("n8_tiles") * member, index("k_tile_warps"));
  };
  const Node left =
      each_steps("step_left", Affine::of("step"), "unrolled_steps",
                 {multiply(index("step_left"), all_steps, part_at(index("member")), part_at(index("member") + 1))});
  const Expression own = index("step") + index("member") * index("unrolled_steps");
  return each_steps("step", 0, "steps_at_once",
                    {Node{Branch{less(all_steps, index("step") + index("steps_at_once")),
                                 {left},
                                 {multiply(own, own + index("unrolled_steps"), 0, index("n8_tiles"))}}}});
}

/// The residuals of a warp, of those that share its K tile a part each.
Block residuals_of_warp(const LoopNest& nest) {
  Block result{perform("find_residuals",
                       {of_packed_tile("ResidualEnds"), index("row_set"), 0, index("part"), index("place")},
                       {"first_residual", "residuals_end"})};
  if (shares_k_tiles(nest)) {
    const auto part_at = [](const Expression& member) {
      return index("first_residual") +
             quotient((index("residuals_end") - index("first_residual")) * member, index("k_tile_warps"));
    };
    append(result, {define("own_first_residual", part_at(index("member"))),
                    define("own_residuals_end", part_at(index("member") + 1))});
  }
  return result;
}

/// What a warp multiplies of a packed tile. Dense steps leave no residuals.
Block products_of_warp(const LoopNest& nest, bool dense) {
  if (dense) {
    return {steps_loop(nest, dense)};
  }
  const bool shares = shares_k_tiles(nest);
  Block result = residuals_of_warp(nest);
  append(result, {steps_loop(nest, dense),
                  perform("add_residuals", with_place({index(shares ? "own_first_residual" : "first_residual"),
                                                       index(shares ? "own_residuals_end" : "residuals_end"),
                                                       of_packed_tile("ResidualSlots"), of_packed_tile("ResidualRows"),
                                                       of_packed_tile("ResidualValues")}))});
  return result;
}

/// The loop over the rounds of a block that a warp takes.
Node rounds_loop(const LoopNest& nest, bool dense) {
  Block multiply = round_of_iteration();
  append(multiply, products_of_warp(nest, dense));
  return iterations_loop({if_there(std::move(multiply))});
}

/// How the columns of a K tile are stored.
std::string description_of_order(int step_slots) {
  return fmt::format(
      "Each row tile stores the columns of a K tile in an order of its own (a column permutation), in which no row has "
      "more than one non-zero of two consecutive columns. So they are operands of the sparse tensor core as they are, "
      "{} columns of A at a time with half of their positions. Non-zeros that do not fit, the residuals, are stored "
      "beside them and multiplied one by one.",
      step_slots);
}
std::string description_of_dense_steps(int step_slots) {
  return fmt::format(
      "All elements of a K tile are stored, zeros too, as operands of the dense tensor core, {} columns of A at a "
      "time. With many non-zeros this is less work than finding the rows of B for steps that leave zeros out.",
      step_slots);
}
std::string description_of_listed_values(int step_slots) {
  return fmt::format(
      "The dense tensor core takes {} columns of A at a time, of which a lane has 16 elements in 16 rows and 32 "
      "columns. The non-zeros are stored one after the other, with one bit for each element that says whether it is "
      "stored.",
      step_slots);
}

/// What steps are of.
enum class Steps { sparse, dense, listed };

std::string description_of(Steps steps, int step_slots) {
  switch (steps) {
    case Steps::sparse:
      return description_of_order(step_slots);
    case Steps::dense:
      return description_of_dense_steps(step_slots);
    case Steps::listed:
      break;
  }
  return description_of_listed_values(step_slots);
}

/// All forms of the pass.
template <typename Directive>
LoopNest pack(const LoopNest& nest, const Directive& directive, Steps steps) {
  const bool dense = steps != Steps::sparse;
  check_sparse(nest, directive, directive.array);
  refuse_if(has_own_columns(nest), directive,
            "the warps have columns of their own, in which they multiply what is placed in shared memory",
            "place it there: transform(A, decompress)");
  refuse_if(nest.has_constant("tile_columns") && nest.constant("tile_columns") > StreamSchedule::max_columns, directive,
            "a warp has no registers for so many sums",
            fmt::format("write fragment(j, {})", StreamSchedule::max_columns));
  LoopNest result = store_in_fragments(nest, directive, rounds_loop(nest, dense));
  result.packed.dense_steps = dense;
  result.packed.listed_values = steps == Steps::listed;
  const int step_slots = dense ? 8 : 16;
  constexpr int chained_columns = 32;
  result.constants.push_back({"unrolled_steps", dense ? chained_columns / step_slots : 2, "k-steps that are unrolled"});
  if (shares_k_tiles(nest)) {
    result.constants.push_back(
        {"steps_at_once", index("unrolled_steps") * index("k_tile_warps"), "of the warps that share a K tile"});
  }
  result.constants.push_back({"step_slots", step_slots, "columns of A that the tensor core takes at once"});
  result.description.push_back(description_of(steps, step_slots));
  result.description.emplace_back(description_of_digits(nest.element()));
  return result;
}

}  // namespace

LoopNest pack_fragments(const LoopNest& nest, const PackFragments& directive) {
  return pack(nest, directive, Steps::sparse);
}

LoopNest pack_dense(const LoopNest& nest, const PackDense& directive) { return pack(nest, directive, Steps::dense); }

LoopNest pack_listed(const LoopNest& nest, const PackListed& directive) { return pack(nest, directive, Steps::listed); }

}  // namespace esc
