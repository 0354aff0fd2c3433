// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/build_info.h"

#include <fmt/format.h>

#include "generator/emit/layer.h"

namespace esc {

std::string build_info(const std::string& program, const std::string& llvm) {
  const std::string cuda = ESC_CUDA_VERSION;
  return fmt::format("{} {}\ncommit     {}\nLLVM       {}\nCUDA       {}", program, tool_version, ESC_COMMIT,
                     llvm.empty() ? "none" : llvm, cuda.empty() ? "none" : cuda);
}

}  // namespace esc
