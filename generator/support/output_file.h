// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "generator/support/held_back_signals.h"

namespace esc {

/// Whether a name is that of a temporary file which an OutputFile of this name has beside it.
bool is_temporary_of(const std::string& file, std::string_view name);

/// A file that is written piece by piece, for content too large to hold in memory. The pieces go to a temporary file in
/// the same folder; `commit` renames it into place, so a reader sees the old file or the whole new one. Without
/// `commit` nothing is left, and what a run leaves that is killed goes with the next one; signals that end the program
/// wait until this object is gone. A symbolic link stays what it is: the file that it names is written, be it there yet
/// or not. A pipe or a device cannot be replaced and gets the pieces themselves, as they come. Throws UserError when
/// the folder cannot be written or the disk is full.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& target);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Flushes to the disk and puts the file into place.
  void commit();

 private:
  void open_temporary();
  void flush();
  void write_through(std::string_view rest);
  [[noreturn]] void fail(const char* remedy = "free some space or choose another folder") const;

  std::optional<HeldBackSignals> signals_;  ///< while there is a temporary file
  std::filesystem::path target_;
  std::filesystem::path temporary_;  ///< locked while it is written; empty where there is none, or no more
  std::string pending_;
  int descriptor_ = -1;
};

}  // namespace esc
