// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "generator/commands/input.h"
#include "generator/commands/layer_request.h"
#include "generator/commands/sizes.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/target.h"
#include "generator/support/file.h"
#include "generator/support/strict_json.h"

namespace esc {
namespace {

using nlohmann::json;

/// One entry of a spec, with messages that say where it stands.
class SpecEntry {
 public:
  SpecEntry(const std::string& file, std::size_t index, const json& entry)
      : folder_(std::filesystem::path(file).parent_path()),
        place_(fmt::format("{}: layers[{}]", file, index)),
        entry_(entry) {
    if (!entry.is_object()) {
      refuse("is not an object");
    }
    static const std::set<std::string> known{"matrix", "bcol", "name", "schedule", "kernel", "epilogue", "layout", "sizes", "dtype", "seed", "gpu", "arch"};
    for (const auto& [key, value] : entry.items()) {
      if (!known.contains(key)) {
        refuse(fmt::format("has an unknown key \"{}\"", key));
      }
    }
  }

  /// Throws what one layer on the command line would throw, with the place in the file before it.
  std::vector<LayerRequest> requests() const {
    try {
      return requests_here();
    } catch (const UserError& problem) {
      if (problem.place() == place_) {
        throw;
      }
      throw UserError(place_, fmt::format("{} {}", problem.place(), problem.rule()), problem.remedy());
    }
  }

  const std::string& place() const { return place_; }

 private:
  std::vector<LayerRequest> requests_here() const {
    const std::vector<std::int64_t> bcols = bcols_of();
    std::vector<LayerRequest> requests;
    for (const std::int64_t bcol : bcols) {
      requests.push_back(request_for(bcol, bcols.size() > 1));
    }
    return requests;
  }
  LayerRequest request_for(std::int64_t bcol, bool one_of_several) const {
    LayerRequest request;
    request.matrix = beside(text("matrix"));
    request.bcol = bcol;
    check_bcol(bcol);
    request.nest = {entry_.contains("kernel") ? beside(text("kernel")) : "", entry_.contains("epilogue") ? text("epilogue") : ""};
    if (entry_.contains("layout")) {
      request.nest.layout = parse_layout(text("layout"));
    }
    request.name =
        bundle_name(entry_.contains("name") ? text("name") : default_name(request.matrix), bcol, one_of_several);
    check_name(request.name);
    request.schedule = entry_.contains("schedule") ? text("schedule") : "auto";
    // How many columns of C bCol stands for, its nest says.
    if (const bool is_shipped = !entry_.contains("kernel"); is_shipped && !is_looked_up(request.schedule)) {
      check_legal(parse_choice(request.schedule, "user"), {bcol, request.nest.layout != NestLayout::nk});
    }
    if (entry_.contains("sizes")) {
      request.nest.sizes.named = sizes();
    }
    if (entry_.contains("dtype")) {
      request.element = parse_element(text("dtype"));
    }
    request.read.seed = entry_.contains("seed") ? seed() : 0;
    if (entry_.contains("gpu")) {
      request.devices.push_back(device_of_gpu(text("gpu")));
    }
    if (entry_.contains("arch")) {
      request.devices.push_back(device_of_architecture(parse_architecture(text("arch"))));
    }
    return request;
  }
  [[noreturn]] void refuse(const std::string& rule) const {
    throw UserError(place_, rule,
                    "its keys are matrix and bcol, and if need be name, schedule, kernel or epilogue, layout, sizes, dtype, seed, gpu, arch");
  }
  const json& value(const std::string& key) const {
    if (!entry_.contains(key)) {
      refuse(fmt::format("has no \"{}\"", key));
    }
    return entry_.at(key);
  }
  std::string text(const std::string& key) const {
    if (!value(key).is_string()) {
      refuse(fmt::format("\"{}\" is not a text", key));
    }
    return value(key);
  }
  std::uint64_t seed() const {
    if (!value("seed").is_number_unsigned()) {
      refuse("\"seed\" is not a whole number from 0 to 2^64 - 1");
    }
    return value("seed");
  }
  Environment sizes() const {
    if (!value("sizes").is_object()) {
      refuse("\"sizes\" is not an object of names and numbers");
    }
    Environment sizes;
    for (const auto& [name, number] : value("sizes").items()) {
      if (!number.is_number_integer()) {
        refuse(fmt::format("\"sizes\" has no whole number for \"{}\"", name));
      }
      add_size(sizes, name, whole_number(number));
    }
    return sizes;
  }
  std::int64_t bcol_of(const json& one) const {
    if (!one.is_number_integer()) {
      refuse("\"bcol\" is neither a whole number nor a list of them");
    }
    return whole_number(one);
  }
  /// A number beyond 64 bits is kept as one that is out of range.
  static std::int64_t whole_number(const json& one) {
    const bool fits = !one.is_number_unsigned() || one.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
    return fits ? one.get<std::int64_t>() : std::numeric_limits<std::int64_t>::max();
  }
  std::vector<std::int64_t> bcols_of() const {
    if (!value("bcol").is_array()) {
      return {bcol_of(value("bcol"))};
    }
    std::vector<std::int64_t> bcols;
    for (const json& one : value("bcol")) {
      bcols.push_back(bcol_of(one));
    }
    if (bcols.empty()) {
      refuse("\"bcol\" is an empty list");
    }
    return bcols;
  }
  std::string beside(const std::string& path) const { return (folder_ / path).string(); }

  std::filesystem::path folder_;
  std::string place_;
  const json& entry_;
};

}  // namespace

std::vector<LayerRequest> parse_spec(const std::string& text, const std::string& file) {
  json spec;
  try {
    spec = parse_strict_json(text, file);
  } catch (const json::exception& problem) {
    throw UserError(file, fmt::format("is not JSON: {}", problem.what()),
                    "write {\"layers\": [{\"matrix\": \"a.npy\", \"bcol\": 64}]}");
  }
  if (!spec.is_object() || spec.size() != 1 || !spec.contains("layers") || !spec.at("layers").is_array() ||
      spec.at("layers").empty()) {
    throw UserError(file, "is not a spec", "write {\"layers\": [{\"matrix\": \"a.npy\", \"bcol\": 64}]}");
  }
  std::vector<LayerRequest> requests;
  std::map<std::string, std::string> places;
  for (std::size_t index = 0; index < spec.at("layers").size(); ++index) {
    const SpecEntry entry(file, index, spec.at("layers")[index]);
    for (LayerRequest& request : entry.requests()) {
      const auto [earlier, is_new] = places.emplace(request.name, entry.place());
      if (!is_new) {
        throw UserError(entry.place(),
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
