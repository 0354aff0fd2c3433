// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/refused_schedule.h"

#include <gmock/gmock.h>

#include <regex>
#include <string>

#include "generator/schedule/schedule.h"

namespace esc {
namespace {

/// The schedule with another value of a key, "columns=8", which it may lack.
std::string with_value(const std::string& schedule, const std::string& value) {
  const std::regex given(value.substr(0, value.find('=') + 1) + "[^,]*");
  return std::regex_search(schedule, given) ? std::regex_replace(schedule, given, value) : schedule + "," + value;
}

/// Who writes the value that is named, and so on where another rule speaks then, comes to an end soon: the schedule is
/// legal, or there is something to choose.
void expect_to_suffice(std::string schedule, std::string nearest, long long bcol) {
  constexpr int most_changes = 4;
  const std::string remedy = "the nearest legal value is ";
  for (int change = 0; change < most_changes; ++change) {
    schedule = with_value(schedule, nearest);
    try {
      check_legal(parse_schedule(schedule), bcol);
      return;
    } catch (const ScheduleError& error) {
      if (!error.remedy().starts_with(remedy)) {
        return;
      }
      nearest = error.remedy().substr(remedy.size());
      nearest = nearest.substr(0, nearest.find(','));
    }
  }
  ADD_FAILURE() << schedule << " is refused again, for bCol " << bcol;
}

}  // namespace

TEST_P(RefusedSchedule, NamesTheRuleAndTheNearestLegalValue) {
  const ScheduleRefusal& refusal = GetParam();
  const std::string nearest = refusal.nearest;
  try {
    check_legal(parse_schedule(refusal.schedule), refusal.bcol);
    FAIL() << refusal.schedule << " was accepted";
  } catch (const ScheduleError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(refusal.words));
    EXPECT_EQ(error.status(), ExitStatus::bad_input);
    EXPECT_TRUE(nearest.empty() || error.remedy() == "the nearest legal value is " + nearest) << error.what();
  }
  if (!nearest.empty() && std::string(refusal.schedule).find(':') != std::string::npos) {
    expect_to_suffice(refusal.schedule, nearest, refusal.bcol);
  }
}

}  // namespace esc
