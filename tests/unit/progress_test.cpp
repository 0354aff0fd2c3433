// SPDX-License-Identifier: Apache-2.0
#include "generator/support/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace esc {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

/// A progress whose clock is set by the test, and all that it has said.
struct Watched {
  explicit Watched(Progress::Style style)
      : progress([this](const std::string& text) { said.push_back(text); }, style, [this] { return now; }) {}

  /// `steps` steps that took so many seconds.
  void advance(std::size_t steps, double seconds, const std::string& what = "layer") {
    now += seconds;
    progress.advance(steps, what);
  }

  double now = 1e6;
  std::vector<std::string> said;
  Progress progress;
};

constexpr Progress::Style log_lines{.terminal = false, .interval = 10};
constexpr Progress::Style bar{.terminal = true};

TEST(Progress, TellsRateAndTimeLeft) {
  Watched watched(log_lines);
  watched.progress.expect(100);
  watched.advance(20, 10);
  EXPECT_THAT(watched.said, ElementsAre("20 of 100, 2.0 a second, 40 s left: layer\n"));
}

TEST(Progress, SaysALineAtMostOnceInAnInterval) {
  Watched watched(log_lines);
  watched.progress.expect(1000);
  for (int step = 0; step < 300; ++step) {
    watched.advance(1, 0.1);
  }
  EXPECT_THAT(watched.said, SizeIs(testing::AllOf(testing::Ge(2U), testing::Le(4U))));
  EXPECT_THAT(watched.said, Each(testing::EndsWith("\n")));
  EXPECT_THAT(watched.said, Each(Not(HasSubstr("\r"))));
}

TEST(Progress, DrawsABarOverItselfOnATerminal) {
  Watched watched(bar);
  watched.progress.expect(4);
  watched.advance(1, 1);
  watched.advance(1, 0.01);  // too soon to be drawn
  watched.advance(1, 1);
  watched.progress.finish();
  ASSERT_THAT(watched.said, SizeIs(3));
  EXPECT_THAT(watched.said, Each(StartsWith("\r\033[K[")));
  EXPECT_THAT(watched.said[0], HasSubstr("[######..................] 1 of 4"));
  EXPECT_THAT(watched.said[1], HasSubstr("3 of 4"));
  EXPECT_THAT(watched.said[1], Not(HasSubstr("\n")));
  EXPECT_THAT(watched.said[2], testing::EndsWith("\n"));
}

TEST(Progress, KeepsLinesApartFromTheBar) {
  Watched watched(bar);
  watched.progress.say("a problem");
  EXPECT_THAT(watched.said, ElementsAre("\r\033[Ka problem\n"));
  Watched lines(log_lines);
  lines.progress.say("a problem");
  EXPECT_THAT(lines.said, ElementsAre("a problem\n"));
}

TEST(Progress, SaysNothingOfNothing) {
  Watched watched(log_lines);
  watched.progress.finish();
  EXPECT_THAT(watched.said, IsEmpty());
}

TEST(Progress, TakesMoreStepsThanWereExpected) {
  Watched watched(bar);
  watched.advance(5, 1);
  ASSERT_THAT(watched.said, SizeIs(1));
  EXPECT_THAT(watched.said[0], HasSubstr("[########################] 5 of 5, 5.0 a second, 0 s left"));
}

TEST(Progress, NeverHasARateThatAJumpOfTheClockMade) {
  for (const double jump : {-1e9, -5.0, 0.0, 1e12, std::numeric_limits<double>::infinity()}) {
    Watched watched({.terminal = false, .interval = 0});
    watched.progress.expect(100);
    watched.advance(10, 5);
    watched.advance(10, jump);
    for (const std::string& line : watched.said) {
      EXPECT_THAT(line, Not(HasSubstr("nan"))) << jump;
      EXPECT_THAT(line, Not(HasSubstr("inf"))) << jump;
      EXPECT_THAT(line, Not(HasSubstr("-"))) << jump;
    }
    ASSERT_FALSE(watched.said.empty());
    EXPECT_THAT(watched.said.back(), HasSubstr("20 of 100, 4.0 a second, 20 s left")) << jump;
  }
}

TEST(Progress, GoesOnAfterAJumpOfTheClock) {
  Watched watched({.terminal = false, .interval = 0});
  watched.progress.expect(40);
  watched.advance(10, 5);
  watched.advance(10, -1e6);
  watched.advance(10, 5);
  EXPECT_THAT(watched.said.back(), HasSubstr("30 of 40, 3.0 a second, 3 s left"));
}

TEST(Progress, StandsStillWithAClockThatDoes) {
  Watched watched({.terminal = false, .interval = 0});
  watched.progress.expect(10);
  watched.advance(1, 0);
  EXPECT_THAT(watched.said, ElementsAre("1 of 10: layer\n"));
}

TEST(ProgressBar, IsFilledByTheShare) {
  EXPECT_EQ(progress_bar(1, 4), "[######..................]");
  EXPECT_EQ(progress_bar(0, 0), "[........................]");
  EXPECT_EQ(progress_bar(9, 4), "[########################]");
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(progress_bar(most / 2, most), "[############............]");
}

TEST(DurationText, IsBounded) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(59.9), "59 s");
  EXPECT_EQ(duration_text(60), "1 min");
  EXPECT_EQ(duration_text(3600), "1 h 00 min");
  EXPECT_EQ(duration_text(2 * 3600 + 5 * 60), "2 h 05 min");
  EXPECT_EQ(duration_text(-5), "0 s");
  EXPECT_EQ(duration_text(1e300), duration_text(1e9));
  EXPECT_EQ(duration_text(std::numeric_limits<double>::infinity()), duration_text(1e9));
}

TEST(SteadySeconds, DoNotGoBack) {
  const double before = steady_seconds();
  EXPECT_GE(steady_seconds(), before);
}

}  // namespace
}  // namespace esc
