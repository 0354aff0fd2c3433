// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "generator/commands/own_measurements.h"
#include "generator/report/table.h"
#include "generator/support/file.h"
#include "generator/support/json_result.h"
#include "tuner/commands/commands.h"
#include "tuner/commands/known_records.h"
#include "tuner/publish/joined_databases.h"
#include "tuner/publish/leave_one_out.h"
#include "tuner/publish/publish.h"
#include "tuner/regret/device_measurements.h"
#include "tuner/regret/read_journals.h"

namespace esc {
namespace {

namespace fs = std::filesystem;
using tuning::LeaveOneOut;

struct PublishLine {
  std::vector<std::string> journals;
  std::string output;
  std::vector<std::string> layouts;  ///< none: all
  bool corrections = false;
  bool json = false;
};

/// A database with how well it does for layers that it does not know.
struct Publication {
  ScheduleDatabase database;
  std::map<long long, LeaveOneOut> left_out;
  std::string status = {};  ///< "written" or "unchanged"
};

/// Writes the file of a device's databases, unless it is there already, byte by byte; says which.
std::string write_databases(const std::vector<ScheduleDatabase>& databases, const fs::path& folder,
                            const Console& console) {
  const fs::path file = folder / file_name(databases.front().head());
  std::error_code ignored;
  const std::optional<std::string> there =
      fs::is_regular_file(file, ignored) ? std::optional(read_file(file)) : std::nullopt;
  const ReadDatabases old = there ? read_databases(*there, file.string()) : ReadDatabases();
  say_gone({file.string(), old.gone}, console);
  const std::string text = print(tuning::joined_databases(databases, old.databases));
  if (there == text) {
    return "unchanged";
  }
  write_file_whole(file, text);
  return "written";
}

std::size_t layers_at(const ScheduleDatabase& database, long long bcol) {
  return static_cast<std::size_t>(std::ranges::count(database.layers(), bcol, &LayerEntry::bcol));
}

nlohmann::json to_json(const Publication& publication) {
  nlohmann::json by_bcol = nlohmann::json::array();
  const ScheduleDatabase& database = publication.database;
  for (const auto& [bcol, left_out] : publication.left_out) {
    by_bcol.push_back({{"bcol", bcol},
                       {"candidates", database.candidates_of(bcol).size()},
                       {"classes", database.classes_of(bcol).size()},
                       {"layers", layers_at(database, bcol)},
                       {"leave_one_out",
                        {{"layers", left_out.layers},
                         {"not_measured", left_out.not_measured},
                         {"geometric_mean", left_out.mean},
                         {"median", left_out.median},
                         {"percentile_90", left_out.percentile_90},
                         {"worst", left_out.worst},
                         {"geometric_mean_with_estimates", left_out.estimated_mean}}}});
  }
  return {{"file", file_name(publication.database.head())},
          {"device", publication.database.head().device},
          {"layout", publication.database.head().layout},
          {"status", publication.status},
          {"entries", by_bcol}};
}

std::string percent_above(double ratio) { return fmt::format("{:.1f}", 100 * (ratio - 1)); }

Table to_table(const Publication& publication) {
  Table table{.title = "Slower than the best schedule of a layer that was left out, %",
              .columns = {{"bCol"},
                          {"candidates"},
                          {"classes"},
                          {"layers of their own"},
                          {"left out"},
                          {"geometric mean"},
                          {"median"},
                          {"90 % of them below"},
                          {"worst"},
                          {"not measured"},
                          {"mean with estimates for these"}},
              .rows = {}};
  const ScheduleDatabase& database = publication.database;
  for (const auto& [bcol, left_out] : publication.left_out) {
    table.rows.push_back({fmt::format("{}", bcol), fmt::format("{}", database.candidates_of(bcol).size()),
                          fmt::format("{}", database.classes_of(bcol).size()),
                          fmt::format("{}", layers_at(database, bcol)), fmt::format("{}", left_out.layers),
                          percent_above(left_out.mean), percent_above(left_out.median),
                          percent_above(left_out.percentile_90), percent_above(left_out.worst),
                          fmt::format("{}", left_out.not_measured), percent_above(left_out.estimated_mean)});
  }
  return table;
}

void print_publication(const Publication& publication, const std::string& folder) {
  const ScheduleDatabase& database = publication.database;
  print_plain("database   {} ({})\n", (fs::path(folder) / file_name(database.head())).string(), publication.status);
  print_plain("device     {}\n", database.describe());
  print_plain("layout     {}\n", database.head().layout);
  fmt::print("entries    {} candidates, {} classes, {} defaults, {} layers of their own\n\n",
             database.candidates().size(), database.classes().size(), database.defaults().size(),
             database.layers().size());
  fmt::print("{}\n", markdown(to_table(publication)));
}

/// What the journals say of the layouts that are wanted.
std::vector<tuning::MeasuredDevice> devices_of(const PublishLine& line, const Console& console) {
  std::vector<tuning::MeasuredDevice> devices = tuning::measured_devices(read_known_records(line.journals, console));
  if (devices.empty()) {
    throw UserError(line.journals.front(), "has no right kernel with a warm L2 cache, so there is nothing to publish",
                    "measure first, with esctune run");
  }
  for (const std::string& layout : line.layouts) {
    if (std::ranges::find(devices, layout, [](const auto& device) { return device.head.layout; }) == devices.end()) {
      throw UserError("--layout " + layout, "is the layout of no right kernel in the journals",
                      "name one that esctune show prints");
    }
  }
  std::erase_if(devices, [&](const tuning::MeasuredDevice& device) {
    return !line.layouts.empty() && std::ranges::find(line.layouts, device.head.layout) == line.layouts.end();
  });
  return devices;
}

void create_folder(const std::string& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem) {
    throw UserError(folder, "cannot be made: " + problem.message(), "choose another folder");
  }
}

/// Writes what was measured on each device into a file, by which predicted times are corrected.
ExitStatus write_corrections(const PublishLine& line, const Console& console) {
  const tuning::MeasuredItems measured = tuning::measured_items(tuning::read_journals(line.journals));
  if (measured.gone > 0) {
    console.say(fmt::format("left out: {} times of schedules that are gone", measured.gone));
  }
  const std::vector<DeviceMeasurements> devices = tuning::device_measurements(measured.items);
  if (devices.empty()) {
    throw UserError(line.journals.front(), "has no right kernel, so there is nothing to publish",
                    "measure first, with esctune run");
  }
  create_folder(line.output);
  nlohmann::json results = nlohmann::json::array();
  for (const DeviceMeasurements& device : devices) {
    const fs::path file = fs::path(line.output) / file_name(device.key);
    write_file_whole(file, print(device));
    results.push_back({{"file", file_name(device.key)}, {"products", device.products.size()}});
    if (!line.json) {
      print_plain("corrections {} ({} products)\n", file.string(), device.products.size());
    }
  }
  if (line.json) {
    fmt::print("{}", json_result("published corrections", "done", {{"folder", line.output}, {"corrections", results}}));
  }
  return ExitStatus::done;
}

ExitStatus run(const PublishLine& line, const Console& console) {
  if (line.corrections) {
    return write_corrections(line, console);
  }
  console.detail("reading the records");
  const std::vector<tuning::MeasuredDevice> devices = devices_of(line, console);
  // All are made before one is written: a device whose database cannot be made leaves the folder as it was.
  std::vector<Publication> publications;
  for (const tuning::MeasuredDevice& device : devices) {
    console.detail("choosing schedules for " + device.head.device);
    publications.push_back({tuning::publish(device), tuning::leave_one_out(device)});
  }
  create_folder(line.output);
  std::map<std::string, std::vector<ScheduleDatabase>> files;
  for (const Publication& publication : publications) {
    files[file_name(publication.database.head())].push_back(publication.database);
  }
  std::map<std::string, std::string> statuses;
  for (const auto& [file, databases] : files) {
    statuses[file] = write_databases(databases, line.output, console);
  }
  nlohmann::json results = nlohmann::json::array();
  for (Publication& publication : publications) {
    publication.status = statuses.at(file_name(publication.database.head()));
    if (line.json) {
      results.push_back(to_json(publication));
    } else {
      print_publication(publication, line.output);
    }
  }
  if (line.json) {
    fmt::print("{}", json_result("published databases", "done", {{"folder", line.output}, {"databases", results}}));
  }
  return ExitStatus::done;
}

}  // namespace

void add_publish_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command = add_command(program, "publish", "Turn records into the schedule database that escgen reads",
                                  "esctune publish h200.jsonl -o generator/schedule");
  const auto line = std::make_shared<PublishLine>();
  command->add_option("journal", line->journals, "Records: journals of esctune")->required();
  command
      ->add_option("-o,--output", line->output,
                   "Folder for a file per device and element type; replaces what its file there has of the layouts and "
                   "numbers of columns measured")
      ->type_name("DIR")
      ->required();
  command
      ->add_option("--layout", line->layouts,
                   "Layouts to publish, as records name them, nk,kn (default: all that were measured)")
      ->type_name("LAYOUT,...")
      ->delimiter(',');
  command->add_flag("--corrections", line->corrections,
                    "Write what predicted times are corrected by, a file per device, in place of databases");
  command->add_flag("--json", line->json, "Print results as JSON");
  command->callback([line, &common, &action] { action = [=, &common] { return run(*line, common.console()); }; });
}

}  // namespace esc
