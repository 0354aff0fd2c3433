#include "generator/support/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "generator/support/error.h"
#include "generator/support/held_back_signals.h"

namespace esc {
namespace {

std::string reason() { return std::generic_category().message(errno); }

/// A file that is being written aside; it is removed again unless `commit` was reached.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target) : target_(target), path_(target.string() + ".XXXXXX") {
    descriptor_ = mkstemp(path_.data());
    if (descriptor_ < 0) {
      throw UserError(target.string(), "cannot be written: " + reason(), "choose a folder that you may write to");
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) {
      close(descriptor_);
    }
    if (!committed_) {
      unlink(path_.c_str());
    }
  }

  void write(std::span<const std::byte> content) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) {
        continue;
      }
      if (written < 0) {
        fail();
      }
      content = content.subspan(static_cast<std::size_t>(written));
    }
  }

  void commit() {
    const mode_t mask = umask(0);
    umask(mask);
    if (fchmod(descriptor_, 0666 & ~mask) != 0 || fsync(descriptor_) != 0) {
      fail();
    }
    const int closed = close(descriptor_);
    descriptor_ = -1;
    if (closed != 0 || rename(path_.c_str(), target_.c_str()) != 0) {
      fail();
    }
    committed_ = true;
  }

 private:
  [[noreturn]] void fail() const {
    throw UserError(target_.string(), "cannot be written: " + reason(), "free some space or choose another folder");
  }

  std::filesystem::path target_;
  std::string path_;
  int descriptor_ = -1;
  bool committed_ = false;
};

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto type = std::filesystem::status(path, ignored).type();
  if (type == std::filesystem::file_type::directory) {
    throw UserError(path.string(), "is a directory", "name a file");
  }
  if (type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::socket) {
    throw UserError(path.string(), "is not a file that can be read whole", "name a regular file");
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    throw UserError(path.string(), "cannot be read: " + reason());
  }
  std::string content((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (stream.bad()) {
    throw UserError(path.string(), "cannot be read: " + reason());
  }
  return content;
}

void write_file_whole(const std::filesystem::path& path, std::span<const std::byte> content) {
  const HeldBackSignals signals;
  TemporaryFile file(path);
  file.write(content);
  file.commit();
}

void write_file_whole(const std::filesystem::path& path, std::string_view content) {
  write_file_whole(path, std::as_bytes(std::span(content.data(), content.size())));
}

}  // namespace esc
