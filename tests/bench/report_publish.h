#pragma once

#include <map>
#include <string>

#include "tests/bench/report_journal.h"

namespace esc::bench {

/// A schedule database (generator/schedule/schedule_database.h): for each class of the measured pairs the schedule that was
/// measured on all of them and whose times, relative to the best schedule of each, have the least geometric mean over both
/// kinds of launches. `device` goes into its first line. The same measurements give the same bytes.
std::string publish(const std::map<PairKey, MeasuredPair>& pairs, const std::string& device);

/// How much the published schedules lose against the best of each pair, measured on pairs that were left out of the
/// publication one matrix at a time: the geometric mean by bCol, plain launches.
std::map<std::int64_t, double> leave_one_out_loss(const std::map<PairKey, MeasuredPair>& pairs);

}  // namespace esc::bench
