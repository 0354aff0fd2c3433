// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "generator/commands/command.h"
#include "generator/commands/own_measurements.h"
#include "tuner/records/item_results.h"
#include "tuner/records/record_text.h"
#include "tuner/report/candidate_table.h"
#include "tuner/report/comparison_text.h"
#include "tuner/report/glob.h"
#include "tuner/report/item_tables.h"
#include "tuner/report/junit_report.h"
#include "tuner/report/outcome_tables.h"
#include "tuner/report/paper_tables.h"
#include "tuner/report/summary_json.h"
#include "tuner/report/user_tables.h"

namespace esc {
namespace {

struct ShowRequest {
  std::vector<std::string> files;
  std::vector<std::string> against;
  std::string item;
  bool tables = false;
  bool json = false;
  bool csv = false;
  bool junit = false;
};

/// The records by item, and a line for each.
struct Journal {
  std::map<tuning::ItemKey, tuning::ItemResults> items;
  std::vector<tuning::ItemSummary> summaries;
};

Journal read_journal(const std::vector<std::string>& files) {
  Journal journal;
  journal.items = tuning::group_by_item(tuning::read_records(files));
  journal.summaries = tuning::summarise(journal.items);
  return journal;
}

/// The items that the pattern fits in either journal: each names them after the folders that its own files share, so
/// that one item can have a name in one of them that it has not in the other.
std::set<tuning::ItemKey> asked_items(const Journal& journal, const Journal& before, const std::string& pattern) {
  std::vector<tuning::ItemSummary> all = journal.summaries;
  all.insert(all.end(), before.summaries.begin(), before.summaries.end());
  std::set<tuning::ItemKey> keys;
  for (const tuning::ItemSummary& item : tuning::pick(all, pattern)) {
    keys.insert(tuning::key_of(item.item));
  }
  return keys;
}

void keep(Journal& journal, const std::set<tuning::ItemKey>& keys) {
  std::erase_if(journal.items, [&](const auto& item) { return !keys.contains(item.first); });
  std::erase_if(journal.summaries,
                [&](const tuning::ItemSummary& item) { return !keys.contains(tuning::key_of(item.item)); });
}

ExitStatus compare(const Journal& journal, const Journal& before, const ShowRequest& request) {
  const tuning::JournalComparison comparison = tuning::compare_journals(before.summaries, journal.summaries);
  fmt::print("{}", request.json    ? tuning::to_json(comparison)
                   : request.csv   ? csv(tuning::change_table(comparison))
                   : request.junit ? tuning::junit_report(comparison)
                                   : tuning::print(comparison));
  return comparison.count(tuning::Verdict::worse) > 0 ? ExitStatus::check_failed : ExitStatus::done;
}

void print_overview(const Journal& journal, bool with_candidates) {
  constexpr std::size_t most_candidates = 10;
  fmt::print("{}", markdown(tuning::item_table(journal.summaries)));
  fmt::print("\n{}", markdown(tuning::summary_table(tuning::group(journal.summaries))));
  fmt::print("\n{}", markdown(tuning::outcome_table(journal.items)));
  if (!with_candidates) {
    return;
  }
  for (const tuning::ItemSummary& item : journal.summaries) {
    const tuning::ItemResults& results = journal.items.at(tuning::key_of(item.item));
    fmt::print("\n### {}\n\n{}\n{}", tuning::label(item), markdown(tuning::candidate_table(results, most_candidates)),
               markdown(tuning::library_table(results)));
  }
}

/// What `--database` takes is shown as a whole.
ExitStatus show_measurements(const ShowRequest& request, const Console& console) {
  const std::string& file = request.files.front();
  if (request.files.size() > 1 || !request.against.empty() || !request.item.empty() || request.tables || request.csv ||
      request.junit) {
    throw UserError(file, "is of devices, corrections or databases, which are shown alone, and as tables or --json",
                    "name it alone, without other options");
  }
  const UserMeasurements measurements = read_own_measurements(file, console);
  fmt::print("{}", request.json ? tuning::user_json(measurements) : tuning::user_tables(measurements));
  return ExitStatus::done;
}

ExitStatus run(const ShowRequest& request, const Console& console) {
  if (std::ranges::any_of(request.files, holds_measurements)) {
    return show_measurements(request, console);
  }
  Journal journal = read_journal(request.files);
  Journal before = read_journal(request.against);
  if (!request.item.empty()) {
    const std::set<tuning::ItemKey> asked = asked_items(journal, before, request.item);
    keep(journal, asked);
    keep(before, asked);
  }
  if (!request.against.empty()) {
    return compare(journal, before, request);
  }
  if (request.json) {
    fmt::print("{}", tuning::to_json(journal.summaries, journal.items));
  } else if (request.csv) {
    fmt::print("{}", csv(tuning::item_table(journal.summaries)));
  } else if (request.junit) {
    fmt::print("{}", tuning::junit_report(journal.summaries));
  } else if (request.tables) {
    fmt::print("{}", tuning::paper_tables(tuning::group(journal.summaries), journal.items));
  } else {
    print_overview(journal, !request.item.empty());
  }
  return ExitStatus::done;
}

}  // namespace

void add_show_command(CLI::App& program, const CommonOptions& common, Action& action) {
  CLI::App* command = add_command(program, "show", "Print tables of what was measured",
                                  "esctune show night.jsonl --tables\n"
                                  "esctune show mine/");
  const auto request = std::make_shared<ShowRequest>();
  command
      ->add_option("files", request->files,
                   "Records: files of esctune run, layer or merge; or what escgen --database takes, one folder or file")
      ->required();
  command
      ->add_option("--item", request->item,
                   "Only items that this shell pattern fits: NAME, NAME@BCOL or the file; lists their best candidates")
      ->type_name("PATTERN");
  auto* against =
      command
          ->add_option(
              "--against", request->against,
              "Compare item by item with these older records: BETTER, WORSE, SAME, UNSURE; status 1 when one is WORSE")
          ->type_name("FILE")
          ->allow_extra_args(false);
  auto* tables = command->add_flag("--tables", request->tables, "Print the paper's Table 1 and Table 2 for this device")
                     ->excludes(against);
  auto* json = command->add_flag("--json", request->json, "Print JSON")->excludes(tables);
  auto* values = command->add_flag("--csv", request->csv, "Print a line for each item, of comma-separated values")
                     ->excludes(tables, json);
  command
      ->add_flag("--junit", request->junit,
                 "Print JUnit's XML: an item fails that has no right kernel, with --against one that is WORSE")
      ->excludes(tables, json, values);
  command->callback([request, &common, &action] { action = [=, &common] { return run(*request, common.console()); }; });
}

}  // namespace esc
