// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace esc {

/// Whose file it is. What a user names may be a link to a regular file, as caches of downloads have them; a bundle has
/// no links.
enum class FileOf { user, bundle };

/// A regular file that is open for reading, closed with this object. Every file from outside is opened here: never in a
/// way that waits, and nothing else than a regular file is read from. May be read by several threads.
class RegularFile {
 public:
  /// Throws UserError when the path is missing, unreadable, a directory or anything else than a regular file;
  /// `contents` is what it shall hold, for the remedy: "one matrix".
  RegularFile(const std::filesystem::path& path, const char* contents, FileOf owner = FileOf::user);
  ~RegularFile();
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  /// Number of bytes when it was opened.
  std::uint64_t size() const { return size_; }
  /// Fills the buffer with the bytes from `begin` on, all of which must be within that number. Throws UserError where
  /// they are not there any more.
  void read_at(std::uint64_t begin, std::span<std::byte> buffer) const;

 private:
  std::string name_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

/// Throws UserError for a name that no file has: one with a NUL, after which the system would see nothing of it.
void check_file_name(const std::filesystem::path& path);

}  // namespace esc
