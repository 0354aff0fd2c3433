// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace esc::tuning {

/// An open file that no other run or merge writes while this object lives.
class LockedFile {
 public:
  /// Opens the file with flags of open(2) and locks it. Throws UserError when it cannot be opened, is another's, or
  /// lies where nothing can be locked; a file that was begun only for that is not left behind.
  LockedFile(const std::filesystem::path& file, int flags);
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;
  ~LockedFile();

  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

}  // namespace esc::tuning
