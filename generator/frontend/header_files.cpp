// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/header_files.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "generator/frontend/clang_folder.h"

namespace esc::frontend {
namespace {

class Rule final : public std::error_category {
 public:
  const char* name() const noexcept override { return "headers of a nest"; }
  std::string message(int) const override {
    return "a nest may include headers of the C and C++ libraries and headers in its own folder, nothing else";
  }
};

std::error_code not_allowed() {
  static const Rule rule;
  return {1, rule};
}

bool is_inside(llvm::StringRef path, llvm::StringRef folder) {
  return path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/';
}

class HeaderFiles final : public llvm::vfs::ProxyFileSystem {
 public:
  HeaderFiles(std::vector<std::string> folders, std::string own_folder)
      : ProxyFileSystem(llvm::vfs::getRealFileSystem()),
        folders_(std::move(folders)),
        own_folder_(std::move(own_folder)) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override {
    llvm::ErrorOr<llvm::vfs::Status> found = ProxyFileSystem::status(path);
    if (found && !found->isDirectory() && !is_library(path) && !may_open(path, *found)) {
      return not_allowed();
    }
    return found ? found : hidden(path, found.getError());
  }

  bool exists(const llvm::Twine& path) override { return static_cast<bool>(status(path)); }

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override {
    const llvm::ErrorOr<llvm::vfs::Status> found = ProxyFileSystem::status(path);
    if (!found) {
      return hidden(path, found.getError());
    }
    if (!may_open(path, *found)) {
      return not_allowed();
    }
    return ProxyFileSystem::openFileForRead(path);
  }

 private:
  static std::string real_path(const llvm::Twine& path) {
    llvm::SmallString<256> real;
    return llvm::sys::fs::real_path(path, real) ? std::string() : real.str().str();
  }

  /// A name outside tells nothing, whether there is such a file or not.
  std::error_code hidden(const llvm::Twine& path, std::error_code error) const {
    const std::string name = path.str();
    const std::string folder = existing_folder(name);
    const bool own = !own_folder_.empty() && (folder == own_folder_ || is_inside(folder, own_folder_));
    const bool of_headers = is_header(folder) || std::find(folders_.begin(), folders_.end(), folder) != folders_.end();
    const bool told = !llvm::sys::path::is_absolute(name) || own || of_headers || is_library(folder);
    return told ? error : not_allowed();
  }

  /// The real name of the innermost folder around it that there is.
  static std::string existing_folder(llvm::StringRef name) {
    std::string real;
    while (real.empty() && !name.empty()) {
      name = llvm::sys::path::parent_path(name);
      real = real_path(name);
    }
    return real;
  }

  static bool is_library(const llvm::Twine& path) {
    const std::string real = real_path(path);
    return is_inside(real, "/usr/lib") || is_inside(real, "/usr/lib64");
  }

  bool is_header(llvm::StringRef real) const {
    return std::any_of(folders_.begin(), folders_.end(),
                       [&](const std::string& folder) { return is_inside(real, folder); });
  }

  bool is_own_header(llvm::StringRef real) const {
    static constexpr std::array<llvm::StringRef, 6> endings = {".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc"};
    return !own_folder_.empty() && is_inside(real, own_folder_) &&
           std::find(endings.begin(), endings.end(), llvm::sys::path::extension(real)) != endings.end();
  }

  bool may_open(const llvm::Twine& path, const llvm::vfs::Status& status) const {
    const std::string real = real_path(path);
    return status.isRegularFile() && (is_header(real) || is_own_header(real));
  }

  std::vector<std::string> folders_;
  std::string own_folder_;
};

std::string real_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::canonical(folder.empty() ? "." : folder, ignored).string();
}

}  // namespace

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> header_files(const std::string& file_name, NestHeaders headers) {
  std::vector<std::string> folders;
  for (const std::string& folder :
       {clang_folder() + "/include", std::string("/usr/include"), std::string("/usr/local/include")}) {
    if (std::string real = real_folder(folder); !real.empty()) {
      folders.push_back(std::move(real));
    }
  }
  const std::string own_folder =
      headers == NestHeaders::beside ? real_folder(std::filesystem::path(file_name).parent_path()) : std::string();
  return llvm::makeIntrusiveRefCnt<HeaderFiles>(std::move(folders), own_folder);
}

}  // namespace esc::frontend
