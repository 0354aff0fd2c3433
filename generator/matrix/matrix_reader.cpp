// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/matrix_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "generator/matrix/mtx_reader.h"
#include "generator/matrix/npy_header.h"
#include "generator/matrix/npy_reader.h"
#include "generator/matrix/smtx_reader.h"
#include "generator/matrix/watched_source.h"
#include "generator/support/error.h"

namespace esc {

std::string lower_case_ending(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ending;
}

bool has_matrix_ending(const std::filesystem::path& path) {
  const std::string ending = lower_case_ending(path);
  return ending == ".smtx" || ending == ".mtx" || ending == ".npy";
}

SparseMatrix read_matrix(const std::filesystem::path& path, const ReadOptions& options, StageProgress& progress) {
  const std::string ending = lower_case_ending(path);
  SparseMatrix (*read)(ByteSource&, const ReadOptions&) = nullptr;
  if (ending == ".smtx") {
    read = read_smtx;
  } else if (ending == ".mtx") {
    read = read_mtx;
  } else if (ending == ".npy") {
    read = read_npy;
  } else {
    throw UserError(path.string(),
                    ending.empty() ? "has no ending that names a matrix format"
                                   : fmt::format("the ending {} is not a matrix format that can be read", ending),
                    fmt::format("give a {} file", supported_endings));
  }
  WatchedSource source(std::make_unique<FileSource>(path), progress);
  return read(source, options);
}

std::vector<std::int64_t> read_weight_shape(const std::filesystem::path& path) {
  if (lower_case_ending(path) != ".npy") {
    return {};
  }
  FileSource source(path);
  const std::vector<std::int64_t> shape = read_npy_header(source).shape;
  return shape.size() > 2 ? shape : std::vector<std::int64_t>();
}

}  // namespace esc
