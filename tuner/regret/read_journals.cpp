// SPDX-License-Identifier: Apache-2.0
#include "tuner/regret/read_journals.h"

#include <algorithm>
#include <filesystem>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/process.h"
#include "tuner/records/bench_records.h"
#include "tuner/records/record_text.h"

namespace esc::tuning {
namespace {

namespace fs = std::filesystem;

bool is_packed(const fs::path& file) { return file.extension() == ".xz"; }

bool may_be_journal(const fs::path& file) { return is_packed(file) || file.extension() == ".jsonl"; }

std::string unpacked(const fs::path& file) {
  ProcessResult unpacking = run_process({"xz", "-dc", "--", file.string()}, {.errors_apart = true});
  if (unpacking.status != 0) {
    throw UserError(file.string(), "cannot be unpacked", "give a file that xz has packed, or unpack it first");
  }
  return std::move(unpacking.output);
}

JournalRecords read_journal(const fs::path& file) {
  const std::string name = file.string();
  const std::string text = is_packed(file) ? unpacked(file) : read_file(file, most_journal_bytes);
  JournalRecords journal{.name = file.filename().string(), .records = {}};
  journal.name.resize(std::min(journal.name.find(".jsonl"), journal.name.size()));
  if (is_bench_journal(text)) {
    BenchRecords bench = bench_records(text, name);
    journal.records = std::move(bench.records);
    journal.of_unknown_matrices = bench.of_unknown_matrices;
    return journal;
  }
  JournalText parsed = parse_journal(text, name);
  if (!parsed.damaged.empty()) {
    throw UserError("", parsed.damaged.front());
  }
  journal.records = std::move(parsed.records);
  return journal;
}

std::vector<fs::path> journals_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && may_be_journal(entry.path())) {
      files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    throw UserError(folder.string(), "has no journal, whose name ends in .jsonl or .jsonl.xz", "give the files");
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

std::vector<JournalRecords> read_journals(const std::vector<std::string>& files_and_folders) {
  std::vector<JournalRecords> journals;
  for (const fs::path name : files_and_folders) {
    std::error_code ignored;
    const bool is_folder = fs::is_directory(name, ignored);
    for (const fs::path& file : is_folder ? journals_in(name) : std::vector{name}) {
      journals.push_back(read_journal(file));
    }
  }
  return journals;
}

}  // namespace esc::tuning
