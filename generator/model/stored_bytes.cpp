#include "generator/model/stored_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "generator/support/error.h"

namespace esc {
namespace {

[[noreturn]] void refuse_unreadable(const std::string& name, int error) {
  throw UserError(name, "cannot be read: " + std::generic_category().message(error), "check the path and its permissions");
}

}  // namespace

StoredBytes::StoredBytes(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}

FileBytes::FileBytes(const std::filesystem::path& path) : FileBytes(path, open(path)) {}

FileBytes::FileBytes(const std::filesystem::path& path, Opened opened)
    : StoredBytes(path.string(), opened.size), descriptor_(opened.descriptor) {}

FileBytes::~FileBytes() { close(descriptor_); }

FileBytes::Opened FileBytes::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer instead of refusing the pipe.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status{};
  if (descriptor < 0 || fstat(descriptor, &status) != 0) {
    const int error = errno;
    if (descriptor >= 0) {
      close(descriptor);
    }
    refuse_unreadable(path.string(), error);
  }
  if (!S_ISREG(status.st_mode)) {
    close(descriptor);
    throw UserError(path.string(), S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file",
                    "name a regular file that holds a model");
  }
  return {descriptor, static_cast<std::uint64_t>(status.st_size)};
}

void FileBytes::read_at(std::uint64_t begin, std::span<std::byte> buffer) const {
  while (!buffer.empty()) {
    const ssize_t got = pread(descriptor_, buffer.data(), buffer.size(), static_cast<off_t>(begin));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      refuse_unreadable(name(), errno);
    }
    if (got == 0) {
      throw UserError(name(), "changed while it was being read", "try again when nothing writes to it");
    }
    buffer = buffer.subspan(static_cast<std::size_t>(got));
    begin += static_cast<std::uint64_t>(got);
  }
}

MemoryBytes::MemoryBytes(std::string name, std::string_view text) : StoredBytes(std::move(name), text.size()), text_(text) {}

void MemoryBytes::read_at(std::uint64_t begin, std::span<std::byte> buffer) const {
  ESC_CHECK(begin <= text_.size() && buffer.size() <= text_.size() - begin, "bytes are asked for that there are");
  std::ranges::copy(std::as_bytes(std::span(text_)).subspan(static_cast<std::size_t>(begin), buffer.size()), buffer.begin());
}

RangeSource::RangeSource(std::string name, std::shared_ptr<const StoredBytes> bytes, std::uint64_t begin, std::uint64_t end)
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
