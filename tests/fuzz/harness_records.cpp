// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "generator/schedule/schedule_database.h"
#include "generator/schedule/scheduler.h"
#include "tests/fuzz/harness.h"
#include "tests/unit/tuner/mixed_database.h"
#include "tests/unit/tuner/tuning_records.h"
#include "tuner/publish/publish.h"
#include "tuner/records/item_results.h"
#include "tuner/records/record_text.h"

namespace esc::fuzz {
namespace {

using namespace tuning;

/// Databases are printed as they are read, and auto finds legal schedules by them.
void check_databases(const std::vector<ScheduleDatabase>& databases) {
  const std::string printed = print(databases);
  expect(print(databases_in(printed, "printed.txt")) == printed, "databases that are printed as others:\n" + printed);
  for (const ScheduleDatabase& database : databases) {
    for (const long long bcol : {1, 32, 100}) {
      const LayerShape shape{.bcol = bcol,
                             .rows = 512,
                             .columns = 512,
                             .nonzeros = 26214,
                             .longest_row = 91,
                             .layout = database.head().layout,
                             .contiguous = database.head().layout == "kn"};
      for (const ScheduleChoice& choice :
           ranked_schedules(shape, databases_for(shape, database.head().key, {&databases}))) {
        check_legal(choice, shape.product());
      }
    }
  }
}

bool judge_database(std::string_view input) {
  std::vector<ScheduleDatabase> databases;
  if (!is_accepted([&] { databases = databases_in(input, "database.txt"); })) {
    return false;
  }
  check_databases(databases);
  return true;
}

/// What other commands make of the records: tables, and a database where there is something to publish.
void check_uses(const std::vector<Record>& records) {
  for (const auto& [key, item] : group_by_item(records)) {
    static_cast<void>(item.right());
    static_cast<void>(item.best());
  }
  is_accepted([&] {
    for (const MeasuredDevice& device : measured_devices(records)) {
      check_databases({publish(device)});
    }
  });
}

bool judge_journal(std::string_view input) {
  const JournalText journal = parse_journal(std::string(input), "journal.jsonl");
  for (const std::string& why : journal.damaged) {
    expect(why.starts_with("journal.jsonl:"), "a damaged line without a place: " + why);
  }
  static_cast<void>(may_be_unfinished_record(journal.unfinished));
  for (const Record& record : journal.records) {
    expect(parse_record(print(record), "printed") == record,
           "a record that is printed as another one: " + print(record));
  }
  check_uses(journal.records);
  return journal.is_journal() && journal.damaged.empty();
}

std::string journal_of(const std::vector<Record>& records) {
  std::string text = journal_header() + '\n';
  for (const Record& record : records) {
    text += print(record) + '\n';
  }
  return text;
}

std::vector<Record> records_of_a_run() {
  const WorkItem item = item_of_pattern("0123456789abcdef0123456789abcdef");
  const WorkItem other = item_of_pattern("fedcba9876543210fedcba9876543210", 64);
  const std::string row_tile = print(parse_schedule("panel:warps=4"));
  CandidateRecord with_kernel = measured(item, row_tile, {2.5, 2.75, 3});
  with_kernel.kernel = KernelFacts{40, 2048, 0, 128, 256, 135488};
  with_kernel.error = 1e-7;
  with_kernel.clock_megahertz = 1980;
  CandidateRecord peer = measured(item, "cusparse", {9, 9.5});
  peer.algorithm = "CUSPARSE_SPMM_CSR_ALG2";
  DecisionRecord decision;
  decision.environment = with_kernel.environment;
  decision.item = item;
  decision.winner = row_tile;
  decision.incumbent = numbered_text(3);
  decision.winner_microseconds = 2.75;
  decision.fastest_peer = "cusparse";
  decision.peer_microseconds = 9.25;
  decision.rests_on = 3;
  return {with_kernel,
          measured(item, numbered_text(3), {4, 4.5}),
          measured(item, row_tile, {2.5}, Stage::final, Edge::chain),
          peer,
          unmeasured(item, numbered_text(5), Outcome::timed_out),
          decision,
          measured(other, row_tile, {3.25}),
          measured(other, numbered_text(3), {3, 3.5}, Stage::final)};
}

const std::vector<std::string> numbers{
    "0",     "1",   "-1",   "2147483648", "9223372036854775807", "18446744073709551615", "1e308", "1e-308",
    "1e400", "0.5", "-0.0", "nan"};

}  // namespace

Harness journal_harness() {
  const std::vector<Record> run = records_of_a_run();
  Harness harness{.kind = "journal",
                  .judge = judge_journal,
                  .seeds = {journal_of(run), journal_of({run.front(), run.back()}), print(run.front()) + '\n', "",
                            journal_header() + '\n' + print(run.front()).substr(0, 100)},
                  .words = numbers,
                  .mutants = 1000};
  harness.words.insert(harness.words.end(), {"\n",
                                             "{",
                                             "}",
                                             "[",
                                             "]",
                                             ",",
                                             ":",
                                             "\"",
                                             "null",
                                             "true",
                                             "\"\"",
                                             "\"candidate\"",
                                             "\"decision\"",
                                             "\"ok\"",
                                             "\"search\"",
                                             "\"final\"",
                                             "\"warm\"",
                                             "\"cold\"",
                                             "\"cusparse\"",
                                             "\"cublas-fp32\"",
                                             "\"panel:warps=2\"",
                                             "\"f64\"",
                                             "sm90-132sm-60mib",
                                             "sm80-108sm-40mib",
                                             "BETTER",
                                             "\\u0000",
                                             "\\u202e",
                                             "\xff",
                                             journal_header() + "\n"});
  return harness;
}

Harness database_harness() {
  Harness harness{.kind = "database",
                  .judge = judge_database,
                  .seeds = {print(mixed()), project_file("generator/schedule/sm80-108sm-40mib_f32.txt")},
                  .words = numbers,
                  .mutants = 1000};
  harness.words.insert(harness.words.end(), {"\n",
                                             " ",
                                             "#",
                                             "-",
                                             "~",
                                             "device ",
                                             "dtype ",
                                             "evidence ",
                                             "measured",
                                             "published",
                                             "candidate ",
                                             "class ",
                                             "default ",
                                             "layer ",
                                             "sm90-132sm-60mib",
                                             "sm00-0sm-0mib",
                                             "f32",
                                             "f64",
                                             "32",
                                             "64",
                                             "128",
                                             "panel:warps=2",
                                             "rows:task=64",
                                             "4-7-1-32",
                                             "aaaaaaaaaaaaaaaa",
                                             "\t",
                                             "\r",
                                             "\xff"});
  return harness;
}

}  // namespace esc::fuzz
