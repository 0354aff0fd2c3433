// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/model_nests.h"

#include "generator/commands/loop_nest_input.h"

namespace esc {

const LoopNest& ModelNests::of(const Weight& weight) {
  const std::vector<std::int64_t> sizes = is_filter(weight.shape) ? weight.shape : std::vector<std::int64_t>();
  const std::lock_guard lock(mutex_);
  const auto found = nests_.find(sizes);
  if (found != nests_.end()) {
    return found->second;
  }
  NestSource source = layer_.nest;
  source.sizes.weights = sizes;
  return nests_.emplace(sizes, read_loop_nest(source, layer_.element)).first->second;
}

}  // namespace esc
