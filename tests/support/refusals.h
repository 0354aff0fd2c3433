// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "generator/support/error.h"

/// What users are refused, for tests: each rule's words are in one test, others ask for the place.
namespace esc::test {

/// The error that `act` ends with; nothing where it accepts what it is given.
template <typename Act>
std::optional<UserError> error_of(const Act& act) {
  try {
    act();
    return std::nullopt;
  } catch (const UserError& error) {
    return error;
  }
}

/// What is said; "accepted" where nothing is refused.
template <typename Act>
std::string refusal_of(const Act& act) {
  const std::optional<UserError> error = error_of(act);
  return error ? error->what() : "accepted";
}

/// Input that is to be refused, the place that is named and words of the rule.
struct Refusal {
  std::string input;
  std::string place;
  std::string words;
};

/// `read` refuses each of the inputs at its place, and names a remedy.
template <typename Read>
void expect_refusals(const std::vector<Refusal>& refusals, const Read& read) {
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.words + " <- " + ::testing::PrintToString(refusal.input.substr(0, 200)));
    const std::optional<UserError> error = error_of([&] { read(refusal.input); });
    if (!error) {
      ADD_FAILURE() << "accepted";
      continue;
    }
    EXPECT_EQ(error->place(), refusal.place);
    EXPECT_THAT(error->rule(), ::testing::HasSubstr(refusal.words));
    EXPECT_THAT(error->remedy(), ::testing::Not(::testing::IsEmpty()));
  }
}

}  // namespace esc::test
