#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "generator/commands/input.h"
#include "generator/commands/layer_request.h"
#include "generator/schedule/target.h"
#include "generator/support/file.h"

namespace esc {
namespace {

using nlohmann::json;

/// One entry of a spec, with messages that say where it stands.
class SpecEntry {
 public:
  SpecEntry(const std::string& file, std::size_t index, const json& entry)
      : folder_(std::filesystem::path(file).parent_path()), place_(fmt::format("{}: layers[{}]", file, index)), entry_(entry) {
    if (!entry.is_object()) {
      refuse("is not an object");
    }
    static const std::set<std::string> known{"matrix", "bcol", "name", "schedule", "kernel", "seed", "gpu", "arch"};
    for (const auto& [key, value] : entry.items()) {
      if (!known.contains(key)) {
        refuse(fmt::format("has an unknown key \"{}\"", key));
      }
    }
  }

  std::vector<LayerRequest> requests() const {
    const std::vector<std::int64_t> bcols = bcols_of();
    std::vector<LayerRequest> requests;
    for (const std::int64_t bcol : bcols) {
      LayerRequest request;
      request.matrix = beside(text("matrix"));
      request.bcol = bcol;
      request.name = entry_.contains("name") ? text("name") : default_name(request.matrix);
      request.name += bcols.size() > 1 ? fmt::format("_n{}", bcol) : "";
      request.schedule = entry_.contains("schedule") ? text("schedule") : "auto";
      request.kernel = entry_.contains("kernel") ? beside(text("kernel")) : "";
      request.read.seed = entry_.contains("seed") ? static_cast<std::uint64_t>(number("seed")) : 0;
      if (entry_.contains("gpu")) {
        request.architectures.push_back(architecture_of_gpu(text("gpu")));
      }
      if (entry_.contains("arch")) {
        request.architectures.push_back(parse_architecture(text("arch")));
      }
      requests.push_back(std::move(request));
    }
    return requests;
  }

 private:
  [[noreturn]] void refuse(const std::string& rule) const {
    throw UserError(place_, rule,
                    "its keys are matrix and bcol, and if need be name, schedule, kernel, seed, gpu, arch");
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
  std::int64_t number(const std::string& key) const {
    if (!value(key).is_number_integer()) {
      refuse(fmt::format("\"{}\" is not a whole number", key));
    }
    return value(key);
  }
  std::vector<std::int64_t> bcols_of() const {
    if (!value("bcol").is_array()) {
      return {number("bcol")};
    }
    std::vector<std::int64_t> bcols;
    for (const json& one : value("bcol")) {
      if (!one.is_number_integer()) {
        refuse("\"bcol\" holds something that is not a whole number");
      }
      bcols.push_back(one);
    }
    return bcols;
  }
  std::string beside(const std::string& path) const { return (folder_ / path).string(); }

  std::filesystem::path folder_;
  std::string place_;
  const json& entry_;
};

}  // namespace

std::vector<LayerRequest> read_spec(const std::string& file) {
  json spec;
  try {
    spec = json::parse(read_file(file));
  } catch (const json::exception& problem) {
    throw UserError(file, fmt::format("is not JSON: {}", problem.what()));
  }
  if (!spec.is_object() || !spec.contains("layers") || !spec.at("layers").is_array()) {
    throw UserError(file, "is not a spec", "write {\"layers\": [{\"matrix\": \"a.npy\", \"bcol\": 64}]}");
  }
  std::vector<LayerRequest> requests;
  for (std::size_t index = 0; index < spec.at("layers").size(); ++index) {
    for (LayerRequest& request : SpecEntry(file, index, spec.at("layers")[index]).requests()) {
      requests.push_back(std::move(request));
    }
  }
  return requests;
}

}  // namespace esc
