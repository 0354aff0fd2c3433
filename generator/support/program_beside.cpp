// SPDX-License-Identifier: Apache-2.0
#include "generator/support/program_beside.h"

#include "generator/support/error.h"

namespace esc {

std::filesystem::path program_beside_this(const std::string& name) {
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / name;
  if (!std::filesystem::is_regular_file(program, ignored)) {
    throw UserError(name, "is not beside this program",
                    "build it where a CUDA toolkit is installed, and copy it along with this program",
                    ExitStatus::missing_tool);
  }
  return program;
}

}  // namespace esc
