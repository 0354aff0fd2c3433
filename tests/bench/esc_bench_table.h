// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tests/bench/esc_bench_result.h"
#include "tests/bench/esc_bench_summary.h"

namespace esc::bench {

/// The head of the table of pairs, and one line of it, as Markdown. `name` is the matrix as it is shown; `cold` adds
/// the columns of cold times. What is absent is "-".
std::string pair_table_head(bool cold);
std::string pair_table_row(const PairResult& pair, const std::string& name, bool cold);

/// The summary as Markdown: one line per group and kind of launch that was measured.
std::string summary_table(const std::vector<GroupSummary>& groups, bool cold);

/// The folder, with its slash, in which all files are and below which they differ; empty when there is none.
std::string common_folder(const std::vector<std::string>& files);

}  // namespace esc::bench
