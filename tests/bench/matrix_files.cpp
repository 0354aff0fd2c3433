// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/matrix_files.h"

#include <filesystem>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/meaningful_lines.h"

namespace esc::bench {

std::vector<std::string> matrix_files(std::vector<std::string> named, const std::string& list) {
  if (!list.empty()) {
    for (const TextLine& line : meaningful_lines(read_file(list))) {
      named.push_back(line.text);
    }
  }
  if (named.empty()) {
    throw UserError("command line", "names no matrix", "give MATRIX... or --matrices LIST_FILE");
  }
  for (const std::string& file : named) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored)) {
      throw UserError(file, "is not a file", "give the matrices' paths as seen from here");
    }
  }
  return named;
}

}  // namespace esc::bench
