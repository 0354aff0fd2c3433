// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/esc_bench_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace esc::bench {
namespace {

std::string markdown(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

std::string head(const std::vector<std::string>& cells) {
  return markdown(cells) + markdown(std::vector<std::string>(cells.size(), "---"));
}

std::string number(std::optional<double> value) { return value ? fmt::format("{:.2f}", *value) : "-"; }

std::string percent(std::optional<double> share) { return share ? fmt::format("{:.0f}", 100 * *share) : "-"; }

std::string warm(const std::optional<BestTime>& time) { return time ? number(time->microseconds) : "-"; }

std::string cold_time(const std::optional<BestTime>& time) { return time ? number(time->cold) : "-"; }

std::string name_of(const std::optional<BestTime>& time) { return time ? time->name : "-"; }

std::optional<double> ratio(std::optional<double> above, std::optional<double> below) {
  return above && below ? std::optional(*above / *below) : std::nullopt;
}

/// Over the best exact peer, over TF32, over the floor.
void add_ratios(std::vector<std::string>& cells, const PairResult& pair, const std::optional<BestTime>& ours) {
  const std::optional<double> time = ours ? std::optional(ours->microseconds) : std::nullopt;
  const std::optional<double> tf32 = pair.tf32 ? std::optional(pair.tf32->microseconds) : std::nullopt;
  cells.push_back(number(ratio(best_exact(pair), time)));
  cells.push_back(number(ratio(tf32, time)));
  cells.push_back(number(ratio(time, ours ? ours->floor : std::nullopt)));
}

std::string worst_error(const PairResult& pair) {
  if (!pair.plain && !pair.programmatic) {
    return "-";
  }
  return fmt::format("{:.1e}",
                     std::max(pair.plain ? pair.plain->error : 0, pair.programmatic ? pair.programmatic->error : 0));
}

std::vector<std::string> summary_cells(const GroupSummary& group, const std::string& kind, const OurSummary& ours,
                                       bool cold) {
  std::vector<std::string> cells{std::to_string(group.bcol),
                                 group.sparsity ? std::to_string(*group.sparsity) : "all",
                                 kind,
                                 fmt::format("{} of {}", ours.measured, group.pairs),
                                 number(ours.microseconds),
                                 number(group.fp32),
                                 number(group.tf32),
                                 number(group.cusparse),
                                 number(ours.over_exact),
                                 number(ours.over_tf32),
                                 percent(ours.fastest_exact),
                                 percent(ours.fastest_all),
                                 number(ours.over_floor)};
  if (cold) {
    cells.insert(cells.end(), {number(ours.cold), number(ours.cold_over_exact), number(ours.cold_over_tf32)});
  }
  return cells;
}

}  // namespace

std::string pair_table_head(bool cold) {
  std::vector<std::string> cells{"matrix",      "M x K",         "zeros, %",     "bCol",
                                 "plain us",    "pdl us",        "FP32 us",      "TF32 us",
                                 "cuSPARSE us", "exact / plain", "TF32 / plain", "plain / floor",
                                 "exact / pdl", "TF32 / pdl",    "pdl / floor",  "error"};
  if (cold) {
    cells.insert(cells.end(), {"cold plain", "cold pdl", "cold FP32", "cold TF32", "cold cuSPARSE"});
  }
  cells.insert(cells.end(), {"right, wrong, failed, illegal", "plain schedule", "pdl schedule"});
  return head(cells);
}

std::string pair_table_row(const PairResult& pair, const std::string& name, bool cold) {
  std::vector<std::string> cells{name,
                                 fmt::format("{}x{}", pair.rows, pair.columns),
                                 fmt::format("{:.1f}", 100 * pair.sparsity()),
                                 std::to_string(pair.bcol),
                                 warm(pair.plain),
                                 warm(pair.programmatic),
                                 warm(pair.fp32),
                                 warm(pair.tf32),
                                 warm(pair.cusparse)};
  add_ratios(cells, pair, pair.plain);
  add_ratios(cells, pair, pair.programmatic);
  cells.push_back(worst_error(pair));
  if (cold) {
    for (const auto* time : {&pair.plain, &pair.programmatic, &pair.fp32, &pair.tf32, &pair.cusparse}) {
      cells.push_back(cold_time(*time));
    }
  }
  cells.push_back(fmt::format("{}, {}, {}, {}", pair.right, pair.wrong, pair.failed, pair.illegal));
  cells.push_back(name_of(pair.plain));
  cells.push_back(name_of(pair.programmatic));
  return markdown(cells);
}

std::string summary_table(const std::vector<GroupSummary>& groups, bool cold) {
  std::vector<std::string> cells{"bCol",       "zeros, %",  "launches",         "pairs",
                                 "us",         "FP32 us",   "TF32 us",          "cuSPARSE us",
                                 "over exact", "over TF32", "fastest exact, %", "fastest of all, %",
                                 "over floor"};
  if (cold) {
    cells.insert(cells.end(), {"cold us", "cold over exact", "cold over TF32"});
  }
  std::string text = head(cells);
  for (const GroupSummary& group : groups) {
    text += markdown(summary_cells(group, "plain", group.plain, cold));
    if (group.programmatic.measured > 0) {
      text += markdown(summary_cells(group, "pdl", group.programmatic, cold));
    }
  }
  return text;
}

std::string common_folder(const std::vector<std::string>& files) {
  if (files.empty()) {
    return {};
  }
  std::string common = files.front();
  for (const std::string& file : files) {
    const auto [end, unused] = std::ranges::mismatch(common, file);
    common.erase(end, common.end());
  }
  const std::size_t slash = common.rfind('/');
  return slash == std::string::npos ? std::string() : common.substr(0, slash + 1);
}

}  // namespace esc::bench
