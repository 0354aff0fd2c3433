// SPDX-License-Identifier: Apache-2.0
#include "generator/model/shards.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "generator/matrix/text_scanner.h"
#include "generator/model/foreign_file.h"
#include "generator/model/safetensors.h"
#include "generator/model/tensor_name.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/strict_json.h"

namespace esc {
namespace {

using nlohmann::json;

constexpr const char* index_remedy =
    "write {\"weight_map\": {\"TENSOR\": \"FILE.safetensors\"}}, as save_pretrained does";

/// The tensors that each file is said to have.
std::map<std::string, std::set<std::string>> read_index(const std::string& index) {
  json parsed;
  try {
    parsed = parse_strict_json(read_file(index), index);
  } catch (const json::exception&) {
    throw UserError(index, "is not JSON", index_remedy);
  }
  if (!parsed.is_object() || !parsed.contains("weight_map") || !parsed.at("weight_map").is_object() ||
      parsed.at("weight_map").empty()) {
    throw UserError(index, "has no \"weight_map\" of names and files", index_remedy);
  }
  std::map<std::string, std::set<std::string>> tensors_of;
  for (const auto& [name, file] : parsed.at("weight_map").items()) {
    const std::string place = fmt::format("{}: weight_map.{}", index, in_quotes(name));
    if (!file.is_string()) {
      throw UserError(place, "is not the name of a file", index_remedy);
    }
    const std::string shard = file;
    if (!name_problem(shard).empty() || shard.find('/') != shard.npos || !shard.ends_with(".safetensors")) {
      throw UserError(place, fmt::format("names {}, which is no .safetensors file beside the index", in_quotes(shard)),
                      index_remedy);
    }
    tensors_of[shard].insert(name);
  }
  return tensors_of;
}

std::vector<StoredTensor> read_shard(const std::filesystem::path& index, const std::string& shard,
                                     const std::set<std::string>& names) {
  const std::filesystem::path path = index.parent_path() / shard;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw UserError(path.string(),
                    fmt::format("is missing, which {} of {}'s tensors are in, {} the first", names.size(),
                                index.filename().string(), in_quotes(*names.begin())),
                    "fetch all files of the model");
  }
  refuse_foreign_file(path);
  std::vector<StoredTensor> tensors = read_safetensors(std::make_shared<const FileBytes>(path));
  std::set<std::string> found;
  for (const StoredTensor& tensor : tensors) {
    found.insert(tensor.name);
    if (!names.contains(tensor.name)) {
      throw UserError(path.string(),
                      fmt::format("has {}, which {} does not say", in_quotes(tensor.name), index.filename().string()),
                      "fetch index and files of one version of the model");
    }
  }
  for (const std::string& name : names) {
    if (!found.contains(name)) {
      throw UserError(path.string(),
                      fmt::format("does not have {}, which {} says", in_quotes(name), index.filename().string()),
                      "fetch index and files of one version of the model");
    }
  }
  return tensors;
}

}  // namespace

std::vector<StoredTensor> read_shards(const std::filesystem::path& index) {
  std::vector<StoredTensor> tensors;
  for (const auto& [shard, names] : read_index(index.string())) {
    const std::vector<StoredTensor> more = read_shard(index, shard, names);
    tensors.insert(tensors.end(), more.begin(), more.end());
  }
  return tensors;
}

}  // namespace esc
