// SPDX-License-Identifier: Apache-2.0
#include "generator/support/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>
#include <utility>

#include "generator/support/error.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t pending_bytes = std::size_t{1} << 20;

/// What symbolic links lead to in the end, be it there or not. They must not lead in a circle.
fs::path behind_links(fs::path path) {
  std::error_code ignored;
  while (fs::is_symlink(path, ignored)) {
    path = path.parent_path() / fs::read_symlink(path, ignored);
  }
  return path;
}

}  // namespace

OutputFile::OutputFile(const fs::path& target) : target_(target) {
  std::error_code problem;
  switch (fs::status(target, problem).type()) {
    case fs::file_type::directory:
      throw UserError(target.string(), "is a directory", "name a file");
    case fs::file_type::none:
      errno = problem.value();
      fail("name a file that you may write to");
    case fs::file_type::regular:
    case fs::file_type::not_found:
      target_ = behind_links(target);
      open_temporary();
      return;
    default:
      descriptor_ = open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
      if (descriptor_ < 0) {
        fail("name a file that you may write to");
      }
  }
}

void OutputFile::open_temporary() {
  signals_.emplace();
  std::random_device random;
  do {
    temporary_ = fmt::format("{}.{:06x}", target_.string(), random() % 0x1000000);
    // With the permissions of any new file, which mkostemp would not give and nobody could add: only a change tells a
    // process its umask, and that would be felt in other threads.
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    fail("choose a folder that exists and that you may write to");
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
  if (!temporary_.empty()) {
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
  if (!temporary_.empty() && fsync(descriptor_) != 0) {
    fail();
  }
  if (close(std::exchange(descriptor_, -1)) != 0) {
    fail();
  }
  if (!temporary_.empty() && rename(temporary_.c_str(), target_.c_str()) != 0) {
    fail();
  }
  temporary_.clear();
}

void OutputFile::fail(const char* remedy) const {
  throw UserError(target_.string(), "cannot be written: " + std::generic_category().message(errno), remedy);
}

}  // namespace esc
