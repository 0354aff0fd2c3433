#include "generator/emit/bundle.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <dtl/dtl.hpp>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/held_back_signals.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_writing(const fs::path& path, const std::error_code& reason) {
  throw UserError(path.string(), "cannot be written: " + reason.message(),
                  "free some space or choose a folder that you may write to");
}

std::error_code last_error() { return {errno, std::generic_category()}; }

/// A folder beside the target that is removed again unless it was moved into place, and then the folders around it that
/// were made for it too.
class FolderAside {
 public:
  FolderAside(const fs::path& parent, const std::string& name) : made_(missing_ancestors(parent)) {
    std::error_code error;
    fs::create_directories(parent, error);
    if (error) {
      remove_empty_ancestors();
      refuse_writing(parent, error);
    }
    std::string pattern = (parent / fmt::format(".{}.XXXXXX", name)).string();
    if (mkdtemp(pattern.data()) == nullptr) {
      const std::error_code reason = last_error();
      remove_empty_ancestors();
      refuse_writing(parent, reason);
    }
    path_ = pattern;
    fs::permissions(path_, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                               fs::perms::others_read | fs::perms::others_exec);
  }
  FolderAside(const FolderAside&) = delete;
  FolderAside& operator=(const FolderAside&) = delete;
  ~FolderAside() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    remove_empty_ancestors();
  }

  const fs::path& path() const { return path_; }

  /// After this, what is removed at the end is whatever stood at the target before.
  void exchange_with(const fs::path& target) {
    if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
      return;
    }
    switch (errno) {
      case ENOENT:
        move_to(target);
        break;
      case EINVAL:
      case ENOSYS:
      case EOPNOTSUPP:
        exchange_in_two_steps(target);
        break;
      default:
        refuse_writing(target, last_error());
    }
  }

 private:
  /// The folders that creating `folder` would make, the outermost first.
  static std::vector<fs::path> missing_ancestors(const fs::path& folder) {
    std::vector<fs::path> missing;
    std::error_code ignored;
    for (fs::path path = folder; !path.empty() && !fs::exists(path, ignored); path = path.parent_path()) {
      missing.insert(missing.begin(), path);
    }
    return missing;
  }

  void remove_empty_ancestors() const {
    std::error_code ignored;
    for (auto path = made_.rbegin(); path != made_.rend(); ++path) {
      fs::remove(*path, ignored);
    }
  }

  void move_to(const fs::path& target) const {
    if (rename(path_.c_str(), target.c_str()) != 0) {
      refuse_writing(target, last_error());
    }
  }

  /// For file systems, such as those of a network, that cannot exchange two names at once.
  void exchange_in_two_steps(const fs::path& target) {
    const fs::path old = path_.string() + ".old";
    if (rename(target.c_str(), old.c_str()) != 0) {
      refuse_writing(target, last_error());
    }
    if (rename(path_.c_str(), target.c_str()) != 0) {
      const std::error_code reason = last_error();
      fs::rename(old, target);
      refuse_writing(target, reason);
    }
    path_ = old;
  }

  fs::path path_;
  std::vector<fs::path> made_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::string unified_diff(const std::string& name, const std::string& on_disk, const std::string& generated) {
  dtl::Diff<std::string, std::vector<std::string>> diff(lines_of(on_disk), lines_of(generated));
  diff.onHuge();
  diff.compose();
  diff.composeUnifiedHunks();
  std::ostringstream text;
  text << "--- " << name << " (on disk)\n+++ " << name << " (generated)\n";
  diff.printUnifiedFormat(text);
  if (diff.getUniHunks().empty()) {
    text << "only the end of the last line differs\n";
  }
  return text.str();
}

std::string compare_file(const BundleFile& file, const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return file.name + ": is missing\n";
  }
  if (!fs::is_regular_file(path, ignored)) {
    return file.name + ": is not a regular file\n";
  }
  const std::string on_disk = read_file(path);
  const std::span<const std::byte> expected = file.content();
  const auto found = std::as_bytes(std::span(on_disk));
  if (std::ranges::equal(found, expected)) {
    return {};
  }
  if (file.packed == nullptr) {
    return unified_diff(file.name, on_disk, file.text);
  }
  const auto first = std::ranges::mismatch(found, expected).in2 - expected.begin();
  return fmt::format("{}: differs from byte {} on ({} bytes on disk, {} generated)\n", file.name, first, found.size(),
                     expected.size());
}

/// Whether replacing the folder can lose nothing but a bundle: a folder named by mistake shall survive --force.
bool holds_bundle(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  return fs::is_empty(folder, ignored) || fs::exists(folder / "manifest.json", ignored) ||
         fs::exists(folder / (name + ".packed"), ignored);
}

}  // namespace

std::span<const std::byte> BundleFile::content() const {
  return packed != nullptr ? std::span(packed.get(), packed_bytes) : std::as_bytes(std::span(text));
}

std::string compare_bundle(const KernelBundle& bundle, const fs::path& directory) {
  const fs::path folder = directory / bundle.name;
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return fmt::format("{}: is missing\n", folder.string());
  }
  std::string differences;
  std::set<std::string> expected;
  for (const BundleFile& file : bundle.files) {
    expected.insert(file.name);
    differences += compare_file(file, folder / file.name);
  }
  std::set<std::string> unexpected;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (!expected.contains(entry.path().filename().string())) {
      unexpected.insert(entry.path().filename().string());
    }
  }
  for (const std::string& name : unexpected) {
    differences += name + ": does not belong to the bundle\n";
  }
  return differences;
}

WriteOutcome write_bundle(const KernelBundle& bundle, const fs::path& directory, bool force) {
  const fs::path target = directory / bundle.name;
  std::error_code error;
  if (fs::exists(target, error)) {
    if (!fs::is_directory(target, error)) {
      throw UserError(target.string(), "is not a folder", "choose another --name or output folder");
    }
    if (!holds_bundle(target, bundle.name)) {
      throw UserError(target.string(), "holds files that are not a bundle's", "choose another --name or output folder");
    }
    if (compare_bundle(bundle, directory).empty()) {
      return WriteOutcome::unchanged;
    }
    if (!force) {
      throw UserError(target.string(), "holds a different bundle",
                      "see the difference with --check, replace with --force");
    }
  }
  const HeldBackSignals signals;
  FolderAside aside(directory, bundle.name);
  for (const BundleFile& file : bundle.files) {
    write_file_whole(aside.path() / file.name, file.content());
  }
  aside.exchange_with(target);
  return WriteOutcome::written;
}

}  // namespace esc
