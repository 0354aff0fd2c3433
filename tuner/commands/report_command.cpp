// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "generator/commands/command.h"
#include "generator/support/file.h"
#include "generator/support/json_result.h"
#include "tuner/records/item_results.h"
#include "tuner/records/record_text.h"
#include "tuner/report/report_page.h"

namespace esc {
namespace {

struct ReportRequest {
  std::vector<std::string> files;
  std::string output;
  std::string date;
  std::string host;
  std::vector<std::string> nights;   ///< LABEL=FILE
  std::vector<std::string> against;  ///< files
  bool json = false;
};

/// An older night as the command line has it.
struct NamedFile {
  std::string label;
  std::string file;
};

NamedFile named_file(const std::string& text) {
  const std::size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    throw UserError("--earlier " + text, "is not LABEL=FILE", "give the run a name: --earlier monday=monday.jsonl");
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

std::vector<NamedFile> named_files(const std::vector<std::string>& texts) {
  std::vector<NamedFile> files;
  std::ranges::transform(texts, std::back_inserter(files), named_file);
  return files;
}

/// The page must not take the place of what it was made from.
void check_output(const ReportRequest& request, const std::vector<NamedFile>& nights) {
  std::vector<std::string> files = request.files;
  files.insert(files.end(), request.against.begin(), request.against.end());
  for (const NamedFile& night : nights) {
    files.push_back(night.file);
  }
  for (const std::string& file : files) {
    std::error_code ignored;
    if (std::filesystem::equivalent(file, request.output, ignored)) {
      throw UserError("--output " + request.output, "is one of the records", "name another file for the page");
    }
  }
}

std::vector<tuning::ItemSummary> summaries_of(const std::vector<std::string>& files) {
  return tuning::summarise(tuning::group_by_item(tuning::read_records(files)));
}

ExitStatus run(const ReportRequest& request, const Console& console) {
  const std::vector<NamedFile> nights = named_files(request.nights);
  check_output(request, nights);
  const auto items = tuning::group_by_item(tuning::read_records(request.files));
  tuning::ReportFrame frame{.date = request.date, .host = request.host};
  for (const NamedFile& night : nights) {
    frame.nights.push_back({night.label, summaries_of({night.file})});
  }
  if (!request.against.empty()) {
    frame.against = summaries_of(request.against);
  }
  write_file_whole(request.output, tuning::report_page(items, frame));
  if (request.json) {
    fmt::print("{}", json_result("page", "written", {{"file", request.output}, {"items", items.size()}}));
  }
  console.say(fmt::format("{} items in {}", items.size(), request.output));
  return ExitStatus::done;
}

}  // namespace

void add_report_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command = add_command(program, "report", "Write a page of pictures and tables of what was measured",
                                  "esctune report night.jsonl -o report.html");
  const auto request = std::make_shared<ReportRequest>();
  command->add_option("files", request->files, "Records: files of esctune run, layer or merge")->required();
  command->add_option("-o,--output", request->output, "The HTML file to write")->type_name("FILE")->required();
  command->add_option("--against", request->against, "Older records: says item by item what has become BETTER or WORSE")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--earlier", request->nights,
                   "LABEL=FILE: records of an earlier tuning run, for the trend; the oldest first (repeatable)")
      ->type_name("LABEL=FILE")
      ->allow_extra_args(false);
  command->add_option("--date", request->date, "What the page says of when it was measured")->type_name("DATE");
  command->add_option("--host", request->host, "What the page says of where")->type_name("NAME");
  command->add_flag("--json", request->json, "Print the result as JSON");
  command->callback([request, &common, &action] { action = [=, &common] { return run(*request, common.console()); }; });
}

}  // namespace esc
