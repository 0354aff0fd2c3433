// SPDX-License-Identifier: Apache-2.0
#include "generator/model/stored_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/support/error.h"

namespace esc {

StoredBytes::StoredBytes(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}

FileBytes::FileBytes(const std::filesystem::path& path)
    : FileBytes(path, std::make_unique<RegularFile>(path, "a model")) {}

FileBytes::FileBytes(const std::filesystem::path& path, std::unique_ptr<const RegularFile> file)
    : StoredBytes(path.string(), file->size()), file_(std::move(file)) {}

void FileBytes::read_at(std::uint64_t begin, std::span<std::byte> buffer) const { file_->read_at(begin, buffer); }

MemoryBytes::MemoryBytes(std::string name, std::string_view text)
    : StoredBytes(std::move(name), text.size()), text_(text) {}

void MemoryBytes::read_at(std::uint64_t begin, std::span<std::byte> buffer) const {
  ESC_CHECK(begin <= text_.size() && buffer.size() <= text_.size() - begin, "bytes are asked for that there are");
  std::ranges::copy(std::as_bytes(std::span(text_)).subspan(static_cast<std::size_t>(begin), buffer.size()),
                    buffer.begin());
}

RangeSource::RangeSource(std::string name, std::shared_ptr<const StoredBytes> bytes, std::uint64_t begin,
                         std::uint64_t end)
    : ByteSource(std::move(name), end - begin), bytes_(std::move(bytes)), begin_(begin), end_(end), position_(begin) {}

std::size_t RangeSource::read(std::span<std::byte> buffer) {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), end_ - position_));
  bytes_->read_at(position_, buffer.first(count));
  position_ += count;
  return count;
}

void refuse_at_byte(const StoredBytes& bytes, std::uint64_t byte, const std::string& rule, const std::string& remedy) {
  throw UserError(fmt::format("{}, byte {}", bytes.name(), byte), rule, remedy);
}

}  // namespace esc
