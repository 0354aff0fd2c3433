// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/clang_folder.h"

#include <filesystem>

namespace esc::frontend {

const std::string& clang_folder() {
  static const std::string folder = [] {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::path beside = fs::read_symlink("/proc/self/exe", ignored).parent_path() / "../lib/esc/clang";
    const bool is_installed = fs::is_directory(ESC_CLANG_RESOURCE_DIR "/include", ignored);
    return !is_installed && fs::is_directory(beside / "include", ignored) ? beside.string()
                                                                          : std::string(ESC_CLANG_RESOURCE_DIR);
  }();
  return folder;
}

}  // namespace esc::frontend
