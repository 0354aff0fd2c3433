// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/refused_schedule.h"

#include <gmock/gmock.h>

#include "generator/schedule/schedule.h"

namespace esc {

TEST_P(RefusedSchedule, NamesTheRuleAndTheNearestLegalValue) {
  const ScheduleRefusal& refusal = GetParam();
  try {
    check_legal(parse_schedule(refusal.schedule), refusal.bcol);
    FAIL() << refusal.schedule << " was accepted";
  } catch (const ScheduleError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(refusal.words));
    EXPECT_EQ(error.status(), ExitStatus::bad_input);
  }
}

}  // namespace esc
