#include "generator/support/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::size_t pending_bytes = std::size_t{1} << 20;

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& target) : target_(target), temporary_(target.string() + ".XXXXXX") {
  if (std::error_code ignored; std::filesystem::is_directory(target, ignored)) {
    throw UserError(target.string(), "is a directory", "name a file");
  }
  descriptor_ = mkstemp(temporary_.data());
  if (descriptor_ < 0) {
    throw UserError(target.string(), "cannot be written: " + std::generic_category().message(errno),
                    "choose a folder that exists and that you may write to");
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
  if (!committed_) {
    unlink(temporary_.c_str());
  }
}

void OutputFile::write(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (pending_.size() + text.size() < pending_bytes) {
    pending_ += text;
    return;
  }
  flush();
  write_through(text);
}

void OutputFile::flush() {
  write_through(pending_);
  pending_.clear();
}

void OutputFile::write_through(std::string_view rest) {
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      fail();
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::commit() {
  flush();
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(descriptor_, 0666 & ~mask) != 0 || fsync(descriptor_) != 0) {
    fail();
  }
  const int closed = close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 || rename(temporary_.c_str(), target_.c_str()) != 0) {
    fail();
  }
  committed_ = true;
}

void OutputFile::fail() const {
  throw UserError(target_.string(), "cannot be written: " + std::generic_category().message(errno),
                  "free some space or choose another folder");
}

}  // namespace esc
