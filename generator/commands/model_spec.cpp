// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/model_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "generator/commands/input.h"
#include "generator/commands/spec_object.h"

namespace esc {
namespace {

std::vector<TokenCount> token_counts_of(const SpecObject& object) {
  std::vector<TokenCount> counts = object.token_counts("bcol");
  std::ranges::for_each(counts, check_bcol, &TokenCount::columns);
  std::ranges::sort(counts, {}, &TokenCount::columns);
  if (const auto twice = std::ranges::adjacent_find(counts, {}, &TokenCount::columns); twice != counts.end()) {
    object.refuse(fmt::format("\"bcol\" has {} twice", twice->columns));
  }
  return counts;
}

std::vector<std::int64_t> bcols_of(const SpecObject& object) {
  std::vector<std::int64_t> bcols = object.bcols("bcol");
  std::ranges::for_each(bcols, check_bcol);
  std::ranges::sort(bcols);
  if (const auto twice = std::ranges::adjacent_find(bcols); twice != bcols.end()) {
    object.refuse(fmt::format("\"bcol\" has {} twice", *twice));
  }
  return bcols;
}

/// What it says is for layers of any size: whether it is legal, each layer says.
std::string schedule_of(const SpecObject& object, const std::string& otherwise) {
  std::string schedule = object.text("schedule", otherwise);
  if (!is_looked_up(schedule)) {
    parse_choice(schedule, "user");
  }
  return schedule;
}

std::vector<TargetDevice> devices_of(const SpecObject& model, const KnownDevices& known) {
  std::vector<TargetDevice> devices;
  std::ranges::transform(model.texts("gpu"), std::back_inserter(devices),
                         [&](const std::string& name) { return device_of_gpu(name, known); });
  std::ranges::transform(model.texts("arch"), std::back_inserter(devices),
                         [](const std::string& text) { return device_of_architecture(parse_architecture(text)); });
  return devices;
}

LayerException exception_of(const SpecObject& object) {
  LayerException exception{
      .tensor = object.text("tensor"), .skip = object.flag("skip", false), .bcols = {}, .schedule = {}};
  if (object.has("bcol")) {
    exception.bcols = bcols_of(object);
  }
  if (object.has("schedule")) {
    exception.schedule = schedule_of(object, "");
  }
  if (exception.skip && (object.has("bcol") || object.has("schedule"))) {
    object.refuse("leaves layers out, and says how they are made");
  }
  return exception;
}

std::string beside_spec(const std::string& file, const std::string& path) {
  return (std::filesystem::path(file).parent_path() / path).string();
}

ModelSpec model_spec_of(const SpecObject& model, const std::string& file, const KnownDevices& devices) {
  ModelSpec spec{.request = {.layer = {},
                             .token_counts = token_counts_of(model),
                             .name = model.text("name"),
                             .tensors = model.texts("tensors"),
                             .packed = model.flag("packed", true),
                             .all = model.flag("all", false),
                             .exceptions = {}},
                 .max_packed = {},
                 .database = model.has("database") ? beside_spec(file, model.text("database")) : ""};
  if (model.has("max_packed")) {
    const nlohmann::json& limit = model.list("max_packed");
    spec.max_packed =
        model.here([&] { return parse_packed_limit(limit.is_string() ? limit.get<std::string>() : limit.dump()); });
  }
  if (!spec.request.name.empty()) {
    check_name(spec.request.name);
  }
  LayerRequest& layer = spec.request.layer;
  if (model.text("model").empty()) {
    model.refuse("\"model\" names no file");
  }
  layer.matrix = beside_spec(file, model.text("model"));
  layer.schedule = schedule_of(model, "auto");
  layer.nest.epilogue = model.text("epilogue");
  layer.devices = devices_of(model, devices);
  layer.read.allow_nonfinite = model.flag("allow_nonfinite", false);
  if (model.has("layout")) {
    layer.nest.layout = parse_layout(model.text("layout"));
  }
  if (model.has("dtype")) {
    layer.element = parse_element(model.text("dtype"));
  }
  if (model.has("min_sparsity")) {
    layer.min_sparsity = model.number("min_sparsity");
  }
  return spec;
}

}  // namespace

std::string database_in_spec(const std::string& text, const std::string& file) {
  const nlohmann::json spec = spec_in(text, file);
  const bool says = spec.is_object() && spec.contains("model") && spec.contains("database");
  const bool leaves_choice = says && (!spec.contains("schedule") || spec["schedule"] == "auto");
  return leaves_choice && spec["database"].is_string() ? beside_spec(file, spec["database"].get<std::string>()) : "";
}

std::optional<ModelSpec> parse_model_spec(const std::string& text, const std::string& file,
                                          const KnownDevices& devices) {
  const nlohmann::json spec = spec_in(text, file);
  if (!spec.is_object() || !spec.contains("model")) {
    return std::nullopt;
  }
  const SpecObject model(file, spec, model_form());
  ModelSpec result = model.here([&] { return model_spec_of(model, file, devices); });
  const nlohmann::json none = nlohmann::json::array();
  for (const nlohmann::json& entry : model.has("exceptions") ? model.list("exceptions") : none) {
    const SpecObject exception(fmt::format("{}: exceptions[{}]", file, result.request.exceptions.size()), entry,
                               exception_form());
    result.request.exceptions.push_back(exception.here([&] { return exception_of(exception); }));
  }
  return result;
}

}  // namespace esc
