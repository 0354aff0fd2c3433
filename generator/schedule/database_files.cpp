// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/database_files.h"

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "generator/schedule/element_types.h"
#include "generator/support/error.h"
#include "generator/support/file.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

/// Whether it is named as `file_name` names a database; other files of a folder are not of our making.
bool is_named_as_database(std::string_view name) {
  constexpr std::string_view ending = ".txt";
  const std::size_t key = name.find('_');
  if (key == std::string_view::npos || !name.ends_with(ending)) {
    return false;
  }
  const std::string_view dtype = name.substr(key + 1, name.size() - ending.size() - key - 1);
  try {
    parse_device_key(name.substr(0, key));
    return std::ranges::find(measured_types, dtype) != measured_types.end();
  } catch (const UserError&) {
    return false;
  }
}

std::vector<fs::path> database_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; entry != end; entry.increment(problem)) {
    if (is_named_as_database(entry->path().filename().string())) {
      files.push_back(entry->path());
    }
  }
  if (problem) {
    throw UserError(folder.string(), "cannot be read: " + problem.message());
  }
  if (files.empty()) {
    throw UserError(folder.string(), "has no schedule database in it, such as sm90-132sm-60mib_f32.txt",
                    "give the folder that esctune publish -o wrote, or a file of it");
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<ScheduleDatabase> read_databases(const fs::path& file_or_folder) {
  std::error_code ignored;
  std::vector<ScheduleDatabase> databases;
  for (const fs::path& file :
       fs::is_directory(file_or_folder, ignored) ? database_files(file_or_folder) : std::vector{file_or_folder}) {
    for (ScheduleDatabase& database : databases_in(read_file(file), file.string())) {
      databases.push_back(std::move(database));
    }
  }
  return databases;
}

}  // namespace esc
