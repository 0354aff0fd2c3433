// SPDX-License-Identifier: Apache-2.0
#include "generator/model/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/text_scanner.h"
#include "generator/matrix/watched_source.h"
#include "generator/model/assemble_weights.h"
#include "generator/model/experts.h"
#include "generator/model/foreign_file.h"
#include "generator/model/npz.h"
#include "generator/model/safetensors.h"
#include "generator/model/scipy_matrix.h"
#include "generator/model/shards.h"
#include "generator/model/weight_source.h"
#include "generator/support/error.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_named = 8;

bool is_index(const fs::path& path) { return path.filename().string().ends_with(shard_index_ending); }

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// What a folder's model is in; empty where there is none.
fs::path file_of_folder(const fs::path& folder) {
  for (const char* name : {"model.safetensors.index.json", "model.safetensors"}) {
    if (is_there(folder / name)) {
      return folder / name;
    }
  }
  return {};
}

/// "\"a\", \"b\" and 7 others".
std::string some_names(const std::vector<const Weight*>& weights) {
  std::vector<std::string> names;
  for (std::size_t number = 0; number < std::min(weights.size(), most_named); ++number) {
    names.push_back(weights[number]->name);
  }
  return fmt::format("{}{}", fmt::join(names, ", "),
                     weights.size() > most_named ? fmt::format(" and {} others", weights.size() - most_named) : "");
}

/// The text as a number of digits alone.
std::optional<std::int64_t> number_of(std::string_view digits) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() && number >= 0 ? std::optional(number)
                                                                                     : std::nullopt;
}

const Weight* listed_weight(const Model& model, std::string_view name) {
  const auto found = std::ranges::find_if(model.weights, [&](const Weight& weight) { return weight.name == name; });
  return found == model.weights.end() ? nullptr : &*found;
}

/// The weight of this name, or slice 3 of the one that is NAME where the name is NAME.3.
std::optional<Weight> weight_or_slice(const Model& model, std::string_view name) {
  if (const Weight* const weight = listed_weight(model, name)) {
    return *weight;
  }
  const std::size_t point = name.rfind('.');
  const std::optional<std::int64_t> number = point == name.npos ? std::nullopt : number_of(name.substr(point + 1));
  const Weight* const tensor = number ? listed_weight(model, name.substr(0, point)) : nullptr;
  if (tensor == nullptr || tensor->shape.size() != 3 || *number >= tensor->shape[0]) {
    return std::nullopt;
  }
  return obstacle_of(*tensor) ? *tensor : expert_of(*tensor, *number);
}

/// The same, and NAME with rows as columns where the name is NAME.T.
std::optional<Weight> named_weight(const Model& model, std::string_view name) {
  constexpr std::string_view transpose = ".T";
  std::optional<Weight> weight = weight_or_slice(model, name);
  if (weight || !name.ends_with(transpose)) {
    return weight;
  }
  weight = weight_or_slice(model, name.substr(0, name.size() - transpose.size()));
  if (weight && !obstacle_of(*weight)) {
    weight = transposed(*std::move(weight));
    weight->name = name;
  }
  return weight;
}

/// Why there is no tensor of this name.
std::string missing_name(const Model& model, const std::string& name) {
  const auto is_slice = [&](const Weight& weight) { return weight.expert && weight.name.starts_with(name + "."); };
  const auto expert = std::ranges::find_if(model.weights, is_slice);
  return expert == model.weights.end() ? fmt::format("has no tensor {}", in_quotes(name))
                                       : fmt::format("has {} experts in {}, a layer each: {} and so on",
                                                     expert->expert->count, in_quotes(name), expert->name);
}

}  // namespace

bool is_model(const fs::path& path) {
  if (is_index(path)) {
    return true;
  }
  if (is_folder(path)) {
    return !file_of_folder(path).empty();
  }
  const std::string ending = lower_case_ending(path);
  return ending == ".safetensors" || ending == ".npz";
}

fs::path model_file(const fs::path& path) {
  if (!is_folder(path)) {
    return path;
  }
  fs::path file = file_of_folder(path);
  if (file.empty()) {
    throw UserError(path.string(), "has neither model.safetensors nor model.safetensors.index.json in it",
                    "name a model's file");
  }
  return file;
}

Model open_model(const fs::path& path) {
  if (is_folder(path)) {
    return {path.string(), open_model(model_file(path)).weights};
  }
  if (is_index(path)) {
    refuse_foreign_file(path);
    return {path.string(), assemble_weights(read_shards(path))};
  }
  refuse_foreign_file(path);
  const std::string ending = lower_case_ending(path);
  if (ending != ".safetensors" && ending != ".npz") {
    throw UserError(path.string(), "has no ending that names a model",
                    "give a .safetensors, .safetensors.index.json or .npz file");
  }
  const auto file = std::make_shared<const FileBytes>(path);
  return {path.string(), ending == ".npz" ? read_npz(file) : assemble_weights(read_safetensors(file))};
}

Weight find_weight(const Model& model, const std::string& name) {
  if (const std::optional<Weight> weight = name.empty() ? std::nullopt : named_weight(model, name)) {
    return *weight;
  }
  std::vector<const Weight*> matrices;
  std::vector<const Weight*> unread;
  for (const Weight& weight : model.weights) {
    if (!obstacle_of(weight)) {
      matrices.push_back(&weight);
    } else if (hides_layer(weight)) {
      unread.push_back(&weight);
    }
  }
  if (name.empty() && matrices.size() == 1 && unread.empty()) {
    return *matrices.front();
  }
  if (name.empty() && matrices.empty() && !unread.empty()) {
    throw UserError(
        unread.front()->place(),
        unread.front()->obstacle->rule +
            (unread.size() > 1 ? fmt::format("; {} other layers are not read either", unread.size() - 1) : ""),
        unread.front()->obstacle->remedy);
  }
  if (matrices.empty()) {
    throw UserError(
        model.name,
        name.empty() ? "has no matrix in it" : fmt::format("has no tensor {}, and no matrix at all", in_quotes(name)),
        "escgen inspect lists its tensors");
  }
  const std::string count = matrices.size() == 1
                                ? fmt::format("1 matrix beside {} layers that are not read", unread.size())
                                : fmt::format("{} matrices", matrices.size());
  throw UserError(model.name, name.empty() ? fmt::format("has {}", count) : missing_name(model, name),
                  fmt::format("write FILE:TENSOR, with one of {}", some_names(matrices)));
}

SparseMatrix read_weight(const Weight& weight, const ReadOptions& options, StageProgress& progress) {
  if (const std::optional<Obstacle> obstacle = obstacle_of(weight)) {
    throw UserError(weight.place(), obstacle->rule, obstacle->remedy);
  }
  if (is_scipy(weight.form)) {
    progress.begin("reading " + weight.place());
    return read_scipy_matrix(weight, options);
  }
  WatchedSource source(open_weight(weight), progress);
  return read_dense(source, dense_array(weight), options);
}

}  // namespace esc
