// SPDX-License-Identifier: Apache-2.0
// Sizes that a few bytes of input can claim: memory and time stay in proportion, or the run is refused with the limit.

#include <chrono>

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class LargeSizes : public Workshop {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer maps terabytes, which no limit of memory allows";
#endif
  }

  /// A run that may have so many MiB of memory.
  ProcessResult within(int mebibytes, const std::string& command) const {
    return shell("ulimit -v " + std::to_string(1024 * mebibytes) + "; exec $ESCGEN " + command);
  }
};

TEST_F(LargeSizes, RowOfAllColumnsThatCanBe) {
  write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n1 2147483647 1\n1 5 2.5\n");
  EXPECT_EQ(within(2048, "inspect wide.mtx").status, 0);
  const ProcessResult unchecked = within(2048, "generate wide.mtx --bcol 8 -o out --no-verify");
  EXPECT_EQ(unchecked.status, 0) << unchecked.errors;
  const ProcessResult refused = within(2048, "generate wide.mtx --bcol 8 -o other");
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors,
              AllOf(HasSubstr("wide: cannot be checked by emulation"), HasSubstr("2147483648 rows and columns"),
                    HasSubstr("512 MiB"), HasSubstr("--no-verify")));
  EXPECT_TRUE(snapshot("other").empty());
}

TEST_F(LargeSizes, ManyColumnsOfB) {
  write_matrix();
  for (const std::string bcol : {"3000000", "2147483647"}) {
    const auto begin = std::chrono::steady_clock::now();
    const ProcessResult generated = within(4096, "generate a.mtx --force -o out --bcol " + bcol);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
    EXPECT_EQ(generated.status, 0) << generated.errors;
    EXPECT_THAT(generated.output,
                HasSubstr("skipped    n " + bcol + " was not run, which takes too long or too much memory, but n 4"));
    // The first number of columns that a kernel's tiles divide, or do not.
    EXPECT_NEAR(parse_json(read("out/a/manifest.json"))["verification"]["columns"], 4096, 32);
    EXPECT_EQ(parse_json(read("out/a/manifest.json"))["bcol"].dump(), bcol);
  }
}

TEST_F(LargeSizes, ManyRows) {
  write("tall.mtx", "%%MatrixMarket matrix coordinate real general\n2000000 3 2\n1 2 2.5\n2000000 3 1\n");
  const ProcessResult generated = within(12288, "generate tall.mtx --bcol 64 -o out");
  EXPECT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(generated.output,
              HasSubstr("skipped    n 64 was not run, which takes too long or too much memory, but n 58"));
}

}  // namespace
}  // namespace esc::cli
