// SPDX-License-Identifier: Apache-2.0
// What `escgen lower` prints, compared with texts that a person has read. To accept a change, run this program with
// ESC_UPDATE_GOLDEN=1 in the environment, which writes the texts anew, and read the difference in version control.

#include <cstdlib>
#include <fstream>

#include "generator/support/file.h"
#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

/// A text under version control and the command that prints it.
struct Golden {
  std::string file;
  std::vector<std::string> command;
};

void PrintTo(const Golden& golden, std::ostream* stream) { *stream << golden.file; }

class GoldenText : public Workshop, public ::testing::WithParamInterface<Golden> {};

TEST_P(GoldenText, IsWhatIsPrinted) {
  const ProcessResult printed = escgen(GetParam().command);
  ASSERT_EQ(printed.status, 0) << printed.errors;
  const std::string file = ESC_SOURCE_DIR "/tests/golden/" + GetParam().file;
  if (std::getenv("ESC_UPDATE_GOLDEN") != nullptr) {
    write_file_whole(file, printed.output);
    GTEST_SKIP() << file << " is written";
  }
  EXPECT_EQ(printed.output, read_file(file)) << "run with ESC_UPDATE_GOLDEN=1 to accept the change";
}

// The first is the running example of the paper: one pattern of a row tile of four rows, as in its Listings 3 to 7.
INSTANTIATE_TEST_SUITE_P(
    Lower, GoldenText,
    ::testing::Values(
        Golden{"lower_4-2-2-64_pattern_1101.txt",
               {"lower", "--schedule", "4-2-2-64", "--dump-steps", "--pattern", "1101"}},
        Golden{"lower_2-2-1-32.txt", {"lower", "--schedule", "2-2-1-32", "--dump-steps"}},
        Golden{"lower_1-1-1-32_without_compaction.txt",
               {"lower", "--schedule", "atomic: thread=1x1, unroll_k=1, threads=32, compaction=off", "--dump-steps"}},
        Golden{"lower_panel_staged.txt",
               {"lower", "--schedule", "panel:ufi=2,columns=8,vector=2,groups=2,warps=2,panels=4,ufk=4,stage=on",
                "--dump-steps"}},
        Golden{"lower_rows.txt",
               {"lower", "--schedule", "rows:columns=8,vector=2,unroll=2,task=64,light=4,warps=2", "--dump-steps"}},
        Golden{"lower_stream.txt",
               {"lower", "--schedule", "stream:columns=16,panels=2,warps=2,stages=3", "--dump-steps"}},
        Golden{"lower_bitmap.txt",
               {"lower", "--kernel", ESC_SOURCE_DIR "/tests/data/small/spmm_f16.c", "--schedule",
                "bitmap: tile=32x256x16, warps=4, stages=2, stages_a=2, pdl=on", "--dump-steps"}}),
    [](const auto& golden) {
      std::string name = golden.param.file.substr(0, golden.param.file.size() - 4);
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace esc::cli
