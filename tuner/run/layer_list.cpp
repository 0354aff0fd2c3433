// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/layer_list.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "generator/matrix/fingerprint.h"
#include "generator/matrix/matrix_reader.h"
#include "generator/model/read_elements.h"
#include "generator/matrix/statistics.h"
#include "generator/model/layer_file.h"
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
    if (fs::is_directory(name, ignored)) {
      std::ranges::copy(matrices_below(name), std::back_inserter(files));
    } else if (fs::exists(parse_layer_file(name).path, ignored)) {
      files.push_back(name);
    } else {
      throw UserError(name, "does not exist", "give matrices, or folders of them");
    }
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
          .row_variation = lengths.coefficient_of_variation};
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

}  // namespace esc::tuning
