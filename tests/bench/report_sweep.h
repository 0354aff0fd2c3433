// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "tests/bench/report_journal.h"
#include "tuner/report/line_chart.h"

namespace esc::bench {

using tuning::LineChart;

/// The times of ours and of the libraries over the share of zeros, for the pairs with this bCol; matrices of one shape
/// are meant (the paper's Fig. 9). A library that is right for none of them has no line. Places are in ascending order
/// of zeros.
LineChart sparsity_sweep(const std::map<PairKey, MeasuredPair>& pairs, std::int64_t bcol);

/// The chart's numbers as a table in Markdown.
std::string print(const LineChart& chart);

}  // namespace esc::bench
