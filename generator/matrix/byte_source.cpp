#include "generator/matrix/byte_source.h"

#include <fcntl.h>
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
  throw UserError(name, "cannot be read: " + std::generic_category().message(error),
                  "check the path and its permissions");
}

}  // namespace

ByteSource::ByteSource(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}

FileSource::FileSource(const std::filesystem::path& path) : FileSource(path, open(path)) {}

FileSource::FileSource(const std::filesystem::path& path, Opened opened)
    : ByteSource(path.string(), opened.size), descriptor_(opened.descriptor) {}

FileSource::~FileSource() { close(descriptor_); }

FileSource::Opened FileSource::open(const std::filesystem::path& path) {
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
                    "name a regular file that holds one matrix");
  }
  return {descriptor, static_cast<std::uint64_t>(status.st_size)};
}

std::size_t FileSource::read(std::span<std::byte> buffer) {
  std::size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t got = ::read(descriptor_, buffer.data() + filled, buffer.size() - filled);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      refuse_unreadable(name(), errno);
    }
    if (got == 0) {
      break;
    }
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

void FileSource::rewind() {
  if (lseek(descriptor_, 0, SEEK_SET) != 0) {
    refuse_unreadable(name(), errno);
  }
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
