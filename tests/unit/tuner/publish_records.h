// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "generator/schedule/schedule.h"
#include "tests/unit/tuner/tuning_records.h"
#include "tuner/publish/class_losses.h"
#include "tuner/records/record.h"

/// Records of one H200 with two schedules, for tests of what is published of them.
namespace esc::tuning::publish_records {

inline const std::string narrow = print(parse_schedule("panel:ufi=1,warps=4"));
inline const std::string wide = print(parse_schedule("panel:ufi=2,warps=8"));

/// 64 digits that begin with those of the number.
inline std::string pattern_of(int number) {
  std::string digits = fmt::format("{:08x}", static_cast<unsigned>(number) * 2654435761U);
  return digits + std::string(64 - digits.size(), '0');
}

inline WorkItem item(int number, std::int64_t bcol = 32, std::int64_t rows = 512) {
  WorkItem result = item_of_pattern(pattern_of(number), bcol);
  result.layer.file = "layer.smtx";
  result.layer.rows = rows;
  result.layer.nonzeros = rows * 64;
  return result;
}

inline CandidateRecord measured(const WorkItem& of, const std::string& candidate, double microseconds) {
  return tuning::measured(of, candidate, {microseconds});
}

inline CandidateRecord failed(const WorkItem& of, const std::string& candidate, Outcome outcome) {
  return unmeasured(of, candidate, outcome);
}

/// An item on which both schedules were measured.
inline void add_both(std::vector<Record>& records, const WorkItem& of, double narrow_us, double wide_us) {
  records.emplace_back(measured(of, narrow, narrow_us));
  records.emplace_back(measured(of, wide, wide_us));
}

inline MeasuredDevice only_device(const std::vector<Record>& records) {
  const std::vector<MeasuredDevice> devices = measured_devices(records);
  EXPECT_EQ(devices.size(), 1U);
  return devices.at(0);
}

/// The table of bCol 32, where there is nothing else.
inline LossTable only_table(const std::vector<Record>& records) { return only_device(records).tables.at(32); }

}  // namespace esc::tuning::publish_records
