// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/records/record.h"

namespace esc::tuning {

/// Whether a text is a journal of esc-bench, whose first line says what was measured with.
bool is_bench_journal(std::string_view text);

/// What a journal of esc-bench has, in the terms of esctune.
struct BenchRecords {
  std::vector<Record> records;
  /// Times of matrices of which the journal does not say how large they are: a run that was killed leaves some.
  std::int64_t of_unknown_matrices = 0;
};

/// The plain launches of schedules and of libraries, in layout kn with a warm cache. Such a journal knows a matrix by
/// its file, and does not say how long its rows are. Throws UserError (place: file and line) for a line that esc-bench
/// has not written.
BenchRecords bench_records(std::string_view text, const std::string& file);

}  // namespace esc::tuning
