// SPDX-License-Identifier: Apache-2.0
#include "generator/support/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "generator/support/error.h"
#include "generator/support/output_file.h"

namespace esc {
namespace {

/// A file that is open for reading.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) {
      refuse();
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { close(descriptor_); }

  std::uint64_t bytes() const {
    struct stat status = {};
    if (::fstat(descriptor_, &status) != 0) {
      refuse();
    }
    return static_cast<std::uint64_t>(status.st_size);
  }

  /// The number of bytes that were read; 0 at the end.
  std::size_t read(char* to, std::size_t most) const {
    ssize_t got = -1;
    do {
      got = ::read(descriptor_, to, most);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      refuse();
    }
    return static_cast<std::size_t>(got);
  }

 private:
  [[noreturn]] void refuse() const {
    throw UserError(path_.string(), "cannot be read: " + std::generic_category().message(errno));
  }

  const std::filesystem::path& path_;
  int descriptor_;
};

}  // namespace

std::string read_file(const std::filesystem::path& path, std::uint64_t most_bytes) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) {
    throw UserError(path.string(), "is a directory", "name a file");
  }
  // A device may have no end, a pipe may never begin.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw UserError(path.string(), "is not a file that can be read whole", "name a regular file");
  }
  const OpenFile file(path);
  const std::uint64_t bytes = file.bytes();
  if (bytes > most_bytes) {
    throw UserError(path.string(),
                    fmt::format("has {} bytes, more than the {} that such a file may have", bytes, most_bytes),
                    "name another file");
  }
  std::string content;
  content.reserve(bytes);  // what there is no memory for fails here, before it is read
  constexpr std::size_t piece = std::size_t{1} << 16;
  for (std::size_t got = piece; got > 0;) {
    const std::size_t had = content.size();
    content.resize(had + piece);
    got = file.read(content.data() + had, piece);
    content.resize(had + got);
  }
  return content;
}

void write_file_whole(const std::filesystem::path& path, std::span<const std::byte> content) {
  OutputFile file(path);
  file.write(content);
  file.commit();
}

void write_file_whole(const std::filesystem::path& path, std::string_view content) {
  write_file_whole(path, std::as_bytes(std::span(content.data(), content.size())));
}

}  // namespace esc
