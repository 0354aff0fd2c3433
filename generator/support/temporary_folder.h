// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace esc {

/// A folder for intermediate files, removed with this object.
class TemporaryFolder {
 public:
  /// Throws UserError when the system's folder for temporary files cannot be written.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace esc
