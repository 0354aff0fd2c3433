// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace esc {

/// A regular file that is open for reading, closed with this object.
class RegularFile {
 public:
  /// Throws UserError when the path is missing, unreadable, a directory or anything else than a regular file; `contents` is what it shall hold, for
  /// the remedy: "one matrix".
  RegularFile(const std::filesystem::path& path, const char* contents);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  int descriptor() const { return descriptor_; }
  /// Number of bytes when it was opened.
  std::uint64_t size() const { return size_; }

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

/// Refuses a file of which the system said this number for an error.
[[noreturn]] void refuse_unreadable(const std::string& name, int error);

}  // namespace esc
