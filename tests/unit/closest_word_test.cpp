// SPDX-License-Identifier: Apache-2.0
// Which words may have been meant by one that is not known.

#include "generator/support/closest_word.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace esc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> options{"--bcol", "--output", "-o", "--schedule", "--schedule-file", "--size"};

TEST(ClosestWords, AreOneSlipOfTheHandAway) {
  EXPECT_THAT(closest_words("--bcoll", options), ElementsAre("--bcol")) << "a letter more";
  EXPECT_THAT(closest_words("--bol", options), ElementsAre("--bcol")) << "a letter less";
  EXPECT_THAT(closest_words("--bcal", options), ElementsAre("--bcol")) << "another letter";
  EXPECT_THAT(closest_words("--outptu", options), ElementsAre("--output")) << "two exchanged";
  EXPECT_THAT(closest_words("-bcol", options), ElementsAre("--bcol")) << "a dash less";
  EXPECT_THAT(closest_words("--BCOL", options), ElementsAre("--bcol")) << "capitals";
}

TEST(ClosestWords, AreFewerEditsAwayThanAllOthers) {
  EXPECT_THAT(closest_words("--schedule-fil", options), ElementsAre("--schedule-file"));
  EXPECT_THAT(closest_words("h300", {"a100", "h100", "h200", "b200"}), ElementsAre("h100", "h200"));
}

TEST(ClosestWords, AreNoneWhereNothingIsNear) {
  EXPECT_THAT(closest_words("--verbose", options), IsEmpty());
  EXPECT_THAT(closest_words("-x", options), IsEmpty()) << "another letter than the only one";
  EXPECT_THAT(closest_words("", options), IsEmpty());
  EXPECT_THAT(closest_words("bcol", {}), IsEmpty());
  EXPECT_THAT(closest_words(std::string(100'000, 'b'), options), IsEmpty());
}

TEST(ClosestWords, StandInAQuestion) {
  EXPECT_EQ(did_you_mean("h300", {"a100", "h100", "h200"}), "did you mean h100 or h200? ");
  EXPECT_EQ(did_you_mean("abc", {"abd", "abe", "abf"}), "did you mean abd, abe or abf? ");
  EXPECT_EQ(did_you_mean("xyz", {"abd"}), "");
}

}  // namespace
}  // namespace esc
