// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/esc_bench_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace esc::bench {
namespace {

/// A title for each peer, as `form` has it.
void add_titles(std::vector<std::string>& cells, const std::set<std::string>& peers,
                fmt::format_string<std::string> form) {
  for (const std::string& peer : peers) {
    cells.push_back(fmt::format(form, title_of(peer)));
  }
}

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
  cells.push_back(number(ratio(best_exact(pair), time)));
  cells.push_back(number(ratio(time_of(pair, tf32_peer), time)));
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
                                       const TableColumns& columns) {
  std::vector<std::string> cells{std::to_string(group.bcol), group.sparsity ? std::to_string(*group.sparsity) : "all",
                                 kind, fmt::format("{} of {}", ours.measured, group.pairs), number(ours.microseconds)};
  for (const std::string& peer : columns.peers) {
    const auto mean = group.peers.find(peer);
    cells.push_back(mean == group.peers.end() ? "-" : number(mean->second));
  }
  cells.insert(cells.end(), {number(ours.over_exact), number(ours.over_tf32), percent(ours.fastest_exact),
                             percent(ours.fastest_all), number(ours.over_floor)});
  if (columns.cold) {
    cells.insert(cells.end(), {number(ours.cold), number(ours.cold_over_exact), number(ours.cold_over_tf32)});
  }
  return cells;
}

}  // namespace

std::string pair_table_head(const TableColumns& columns) {
  std::vector<std::string> cells{"matrix", "M x K", "zeros, %", "bCol", "plain us", "pdl us"};
  add_titles(cells, columns.peers, "{} us");
  cells.insert(cells.end(),
               {"exact / plain", "TF32 / plain", "plain / floor", "exact / pdl", "TF32 / pdl", "pdl / floor", "error"});
  if (columns.cold) {
    cells.insert(cells.end(), {"cold plain", "cold pdl"});
    add_titles(cells, columns.peers, "cold {}");
  }
  cells.insert(cells.end(), {"right, wrong, failed, illegal", "plain schedule", "pdl schedule"});
  return head(cells);
}

std::string pair_table_row(const PairResult& pair, const std::string& name, const TableColumns& columns) {
  std::vector<std::string> cells{name,
                                 fmt::format("{}x{}", pair.rows, pair.columns),
                                 fmt::format("{:.1f}", 100 * pair.sparsity()),
                                 std::to_string(pair.bcol),
                                 warm(pair.plain),
                                 warm(pair.programmatic)};
  for (const std::string& peer : columns.peers) {
    cells.push_back(number(time_of(pair, peer)));
  }
  add_ratios(cells, pair, pair.plain);
  add_ratios(cells, pair, pair.programmatic);
  cells.push_back(worst_error(pair));
  if (columns.cold) {
    cells.insert(cells.end(), {cold_time(pair.plain), cold_time(pair.programmatic)});
    for (const std::string& peer : columns.peers) {
      cells.push_back(number(cold_time_of(pair, peer)));
    }
  }
  cells.push_back(fmt::format("{}, {}, {}, {}", pair.right, pair.wrong, pair.failed, pair.illegal));
  cells.push_back(name_of(pair.plain));
  cells.push_back(name_of(pair.programmatic));
  return markdown(cells);
}

std::string summary_table(const std::vector<GroupSummary>& groups, const TableColumns& columns) {
  std::vector<std::string> cells{"bCol", "zeros, %", "launches", "pairs", "us"};
  add_titles(cells, columns.peers, "{} us");
  cells.insert(cells.end(), {"over exact", "over TF32", "fastest exact, %", "fastest of all, %", "over floor"});
  if (columns.cold) {
    cells.insert(cells.end(), {"cold us", "cold over exact", "cold over TF32"});
  }
  std::string text = head(cells);
  for (const GroupSummary& group : groups) {
    text += markdown(summary_cells(group, "plain", group.plain, columns));
    if (group.programmatic.measured > 0) {
      text += markdown(summary_cells(group, "pdl", group.programmatic, columns));
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
