// SPDX-License-Identifier: Apache-2.0
// What long commands say while somebody watches them on a terminal.

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Standard error of a command whose standard error is a terminal.
class WatchedCommands : public Workshop {
 protected:
  std::string seen_of(const std::string& command) const {
    const ProcessResult watched = shell("script --quiet --return --command '" + command + " > result' typescript");
    EXPECT_EQ(watched.status, 0) << watched.output << watched.errors;
    return watched.output;
  }
};

TEST_F(WatchedCommands, LongCommandsSayOnATerminalHowFarTheyAre) {
  if (shell("command -v script").status != 0) {
    GTEST_SKIP() << "script, which has a terminal, is not on this machine";
  }
  ASSERT_EQ(escgen({"sample", "-o", "big.mtx", "--rows", "800", "--cols", "2400", "--sparsity", "0.6"}).status, 0);
  const std::string seen = seen_of("$ESCGEN generate big.mtx --bcol 64 -o out");
  EXPECT_THAT(seen, AllOf(HasSubstr("\r\033[K"), HasSubstr("running the "), HasSubstr("on the emulated ")));
  EXPECT_THAT(seen, ::testing::EndsWith("\r\033[K")) << "the line is taken away";
  EXPECT_THAT(read("result"), Not(HasSubstr("\r")));
  EXPECT_THAT(escgen({"generate", "big.mtx", "--bcol", "64", "-o", "piped"}).errors, IsEmpty()) << "nobody watches";
}

TEST_F(WatchedCommands, ShortCommandsSayNothing) {
  if (shell("command -v script").status != 0) {
    GTEST_SKIP() << "script, which has a terminal, is not on this machine";
  }
  write_matrix();
  EXPECT_THAT(seen_of("$ESCGEN generate a.mtx --bcol 8 -o out --no-verify"), IsEmpty());
}

}  // namespace
}  // namespace esc::cli
