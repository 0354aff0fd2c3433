// SPDX-License-Identifier: Apache-2.0
// Where every test program begins. Prints the seed of what is drawn, and in the end which cases were skipped and why,
// one line for each, of which scripts/test.sh makes a list.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
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

int run() {
  const std::uint64_t seed = seed_of_the_run();
  std::cout << fmt::format("Drawn with ESC_SEED={}\n", seed);
  // RapidCheck reads it when the first property begins.
  setenv("RC_PARAMS", fmt::format("seed={}", seed_of_properties()).c_str(), 0);
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
