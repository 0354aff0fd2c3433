// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <ostream>

namespace esc {

/// A schedule that is not legal for a number of columns of B, and words of the refusal: of each rule they are in one
/// row, the others have the value alone that is named as the nearest legal one.
struct ScheduleRefusal {
  const char* schedule;
  long long bcol;
  const char* words;
  const char* nearest = "";  ///< "columns=8"; empty where another remedy is named
};

inline void PrintTo(const ScheduleRefusal& refusal, std::ostream* out) {
  *out << refusal.schedule << " for bCol " << refusal.bcol;
}

/// Each family has a table of them.
class RefusedSchedule : public testing::TestWithParam<ScheduleRefusal> {};

}  // namespace esc
