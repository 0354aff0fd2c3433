// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/layer_list.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "generator/matrix/fingerprint.h"
#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/statistics.h"
#include "generator/model/layer_file.h"
#include "generator/model/model.h"
#include "generator/model/read_elements.h"
#include "generator/schedule/layer_class.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/meaningful_lines.h"

namespace esc::tuning {
namespace {

namespace fs = std::filesystem;

/// Whether it is a file with the name of a matrix, or a link of which nobody knows where it leads: reading it says why.
bool is_matrix_file(const fs::directory_entry& entry) {
  static const std::set<std::string> endings{".smtx", ".mtx", ".npy", ".npz"};
  if (!endings.contains(lower_case_ending(entry.path()))) {
    return false;
  }
  std::error_code ignored;
  const fs::file_status status = entry.status(ignored);
  return fs::is_regular_file(status) || !fs::status_known(status);
}

std::vector<std::string> matrices_below(const fs::path& folder) {
  std::vector<std::string> files;
  fs::path place = folder;
  std::error_code problem;
  for (fs::recursive_directory_iterator entry(folder, problem), end; entry != end; entry.increment(problem)) {
    place = entry->path();
    if (is_matrix_file(*entry)) {
      files.push_back(place.string());
    }
  }
  if (problem) {
    throw UserError(place.string(), "cannot be read: " + problem.message());
  }
  if (files.empty()) {
    throw UserError(folder.string(), "has no matrix in it",
                    std::string("give a folder with files that end in .smtx, .mtx, .npy or .npz"));
  }
  std::ranges::sort(files);
  return files;
}

/// The matrices of a model of several, as FILE:TENSOR; none where the name is one of something else.
std::vector<std::string> matrices_of_model(const std::string& name) {
  const LayerFile file = parse_layer_file(name);
  if (!file.tensor.empty() || !is_model(file.path)) {
    return {};
  }
  std::vector<std::string> layers;
  for (const Weight& weight : open_model(file.path).weights) {
    if (why_no_matrix(weight).empty()) {
      layers.push_back(LayerFile{model_file(file.path).string(), weight.name}.name());
    }
  }
  return layers.size() > 1 ? layers : std::vector<std::string>();
}

/// One file's layer, or why there is none.
struct Found {
  LayerFacts facts;
  std::string problem;
  std::string note;
};

Found find_layer(const std::string& file, ScalarType element) {
  try {
    const SparseMatrix matrix = read_elements(file, element);
    if (matrix.nonzeros() == 0) {
      return {.facts = {}, .problem = {}, .note = file + ": has no non-zeros, so that there is no kernel to tune"};
    }
    return {.facts = facts_of(matrix, file), .problem = {}, .note = {}};
  } catch (const UserError& problem) {
    return {.facts = {}, .problem = problem.what(), .note = {}};
  }
}

}  // namespace

std::vector<std::string> matrix_files(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    std::error_code ignored;
    if (const std::vector<std::string> layers = matrices_of_model(name); !layers.empty()) {
      std::ranges::copy(layers, std::back_inserter(files));
    } else if (fs::is_directory(name, ignored)) {
      std::ranges::copy(matrices_below(name), std::back_inserter(files));
    } else if (fs::exists(parse_layer_file(name).path, ignored)) {
      files.push_back(name);
    } else {
      throw UserError(name, "does not exist", "give matrices, or folders of them");
    }
  }
  return files;
}

std::set<std::string> layers_of_models(const std::vector<std::string>& names) {
  std::set<std::string> files;
  for (const std::string& name : names) {
    std::ranges::copy(matrices_of_model(name), std::inserter(files, files.end()));
  }
  return files;
}

std::vector<std::string> read_matrix_list(const std::string& file) {
  std::vector<std::string> names;
  for (const TextLine& line : meaningful_lines(read_file(file))) {
    names.push_back((fs::path(file).parent_path() / line.text).string());
  }
  if (names.empty()) {
    throw UserError(file, "names no matrix", "write the path of one on each line");
  }
  return names;
}

LayerFacts facts_of(const SparseMatrix& matrix, const std::string& file) {
  const LengthStatistics lengths = row_statistics(matrix);
  return {.file = file,
          .pattern = fingerprint(matrix).pattern,
          .rows = matrix.rows,
          .columns = matrix.columns,
          .nonzeros = matrix.nonzeros(),
          .longest_row = lengths.longest,
          .row_variation = lengths.coefficient_of_variation,
          .sparse24 = is_sparse24(matrix)};
}

LayerList read_layers(const std::vector<std::string>& files, ScalarType element) {
  std::vector<Found> found(files.size());
  tbb::parallel_for(std::size_t{0}, files.size(),
                    [&](std::size_t number) { found[number] = find_layer(files[number], element); });
  LayerList list;
  std::set<std::string> patterns;
  for (Found& one : found) {
    if (!one.problem.empty()) {
      list.problems.push_back(std::move(one.problem));
    } else if (!one.note.empty()) {
      list.notes.push_back(std::move(one.note));
    } else if (patterns.insert(one.facts.pattern).second) {
      list.layers.push_back(std::move(one.facts));
    }
  }
  return list;
}

void keep_one_of_each_kind(LayerList& list, const std::set<std::string>& of_models, double least_sparsity) {
  struct Kind {
    std::string first;
    std::size_t others = 0;
  };
  std::map<std::tuple<std::int64_t, std::int64_t, bool, LayerClass>, Kind> kinds;
  std::size_t dense = 0;
  std::erase_if(list.layers, [&](const LayerFacts& layer) {
    if (!of_models.contains(layer.file)) {
      return false;
    }
    if (layer.sparsity() < least_sparsity) {
      ++dense;
      return true;
    }
    const LayerClass like = class_of({.rows = layer.rows,
                                      .columns = layer.columns,
                                      .nonzeros = layer.nonzeros,
                                      .longest_row = layer.longest_row,
                                      .row_variation = layer.row_variation});
    const auto [kind, is_new] = kinds.try_emplace({layer.rows, layer.columns, layer.sparse24, like}, Kind{layer.file});
    kind->second.others += is_new ? 0 : 1;
    return !is_new;
  });
  for (const auto& [like, kind] : kinds) {
    if (kind.others > 0) {
      list.notes.push_back(
          fmt::format("{}: is tuned for {} more layers of its shape and kind of pattern", kind.first, kind.others));
    }
  }
  if (dense > 0) {
    list.notes.push_back(
        fmt::format("{} layers with less than {:g} % zeros are left out", dense, 100 * least_sparsity));
  }
}

}  // namespace esc::tuning
