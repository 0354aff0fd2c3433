// SPDX-License-Identifier: Apache-2.0
// Where every test program begins. Prints the seed of what is drawn and of which suites a part is taken, and in the end
// which cases were skipped and why, one line for each, of which scripts/test.sh makes a list.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/run_size.h"

namespace esc::tests {
namespace {

/// What CTest takes for "skipped".
constexpr int nothing_but_skipped = 77;

std::string in_one_line(std::string text) {
  for (char& character : text) {
    character = character == '\n' ? ' ' : character;
  }
  return text;
}

class SkippedCases : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Skipped()) {
      return;
    }
    std::string reasons;
    for (int part = 0; part < test.result()->total_part_count(); ++part) {
      const testing::TestPartResult& result = test.result()->GetTestPartResult(part);
      reasons += result.skipped() ? in_one_line(result.message()) : "";
    }
    lines_.push_back(fmt::format("skipped: {}.{}: {}\n", test.test_suite_name(), test.name(), reasons));
  }

  void OnTestProgramEnd(const testing::UnitTest& all) override {
    for (const std::string& line : lines_) {
      std::cout << line;
    }
    std::cout << fmt::format("cases: {} passed, {} failed, {} skipped\n", all.successful_test_count(),
                             all.failed_test_count(), all.skipped_test_count());
  }

 private:
  std::vector<std::string> lines_;
};

/// The names of the suite's cases.
std::vector<std::string> cases_of(const std::string& suite) {
  std::vector<std::string> names;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int at = 0; at < all.total_test_suite_count(); ++at) {
    const testing::TestSuite& one = *all.GetTestSuite(at);
    for (int test = 0; one.name() == suite && test < one.total_test_count(); ++test) {
      names.push_back(fmt::format("{}.{}", suite, one.GetTestInfo(test)->name()));
    }
  }
  return names;
}

/// Leaves cases of large suites out where none are asked for by their names.
void take_parts_of_suites() {
  if (full_sweep() || testing::GTEST_FLAG(filter) != "*" || testing::GTEST_FLAG(list_tests)) {
    return;
  }
  std::vector<std::string> left_out;
  for (const SampledSuite& suite : sampled_suites()) {
    const std::vector<std::string> all = cases_of(suite.name);
    if (all.empty()) {
      throw std::logic_error(suite.name + " is no suite of this program");
    }
    const std::vector<std::string> taken = drawn_of(all, suite.ordinary);
    std::cout << fmt::format("Takes {} of {} cases of {}\n", taken.size(), all.size(), suite.name);
    std::ranges::copy_if(all, std::back_inserter(left_out),
                         [&](const std::string& name) { return std::ranges::find(taken, name) == taken.end(); });
  }
  if (!left_out.empty()) {
    testing::GTEST_FLAG(filter) = fmt::format("*-{}", fmt::join(left_out, ":"));
  }
}

int run() {
  const std::uint64_t seed = seed_of_the_run();
  std::cout << fmt::format("Drawn with ESC_SEED={}\n", seed);
  // RapidCheck reads it when the first property begins.
  setenv("RC_PARAMS", fmt::format("seed={}", seed_of_properties()).c_str(), 0);
  take_parts_of_suites();
  testing::UnitTest& all = *testing::UnitTest::GetInstance();
  all.listeners().Append(new SkippedCases);  // GoogleTest's own from here on
  const int status = RUN_ALL_TESTS();
  if (testing::GTEST_FLAG(list_tests)) {
    return status;
  }
  if (all.test_to_run_count() == 0) {
    std::cout << "error: no case has such a name\n";
    return EXIT_FAILURE;
  }
  return status == EXIT_SUCCESS && all.successful_test_count() == 0 ? nothing_but_skipped : status;
}

}  // namespace
}  // namespace esc::tests

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  return esc::tests::run();
}
