#include "generator/lower/overlap.h"

#include <algorithm>

#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

Node perform(const std::string& name) { return Node{Statement{{}, Perform{name, {}}}}; }

std::size_t find_wait_for_copies(const Block& body) {
  return static_cast<std::size_t>(std::ranges::find(body, perform("wait_for_copies")) - body.begin());
}

}  // namespace

LoopNest overlap(const LoopNest& nest, const Overlap& directive) {
  if (nest.overlaps) {
    throw ScheduleError(directive, "the kernel already overlaps with the one in front", "overlap once");
  }
  if (nest.zeroed == Zeroed::output || nest.packed.kind == PackedForm::Kind::none ||
      nest.packed.kind == PackedForm::Kind::lists) {
    throw ScheduleError(directive, "C is set to zero in front of the kernel, or the sparse array is not packed",
                        "overlap kernels whose blocks own their rows, after their data is transformed");
  }
  LoopNest result = nest;
  for (LoopNest& before : result.before) {
    before = overlap(before, directive);
  }
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t use = std::min(find_use(nest, parts.body, {ArrayRole::dense, ArrayRole::output}),
                                   find_wait_for_copies(parts.body));
  parts.body.insert(parts.body.begin() + static_cast<std::ptrdiff_t>(use), perform("wait_for_predecessor"));
  const std::size_t first = std::min(find_use(nest, parts.body, {ArrayRole::packed_index, ArrayRole::packed_value}), use);
  parts.body.insert(parts.body.begin() + static_cast<std::ptrdiff_t>(first), perform("allow_successor"));
  result.body = put_together(nest, parts).body;
  result.overlaps = true;
  return result;
}

}  // namespace esc
