// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/bench/report_journal.h"
#include "tuner/report/line_chart.h"

namespace esc::bench {

using tuning::LineChart;

/// One step of the ablation: what is added, as the schedule that has it and everything before.
struct AblationStep {
  std::string name;
  std::string schedule;  ///< canonical text; empty for the best of all schedules measured
  bool programmatic = false;
};

/// The paper's steps (Fig. 7) and those of the panel kernel after them.
std::vector<AblationStep> ablation_steps();

/// Geometric means over the matrices that have all steps, by bCol, in the order of the steps.
struct Ablation {
  struct Row {
    int matrices = 0;
    std::vector<double> microseconds;  ///< for each step
    double best_exact = 0;             ///< geometric mean of the best exact library
  };
  std::map<std::int64_t, Row> by_bcol;
};

Ablation ablation(const std::map<PairKey, MeasuredPair>& pairs);

/// A table in Markdown: time of each step and its speed-up over the first.
std::string print(const Ablation& ablation);
/// Speed-up over the first step.
LineChart chart(const Ablation& ablation);

}  // namespace esc::bench
