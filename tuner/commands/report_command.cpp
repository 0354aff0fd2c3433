// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "generator/commands/command.h"
#include "generator/support/file.h"
#include "tuner/records/item_results.h"
#include "tuner/records/record_text.h"
#include "tuner/report/report_page.h"

namespace esc {
namespace {

struct ReportRequest {
  std::vector<std::string> files;
  std::string output;
};

/// The page must not take the place of what it was made from.
void check_output(const ReportRequest& request) {
  for (const std::string& file : request.files) {
    std::error_code ignored;
    if (std::filesystem::equivalent(file, request.output, ignored)) {
      throw UserError("--output " + request.output, "is one of the records", "name another file for the page");
    }
  }
}

ExitStatus run(const ReportRequest& request, const Console& console) {
  check_output(request);
  const auto items = tuning::group_by_item(tuning::read_records(request.files));
  write_file_whole(request.output, tuning::report_page(items));
  console.say(fmt::format("{} items in {}", items.size(), request.output));
  return ExitStatus::done;
}

}  // namespace

void add_report_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command = add_command(program, "report", "Write a page of pictures and tables of what was measured",
                                  "esctune report night.jsonl -o report.html");
  const auto request = std::make_shared<ReportRequest>();
  command->add_option("files", request->files, "Records: files of esctune run, layer or merge")->required();
  command->add_option("-o,--output", request->output, "The HTML file to write")->required();
  command->callback([request, &common, &action] { action = [=, &common] { return run(*request, common.console()); }; });
}

}  // namespace esc
