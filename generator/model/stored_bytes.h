// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "generator/matrix/byte_source.h"
#include "generator/support/regular_file.h"

namespace esc {

/// Bytes of known number of which any part can be read, by several threads at once. A model's file is read this way, a
/// range at a time: what nobody asks for is not read. It is not mapped: a file that is cut short under a mapping ends
/// the program, where here it is refused, and what is mapped counts as this program's memory.
class StoredBytes {
 public:
  virtual ~StoredBytes() = default;
  StoredBytes(const StoredBytes&) = delete;
  StoredBytes& operator=(const StoredBytes&) = delete;

  /// What messages call it: the path of a file.
  const std::string& name() const { return name_; }
  /// Number of bytes in all, as it was in the beginning.
  std::uint64_t size() const { return size_; }

  /// Fills the buffer with the bytes from `begin` on. Throws UserError where they are not all there any more.
  virtual void read_at(std::uint64_t begin, std::span<std::byte> buffer) const = 0;

 protected:
  StoredBytes(std::string name, std::uint64_t size);

 private:
  std::string name_;
  std::uint64_t size_;
};

/// Those of a regular file.
class FileBytes final : public StoredBytes {
 public:
  /// Throws UserError when the path is missing, unreadable or no regular file.
  explicit FileBytes(const std::filesystem::path& path);

  void read_at(std::uint64_t begin, std::span<std::byte> buffer) const override;

 private:
  FileBytes(const std::filesystem::path& path, std::unique_ptr<const RegularFile> file);

  std::unique_ptr<const RegularFile> file_;
};

/// Those of a text, a copy of which is kept.
class MemoryBytes final : public StoredBytes {
 public:
  MemoryBytes(std::string name, std::string_view text);

  void read_at(std::uint64_t begin, std::span<std::byte> buffer) const override;

 private:
  std::string text_;
};

/// The part of some bytes from `begin` to `end`, read from first to last.
class RangeSource final : public ByteSource {
 public:
  /// `name` is what messages call it.
  RangeSource(std::string name, std::shared_ptr<const StoredBytes> bytes, std::uint64_t begin, std::uint64_t end);

  std::size_t read(std::span<std::byte> buffer) override;
  void rewind() override { position_ = begin_; }

 private:
  std::shared_ptr<const StoredBytes> bytes_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::uint64_t position_;
};

/// Refuses bytes at one of them.
[[noreturn]] void refuse_at_byte(const StoredBytes& bytes, std::uint64_t byte, const std::string& rule,
                                 const std::string& remedy);

}  // namespace esc
