// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "generator/support/error.h"

namespace esc::tuning {
namespace {

namespace fs = std::filesystem;

std::string reason() { return std::generic_category().message(errno); }

/// Whether the name still is that of the open file: a merge may have put another one into its place.
bool is_still_named(const fs::path& file, int descriptor) {
  struct stat open_file = {};
  struct stat named = {};
  return ::fstat(descriptor, &open_file) == 0 && ::stat(file.c_str(), &named) == 0 &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

}  // namespace

LockedFile::LockedFile(const fs::path& file, int flags) {
  std::error_code ignored;
  const bool is_new = !fs::exists(file, ignored);
  // Who only reads would wait for a pipe's writer.
  const int waiting = (flags & O_ACCMODE) == O_RDONLY ? O_NONBLOCK : 0;
  descriptor_ = ::open(file.c_str(), flags | waiting | O_CLOEXEC | O_NOCTTY, 0666);
  if (descriptor_ < 0) {
    throw UserError(file.string(), "cannot be written: " + reason(), "give a place that you may write to");
  }
  const bool locked = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
  if (!locked && errno != EWOULDBLOCK) {
    const UserError problem(file.string(), "cannot be locked: " + reason(), "give a place on a disk of this host");
    if (is_new) {
      fs::remove(file, ignored);
    }
    ::close(descriptor_);
    throw problem;
  }
  if (!locked || !is_still_named(file, descriptor_)) {
    ::close(descriptor_);
    throw UserError(file.string(), "is being written by another run",
                    "wait for its end, or give this one a journal of its own; esctune merge unites them");
  }
}

LockedFile::~LockedFile() { ::close(descriptor_); }

}  // namespace esc::tuning
