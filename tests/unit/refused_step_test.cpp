// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/refused_step.h"

#include <gmock/gmock.h>

#include "generator/schedule/schedule.h"

namespace esc {

TEST_P(RefusedStep, SaysWhy) {
  try {
    GetParam().step();
    FAIL() << GetParam().what << " was accepted";
  } catch (const ScheduleError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(GetParam().words));
  }
}

}  // namespace esc
