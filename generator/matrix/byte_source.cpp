// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/byte_source.h"

#include <algorithm>
#include <utility>

#include "generator/support/error.h"

namespace esc {

ByteSource::ByteSource(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}

FileSource::FileSource(const std::filesystem::path& path)
    : FileSource(path, std::make_unique<RegularFile>(path, "one matrix")) {}

FileSource::FileSource(const std::filesystem::path& path, std::unique_ptr<const RegularFile> file)
    : ByteSource(path.string(), file->size()), file_(std::move(file)) {}

std::size_t FileSource::read(std::span<std::byte> buffer) {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size() - position_));
  file_->read_at(position_, buffer.first(count));
  position_ += count;
  return count;
}

MemorySource::MemorySource(std::string name, std::span<const std::byte> bytes)
    : ByteSource(std::move(name), bytes.size()), bytes_(bytes) {}

MemorySource::MemorySource(std::string name, std::string_view text)
    : MemorySource(std::move(name), std::as_bytes(std::span(text.data(), text.size()))) {}

std::size_t MemorySource::read(std::span<std::byte> buffer) {
  const std::size_t count = std::min(buffer.size(), bytes_.size() - position_);
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(position_), count, buffer.begin());
  position_ += count;
  return count;
}

void refuse_change(const ByteSource& source) {
  throw UserError(source.name(), "changed while it was being read", "try again when nothing writes to it");
}

}  // namespace esc
