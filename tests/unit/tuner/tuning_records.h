// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/schedule/schedule.h"
#include "tuner/records/record.h"

namespace esc::tuning {

/// Schedules that can be told apart, from 1 on.
inline Schedule numbered_schedule(int number) { return parse_schedule("atomic:ufk=" + std::to_string(number)); }
inline std::string numbered_text(int number) { return print(numbered_schedule(number)); }

/// A layer of 512 x 512 with 90 % zeros on an H200.
inline WorkItem item_of_pattern(const std::string& pattern, std::int64_t bcol = 32) {
  WorkItem item;
  item.layer = {.file = pattern + ".smtx", .pattern = pattern, .rows = 512, .columns = 512, .nonzeros = 26214};
  item.bcol = bcol;
  item.device = {90, 132, std::uint64_t{60} << 20U};
  return item;
}

/// Times about one, that vary by the noise (relative).
inline std::vector<double> times_about(double microseconds, double noise = 0.001, int count = 25) {
  std::vector<double> times;
  for (int number = 0; number < count; ++number) {
    times.push_back(microseconds * (1 + noise * (number % 3 - 1)));
  }
  return times;
}

inline CandidateRecord measured(const WorkItem& item, const std::string& candidate, const std::vector<double>& samples,
                                Stage stage = Stage::search, Edge edge = Edge::plain) {
  CandidateRecord record;
  record.environment = {"0.1.0", "13.0", "NVIDIA H200", "13.0"};
  record.item = item;
  record.stage = stage;
  record.edge = edge;
  record.candidate = candidate;
  record.builder = "nvrtc 13.0";
  record.samples = samples;
  return record;
}

/// One whose times do not vary by more than is usual.
inline CandidateRecord steady(const WorkItem& item, const std::string& candidate, double microseconds) {
  return measured(item, candidate, times_about(microseconds));
}

inline CandidateRecord unmeasured(const WorkItem& item, const std::string& candidate, Outcome outcome) {
  CandidateRecord record = measured(item, candidate, std::vector<double>());
  record.outcome = outcome;
  record.detail = "as the test wants it";
  return record;
}

}  // namespace esc::tuning
