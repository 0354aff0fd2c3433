// SPDX-License-Identifier: Apache-2.0
#include "generator/support/scratch_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "generator/support/error.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& folder) {
  const std::error_code reason(errno, std::generic_category());
  throw UserError(folder.string(), "cannot be written: " + reason.message(),
                  "free some space or choose a folder that you may write to");
}

fs::path nearest(fs::path folder) {
  std::error_code ignored;
  folder = fs::absolute(folder);
  while (!fs::is_directory(folder, ignored) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

}  // namespace

ScratchFile::ScratchFile(const fs::path& folder)
    : folder_(nearest(folder)), descriptor_(::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {
  if (descriptor_ >= 0) {
    return;
  }
  // Not every file system has files that never had a name.
  std::string name = (folder_ / ".escgen-XXXXXX").string();
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    refuse(folder_);
  }
  ::unlink(name.c_str());
}

ScratchFile::~ScratchFile() { ::close(descriptor_); }

void ScratchFile::write(std::span<const std::byte> bytes, std::uint64_t at) const {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (written < 0 && errno != EINTR) {
      refuse(folder_);
    }
    if (written > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      at += static_cast<std::uint64_t>(written);
    }
  }
}

std::shared_ptr<const std::byte[]> ScratchFile::map(std::size_t bytes) const {
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) {
    refuse(folder_);
  }
  return {static_cast<const std::byte*>(mapped),
          [bytes](const std::byte* begin) { ::munmap(const_cast<std::byte*>(begin), bytes); }};
}

}  // namespace esc
