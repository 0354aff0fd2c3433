// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/folder_aside.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "generator/support/error.h"
#include "generator/support/output_file.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t random_letters = 6;

[[noreturn]] void refuse_writing(const fs::path& path, const std::error_code& reason) {
  throw UserError(path.string(), "cannot be written: " + reason.message(),
                  "free some space or choose a folder that you may write to");
}

std::error_code last_error() { return {errno, std::generic_category()}; }

bool cannot_be_done_here(int error) { return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP; }

/// Before the random letters: no one else gives a folder such a name.
std::string beginning_of(const std::string& name) { return fmt::format(".{}.escgen-", name); }

/// The folders that creating `folder` would make, the outermost first.
std::vector<fs::path> missing_ancestors(const fs::path& folder) {
  std::vector<fs::path> missing;
  std::error_code ignored;
  for (fs::path path = folder; !path.empty() && !fs::exists(path, ignored); path = path.parent_path()) {
    missing.insert(missing.begin(), path);
  }
  return missing;
}

/// Whether it is one of these files, or one while it was written.
bool is_one_of(const std::vector<std::string>& files, std::string_view name) {
  return std::ranges::any_of(files,
                             [&](const std::string& file) { return name == file || is_temporary_of(file, name); });
}

/// Whether the folder holds such files alone.
bool holds_only(const fs::path& folder, const std::vector<std::string>& files) {
  std::error_code problem;
  fs::directory_iterator entry(folder, problem);
  for (; !problem && entry != fs::directory_iterator(); entry.increment(problem)) {
    if (!is_one_of(files, entry->path().filename().string()) || !entry->is_regular_file(problem) ||
        entry->is_symlink(problem)) {
      return false;
    }
  }
  return !problem;
}

/// Removes those files and the folder; what else has come into it stays, and so does the folder.
void remove_folder(const fs::path& folder, const std::vector<std::string>& files) {
  std::error_code ignored;
  std::vector<fs::path> ours;
  for (fs::directory_iterator entry(folder, ignored); entry != fs::directory_iterator(); entry.increment(ignored)) {
    if (is_one_of(files, entry->path().filename().string())) {
      ours.push_back(entry->path());
    }
  }
  for (const fs::path& file : ours) {
    ::unlink(file.c_str());
  }
  ::rmdir(folder.c_str());
}

/// A folder that is open, to be locked.
class OpenFolder {
 public:
  explicit OpenFolder(const fs::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {}
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;
  ~OpenFolder() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }

  bool is_ours() const {
    struct stat status = {};
    return descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && status.st_uid == ::geteuid();
  }
  bool lock() const { return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0; }

 private:
  int descriptor_;
};

}  // namespace

FolderAside::FolderAside(fs::path parent, std::string name, std::vector<std::string> files)
    : parent_(std::move(parent)),
      name_(std::move(name)),
      files_(std::move(files)),
      target_(parent_ / name_),
      made_(missing_ancestors(parent_)) {
  std::error_code error;
  fs::create_directories(parent_, error);
  if (error) {
    remove_empty_ancestors();
    refuse_writing(parent_, error);
  }
  remove_left_over();
  // One that was taken for left over before it could be locked is made again.
  do {
    make();
  } while (!lock());
}

FolderAside::~FolderAside() {
  remove_folder(path_, files_);
  ::close(descriptor_);
  remove_empty_ancestors();
}

void FolderAside::make() {
  std::string pattern = (parent_ / (beginning_of(name_) + std::string(random_letters, 'X'))).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    const std::error_code reason = last_error();
    remove_empty_ancestors();
    refuse_writing(parent_, reason);
  }
  path_ = pattern;
}

bool FolderAside::lock() {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat open_folder = {};
  struct stat named = {};
  const bool locked = descriptor_ >= 0 && (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
                      ::fstat(descriptor_, &open_folder) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                      open_folder.st_ino == named.st_ino;
  if (!locked && descriptor_ >= 0) {
    ::close(std::exchange(descriptor_, -1));
  }
  if (locked) {
    ::fchmod(descriptor_, 0755);
  }
  return locked;
}

void FolderAside::remove_left_over() const {
  const std::string beginning = beginning_of(name_);
  std::vector<fs::path> found;
  std::error_code problem;
  for (fs::directory_iterator entry(parent_, problem); !problem && entry != fs::directory_iterator();
       entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(beginning) && name.size() == beginning.size() + random_letters) {
      found.push_back(entry->path());
    }
  }
  for (const fs::path& path : found) {
    const OpenFolder folder(path);
    if (folder.is_ours() && folder.lock() && holds_only(path, files_)) {
      remove_folder(path, files_);
    }
  }
}

void FolderAside::remove_empty_ancestors() const {
  std::error_code ignored;
  for (auto path = made_.rbegin(); path != made_.rend(); ++path) {
    fs::remove(*path, ignored);
  }
}

bool FolderAside::place() {
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) == 0) {
    return true;
  }
  // A folder never takes the place of a file or of a folder with something in it, on any file system.
  if (cannot_be_done_here(errno) && ::rename(path_.c_str(), target_.c_str()) == 0) {
    return true;
  }
  if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR) {
    return false;
  }
  refuse_writing(target_, last_error());
}

bool FolderAside::exchange() {
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) {
    return true;
  }
  if (errno == ENOENT) {
    return false;
  }
  return cannot_be_done_here(errno) ? exchange_in_two_steps() : (refuse_writing(target_, last_error()), false);
}

void FolderAside::give_back() { static_cast<void>(exchange()); }

/// For file systems, such as those of a network, that cannot exchange two names at once.
bool FolderAside::exchange_in_two_steps() {
  const fs::path old = path_.string() + ".old";
  if (::rename(target_.c_str(), old.c_str()) != 0) {
    return errno == ENOENT ? false : (refuse_writing(target_, last_error()), false);
  }
  if (::rename(path_.c_str(), target_.c_str()) != 0) {
    const std::error_code reason = last_error();
    ::rename(old.c_str(), target_.c_str());
    refuse_writing(target_, reason);
  }
  path_ = old;
  return true;
}

}  // namespace esc
