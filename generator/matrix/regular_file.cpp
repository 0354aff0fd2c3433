// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "generator/support/error.h"

namespace esc {

// Without O_NONBLOCK, opening a named pipe would wait for a writer instead of refusing the pipe.
RegularFile::RegularFile(const std::filesystem::path& path, const char* contents)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status{};
  if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
    const int error = errno;
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
    refuse_unreadable(path.string(), error);
  }
  if (!S_ISREG(status.st_mode)) {
    close(descriptor_);
    throw UserError(path.string(), S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file",
                    fmt::format("name a regular file that holds {}", contents));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

RegularFile::~RegularFile() { close(descriptor_); }

void refuse_unreadable(const std::string& name, int error) {
  throw UserError(name, "cannot be read: " + std::generic_category().message(error),
                  "check the path and its permissions");
}

}  // namespace esc
