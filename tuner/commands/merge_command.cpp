// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "generator/support/file.h"
#include "generator/support/json_result.h"
#include "tuner/commands/commands.h"
#include "tuner/records/locked_file.h"
#include "tuner/records/record_text.h"
#include "tuner/scale/merge.h"

namespace esc {
namespace {

struct MergeRequest {
  std::vector<std::string> files;
  std::string output;
  bool skip_damaged = false;
  bool strict = false;
  bool json = false;
};

void print_result(const MergeRequest& request, const tuning::Merged& merged, bool passed) {
  if (request.json) {
    fmt::print("{}", json_result("merged records", passed ? "written" : "failed",
                                 {{"file", request.output},
                                  {"records", merged.records},
                                  {"conflicts", merged.conflicts},
                                  {"environments", merged.environments}}));
    return;
  }
  print_plain("{} records in {}\n", merged.records, request.output);
  for (const std::string& conflict : merged.conflicts) {
    print_plain("conflict     {}\n", conflict);
  }
  for (const std::string& environment : merged.environments) {
    print_plain("environment  {}\n", environment);
  }
}

/// The lines of all files; damaged ones are said, and left out only if that was asked for.
tuning::JournalText read_all(const MergeRequest& request, const Console& console) {
  tuning::JournalText all;
  for (const std::string& file : request.files) {
    tuning::JournalText journal = tuning::parse_journal(read_file(file, most_journal_bytes), file);
    for (const std::string& damaged : journal.damaged) {
      if (!request.skip_damaged) {
        throw UserError("", damaged);
      }
      console.error("left out: " + damaged);
    }
    if (!journal.unfinished.empty()) {
      console.error(fmt::format("left out: {}: an unfinished line of {} bytes", file, journal.unfinished.size()));
    }
    all.records.insert(all.records.end(), journal.records.begin(), journal.records.end());
    all.rates.insert(all.rates.end(), journal.rates.begin(), journal.rates.end());
  }
  return all;
}

ExitStatus run(const MergeRequest& request, const Console& console) {
  // A run that is writing the output would go on in a file that has lost its name.
  std::error_code ignored;
  std::optional<tuning::LockedFile> replaced;
  if (std::filesystem::is_regular_file(request.output, ignored)) {
    replaced.emplace(request.output, O_RDONLY);
    if (!tuning::parse_journal(read_file(request.output, most_journal_bytes), request.output).is_journal()) {
      throw UserError(request.output, "is no journal of esctune", "give another file; nothing of this one is changed");
    }
  }
  const tuning::JournalText all = read_all(request, console);
  const tuning::Merged merged = tuning::merge(all.records, all.rates);
  write_file_whole(request.output, merged.text);
  const bool at_one = merged.conflicts.empty() && merged.environments.empty();
  const bool passed = at_one || !request.strict;
  print_result(request, merged, passed);
  return passed ? ExitStatus::done : ExitStatus::check_failed;
}

}  // namespace

void add_merge_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command = add_command(program, "merge", "Unite the records of several runs or hosts into one file",
                                  "esctune merge host1.jsonl host2.jsonl -o all.jsonl");
  const auto request = std::make_shared<MergeRequest>();
  command->add_option("FILE", request->files, "Records of esctune run or layer")->required();
  command->add_option("-o,--output", request->output, "File for all of them; may be one of the others")
      ->type_name("FILE")
      ->required();
  command->add_flag("--skip-damaged", request->skip_damaged, "Leave out lines that hold no record, and say which");
  command->add_flag("--strict", request->strict, "Status 1 when records conflict or environments differ");
  command->add_flag("--json", request->json, "Print the result as JSON");
  command->callback([request, &common, &action] { action = [=, &common] { return run(*request, common.console()); }; });
}

}  // namespace esc
