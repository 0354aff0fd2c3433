// SPDX-License-Identifier: Apache-2.0
#include "generator/support/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "generator/support/error.h"
#include "generator/support/plain_text.h"

namespace esc {
namespace {

[[noreturn]] void refuse_unreadable(const std::string& name, int error) {
  throw UserError(name, "cannot be read: " + std::generic_category().message(error),
                  "check the path and its permissions");
}

[[noreturn]] void refuse_kind(const std::string& name, bool is_directory, const char* contents, FileOf owner) {
  const char* const rule = is_directory ? "is a directory" : "is not a regular file";
  if (owner == FileOf::bundle) {
    throw UserError(name, rule, "generate the bundle again", ExitStatus::check_failed);
  }
  throw UserError(name, rule, fmt::format("name a regular file that holds {}", contents));
}

/// Without O_NONBLOCK, opening a named pipe would wait for a writer; a terminal must not become this program's.
int open_to_read(const std::filesystem::path& path, FileOf owner) {
  check_file_name(path);
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  return ::open(path.c_str(), owner == FileOf::bundle ? flags | O_NOFOLLOW : flags);
}

}  // namespace

RegularFile::RegularFile(const std::filesystem::path& path, const char* contents, FileOf owner)
    : name_(path.string()), descriptor_(open_to_read(path, owner)) {
  struct stat status{};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
    const int error = errno;
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
    // A link where none is followed, and a socket or a device without a driver.
    if ((error == ELOOP && owner == FileOf::bundle) || error == ENXIO || error == ENODEV) {
      refuse_kind(name_, false, contents, owner);
    }
    refuse_unreadable(name_, error);
  }
  if (!S_ISREG(status.st_mode)) {
    close(descriptor_);
    refuse_kind(name_, S_ISDIR(status.st_mode), contents, owner);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

RegularFile::~RegularFile() { close(descriptor_); }

void RegularFile::read_at(std::uint64_t begin, std::span<std::byte> buffer) const {
  ESC_CHECK(begin <= size_ && buffer.size() <= size_ - begin, "bytes are asked for that the file had");
  while (!buffer.empty()) {
    const ssize_t got = pread(descriptor_, buffer.data(), buffer.size(), static_cast<off_t>(begin));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      refuse_unreadable(name_, errno);
    }
    if (got == 0) {
      throw UserError(name_, "changed while it was being read", "try again when nothing writes to it");
    }
    buffer = buffer.subspan(static_cast<std::size_t>(got));
    begin += static_cast<std::uint64_t>(got);
  }
}

void check_file_name(const std::filesystem::path& path) {
  if (path.native().find('\0') != std::string::npos) {
    throw UserError(plain_text(path.string()), "has a NUL in its name, which no file has", "give the name without it");
  }
}

}  // namespace esc
