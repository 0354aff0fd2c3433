// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/overlap.h"

#include <algorithm>

#include "generator/ir/build.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"

namespace esc {

LoopNest overlap(const LoopNest& nest, const Overlap& directive) {
  refuse_if(nest.overlaps, directive, "the kernel already overlaps with the one before", "overlap once");
  refuse_if(nest.zeroed == Zeroed::output || nest.packed.kind == PackedForm::Kind::none ||
                nest.packed.kind == PackedForm::Kind::lists,
            directive, "C is set to zero before the kernel, or the sparse array is not packed",
            "overlap kernels whose blocks own their rows, after their data is transformed");
  LoopNest result = nest;
  for (LoopNest& before : result.before) {
    before = overlap(before, directive);
  }
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t use = find_use(nest, parts.body, {ArrayRole::dense, ArrayRole::output, ArrayRole::operand});
  const auto copies = std::ranges::find(parts.body, perform("wait_for_copies", {})) - parts.body.begin();
  const bool staged = static_cast<std::size_t>(copies) < use;
  const std::size_t waits = staged ? copies : use;
  insert(parts.body, staged ? waits + 1 : waits, {perform("allow_successor", {})});
  insert(parts.body, waits, {perform("wait_for_predecessor", {})});
  result.body = put_together(nest, parts).body;
  result.overlaps = true;
  return result;
}

}  // namespace esc
