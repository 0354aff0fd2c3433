// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/database_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "generator/schedule/element_types.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/meaningful_lines.h"
#include "generator/support/regular_file.h"

namespace esc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".txt";

/// Whether it is named as `file_name` names databases and corrections.
bool is_named_as_ours(std::string_view name) {
  const std::size_t key = name.find('_');
  if (key == std::string_view::npos || !name.ends_with(ending)) {
    return false;
  }
  const std::string_view what = name.substr(key + 1, name.size() - ending.size() - key - 1);
  try {
    parse_device_key(name.substr(0, key));
    return what == "corrections" || std::ranges::find(measured_types, what) != measured_types.end();
  } catch (const UserError&) {
    return false;
  }
}

enum class Content { database, corrections, device };

/// By the name, or by the first lines that say something; absent for other texts.
std::optional<Content> content_of(const fs::path& file, const std::string& beginning) {
  if (file.filename().string().ends_with("_corrections.txt")) {
    return Content::corrections;
  }
  const std::vector<TextLine> lines = meaningful_lines(beginning);
  const auto word_of_line = [&](std::size_t number) {
    return number < lines.size() ? lines[number].text.substr(0, lines[number].text.find(' ')) : "";
  };
  const std::string first = word_of_line(0);
  const std::string second = word_of_line(1);
  if (first == "name") {
    return Content::device;
  }
  if (first == "device" && (second == "schedule" || second == "product")) {
    return Content::corrections;
  }
  constexpr std::array words{"device", "dtype", "evidence", "candidate", "class", "library", "default", "layer"};
  return std::ranges::find(words, first) != words.end() ? std::optional(Content::database) : std::nullopt;
}

/// Enough of a file to tell what it is; nothing of what is no regular file.
std::string beginning_of(const fs::path& file) {
  constexpr std::uint64_t enough = 1U << 14U;
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) {
    return "";
  }
  const RegularFile opened(file, "what was measured");
  std::string beginning(static_cast<std::size_t>(std::min(enough, opened.size())), '\0');
  opened.read_at(0, std::as_writable_bytes(std::span(beginning)));
  return beginning;
}

/// What of a folder is to be read: what says by its name or by its content that it is ours.
std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; entry != end; entry.increment(problem)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(ending) &&
        (is_named_as_ours(name) || content_of(entry->path(), beginning_of(entry->path())).has_value())) {
      files.push_back(entry->path());
    }
  }
  if (problem) {
    throw UserError(folder.string(), "cannot be read: " + problem.message());
  }
  if (files.empty()) {
    throw UserError(folder.string(),
                    "has no schedule database in it, such as sm90-132sm-60mib_f32.txt, no corrections and no device",
                    "give the folder that esctune publish -o or esctune calibrate -o wrote, or a file of it");
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

bool holds_measurements(const fs::path& file_or_folder) {
  std::error_code ignored;
  return fs::is_directory(file_or_folder, ignored) ||
         content_of(file_or_folder, beginning_of(file_or_folder)).has_value();
}

UserMeasurements read_measurements(const fs::path& file_or_folder) {
  std::error_code ignored;
  UserMeasurements found;
  KnownDevices devices;
  std::set<std::string> names;
  for (const fs::path& file :
       fs::is_directory(file_or_folder, ignored) ? files_of(file_or_folder) : std::vector{file_or_folder}) {
    const std::string text = read_file(file);
    std::size_t gone = 0;
    switch (content_of(file, text).value_or(Content::database)) {
      case Content::database: {
        ReadDatabases read = read_databases(text, file.string());
        std::ranges::move(read.databases, std::back_inserter(found.databases));
        gone = read.gone;
        break;
      }
      case Content::corrections:
        found.corrections.push_back(measurements_in(text, file.string()));
        gone = found.corrections.back().gone;
        break;
      case Content::device:
        found.devices.push_back(parse_device(text, file.string()));
        if (!names.insert(found.devices.back().name).second) {
          throw UserError(file.string(), fmt::format("is a second device {}", found.devices.back().name),
                          "give it a name of its own in its line 'name', or remove one of them");
        }
        devices.add(found.devices.back(), file.string());
        break;
    }
    if (gone > 0) {
      found.gone.push_back({file.string(), gone});
    }
  }
  found.corrections = merged(std::move(found.corrections));
  found.catalog = std::make_shared<DeviceCatalog>(std::move(devices), found.corrections);
  return found;
}

std::string print(const UserMeasurements& measurements) {
  std::string text;
  for (const ScheduleDatabase& database : measurements.databases) {
    text += print(database);
  }
  for (const Device& device : measurements.devices) {
    text += print(device);
  }
  for (const DeviceMeasurements& device : measurements.corrections) {
    text += print(device);
  }
  return text;
}

}  // namespace esc
