#include "generator/matrix/matrix_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "generator/matrix/mtx_reader.h"
#include "generator/matrix/npy_reader.h"
#include "generator/matrix/smtx_reader.h"
#include "generator/support/error.h"

namespace esc {

std::string lower_case_ending(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ending;
}

SparseMatrix read_matrix(const std::filesystem::path& path, const ReadOptions& options) {
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
  FileSource source(path);
  return read(source, options);
}

}  // namespace esc
