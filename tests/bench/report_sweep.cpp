// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/report_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace esc::bench {
namespace {

double zeros_of(const PairResult& pair) {
  return 100.0 * (1.0 - static_cast<double>(pair.nonzeros) /
                            (static_cast<double>(pair.rows) * static_cast<double>(pair.columns)));
}

std::optional<double> time_of(const std::optional<BestTime>& best) {
  return best ? std::optional(best->microseconds) : std::nullopt;
}

/// A library's, where the table of pairs names cuBLASLt's peers by their types alone.
std::string name_of(const std::string& peer) {
  const std::string title = title_of(peer);
  return title != peer && peer.starts_with("cublas-") ? "cuBLASLt " + title : title;
}

/// Those that are right for one of the pairs at least.
std::set<std::string> peers_of(const std::vector<const PairResult*>& pairs) {
  std::set<std::string> names;
  for (const PairResult* pair : pairs) {
    for (const auto& [name, peer] : pair->peers) {
      names.insert(name);
    }
  }
  return names;
}

}  // namespace

LineChart sparsity_sweep(const std::map<PairKey, MeasuredPair>& pairs, std::int64_t bcol) {
  std::vector<const PairResult*> chosen;
  for (const auto& [key, pair] : pairs) {
    if (key.bcol == bcol) {
      chosen.push_back(&pair.result);
    }
  }
  std::ranges::sort(chosen, {}, [](const PairResult* pair) { return zeros_of(*pair); });
  LineChart chart{
      .title = fmt::format("Time over the share of zeros, bCol {}", bcol), .unit = "us", .places = {}, .series = {}};
  chart.series = {{"ours", {}}, {"ours, programmatic", {}}};
  const std::set<std::string> peers = peers_of(chosen);
  for (const std::string& peer : peers) {
    chart.series.push_back({name_of(peer), {}});
  }
  for (const PairResult* pair : chosen) {
    chart.places.push_back(fmt::format("{:.0f} %", zeros_of(*pair)));
    chart.series[0].values.push_back(time_of(pair->plain));
    chart.series[1].values.push_back(time_of(pair->programmatic));
    std::size_t series = 2;
    for (const std::string& peer : peers) {
      chart.series[series++].values.push_back(time_of(*pair, peer));
    }
  }
  return chart;
}

std::string print(const LineChart& chart) {
  std::string text = "| zeros |";
  std::string rule = "| --- |";
  for (const LineChart::Series& series : chart.series) {
    text += fmt::format(" {}, {} |", series.name, chart.unit);
    rule += " --- |";
  }
  text += "\n" + rule + "\n";
  for (std::size_t place = 0; place < chart.places.size(); ++place) {
    text += fmt::format("| {} |", chart.places[place]);
    for (const LineChart::Series& series : chart.series) {
      text += series.values[place] ? fmt::format(" {:.2f} |", *series.values[place]) : " - |";
    }
    text += "\n";
  }
  return text;
}

}  // namespace esc::bench
