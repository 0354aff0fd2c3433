// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <map>

#include "generator/commands/input.h"
#include "generator/commands/layer_request.h"
#include "generator/commands/sizes.h"
#include "generator/commands/spec_object.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/target.h"
#include "generator/support/file.h"

namespace esc {
namespace {

using nlohmann::json;

/// One layer of a spec, with the folder that the spec is in.
class SpecLayer {
 public:
  SpecLayer(const SpecObject& layer, std::filesystem::path folder, const KnownDevices& devices)
      : layer_(layer), folder_(std::move(folder)), devices_(devices) {}

  std::vector<LayerRequest> requests() const {
    const std::vector<std::int64_t> bcols = layer_.bcols("bcol");
    std::vector<LayerRequest> requests;
    for (const std::int64_t bcol : bcols) {
      requests.push_back(request_for(bcol, bcols.size() > 1));
    }
    return requests;
  }

 private:
  LayerRequest request_for(std::int64_t bcol, bool one_of_several) const {
    LayerRequest request;
    request.matrix = beside(layer_.text("matrix"));
    request.bcol = bcol;
    check_bcol(bcol);
    request.nest = {layer_.has("kernel") ? beside(layer_.text("kernel")) : "", layer_.text("epilogue")};
    if (layer_.has("layout")) {
      request.nest.layout = parse_layout(layer_.text("layout"));
    }
    request.name =
        bundle_name(layer_.has("name") ? layer_.text("name") : default_name(request.matrix), bcol, one_of_several);
    check_name(request.name);
    request.schedule = layer_.text("schedule", "auto");
    // How many columns of C bCol stands for, its nest says.
    if (const bool is_shipped = !layer_.has("kernel"); is_shipped && !is_looked_up(request.schedule)) {
      check_legal(parse_choice(request.schedule, "user"), {bcol, request.nest.layout != NestLayout::nk});
    }
    request.nest.sizes.named = sizes();
    if (layer_.has("dtype")) {
      request.element = parse_element(layer_.text("dtype"));
    }
    request.read.seed = layer_.has("seed") ? layer_.seed("seed") : 0;
    if (layer_.has("gpu")) {
      request.devices.push_back(device_of_gpu(layer_.text("gpu"), devices_));
    }
    if (layer_.has("arch")) {
      request.devices.push_back(device_of_architecture(parse_architecture(layer_.text("arch"))));
    }
    return request;
  }
  Environment sizes() const {
    Environment sizes;
    if (layer_.has("sizes")) {
      for (const auto& [name, number] : layer_.list("sizes").items()) {
        if (!number.is_number_integer()) {
          layer_.refuse(fmt::format("\"sizes\" has no whole number for \"{}\"", name));
        }
        add_size(sizes, name, SpecObject::whole_number(number));
      }
    }
    return sizes;
  }
  std::string beside(const std::string& path) const { return (folder_ / path).string(); }

  const SpecObject& layer_;
  std::filesystem::path folder_;
  const KnownDevices& devices_;
};

}  // namespace

std::vector<LayerRequest> parse_spec(const std::string& text, const std::string& file, const KnownDevices& devices) {
  const json spec = spec_in(text, file);
  if (spec.is_object() && spec.contains("model")) {
    throw UserError(file, "is the spec of a model, and layers are needed here",
                    "write {\"layers\": [{\"matrix\": \"FILE:TENSOR\", \"bcol\": 64}]}");
  }
  if (!spec.is_object() || !spec.contains("layers")) {
    throw UserError(file, "is not a spec", spec_example);
  }
  const SpecObject whole(file, spec, layers_form());
  std::vector<LayerRequest> requests;
  std::map<std::string, std::string> places;
  for (std::size_t index = 0; index < whole.list("layers").size(); ++index) {
    const SpecObject layer(fmt::format("{}: layers[{}]", file, index), whole.list("layers")[index], layer_form());
    const SpecLayer reader(layer, std::filesystem::path(file).parent_path(), devices);
    for (LayerRequest& request : layer.here([&] { return reader.requests(); })) {
      const auto [earlier, is_new] = places.emplace(request.name, layer.place());
      if (!is_new) {
        throw UserError(layer.place(),
                        fmt::format("makes a second bundle {}, as {} does", request.name, earlier->second),
                        "give each its own \"name\"");
      }
      requests.push_back(std::move(request));
    }
  }
  return requests;
}

std::vector<LayerRequest> read_spec(const std::string& file) { return parse_spec(read_file(file), file); }

}  // namespace esc
