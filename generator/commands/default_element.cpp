// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/default_element.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "generator/commands/layer_worth.h"
#include "generator/model/layer_file.h"

namespace esc {
namespace {

std::optional<ScalarType> half_of(std::optional<ScalarType> stored) {
  return stored && is_half(*stored) ? stored : std::nullopt;
}

/// How many of a model's matrices have each type.
std::map<ScalarType, int> types_of(const Model& model, const ModelRequest& request) {
  std::map<ScalarType, int> types;
  for (const Weight& weight : model.weights) {
    const std::optional<ScalarType> type = stored_type(weight);
    if (type && is_asked_for(weight.name, request) && why_no_layer(weight, request).empty()) {
      ++types[*type];
    }
  }
  return types;
}

/// "12 f16, 1 f32".
std::string counts_text(const std::map<ScalarType, int>& types) {
  std::vector<std::string> counts;
  for (const auto& [type, count] : types) {
    counts.push_back(fmt::format("{} {}", count, name_of(type)));
  }
  return fmt::format("{}", fmt::join(counts, ", "));
}

}  // namespace

std::optional<ScalarType> element_of(const LayerRequest& request) {
  if (request.element || !request.nest.file.empty()) {
    return request.element;
  }
  return half_of(stored_type(request.matrix));
}

DefaultElement element_of(const Model& model, const ModelRequest& request) {
  const std::map<ScalarType, int> types = types_of(model, request);
  const std::optional<ScalarType> element =
      request.layer.element || types.size() != 1 ? request.layer.element : half_of(types.begin()->first);
  const ScalarType kernel = element.value_or(ScalarType::f32);
  if (types.empty() || (types.size() == 1 && types.begin()->first == memory_type(kernel))) {
    return {element};
  }
  return {element,
          fmt::format("the matrices that are asked for have elements of other types ({}) than the kernels, {}: "
                      "--dtype chooses another",
                      counts_text(types), name_of(kernel))};
}

std::string type_note(std::optional<ScalarType> stored, ScalarType kernel) {
  if (!stored || *stored == memory_type(kernel)) {
    return "";
  }
  return fmt::format("the file has elements of {}, the kernel of {}: --dtype {} keeps those of the file",
                     name_of(*stored), name_of(kernel), name_of(*stored));
}

}  // namespace esc
