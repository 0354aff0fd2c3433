// SPDX-License-Identifier: Apache-2.0
#include "tuner/commands/layer_groups.h"

#include <algorithm>

#include "generator/commands/layer_request.h"

namespace esc {
namespace {

bool is_same(const NestSource& a, const NestSource& b) {
  return a.file == b.file && a.epilogue == b.epilogue && a.sizes.named == b.sizes.named && a.layout == b.layout;
}

}  // namespace

std::vector<LayerGroup> groups_of_spec(const std::string& file) {
  std::vector<LayerGroup> groups;
  for (const LayerRequest& request : read_spec(file)) {
    if (request.element == ScalarType::f64) {
      throw UserError(request.matrix, "has dtype f64 in the spec",
                      "kernels are tuned in f32, tf32, f16 and bf16: leave it out, or name one of these");
    }
    auto group = std::ranges::find_if(groups, [&](const LayerGroup& one) { return one.element == request.element && is_same(one.nest, request.nest); });
    if (group == groups.end()) {
      groups.push_back({.nest = request.nest, .element = request.element, .files = {}, .bcols = {}});
      group = groups.end() - 1;
    }
    const auto [bcols, is_new] = group->bcols.try_emplace(request.matrix);
    if (is_new) {
      group->files.push_back(request.matrix);
    }
    bcols->second.insert(request.bcol);
  }
  return groups;
}

}  // namespace esc
