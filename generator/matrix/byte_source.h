// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "generator/support/regular_file.h"

namespace esc {

/// Bytes of known number that are read from first to last, more than once if need be. Readers of matrices take one
/// instead of a path, so that the same reader serves files and bytes in memory.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// What messages call it: the path of a file.
  const std::string& name() const { return name_; }
  /// Number of bytes in all, as it was when the source was opened.
  std::uint64_t size() const { return size_; }

  /// Reads the next bytes into `buffer` and says how many: fewer than asked for only at the end.
  virtual std::size_t read(std::span<std::byte> buffer) = 0;
  /// Makes the next `read` start at the first byte again.
  virtual void rewind() = 0;

 protected:
  ByteSource(std::string name, std::uint64_t size);

 private:
  std::string name_;
  std::uint64_t size_;
};

/// A regular file. It is read, not mapped: mapped pages would count as this program's memory.
class FileSource final : public ByteSource {
 public:
  /// Throws UserError when the path is missing, unreadable, a directory or anything else than a regular file.
  explicit FileSource(const std::filesystem::path& path);

  std::size_t read(std::span<std::byte> buffer) override;
  void rewind() override { position_ = 0; }

 private:
  FileSource(const std::filesystem::path& path, std::unique_ptr<const RegularFile> file);

  std::unique_ptr<const RegularFile> file_;
  std::uint64_t position_ = 0;
};

/// Bytes in memory, which must outlive the source.
class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, std::span<const std::byte> bytes);
  MemorySource(std::string name, std::string_view text);

  std::size_t read(std::span<std::byte> buffer) override;
  void rewind() override { position_ = 0; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

/// Refuses a source whose second reading does not match its first.
[[noreturn]] void refuse_change(const ByteSource& source);

}  // namespace esc
