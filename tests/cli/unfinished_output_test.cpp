// SPDX-License-Identifier: Apache-2.0
// Output that cannot be finished: folders that cannot be written, full disks, interruptions. The bundle is whole or
// absent.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

#include "tests/cli/workshop.h"

extern char** environ;

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class UnfinishedOutput : public Workshop {
 protected:
  void SetUp() override { write_matrix(); }
};

TEST_F(UnfinishedOutput, FolderThatCannotBeWritten) {
  const auto generate_to = [](const std::string& output) {
    return std::vector<std::string>{"generate", "a.mtx", "--bcol", "40", "--no-verify", "-o", output};
  };
  for (const std::string output : {"a.mtx", "a.mtx/out", "/proc", "/proc/out", ""}) {
    expect_refusal(generate_to(output), "cannot be written: ");
  }
  expect_refusal({"sample", "-o", "/proc/b.mtx"}, "/proc/b.mtx: cannot be written: ");
  expect_refusal({"sample", "-o", "a.mtx/b.mtx"}, "a.mtx/b.mtx: cannot be written: ");
  expect_refusal({"sample", "-o", "absent/b.csv"}, "the ending .csv is not a matrix format that can be written");
  expect_refusal({"inspect", "a.mtx", "--svg", "absent/a.svg"}, "absent/a.svg: cannot be written: ");
  EXPECT_EQ(escgen({"sample", "-o", "made/for/b.mtx"}).status, 0);
  EXPECT_TRUE(fs::is_regular_file(path("made/for/b.mtx")));
  fs::create_directory(path("b.mtx"));
  expect_refusal({"sample", "-o", "b.mtx"}, "b.mtx: is a directory");
}

TEST_F(UnfinishedOutput, FolderWithoutPermission) {
  fs::create_directory(path("out"));
  fs::permissions(path("out"), fs::perms::owner_read | fs::perms::owner_exec);
  if (shell("touch out/probe").status == 0) {
    GTEST_SKIP() << "this user may write everywhere";
  }
  expect_refusal({"generate", "a.mtx", "--bcol", "40", "--no-verify", "-o", "out"},
                 "cannot be written: Permission denied");
}

// A limit on the size of files ends other programs by the signal SIGXFSZ.
TEST_F(UnfinishedOutput, LimitOnTheSizeOfFiles) {
  fs::create_directory(path("there"));
  const Snapshot before = snapshot(".");
  for (const std::string output : {"there", "new/folders"}) {
    for (const int blocks : {0, 2, 8, 24}) {
      SCOPED_TRACE(std::to_string(blocks) + " KiB");
      const ProcessResult limited = shell("ulimit -f " + std::to_string(blocks) +
                                          "; exec $ESCGEN generate a.mtx --bcol 40 --no-verify -o " + output);
      EXPECT_EQ(limited.status, 2);
      EXPECT_THAT(limited.errors, ContainsRegex("^escgen: .*: cannot be written: File too large; [^\n]*\n$"));
      EXPECT_TRUE(snapshot(".") == before);
    }
  }
  const ProcessResult sample = shell("ulimit -f 1; exec $ESCGEN sample -o b.mtx");
  EXPECT_EQ(sample.status, 2);
  EXPECT_THAT(sample.errors, StartsWith("escgen: b.mtx: cannot be written: File too large"));
  const ProcessResult picture = shell("ulimit -f 0; exec $ESCGEN inspect a.mtx --svg a.svg");
  EXPECT_EQ(picture.status, 2);
  EXPECT_TRUE(snapshot(".") == before);
}

TEST_F(UnfinishedOutput, LimitKeepsTheOldBundle) {
  make_bundle();
  const Snapshot before = snapshot("out");
  const ProcessResult limited = shell("ulimit -f 8; exec $ESCGEN generate a.mtx --bcol 41 --no-verify --force -o out");
  EXPECT_EQ(limited.status, 2);
  EXPECT_TRUE(snapshot("out") == before);
}

TEST_F(UnfinishedOutput, FullDisk) {
  fs::create_directory(path("disk"));
  // A small disk of this process's own; nobody else sees it.
  const ProcessResult full = shell(R"(
    unshare -m bash -c '
      mount -t tmpfs -o size=32k tmpfs disk || exit 99
      "$ESCGEN" generate a.mtx --bcol 40 --no-verify -o disk/out; status=$?
      find disk -mindepth 1
      exit $status' || { status=$?; [ $status = 1 ] && status=99; exit $status; })");
  if (full.status == 99 || full.status == 127) {
    GTEST_SKIP() << "no disk can be mounted here: " << full.errors;
  }
  EXPECT_EQ(full.status, 2);
  EXPECT_THAT(full.errors, ContainsRegex("^escgen: .*: cannot be written: No space left on device; [^\n]*\n$"));
  EXPECT_EQ(full.output, "") << "something is left on the disk";
}

/// A run of escgen that is sent a signal when a condition holds.
class InterruptedOutput : public Workshop {
 protected:
  /// Exit status, or 128 + signal.
  template <typename Condition>
  int run_and_signal(std::vector<std::string> arguments, int signal, const Condition& condition) const {
    arguments.insert(arguments.begin(), ESCGEN);
    std::vector<char*> pointers;
    for (std::string& argument : arguments) {
      pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder().c_str());
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, ESCGEN, &actions, nullptr, pointers.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    bool sent = false;
    while (waitpid(child, &status, WNOHANG) == 0) {
      if (!sent && condition()) {
        kill(child, signal);
        sent = true;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));  // leaves the processor to the run
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  /// Whether a file or folder whose name begins so is there.
  bool exists_like(const std::string& where, const std::string& begin) const {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(path(where), ignored)) {
      if (entry.path().filename().string().starts_with(begin)) {
        return true;
      }
    }
    return false;
  }

  /// The bundle is whole, or the output folder has nothing in it.
  void expect_whole_or_absent(const std::vector<std::string>& line) const {
    const Snapshot left = snapshot("out");
    if (left.empty()) {
      return;
    }
    EXPECT_EQ(left.size(), 7u);
    std::vector<std::string> check = line;
    check.push_back("--check");
    EXPECT_EQ(escgen(check).status, 0);
  }
};

// The moments are those between the first sign of the new bundle and its last: the verification before it has started
// the threads that could take the signal too.
TEST_F(InterruptedOutput, WhileTheBundleIsWritten) {
  ASSERT_EQ(escgen({"sample", "-o", "a.mtx", "--rows", "300", "--cols", "200", "-q"}).status, 0);
  const std::vector<std::string> line{"generate", "a.mtx", "--bcol", "8", "-o", "out"};
  int whole = 0;
  int ended = 0;
  for (int round = 0; round < 8; ++round) {
    SCOPED_TRACE(round);
    fs::remove_all(path("out"));
    fs::create_directory(path("out"));
    const int signal = round % 2 == 0 ? SIGINT : SIGTERM;
    const int status = run_and_signal(line, signal, [&] {
      const bool begun = exists_like("out", ".a.");
      if (begun) {
        std::this_thread::sleep_for(std::chrono::microseconds(1000 * (round / 4)));
      }
      return begun;
    });
    EXPECT_TRUE(status == 128 + signal || status == 0) << status;
    EXPECT_FALSE(exists_like("out", ".")) << "a half-written bundle is left";
    expect_whole_or_absent(line);
    whole += snapshot("out").empty() ? 0 : 1;
    ended += status == 0 ? 0 : 1;
  }
  EXPECT_GT(whole, 0);
  EXPECT_GT(ended, 0) << "the signal is lost";
}

// Nothing can be cleaned up by a run that is killed: the next one of the same bundle does it.
TEST_F(InterruptedOutput, KilledRunIsCleanedUpByTheNext) {
  ASSERT_EQ(escgen({"sample", "-o", "a.mtx", "--rows", "300", "--cols", "200", "-q"}).status, 0);
  const std::vector<std::string> line{"generate", "a.mtx", "--bcol", "8", "-o", "out", "--no-verify"};
  int left = 0;
  for (int round = 0; round < 12 && left == 0; ++round) {
    fs::remove_all(path("out"));
    fs::create_directory(path("out"));
    run_and_signal(line, SIGKILL, [&] { return exists_like("out", ".a."); });
    left += exists_like("out", ".a.") ? 1 : 0;
  }
  ASSERT_GT(left, 0) << "no run could be killed while it wrote";
  EXPECT_EQ(escgen({"generate", "a.mtx", "--bcol", "9", "-o", "out", "--no-verify", "--force"}).status, 0);
  EXPECT_EQ(snapshot("out").size(), 7U) << "nothing is left beside the bundle";
}

TEST_F(InterruptedOutput, AtAnyTime) {
  ASSERT_EQ(escgen({"sample", "-o", "a.mtx", "--rows", "300", "--cols", "200", "-q"}).status, 0);
  const std::vector<std::string> line{"generate", "a.mtx", "--bcol", "8", "-o", "out"};
  for (int round = 0; round < 6; ++round) {
    SCOPED_TRACE(round);
    fs::remove_all(path("out"));
    const auto moment = std::chrono::steady_clock::now() + std::chrono::milliseconds(20 + 90 * round);
    const int status = run_and_signal(line, SIGTERM, [&] { return std::chrono::steady_clock::now() >= moment; });
    EXPECT_TRUE(status == 128 + SIGTERM || status == 0) << status;
    expect_whole_or_absent(line);
  }
}

TEST_F(InterruptedOutput, ReplacementIsTheOldOrTheNewBundle) {
  ASSERT_EQ(escgen({"sample", "-o", "a.mtx", "--rows", "300", "--cols", "200", "-q"}).status, 0);
  const auto line = [](const std::string& bcol) {
    return std::vector<std::string>{"generate", "a.mtx", "--bcol", bcol, "-o", "out"};
  };
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    fs::remove_all(path("out"));
    std::vector<std::string> first = line("8");
    first.push_back("--no-verify");
    ASSERT_EQ(escgen(first).status, 0);
    std::vector<std::string> replacing = line("9");
    replacing.push_back("--force");
    const int status = run_and_signal(replacing, SIGHUP, [&] {
      const bool begun = exists_like("out", ".a.");
      if (begun) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2 * round));
      }
      return begun;
    });
    EXPECT_TRUE(status == 128 + SIGHUP || status == 0) << status;
    EXPECT_EQ(snapshot("out").size(), 7u);
    std::vector<std::string> old_bundle = line("8");
    old_bundle.push_back("--check");
    std::vector<std::string> new_bundle = line("9");
    new_bundle.push_back("--check");
    EXPECT_EQ(escgen(old_bundle).status + escgen(new_bundle).status, 1);
  }
}

TEST_F(InterruptedOutput, SampledMatrixIsWholeOrAbsent) {
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    fs::remove(path("b.mtx"));
    const int status = run_and_signal({"sample", "-o", "b.mtx", "--rows", "1000", "--cols", "1000"}, SIGINT, [&] {
      const bool begun = exists_like(".", ".b.mtx.");
      if (begun) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5 * round));
      }
      return begun;
    });
    EXPECT_TRUE(status == 128 + SIGINT || status == 0) << status;
    EXPECT_FALSE(exists_like(".", ".b.mtx.")) << "a half-written file is left";
    if (fs::exists(path("b.mtx"))) {
      EXPECT_EQ(escgen({"inspect", "b.mtx"}).status, 0);
    }
  }
}

}  // namespace
}  // namespace esc::cli
