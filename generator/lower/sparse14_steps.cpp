// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/sparse14_steps.h"

#include <fmt/format.h>

#include "generator/lower/refusals.h"

namespace esc {

LoopNest sparse14_steps(const LoopNest& nest, const Sparse14Steps& directive) {
  refuse_if(directive.array != "A" || nest.packed.kind != PackedForm::Kind::fragments, directive,
            fmt::format("'{}' is not stored in fragments", directive.array),
            "transform it first: transform(A, sparse24)");
  refuse_if(nest.packed.sparse14_steps, directive, "its k-steps are 1:4 already", "quarter once");
  refuse_if(nest.packed.dense_steps, directive, "its steps have the columns as they are, none of which is left out",
            "transform it in another way: transform(A, sparse24)");
  refuse_if(!is_half(nest.element()), directive, "of elements of 32 bits the tensor core takes one of two, as they are",
            "leave it out, or choose --dtype f16 or bf16");
  LoopNest result = nest;
  result.packed.sparse14_steps = true;
  result.description.emplace_back(
      "A 1:4 step, in which no row has more than one non-zero of four consecutive columns, stores that one alone, with "
      "two bits that say which of the four it is.");
  return result;
}

}  // namespace esc
