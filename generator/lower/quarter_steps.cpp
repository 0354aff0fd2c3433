// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/quarter_steps.h"

#include <fmt/format.h>

#include "generator/lower/refusals.h"

namespace esc {

LoopNest quarter_steps(const LoopNest& nest, const QuarterSteps& directive) {
  refuse_if(directive.array != "A" || nest.packed.kind != PackedForm::Kind::fragments, directive,
            fmt::format("'{}' is not stored in fragments", directive.array),
            "transform it first: transform(A, sparse24)");
  refuse_if(nest.packed.quarter_steps, directive, "its steps are quartered already", "quarter once");
  refuse_if(nest.packed.dense_steps, directive, "its steps have the columns as they stand, none of which is left out",
            "transform it in another way: transform(A, sparse24)");
  refuse_if(!is_half(nest.element()), directive, "of elements of 32 bits the tensor core takes one of two, as they are",
            "leave it out, or choose --dtype f16 or bf16");
  LoopNest result = nest;
  result.packed.quarter_steps = true;
  result.story.emplace_back(
      "Where the columns of a step leave each row one non-zero of four at most, that one is stored alone, with two "
      "bits that "
      "say which of the four it is.");
  return result;
}

}  // namespace esc
