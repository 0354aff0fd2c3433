// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <dtl/dtl.hpp>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>

#include "generator/emit/folder_aside.h"
#include "generator/emit/manifest.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/held_back_signals.h"
#include "generator/support/plain_text.h"
#include "generator/support/regular_file.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

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

/// Binary files may be larger than memory.
std::string compare_packed(const BundleFile& file, const fs::path& path) {
  constexpr std::size_t part_bytes = std::size_t{1} << 20;
  const std::span<const std::byte> expected = file.content();
  const RegularFile on_disk(path, "a packed matrix", FileOf::bundle);
  const auto common = static_cast<std::size_t>(std::min<std::uint64_t>(on_disk.size(), expected.size()));
  std::vector<std::byte> part(std::min(part_bytes, common));
  std::size_t same = 0;
  for (bool is_same = true; is_same && same < common;) {
    const std::span found = std::span(part).first(std::min(part.size(), common - same));
    on_disk.read_at(same, found);
    const auto equal =
        static_cast<std::size_t>(std::ranges::mismatch(found, expected.subspan(same)).in1 - found.begin());
    is_same = equal == found.size();
    same += equal;
  }
  if (same == expected.size() && same == on_disk.size()) {
    return {};
  }
  return fmt::format("{}: differs from byte {} on ({} bytes on disk, {} generated)\n", file.name, same, on_disk.size(),
                     expected.size());
}

std::string compare_file(const BundleFile& file, const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (!fs::exists(status)) {
    return file.name + ": is missing\n";
  }
  if (!fs::is_regular_file(status)) {
    return file.name + ": is not a regular file\n";
  }
  if (file.packed != nullptr) {
    return compare_packed(file, path);
  }
  const std::string on_disk = read_bundle_file(path);
  return on_disk == file.text ? "" : unified_diff(file.name, on_disk, file.text);
}

std::vector<std::string> names_of_files(const KernelBundle& bundle) {
  std::vector<std::string> names;
  std::ranges::transform(bundle.files, std::back_inserter(names), &BundleFile::name);
  std::ranges::copy(bundle.earlier_files, std::back_inserter(names));
  return names;
}

using IsFile = std::function<bool(const std::string&)>;

/// The first entry of the folder that no bundle of this name has; empty where there is none.
std::string foreign_entry(const IsFile& is_file, const fs::path& folder) {
  std::set<std::string> foreign;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.symlink_status().type() != fs::file_type::regular || !is_file(name)) {
      foreign.insert(name);
    }
  }
  return foreign.empty() ? "" : *foreign.begin();
}

/// A folder is replaced only where nothing but a bundle of this name can be lost: one that was named by mistake shall
/// survive --force. `target` is what the user calls it.
void check_ours(const std::string& name, const IsFile& is_file, const fs::path& folder, const fs::path& target) {
  constexpr const char* remedy = "choose another --name or output folder, or move away what is there";
  if (const std::string foreign = foreign_entry(is_file, folder); !foreign.empty()) {
    throw UserError(target.string(),
                    fmt::format("holds {}, which is no file of a bundle {}", plain_text(foreign), name), remedy);
  }
  if (fs::is_empty(folder)) {
    return;
  }
  std::error_code ignored;
  const fs::path manifest = folder / "manifest.json";
  if (!fs::exists(manifest, ignored) || !is_manifest_of(read_bundle_file(manifest), name)) {
    throw UserError(target.string(), fmt::format("has no manifest.json of a bundle {}", name), remedy);
  }
}

IsFile files_of(const KernelBundle& bundle) {
  return [names = names_of_files(bundle)](const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
}

/// Gives a file the time of the one that it replaces where their texts are the same, so that a build compiles again
/// only kernels that have changed.
void keep_time(const BundleFile& file, const fs::path& written, const fs::path& earlier) {
  if (file.packed == nullptr && compare_file(file, earlier).empty()) {
    std::error_code error;  // where there is one, the file is compiled once more
    const fs::file_time_type time = fs::last_write_time(earlier, error);
    if (!error) {
      fs::last_write_time(written, time, error);
    }
  }
}

}  // namespace

std::span<const std::byte> BundleFile::content() const {
  return packed != nullptr ? std::span(packed.get(), packed_bytes) : std::as_bytes(std::span(text));
}

DifferentBundle::DifferentBundle(const fs::path& target)
    : UserError(
          target.string(), "holds a different bundle",
          "see the difference with --check, replace with --force, or give this one another --name or output folder") {}

void check_place(const std::string& name, const fs::path& directory, const IsFile& is_file) {
  const fs::path target = directory / name;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(target, error))) {
    return;
  }
  if (!fs::is_directory(target, error)) {
    throw UserError(target.string(), "is not a folder", "choose another --name or output folder");
  }
  check_ours(name, is_file, target, target);
}

bool is_there_already(const KernelBundle& bundle, const fs::path& directory, bool force) {
  const fs::path target = directory / bundle.name;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(target, error);
  if (!fs::exists(status)) {
    return false;
  }
  check_place(bundle.name, directory, files_of(bundle));
  if (compare_bundle(bundle, directory).empty()) {
    return true;
  }
  if (!force) {
    throw DifferentBundle(target);
  }
  if (fs::is_symlink(status)) {
    throw UserError(target.string(), "is a symbolic link, which is not replaced", "name the folder that it leads to");
  }
  return false;
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
  if (is_there_already(bundle, directory, force)) {
    return WriteOutcome::unchanged;
  }
  const HeldBackSignals signals;
  FolderAside aside(directory, bundle.name, names_of_files(bundle));
  for (const BundleFile& file : bundle.files) {
    write_file_whole(aside.path() / file.name, file.content());
    keep_time(file, aside.path() / file.name, directory / bundle.name / file.name);
  }
  // Another run may have come first, or come between looking and acting.
  while (!aside.place()) {
    if (is_there_already(bundle, directory, force)) {
      return WriteOutcome::unchanged;
    }
    if (force && aside.exchange()) {
      try {
        check_ours(bundle.name, files_of(bundle), aside.path(), directory / bundle.name);
      } catch (...) {
        aside.give_back();
        throw;
      }
      break;
    }
  }
  return WriteOutcome::written;
}

}  // namespace esc
