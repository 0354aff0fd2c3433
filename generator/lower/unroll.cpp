// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/unroll.h"

#include <fmt/format.h>

#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/schedule/schedule.h"

namespace esc {
namespace {

/// Repeats the innermost statements: the loops between them and the unrolled one are jammed.
Block repeat(const Loop& unrolled, int factor) {
  return rewrite(unrolled.body, {.statement = [&](const Statement& statement) {
                   Block repeated;
                   for (int step = 0; step < factor; ++step) {
                     const Affine shifted = Affine::of(unrolled.iterator) + step;
                     Statement copy = substitute(statement, unrolled.iterator, shifted);
                     if (step > 0) {
                       copy.guard.insert(copy.guard.begin(), less(shifted, unrolled.upper));
                     }
                     repeated.push_back(Node{std::move(copy)});
                   }
                   return repeated;
                 }});
}

}  // namespace

LoopNest unroll(const LoopNest& nest, const Unroll& directive) {
  const Loop& row = loop_of_role(nest.body, directive.loop, Role::row, directive, "unroll");
  refuse_if(row.step != 1, directive,
            fmt::format("loop '{}' is already unrolled by {}", directive.loop, row.step.constant()),
            "unroll each loop once");
  check_between(directive, "UFi", directive.factor, AtomicSchedule::max_ufi);
  refuse_if(only<Statement>(only<Loop>(only<Loop>(&row))) == nullptr, directive,
            fmt::format("the statements of loop '{}' are already transformed", directive.loop),
            "unroll the row loop before anything else");
  Loop unrolled = row;
  unrolled.step = directive.factor;
  unrolled.body = repeat(row, directive.factor);
  LoopNest result = nest;
  result.body = replace_loop(nest.body, directive.loop, Node{std::move(unrolled)});
  return result;
}

}  // namespace esc
