// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/bench/esc_bench_result.h"

namespace esc::bench {

/// What an earlier run, perhaps a killed one, left in its journal.
struct JournalContent {
  std::string first_line;             ///< what was measured with; empty when there is no whole line
  std::vector<PairResult> completed;  ///< the pairs whose last record was written
  std::size_t whole_bytes = 0;        ///< of the whole lines: what is after them was cut off
};

/// Reads the text of a journal. Throws UserError with file and line for a line that is not JSON or lacks a field.
JournalContent read_journal(const std::string& text, const std::string& file);

/// The measurements of a run as JSON lines. Each line is flushed, so that a killed run loses no more than the last.
class Journal {
 public:
  /// Writes nowhere.
  Journal() = default;
  /// Begins a new file with its first line. Throws UserError when the file is there already or cannot be written.
  static Journal create(const std::filesystem::path& file, const std::string& first_line);
  /// Goes on with a file, or begins it. Throws UserError when its first line is another, that is, when it was measured
  /// with something else.
  static Journal resume(const std::filesystem::path& file, const std::string& first_line);

  /// The pairs that earlier runs have completed.
  const std::vector<PairResult>& completed() const { return completed_; }
  /// Throws UserError when it cannot be written.
  void write(const std::string& line);

 private:
  std::filesystem::path file_;
  std::ofstream out_;
  std::vector<PairResult> completed_;
};

}  // namespace esc::bench
