// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/bench/esc_bench_result.h"
#include "tests/bench/esc_bench_summary.h"

namespace esc::bench {

/// Which columns the tables have.
struct TableColumns {
  std::set<std::string> peers;  ///< those with a column, by their names
  bool cold = false;            ///< whether there are cold times
};

/// The head of the table of pairs, and one line of it, as Markdown. `name` is the matrix as it is shown. What is absent
/// is "-".
std::string pair_table_head(const TableColumns& columns);
std::string pair_table_row(const PairResult& pair, const std::string& name, const TableColumns& columns);

/// The summary as Markdown: one line per group and kind of launch that was measured.
std::string summary_table(const std::vector<GroupSummary>& groups, const TableColumns& columns);

/// The folder, with its slash, in which all files are and below which they differ; empty when there is none.
std::string common_folder(const std::vector<std::string>& files);

}  // namespace esc::bench
