// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace esc {

/// A folder of files that is made beside the place where it is to be, and put there at once. Unless it was, it is
/// removed with this object, and the folders around it that were made for it. While it lives it is locked, so that
/// others can tell it from one that a killed run has left.
class FolderAside {
 public:
  /// Makes it for the folder `name` in `parent`, which is to hold files of these names and no others. What killed runs
  /// have left of earlier ones is removed. Throws UserError.
  FolderAside(std::filesystem::path parent, std::string name, std::vector<std::string> files);
  FolderAside(const FolderAside&) = delete;
  FolderAside& operator=(const FolderAside&) = delete;
  ~FolderAside();

  const std::filesystem::path& path() const { return path_; }

  /// Puts it where nothing is; false where something is. An empty folder may count as nothing.
  bool place();
  /// Puts it into the place of another one, which is then `path`; false where there is none. What `path` holds is
  /// removed with this object, unless it is given back.
  bool exchange();
  /// Undoes an exchange.
  void give_back();

 private:
  void make();
  bool lock();
  void remove_left_over() const;
  void remove_empty_ancestors() const;
  bool exchange_in_two_steps();

  std::filesystem::path parent_;
  std::string name_;
  std::vector<std::string> files_;
  std::filesystem::path target_;
  std::vector<std::filesystem::path> made_;
  std::filesystem::path path_;
  int descriptor_ = -1;  ///< of the folder, locked where the file system can
};

}  // namespace esc
