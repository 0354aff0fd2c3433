// SPDX-License-Identifier: Apache-2.0
// A machine that lacks what every program takes for granted: the run ends with a reason, never by a signal.

#include <cstdlib>
#include <random>

#include "tests/cli/workshop.h"
#include "tests/support/run_size.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class PoorMachine : public Workshop {
 protected:
  void SetUp() override { write_matrix(); }

  static constexpr const char* generate = "$ESCGEN generate a.mtx --bcol 40 -o out --no-verify";
};

TEST_F(PoorMachine, NoStandardError) {
  EXPECT_EQ(shell("$ESCGEN generate a.mtx --bcol 40 -o out -v 2>&-").status, 0);
  EXPECT_EQ(shell("$ESCGEN generate a.mtx --bcol 40 -o out --check 2>&-").status, 0) << "nothing was said into a file";
  EXPECT_EQ(shell("$ESCGEN inspect none.mtx 2>&-").status, 2);
}

TEST_F(PoorMachine, NoStandardOutput) {
  const ProcessResult closed = shell(std::string(generate) + " >&-");
  EXPECT_EQ(closed.status, 2);
  EXPECT_THAT(closed.errors, StartsWith("escgen: standard output: cannot be written: "));
  EXPECT_EQ(shell(std::string(generate) + " --check <&- 2>&-").status, 0) << "nothing was said into a file";
}

TEST_F(PoorMachine, StandardErrorThatCannotBeWritten) {
  EXPECT_EQ(shell(std::string(generate) + " -v 2>/dev/full").status, 0);
  EXPECT_EQ(shell("$ESCGEN inspect none.mtx 2>/dev/full").status, 2);
  EXPECT_EQ(shell("{ sleep 0.2; " + std::string(generate) +
                  " -v --check; echo $? > status; } 2>&1 >/dev/null | true; sleep 2")
                .status,
            0);
  EXPECT_EQ(read("status"), "0\n") << "that nobody reads what is said is no reason to end";
}

TEST_F(PoorMachine, ResultsThatCannotBeWritten) {
  // More than one buffer, so that writing fails in the middle of printing.
  for (const std::string command : {"inspect a.mtx", "lower --schedule 8-2-1-32 --dump-steps", "--help"}) {
    const ProcessResult full = shell("$ESCGEN " + command + " >/dev/full");
    EXPECT_EQ(full.status, 2) << command;
    EXPECT_THAT(full.errors, StartsWith("escgen: standard output: cannot be written: No space left on device"));
  }
  const ProcessResult pipe = shell("$ESCGEN lower --schedule 8-2-1-32 --dump-steps | true; echo ${PIPESTATUS[0]}");
  EXPECT_THAT(pipe.output, AnyOf("141\n", "0\n"));
  EXPECT_EQ(pipe.errors, "");
}

TEST_F(PoorMachine, WorkingDirectoryThatIsGone) {
  for (const std::string command : {"inspect ../a.mtx", "generate ../a.mtx --bcol 40 -o out", "sample -o b.mtx",
                                    "generate $PWD/../a.mtx --bcol 40 -o $PWD/../out"}) {
    const ProcessResult gone = shell("mkdir gone; cd gone; rmdir ../gone; exec $ESCGEN " + command);
    EXPECT_THAT(gone.status, AnyOf(0, 2, 3)) << command << ": " << gone.errors;
    EXPECT_THAT(gone.errors, AnyOf("", StartsWith("escgen: ")));
  }
}

TEST_F(PoorMachine, NoFolderForTemporaryFiles) {
  make_bundle();
  const ProcessResult refused = shell("TMPDIR=$PWD/none exec $ESCGEN verify out/a --device gpu");
  EXPECT_THAT(refused.status, AnyOf(2, 3));
  EXPECT_THAT(refused.errors, HasSubstr("escgen: "));
  EXPECT_EQ(refused.errors.find("defect"), refused.errors.npos) << refused.errors;
}

TEST_F(PoorMachine, FilesThatCannotBeRead) {
  // Files of which the system says that they have no bytes are read as such, whatever reading them would give.
  const ProcessResult endless = escgen({"generate", "--spec", "/proc/self/mem", "-o", "out"});
  EXPECT_EQ(endless.status, 2);
  EXPECT_THAT(endless.errors, StartsWith("escgen: /proc/self/mem: is not JSON"));
  EXPECT_EQ(escgen({"generate", "--spec", ".", "-o", "out"}).errors,
            "escgen: .: is a directory; name a regular file that holds a text\n");
}

TEST_F(PoorMachine, NoThreads) {
  for (const std::string left : {"0", "1"}) {
    fs::remove_all(path("out"));
    const ProcessResult alone =
        shell("LD_PRELOAD=" ESC_NO_THREADS " THREADS_LEFT=" + left + " exec $ESCGEN generate a.mtx --bcol 40 -o out");
    EXPECT_EQ(alone.status, 3) << alone.errors;
    EXPECT_THAT(alone.errors, HasSubstr("does not let a thread be made"))
        << "what watches the memory of a check is one";
    EXPECT_TRUE(snapshot("out").empty());
  }
}

// Threads that there were in the beginning are there no more when they are needed: whoever starts them, the library of
// tasks included.
TEST_F(PoorMachine, FewerThreadsThanThereWere) {
  for (const std::string left : {"2", "3", "4", "6"}) {
    const ProcessResult limited = shell("LD_PRELOAD=" ESC_NO_THREADS " THREADS_LEFT=" + left +
                                        " THREADS_LOST_AFTER=3 exec timeout 120 $ESCGEN generate " ESC_SOURCE_DIR
                                        "/tests/data/models/layers.safetensors --bcol 4 --jobs 4 -o out");
    fs::remove_all(path("out"));
    EXPECT_THAT(limited.status, AnyOf(0, 3)) << left << ": " << limited.errors;
    EXPECT_EQ(limited.errors.find("defect"), limited.errors.npos) << limited.errors;
  }
}

// A copy of a process with threads may wait for ever for what one of them has locked.
TEST_F(PoorMachine, NoForksBesideThreads) {
  const ProcessResult generated = shell("LD_PRELOAD=" ESC_LONE_FORKS " exec $ESCGEN generate " ESC_SOURCE_DIR
                                        "/tests/data/models/layers.safetensors --bcol 4 --jobs 4 -o out");
  EXPECT_EQ(generated.status, 0) << generated.errors;
}

// Wherever one allocation fails, in whichever thread, the run ends by itself and says why.
TEST_F(PoorMachine, FailedAllocations) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer has an allocator of its own";
#endif
  // What watches the time has allocations of its own, which are left to it.
  const auto generate_with = [&](const std::string& variables) {
    return shell("timeout 120 env " + variables +
                 " LD_PRELOAD=" ESC_FAILING_ALLOCATION " $ESCGEN generate " ESC_SOURCE_DIR
                 "/tests/data/models/layers.safetensors --bcol 4 --jobs 4 -o out --force");
  };
  ASSERT_EQ(generate_with("ALLOCATIONS_FILE=$PWD/count").status, 0);
  const double all = std::stod(read("count"));
  ASSERT_GT(all, 1000);
  const std::string given = std::getenv("ESC_TEST_SEED") == nullptr ? "" : std::getenv("ESC_TEST_SEED");
  const unsigned seed = given.empty() ? 1 : static_cast<unsigned>(std::stoul(given));
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> share(0, 1);
  int ended = 0;
  const int rounds = tests::full_sweep() ? 160 : 10;
  for (int round = 0; round < rounds; ++round) {
    fs::remove_all(path("out"));  // of which layers would be kept
    const long number = static_cast<long>(all * share(random));
    const long failing = round % 2 == 0 ? 1 : 1000;  // for a moment that all threads may see
    const ProcessResult run = generate_with("FAILING_ALLOCATION=" + std::to_string(number) +
                                            " FAILING_ALLOCATIONS=" + std::to_string(failing));
    EXPECT_THAT(run.status, AnyOf(0, 1, 2, 3))
        << "seed " << seed << ", allocation " << number << " and " << failing - 1 << " more: " << run.errors;
    EXPECT_EQ(run.errors.find("defect"), run.errors.npos) << run.errors;
    ended += run.status == 3 ? 1 : 0;
  }
  EXPECT_GT(ended, 0) << "seed " << seed << ": nothing failed";
}

TEST_F(PoorMachine, NoMoreFilesCanBeOpened) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "the sanitizer opens a pipe to look at an object, and takes an object that it cannot look at for a fault";
#endif
  // What whoever runs the tests has left open would count; and a program that cannot even be loaded is not ours yet.
  const std::string close_inherited = "for file in {3..63}; do eval \"exec $file>&-\"; done; ";
  constexpr int cannot_be_executed = 126;
  constexpr int cannot_be_loaded = 127;
  for (const int files : {3, 4, 5, 6, 8}) {
    const ProcessResult limited = shell(close_inherited + "ulimit -n " + std::to_string(files) +
                                        "; exec $ESCGEN generate a.mtx --bcol 40 -o out --force");
    EXPECT_THAT(limited.status, AnyOf(0, 2, 3, cannot_be_executed, cannot_be_loaded))
        << files << ": " << limited.errors;
    EXPECT_EQ(limited.errors.find("defect"), limited.errors.npos) << limited.errors;
  }
}

TEST_F(PoorMachine, CompilerThatCannotOpenMoreFiles) {
  write("nvcc", "#!/bin/sh\necho 'cc1plus: fatal error: a.cu: Too many open files'\nexit 1\n");
  const ProcessResult limited =
      shell("chmod +x nvcc; PATH=$PWD:$PATH exec $ESCGEN generate a.mtx --bcol 40 -o out --resources");
  EXPECT_EQ(limited.status, 3) << limited.errors;
  EXPECT_THAT(limited.errors, StartsWith("escgen: nvcc: ends for want of what this machine should give:"));
}

// Wherever memory runs out, in a reader, in the compiler or on the emulated grid.
TEST_F(PoorMachine, NoMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer maps terabytes, which no limit of memory allows";
#endif
  ASSERT_EQ(escgen({"sample", "-o", "big.mtx", "--rows", "300", "--cols", "350", "-q"}).status, 0);
  int whole = 0;
  int ended = 0;
  const int step = tests::full_sweep() ? 20 : 160;
  for (int megabytes = 320; megabytes <= 2000; megabytes += step) {
    const ProcessResult limited = shell("ulimit -v " + std::to_string(1024 * megabytes) +
                                        "; exec $ESCGEN generate big.mtx --bcol 64 -o out --force");
    EXPECT_THAT(limited.status, AnyOf(0, 2, 3, 127)) << megabytes << " MiB: " << limited.errors;
    whole += limited.status == 0 ? 1 : 0;
    if (limited.status == 2 || limited.status == 3) {
      ++ended;
      EXPECT_THAT(limited.errors, ContainsRegex("^escgen: [^\n]*\n$")) << megabytes << " MiB";
    }
  }
  EXPECT_GT(whole, 0) << "there is never enough";
  EXPECT_GT(ended, 0) << "there is always enough";
}

}  // namespace
}  // namespace esc::cli
