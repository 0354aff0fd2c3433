// SPDX-License-Identifier: Apache-2.0
#include "generator/support/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "generator/support/error.h"
#include "generator/support/output_file.h"
#include "generator/support/temporary_folder.h"

namespace {

std::atomic<int> changes_of_the_mask = 0;

}  // namespace

/// Is before the system's. The mask for the rights of new files is one for all threads: a change for a moment
/// is felt by those that make a file just then, too seldom for a test to wait for it.
extern "C" mode_t umask(mode_t mask) noexcept {
  ++changes_of_the_mask;
  return static_cast<mode_t>(::syscall(SYS_umask, mask));
}

namespace esc {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

class FileTest : public testing::Test {
 protected:
  fs::path path(const std::string& name = {}) const { return folder_.path() / name; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

 private:
  TemporaryFolder folder_;
};

/// What a stream gives until its end.
std::string rest_of(std::istream&& stream) { return {std::istreambuf_iterator<char>(stream), {}}; }

using ReadFile = FileTest;

TEST_F(ReadFile, GivesTheWholeContent) {
  const std::string content("one\0two\r\n", 9);
  write_file_whole(path("a"), content);
  fs::create_symlink("a", path("link"));
  EXPECT_EQ(read_file(path("a")), content);
  EXPECT_EQ(read_file(path("link")), content);
}

TEST_F(ReadFile, RefusesWhatIsTooLong) {
  write_file_whole(path("a"), std::string_view("12345"));
  EXPECT_EQ(read_file(path("a"), 5), "12345");
  EXPECT_THAT([&] { read_file(path("a"), 4); },
              ThrowsMessage<UserError>(HasSubstr("a: has 5 bytes, more than the 4 that such a file may have")));
  fs::resize_file(path("a"), std::uintmax_t{1} << 40);
  EXPECT_THAT([&] { read_file(path("a")); }, ThrowsMessage<UserError>(HasSubstr("has 1099511627776 bytes")));
}

TEST_F(ReadFile, RefusesWhatMayHaveNoEnd) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  fs::create_symlink("/dev/null", path("link"));
  for (const fs::path& file : {path("fifo"), fs::path("/dev/null"), path("link"), fs::path("/dev/zero")}) {
    ASSERT_THAT([&] { read_file(file); },
                ThrowsMessage<UserError>(HasSubstr(file.string() + ": is not a regular file")));
  }
  EXPECT_THAT([&] { read_file(path()); }, ThrowsMessage<UserError>(HasSubstr("is a directory")));
  EXPECT_THAT([&] { read_file(path("absent")); }, ThrowsMessage<UserError>(HasSubstr("No such file or directory")));
}

using OutputFileTest = FileTest;

TEST_F(OutputFileTest, ReplacesAFileAtOnceAndLeavesNothingElse) {
  write_file_whole(path("a"), "old");
  {
    OutputFile file(path("a"));
    file.write(std::string(std::size_t{3} << 20U, 'x'));
    EXPECT_EQ(read_file(path("a")), "old");
    file.commit();
  }
  EXPECT_EQ(read_file(path("a")).size(), std::size_t{3} << 20U);
  OutputFile(path("a")).write("never committed");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(OutputFileTest, IsNotInheritedByWhatIsStartedMeanwhile) {
  const OutputFile file(path("a"));
  ASSERT_THAT(names(), testing::SizeIs(1));
  const fs::path temporary = path(names().front());
  int inherited = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (fs::read_symlink(entry.path(), ignored) == temporary) {
      const int descriptor = std::stoi(entry.path().filename());
      inherited += (::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) == 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(inherited, 0);
}

TEST_F(OutputFileTest, HasTheRightsOfAnyNewFileInEveryThread) {
  const mode_t before = ::umask(027);
  changes_of_the_mask = 0;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 8; ++number) {
      threads.emplace_back([this, number] {
        for (int time = 0; time < 25; ++time) {
          write_file_whole(path(std::to_string(number) + "-" + std::to_string(time)), "text");
        }
      });
    }
  }
  EXPECT_EQ(changes_of_the_mask, 0);
  EXPECT_EQ(::umask(before), 027U);
  EXPECT_THAT(names(), testing::SizeIs(8 * 25));
  for (const auto& entry : fs::directory_iterator(path())) {
    EXPECT_EQ(entry.status().permissions(), fs::perms{0640}) << entry.path();
  }
}

TEST_F(OutputFileTest, WritesWhatALinkNames) {
  fs::create_directory(path("folder"));
  write_file_whole(path("folder/old"), "old");
  fs::create_symlink("old", path("folder/second"));
  fs::create_symlink("folder/second", path("first"));
  fs::create_symlink(path("folder/new"), path("dangling"));
  for (const auto& [link, file] : {std::pair("first", "folder/old"), std::pair("dangling", "folder/new")}) {
    write_file_whole(path(link), "new");
    EXPECT_TRUE(fs::is_symlink(path(link)));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path(file))));
    EXPECT_EQ(read_file(path(file)), "new");
  }
  EXPECT_TRUE(fs::is_symlink(path("folder/second")));
  EXPECT_THAT(names(), UnorderedElementsAre("folder", "first", "dangling"));
}

TEST_F(OutputFileTest, RefusesLinksThatLeadNowhere) {
  fs::create_symlink("circle", path("circle"));
  fs::create_symlink("absent/file", path("lost"));
  fs::create_directory(path("folder"));
  fs::create_symlink("folder", path("way"));
  EXPECT_THAT([&] { OutputFile file(path("circle")); },
              ThrowsMessage<UserError>(HasSubstr("cannot be written: Too many")));
  EXPECT_THAT([&] { OutputFile file(path("lost")); }, ThrowsMessage<UserError>(HasSubstr("No such file or directory")));
  EXPECT_THAT([&] { OutputFile file(path("way")); }, ThrowsMessage<UserError>(HasSubstr("is a directory")));
  EXPECT_THAT(names(), UnorderedElementsAre("circle", "lost", "folder", "way"));
}

TEST_F(OutputFileTest, WritesIntoAPipe) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  fs::create_symlink("fifo", path("link"));
  for (const char* name : {"fifo", "link"}) {
    std::string received;
    // Both ends are held, so that neither waits for the other should the pipe be replaced.
    const int held = ::open(path("fifo").c_str(), O_RDWR | O_CLOEXEC);
    std::jthread reader([&, stream = std::ifstream(path("fifo"), std::ios::binary)]() mutable {
      received = rest_of(std::move(stream));
    });
    OutputFile file(path(name));
    file.write(std::string(std::size_t{3} << 20U, 'x'));
    file.write("end");
    file.commit();
    ::close(held);
    reader.join();
    EXPECT_EQ(received, std::string(std::size_t{3} << 20U, 'x') + "end");
    EXPECT_TRUE(fs::is_fifo(path("fifo")));
  }
  EXPECT_THAT(names(), UnorderedElementsAre("fifo", "link"));
}

TEST_F(OutputFileTest, WritesIntoADevice) {
  fs::create_symlink("/dev/null", path("nothing"));
  fs::create_symlink("/dev/full", path("full"));
  write_file_whole(path("nothing"), "text");
  EXPECT_THAT([&] { write_file_whole(path("full"), "text"); },
              ThrowsMessage<UserError>(HasSubstr("cannot be written: No space left on device")));
  EXPECT_TRUE(fs::is_character_file(path("nothing")));
  EXPECT_TRUE(fs::is_symlink(path("nothing"))) << "and /dev/null is what it was";
  EXPECT_THAT(names(), UnorderedElementsAre("nothing", "full"));
}

/// What a killed run has left goes with the next one; what another run writes, or is another's, stays.
TEST_F(OutputFileTest, TakesAwayWhatAKilledRunHasLeft) {
  for (const char* name : {".a.escgen-1", ".a.escgen-2", ".a.escgen-9", ".b.escgen-1"}) {
    std::ofstream(path(name)) << "half";
  }
  fs::create_symlink("precious", path(".a.escgen-3"));
  write_file_whole(path("precious"), "kept");
  const int written = ::open(path(".a.escgen-1").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(written, LOCK_EX), 0);
  write_file_whole(path("a"), "new");
  EXPECT_THAT(names(), UnorderedElementsAre("a", "precious", ".a.escgen-1", ".a.escgen-3", ".b.escgen-1"));
  ::close(written);
  write_file_whole(path("a"), "newer");
  EXPECT_EQ(read_file(path("a")), "newer");
  EXPECT_EQ(read_file(path("precious")), "kept");
  EXPECT_THAT(names(), UnorderedElementsAre("a", "precious", ".a.escgen-3", ".b.escgen-1"));
}

TEST_F(OutputFileTest, KillsNoFileOfARunThatWritesTheSame) {
  std::vector<std::jthread> threads;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([this] {
      for (int time = 0; time < 50; ++time) {
        write_file_whole(path("a"), "text");
      }
    });
  }
  threads.clear();
  EXPECT_EQ(read_file(path("a")), "text");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(ReadFile, RefusesNamesWithANul) {
  write_file_whole(path("a"), "text");
  const std::string name = path("a").string() + std::string("\0b", 2);
  EXPECT_THAT([&] { read_file(name); }, ThrowsMessage<UserError>(HasSubstr("has a NUL in its name")));
  EXPECT_THAT([&] { write_file_whole(name, "other"); }, ThrowsMessage<UserError>(HasSubstr("has a NUL in its name")));
  EXPECT_EQ(read_file(path("a")), "text");
}

TEST_F(ReadFile, FollowsNoLinksInABundle) {
  write_file_whole(path("a"), "text");
  fs::create_symlink("a", path("link"));
  fs::create_symlink("/proc/kmsg", path("endless"));
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_bundle_file(path("a")), "text");
  for (const char* name : {"link", "endless", "fifo"}) {
    EXPECT_THAT([&] { read_bundle_file(path(name)); },
                ThrowsMessage<UserError>(HasSubstr("is not a regular file; generate the bundle again")))
        << name;
  }
}

/// Who waits for the other end of a pipe is ended by a signal as usual: nothing would be left half-written.
TEST_F(OutputFileTest, HoldsBackSignalsOnlyWhereAFileIsAtStake) {
  const auto is_held_back = [] {
    struct sigaction action = {};
    ::sigaction(SIGTERM, nullptr, &action);
    return action.sa_handler != SIG_DFL;
  };
  {
    const OutputFile file(path("a"));
    EXPECT_TRUE(is_held_back());
  }
  const OutputFile device("/dev/null");
  EXPECT_FALSE(is_held_back());
}

}  // namespace
}  // namespace esc
