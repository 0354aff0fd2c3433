// SPDX-License-Identifier: Apache-2.0
#include "generator/support/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <system_error>

#include "generator/support/error.h"

namespace esc {

TemporaryFolder::TemporaryFolder() {
  std::error_code problem;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(problem);
  if (problem) {
    throw UserError("TMPDIR", "is no folder for temporary files: " + problem.message(),
                    "set it to a folder with space, or leave it out");
  }
  std::string pattern = (folder / "escgen.XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    throw UserError(pattern, "cannot be made: " + std::generic_category().message(errno),
                    "set TMPDIR to a folder with space");
  }
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace esc
