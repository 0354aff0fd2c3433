// SPDX-License-Identifier: Apache-2.0
#include "generator/support/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "generator/support/error.h"
#include "generator/support/number_in.h"
#include "generator/support/regular_file.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t pending_bytes = std::size_t{1} << 20;

/// As many runs may write one file at once.
constexpr int most_temporaries = 9999;
/// And as many are looked for that were killed.
constexpr int usual_temporaries = 16;

/// Before a number: no one else gives a file such a name.
std::string beginning_of(const std::string& file) { return fmt::format(".{}.escgen-", file); }

/// Whether the open file still has this name.
bool is_named(int descriptor, const fs::path& path) {
  struct stat open_file = {};
  struct stat named = {};
  return fstat(descriptor, &open_file) == 0 && lstat(path.c_str(), &named) == 0 && open_file.st_dev == named.st_dev &&
         open_file.st_ino == named.st_ino;
}

/// Removes a file that a run has left which was killed: one that is still written is locked. Whether it is gone.
bool remove_left_over(const fs::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    return errno == ENOENT;
  }
  struct stat status = {};
  const bool is_left_over = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                            flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_named(descriptor, path);
  const bool is_gone = is_left_over && unlink(path.c_str()) == 0;
  close(descriptor);
  return is_gone;
}

/// What symbolic links lead to in the end, be it there or not. They must not lead in a circle.
fs::path behind_links(fs::path path) {
  std::error_code ignored;
  while (fs::is_symlink(path, ignored)) {
    path = path.parent_path() / fs::read_symlink(path, ignored);
  }
  return path;
}

}  // namespace

bool is_temporary_of(const std::string& file, std::string_view name) {
  const std::string beginning = beginning_of(file);
  const std::string_view number = name.substr(std::min(beginning.size(), name.size()));
  return name.starts_with(beginning) && number_in<int>(number).value_or(0) > 0 && number.size() <= 4;
}

OutputFile::OutputFile(const fs::path& target) : target_(target) {
  check_file_name(target);
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
  const std::string beginning = beginning_of(target_.filename().string());
  const auto name = [&](int number) { return target_.parent_path() / fmt::format("{}{}", beginning, number); };
  for (int number = 1; number <= usual_temporaries; ++number) {
    remove_left_over(name(number));
  }
  int number = 1;
  // One that was taken for left over before it could be locked is made again.
  for (bool is_ours = false; !is_ours;) {
    temporary_ = name(number);
    // With the permissions of any new file, which mkostemp would not give and nobody could add: only a change tells a
    // process its umask, and that would be felt in other threads.
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) {
      is_ours =
          (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && is_named(descriptor_, temporary_);
      if (!is_ours) {
        close(std::exchange(descriptor_, -1));
      }
    } else if (errno != EEXIST || number == most_temporaries) {
      temporary_.clear();
      fail("choose a folder that exists and that you may write to");
    } else if (!remove_left_over(temporary_)) {
      ++number;
    }
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
  // Before it is closed, and nobody's any more.
  if (!temporary_.empty() && rename(temporary_.c_str(), target_.c_str()) != 0) {
    fail();
  }
  temporary_.clear();
  if (close(std::exchange(descriptor_, -1)) != 0) {
    fail();
  }
}

void OutputFile::fail(const char* remedy) const {
  throw UserError(target_.string(), "cannot be written: " + std::generic_category().message(errno), remedy);
}

}  // namespace esc
