// SPDX-License-Identifier: Apache-2.0
#include "generator/model/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/text_scanner.h"
#include "generator/matrix/watched_source.h"
#include "generator/model/npz.h"
#include "generator/model/pickle.h"
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
  return fmt::format("{}{}", fmt::join(names, ", "), weights.size() > most_named ? fmt::format(" and {} others", weights.size() - most_named) : "");
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
    throw UserError(path.string(), "has neither model.safetensors nor model.safetensors.index.json in it", "name a model's file");
  }
  return file;
}

Model open_model(const fs::path& path) {
  if (is_folder(path)) {
    return {path.string(), open_model(model_file(path)).weights};
  }
  if (is_index(path)) {
    return {path.string(), assemble_weights(read_shards(path))};
  }
  refuse_pickle(path);
  const std::string ending = lower_case_ending(path);
  if (ending != ".safetensors" && ending != ".npz") {
    throw UserError(path.string(), "has no ending that names a model", "give a .safetensors, .safetensors.index.json or .npz file");
  }
  const auto file = std::make_shared<const FileBytes>(path);
  return {path.string(), ending == ".npz" ? read_npz(file) : assemble_weights(read_safetensors(file))};
}

const Weight& find_weight(const Model& model, const std::string& name) {
  std::vector<const Weight*> matrices;
  for (const Weight& weight : model.weights) {
    if (!name.empty() && weight.name == name) {
      return weight;
    }
    if (why_no_matrix(weight).empty()) {
      matrices.push_back(&weight);
    }
  }
  if (name.empty() && matrices.size() == 1) {
    return *matrices.front();
  }
  if (matrices.empty()) {
    throw UserError(model.name, name.empty() ? "has no matrix in it" : fmt::format("has no tensor {}, and no matrix at all", in_quotes(name)),
                    "escgen inspect lists its tensors");
  }
  throw UserError(model.name,
                  name.empty() ? fmt::format("has {} matrices", matrices.size()) : fmt::format("has no tensor {}", in_quotes(name)),
                  fmt::format("write FILE:TENSOR, with one of {}", some_names(matrices)));
}

SparseMatrix read_weight(const Weight& weight, const ReadOptions& options, StageProgress& progress) {
  if (const std::string problem = why_no_matrix(weight); !problem.empty()) {
    throw UserError(weight.place(), problem, "name a matrix of floats: escgen inspect lists them");
  }
  if (is_scipy(weight.form)) {
    progress.begin("reading " + weight.place());
    return read_scipy_matrix(weight, options);
  }
  WatchedSource source(open_weight(weight), progress);
  return read_dense(source, dense_array(weight), options);
}

}  // namespace esc
