// SPDX-License-Identifier: Apache-2.0
#include "tuner/commands/layer_groups.h"

#include <algorithm>

#include "generator/commands/layer_request.h"
#include "generator/model/layer_file.h"

namespace esc {
namespace {

bool is_same(const NestSource& a, const NestSource& b) {
  return a.file == b.file && a.epilogue == b.epilogue && a.sizes.named == b.sizes.named && a.layout == b.layout;
}

}  // namespace

std::vector<LayerGroup> groups_of_spec(const std::string& file) {
  std::vector<LayerGroup> groups;
  for (const LayerRequest& request : read_spec(file)) {
    auto group = std::ranges::find_if(groups, [&](const LayerGroup& one) {
      return one.element == request.element && is_same(one.nest, request.nest);
    });
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

std::optional<ScalarType> element_for(const std::string& file, const NestSource& nest,
                                      std::optional<ScalarType> asked) {
  if (asked || !nest.file.empty()) {
    return asked;
  }
  try {
    const std::optional<ScalarType> stored = stored_type(file);
    return stored && is_half(*stored) ? stored : std::nullopt;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

std::vector<LayerGroup> divided_by_element(const std::vector<LayerGroup>& groups) {
  std::vector<LayerGroup> divided;
  for (const LayerGroup& group : groups) {
    const std::size_t first = divided.size();
    for (const std::string& file : group.files) {
      const std::optional<ScalarType> element = element_for(file, group.nest, group.element);
      const auto same = std::find_if(divided.begin() + static_cast<std::ptrdiff_t>(first), divided.end(),
                                     [&](const LayerGroup& one) { return one.element == element; });
      LayerGroup& part =
          same != divided.end()
              ? *same
              : divided.emplace_back(LayerGroup{
                    .nest = group.nest, .element = element, .files = {}, .of_models = group.of_models, .bcols = {}});
      part.files.push_back(file);
      part.bcols[file] = group.bcols.at(file);
    }
  }
  return divided;
}

}  // namespace esc
