// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/report_sweep.h"

#include <fmt/format.h>

#include <algorithm>
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

}  // namespace

LineChart sparsity_sweep(const std::map<PairKey, MeasuredPair>& pairs, std::int64_t bcol) {
  std::vector<const PairResult*> chosen;
  for (const auto& [key, pair] : pairs) {
    if (key.bcol == bcol) {
      chosen.push_back(&pair.result);
    }
  }
  std::ranges::sort(chosen, {}, [](const PairResult* pair) { return zeros_of(*pair); });
  LineChart chart{.title = fmt::format("Time over the share of zeros, bCol {}", bcol), .unit = "us", .places = {}, .series = {}};
  chart.series = {{"ours", {}}, {"ours, programmatic", {}}, {"cuBLASLt FP32", {}}, {"cuBLASLt TF32", {}}, {"cuSPARSE", {}}};
  for (const PairResult* pair : chosen) {
    chart.places.push_back(fmt::format("{:.0f} %", zeros_of(*pair)));
    chart.series[0].values.push_back(time_of(pair->plain));
    chart.series[1].values.push_back(time_of(pair->programmatic));
    chart.series[2].values.push_back(time_of(pair->fp32));
    chart.series[3].values.push_back(time_of(pair->tf32));
    chart.series[4].values.push_back(time_of(pair->cusparse));
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
