// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/report_ablation.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "generator/schedule/schedule.h"

namespace esc::bench {
namespace {

std::string canonical(const char* schedule) { return print(parse_schedule(schedule)); }

std::optional<double> time_of(const MeasuredPair& pair, const AblationStep& step) {
  if (step.schedule.empty()) {
    const std::optional<BestTime>& best = step.programmatic ? pair.result.programmatic : pair.result.plain;
    return best ? std::optional(best->microseconds) : std::nullopt;
  }
  const auto found = pair.candidates.find(step.schedule);
  return found == pair.candidates.end() ? std::nullopt : found->second.plain;
}

}  // namespace

std::vector<AblationStep> ablation_steps() {
  return {{"base", canonical("1-1-1-32")},
          {"+ enumeration", canonical("4-1-1-32")},
          {"+ coarsening", canonical("4-7-1-32")},
          {"+ panel ownership", canonical("panel:ufi=2,columns=32,vector=1,groups=1,warps=1,panels=1")},
          {"+ columns over warps", canonical("panel:ufi=2,columns=32,vector=1,groups=1,warps=8,panels=1")},
          {"+ vector loads", canonical("panel:ufi=2,columns=32,vector=4,groups=4,warps=8,panels=1")},
          {"tuned", ""},
          {"+ programmatic launch", "", true}};
}

Ablation ablation(const std::map<PairKey, MeasuredPair>& pairs) {
  const std::vector<AblationStep> steps = ablation_steps();
  Ablation result;
  for (const auto& [key, pair] : pairs) {
    std::vector<double> logarithms;
    for (const AblationStep& step : steps) {
      if (const std::optional<double> time = time_of(pair, step)) {
        logarithms.push_back(std::log(*time));
      }
    }
    const std::optional<double> exact = best_exact(pair.result);
    if (logarithms.size() != steps.size() || !exact) {
      continue;
    }
    Ablation::Row& row = result.by_bcol[key.bcol];
    row.microseconds.resize(steps.size());
    ++row.matrices;
    row.best_exact += std::log(*exact);
    for (std::size_t step = 0; step < steps.size(); ++step) {
      row.microseconds[step] += logarithms[step];
    }
  }
  for (auto& [bcol, row] : result.by_bcol) {
    row.best_exact = std::exp(row.best_exact / row.matrices);
    for (double& time : row.microseconds) {
      time = std::exp(time / row.matrices);
    }
  }
  return result;
}

std::string print(const Ablation& ablation) {
  const std::vector<AblationStep> steps = ablation_steps();
  std::string text = "| step |";
  std::string rule = "| --- |";
  for (const auto& [bcol, row] : ablation.by_bcol) {
    text += fmt::format(" bCol {}: us | over base | over the best exact library |", bcol);
    rule += " --- | --- | --- |";
  }
  text += "\n" + rule + "\n";
  for (std::size_t step = 0; step < steps.size(); ++step) {
    text += fmt::format("| {} |", steps[step].name);
    for (const auto& [bcol, row] : ablation.by_bcol) {
      text += fmt::format(" {:.2f} | {:.2f} | {:.2f} |", row.microseconds[step],
                          row.microseconds[0] / row.microseconds[step], row.best_exact / row.microseconds[step]);
    }
    text += "\n";
  }
  for (const auto& [bcol, row] : ablation.by_bcol) {
    text += fmt::format("\nbCol {}: geometric means over {} matrices", bcol, row.matrices);
  }
  return text + "\n";
}

LineChart chart(const Ablation& ablation) {
  LineChart result{
      .title = "What each step is worth", .unit = "speed-up over the first step", .places = {}, .series = {}};
  for (const AblationStep& step : ablation_steps()) {
    result.places.push_back(step.name);
  }
  for (const auto& [bcol, row] : ablation.by_bcol) {
    LineChart::Series series{fmt::format("bCol {}", bcol), {}};
    for (const double time : row.microseconds) {
      series.values.emplace_back(row.microseconds[0] / time);
    }
    result.series.push_back(std::move(series));
  }
  return result;
}

}  // namespace esc::bench
