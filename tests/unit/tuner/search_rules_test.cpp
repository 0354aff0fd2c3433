// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "generator/support/error.h"
#include "tests/unit/tuner/tuning_records.h"
#include "tuner/search/comparison.h"
#include "tuner/search/sampling.h"
#include "tuner/search/stop_rule.h"

namespace esc::tuning {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// A rule that nothing but what a test changes of it ends.
StopRule endless() {
  return {.least = 0,
          .most = std::numeric_limits<int>::max(),
          .spread = -1,
          .hopeless = 0,
          .budget = std::numeric_limits<double>::infinity()};
}

TEST(MedianError, IsNothingOfNoSamplesAndOfOne) {
  EXPECT_EQ(median_error({}), 0);
  EXPECT_EQ(median_error({7}), 0);
  EXPECT_EQ(median_error({7, 7, 7, 7}), 0);
}

TEST(MedianError, FallsWithTheRootOfTheNumberOfSamples) {
  const double few = median_error(times_about(10, 0.1, 27));
  EXPECT_NEAR(few, 1.2533 * (0.2 / 1.349) / std::sqrt(27.0), 1e-12);
  EXPECT_NEAR(median_error(times_about(10, 0.1, 4 * 27)), few / 2, 1e-12);
}

TEST(MedianError, IsThatOfANormalDistribution) {
  std::mt19937 generator(7);
  std::normal_distribution<double> times(100, 5);
  std::vector<double> medians;
  double said = 0;
  constexpr int trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> samples(101);
    std::ranges::generate(samples, [&] { return times(generator); });
    medians.push_back(median(samples));
    said += median_error(samples) / trials;
  }
  double variance = 0;
  for (const double one : medians) {
    variance += (one - 100) * (one - 100) / trials;
  }
  EXPECT_NEAR(said, std::sqrt(variance) / 100, 0.15 * said);
}

TEST(StopRule, IsNotSatisfiedByNoSamples) { EXPECT_FALSE(enough({}, {}, 20)); }

TEST(StopRule, WaitsForTheLeastNumberWhateverElseHolds) {
  StopRule rule = endless();
  rule.least = 3;
  rule.most = 1;
  rule.spread = 1;
  rule.hopeless = 1;
  rule.budget = 1;
  EXPECT_FALSE(enough(rule, {5, 5}, 20));
  EXPECT_TRUE(enough(rule, {5, 5, 5}, 20));
}

TEST(StopRule, EndsAtTheMostSamples) {
  StopRule rule = endless();
  rule.most = 4;
  EXPECT_FALSE(enough(rule, {5, 9, 1}, 1));
  EXPECT_TRUE(enough(rule, {5, 9, 1, 7}, 1));
}

TEST(StopRule, EndsWhereTheMedianIsKnownWellEnough) {
  StopRule rule = endless();
  rule.spread = 0.01;
  EXPECT_TRUE(enough(rule, times_about(10, 0.001, 5), 1));
  EXPECT_FALSE(enough(rule, times_about(10, 0.1, 5), 1));
}

TEST(StopRule, EndsAtTheBudgetOfAllLaunches) {
  StopRule rule = endless();
  rule.budget = 100;
  EXPECT_FALSE(enough(rule, {9, 9}, 5));
  EXPECT_TRUE(enough(rule, {9, 11}, 5));
}

TEST(StopRule, GivesUpOneWhoseFastestSampleIsTooSlow) {
  StopRule rule = endless();
  EXPECT_FALSE(enough(rule, {16, 30}, 1)) << "0 is never";
  rule.hopeless = 15;
  EXPECT_FALSE(enough(rule, {15, 30}, 1));
  EXPECT_TRUE(enough(rule, {16, 30}, 1));
}

/// Times of rounds: `factor` times those of a kernel that takes 10, each round disturbed in its own way.
std::vector<double> rounds(double factor, int count = 15) {
  std::vector<double> times;
  for (int round = 0; round < count; ++round) {
    times.push_back(factor * 10 * (1 + 0.3 * (round % 4)));
  }
  return times;
}

TEST(Comparison, OfNothingIsUnsure) {
  const PairedComparison none = compare({}, {});
  EXPECT_EQ(none.verdict, Verdict::unsure);
  EXPECT_EQ(none.low, 0);
  EXPECT_TRUE(std::isinf(none.high));
}

TEST(Comparison, OfUnequalNumbersIsADefect) { EXPECT_THROW(compare({1}, {}), Defect); }

TEST(Comparison, OfFewRoundsNeverDecides) {
  for (int count = 1; count <= 5; ++count) {
    EXPECT_EQ(compare(rounds(0.1, count), rounds(1, count)).verdict, Verdict::unsure) << count;
    EXPECT_EQ(compare(rounds(1, count), rounds(1, count)).verdict, Verdict::unsure) << count;
  }
  EXPECT_EQ(compare(rounds(0.1, 6), rounds(1, 6)).verdict, Verdict::better) << "1 in 32 by chance";
}

TEST(Comparison, SeesThroughNoiseThatDisturbsBothAlike) {
  EXPECT_EQ(compare(rounds(0.97), rounds(1)).verdict, Verdict::better);
  EXPECT_EQ(compare(rounds(1.03), rounds(1)).verdict, Verdict::worse);
  EXPECT_EQ(compare(rounds(1.005), rounds(1)).verdict, Verdict::same);
  EXPECT_NEAR(compare(rounds(0.97), rounds(1)).ratio, 0.97, 1e-12);
}

TEST(Comparison, HasTheMedianOfTheRatiosNotTheRatioOfTheMedians) {
  EXPECT_EQ(compare({1, 2, 30}, {1, 4, 10}).ratio, 1);
}

TEST(Comparison, IsNotMovedByAnOutlier) {
  for (const double outlier : {0.001, 1000.0}) {
    std::vector<double> challenger = rounds(0.97);
    challenger[7] = outlier;
    EXPECT_EQ(compare(challenger, rounds(1)).verdict, Verdict::better) << outlier;
  }
}

TEST(Comparison, IsUnsureWhereTheRoundsContradict) {
  std::vector<double> challenger = rounds(0.95);
  for (std::size_t round = 0; round < challenger.size(); round += 2) {
    challenger[round] *= 1.1;
  }
  EXPECT_EQ(compare(challenger, rounds(1)).verdict, Verdict::unsure);
}

TEST(Comparison, IsUnsureAcrossTheEdgeOfWhatMatters) {
  std::vector<double> challenger = rounds(0.995);
  for (std::size_t round = 0; round < challenger.size(); round += 2) {
    challenger[round] *= 0.985;
  }
  EXPECT_EQ(compare(challenger, rounds(1)).verdict, Verdict::unsure);
}

TEST(Comparison, DoesNotDependOnTheScale) {
  for (const double scale : {1e-3, 1e6}) {
    std::vector<double> challenger = rounds(0.97);
    std::vector<double> incumbent = rounds(1);
    for (std::vector<double>* times : {&challenger, &incumbent}) {
      std::ranges::for_each(*times, [&](double& time) { time *= scale; });
    }
    EXPECT_EQ(compare(challenger, incumbent).verdict, Verdict::better);
  }
}

TEST(Comparison, TurnsRoundWithItsSides) {
  for (const double factor : {0.5, 0.97, 1.0, 1.03, 2.0}) {
    const PairedComparison one = compare(rounds(factor), rounds(1));
    const PairedComparison other = compare(rounds(1), rounds(factor));
    EXPECT_NEAR(one.ratio * other.ratio, 1, 1e-12);
    EXPECT_NEAR(one.low * other.high, 1, 1e-12);
    const auto turned = one.verdict == Verdict::better  ? Verdict::worse
                        : one.verdict == Verdict::worse ? Verdict::better
                                                        : one.verdict;
    EXPECT_EQ(other.verdict, turned) << factor;
  }
}

TEST(Comparison, LeavesRoundsWithoutATimeOut) {
  std::vector<double> challenger = rounds(0.97, 7);
  challenger[3] = 0;
  EXPECT_EQ(compare(challenger, rounds(1, 7)).verdict, Verdict::better);
  challenger[4] = 0;
  EXPECT_EQ(compare(challenger, rounds(1, 7)).verdict, Verdict::unsure) << "five are too few";
}

/// The interval must hold the true ratio in 95 of 100 cases; a kernel against itself must not be called better more
/// often.
TEST(Comparison, CallsAKernelBetterThanItselfSeldom) {
  std::mt19937 generator(7);
  std::normal_distribution<double> noise(0, 0.02);
  int missed = 0;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> challenger(15);
    std::vector<double> incumbent(15);
    std::ranges::generate(challenger, [&] { return std::exp(noise(generator)); });
    std::ranges::generate(incumbent, [&] { return std::exp(noise(generator)); });
    const PairedComparison compared = compare(challenger, incumbent);
    missed += compared.low > 1 || compared.high < 1 ? 1 : 0;
  }
  EXPECT_LT(missed, trials / 20);
}

TEST(ThrottleGuard, AcceptsClocksNearTheHighest) {
  ThrottleGuard guard;
  EXPECT_TRUE(guard.accepts(1900));
  EXPECT_TRUE(guard.accepts(1805)) << "95 %";
  EXPECT_FALSE(guard.accepts(1804));
  EXPECT_TRUE(guard.accepts(1980)) << "the clock went up";
  EXPECT_FALSE(guard.accepts(1805)) << "and is what is compared with from then on";
}

TEST(ThrottleGuard, AcceptsAClockThatIsNotKnown) {
  ThrottleGuard guard;
  EXPECT_TRUE(guard.accepts(0));
  EXPECT_TRUE(guard.accepts(1900));
  EXPECT_TRUE(guard.accepts(0));
  EXPECT_FALSE(guard.accepts(1000)) << "an unknown one is not what is compared with";
}

/// Batches of one sample at these clocks, the last one again and again; a sample is the number of its batch.
class ClockedDevice {
 public:
  explicit ClockedDevice(std::vector<int> clocks) : clocks_(std::move(clocks)) {}
  int batches() const { return batches_; }
  std::function<Batch()> take() {
    return [this] {
      const int clock = clocks_.at(std::min(static_cast<std::size_t>(batches_), clocks_.size() - 1));
      return Batch{.microseconds = {static_cast<double>(++batches_)}, .clock_megahertz = clock};
    };
  }

 private:
  std::vector<int> clocks_;
  int batches_ = 0;
};

StopRule samples_wanted(int count) {
  StopRule rule = endless();
  rule.most = count;
  return rule;
}

TEST(Sampling, DropsWhatWasTakenAtALowerClock) {
  ClockedDevice device({1900, 1200, 1900, 0, 1700, 1910});
  ThrottleGuard guard;
  const Sampling sampling = take_samples(samples_wanted(4), 1, guard, device.take());
  EXPECT_THAT(sampling.samples, ElementsAre(1, 3, 4, 6));
  EXPECT_EQ(sampling.clock_megahertz, 1910);
  EXPECT_EQ(sampling.dropped, 2);
}

TEST(Sampling, EndsOnADeviceThatStaysSlow) {
  ThrottleGuard guard;
  EXPECT_TRUE(guard.accepts(1900));
  ClockedDevice device({1000});
  const Sampling sampling = take_samples(samples_wanted(4), 1, guard, device.take());
  EXPECT_THAT(sampling.samples, IsEmpty());
  EXPECT_EQ(sampling.dropped, most_dropped);
  EXPECT_EQ(device.batches(), most_dropped);
}

TEST(Sampling, ComparesWithWhatEarlierCandidatesSaw) {
  ThrottleGuard guard;
  ClockedDevice fast({1900});
  EXPECT_THAT(take_samples(samples_wanted(2), 1, guard, fast.take()).samples, SizeIs(2));
  ClockedDevice slow({1000, 1900});
  EXPECT_THAT(take_samples(samples_wanted(1), 1, guard, slow.take()).samples, ElementsAre(2));
}

TEST(Sampling, TakesNothingWhereNothingIsWanted) {
  ThrottleGuard guard;
  ClockedDevice device({1900});
  EXPECT_THAT(take_samples(samples_wanted(0), 1, guard, device.take()).samples, IsEmpty());
  EXPECT_EQ(device.batches(), 0);
}

}  // namespace
}  // namespace esc::tuning
