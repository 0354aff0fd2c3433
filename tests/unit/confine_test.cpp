// SPDX-License-Identifier: Apache-2.0
// A confined process: what it may not do is not done, and ends it with one sentence; what it answers is not believed
// without a look at its form.

#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "generator/confine/confined_process.h"
#include "generator/confine/process_helper.h"
#include "generator/confine/shared_memory.h"
#include "generator/support/error.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr Allowance small{.time = std::chrono::milliseconds(20'000), .memory = std::uint64_t{256} << 20};

/// What the process did until it was ended; "answers" where it was not.
std::string end_of(const ConfinedWork& work, const Allowance& allowance = small) {
  try {
    ConfinedProcess process(allowance, work);
    process.answer();
    return "answers";
  } catch (const ConfinedEnd& end) {
    return end.what();
  }
}

struct Deed {
  const char* name;
  std::function<void(const Channel&)> work;
  const char* verdict;
};

void PrintTo(const Deed& deed, std::ostream* out) { *out << deed.name; }

/// What the compiler must not see through.
volatile int one = 1;
volatile std::uintptr_t low_address = 16;

int endless_recursion(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return one == 0 ? 0 : endless_recursion(depth + 1) + frame[0];
}

class ForbiddenDeed : public testing::TestWithParam<Deed> {};

TEST_P(ForbiddenDeed, EndsTheProcess) {
  const Deed& deed = GetParam();
  // Whoever does it without being ended says so, as a text would that forges its verdict.
  const std::string end = end_of([work = deed.work](const Channel& channel) {
    work(channel);
    channel.send({0});
  });
  EXPECT_THAT(end, HasSubstr(deed.verdict));
}

INSTANTIATE_TEST_SUITE_P(
    Confined, ForbiddenDeed,
    testing::Values(
        Deed{"OpensAFile", [](const Channel&) { open("/etc/hostname", O_RDONLY); }, "asks the system for openat"},
        Deed{"OpensAFolder", [](const Channel&) { opendir("/"); }, "asks the system for openat"},
        Deed{"WritesAFile", [](const Channel&) { open("/tmp/esc", O_RDWR | O_CREAT, 0600); },
             "asks the system for openat"},
        Deed{"RemovesAFile", [](const Channel&) { unlink("/tmp/esc"); }, "asks the system for unlink"},
        Deed{"ConnectsToTheNetwork", [](const Channel&) { socket(AF_INET, SOCK_STREAM, 0); },
             "asks the system for socket"},
        Deed{"Forks", [](const Channel&) { [[maybe_unused]] const pid_t child = fork(); }, "asks the system for clone"},
        Deed{"StartsAThread", [](const Channel&) { std::thread([] {}).join(); }, "asks the system for something"},
        Deed{"RunsAProgram", [](const Channel&) { execl("/bin/true", "true", nullptr); }, "asks the system for execve"},
        Deed{"RunsAShell", [](const Channel&) { [[maybe_unused]] const int status = system("true"); },
             "asks the system for"},
        Deed{"SignalsItsParent", [](const Channel&) { kill(one, SIGTERM); }, "asks the system for kill"},
        Deed{"Traces", [](const Channel&) { ptrace(PTRACE_TRACEME); }, "asks the system for ptrace"},
        Deed{"AllowsItselfMore",
             [](const Channel&) {
               const rlimit more{RLIM_INFINITY, RLIM_INFINITY};
               setrlimit(RLIMIT_AS, &more);
             },
             "asks the system for prlimit64"},
        Deed{"CallsTheSystemByNumber", [](const Channel&) { syscall(SYS_mknod, "/tmp/esc", 0, 0); },
             "asks the system for mknod"},
        Deed{"SharesADescriptor", [](const Channel& channel) { dup(channel.descriptor()); }, "asks the system for dup"},
        Deed{"Exits", [](const Channel&) { _exit(0); }, "ends the process that checks it (exit status 0)"},
        Deed{"Aborts", [](const Channel&) { std::abort(); }, "ends the process that checks it (abort)"},
        Deed{"WritesAnywhere", [](const Channel&) { *reinterpret_cast<volatile int*>(low_address) = 1; },
             "touches memory that is not there"},
        Deed{"UsesUpTheStack", [](const Channel&) { endless_recursion(0); }, "needs more stack than there is"},
        Deed{"AnswersNonsense",
             [](const Channel& channel) {
               [[maybe_unused]] const ssize_t count = write(channel.descriptor(), "passed\npassed\npassed\n", 21);
             },
             "answers in a form that no check has"},
        Deed{"AnswersPartOfAMessage",
             [](const Channel& channel) {
               const std::uint64_t length = 100;
               [[maybe_unused]] const ssize_t count = write(channel.descriptor(), &length, sizeof length);
               _exit(0);
             },
             "ends the process that checks it"},
        Deed{"ThrowsSomething", [](const Channel&) { throw std::runtime_error("so it is"); },
             "cannot be checked: so it is"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Confined, NothingOfAllThatHasHappened) { EXPECT_FALSE(std::filesystem::exists("/tmp/esc")); }

TEST(Confined, ReadsNoDescriptorButItsLine) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's runtime reads from pipes of its own";
#endif
  EXPECT_THAT(end_of([](const Channel& channel) {
                char byte = 0;
                channel.send({static_cast<std::uint32_t>(read(channel.descriptor() + 1, &byte, 1))});
              }),
              HasSubstr("asks the system for read"));
}

TEST(Confined, LoopsForAsLongAsItMay) {
  EXPECT_EQ(end_of(
                [](const Channel&) {
                  while (one == 1) {
                  }
                },
                {.time = std::chrono::milliseconds(300)}),
            "runs longer than 0.3 s");
}

TEST(Confined, HasAsMuchMemoryAsItMay) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's allocator ends the process in its own words";
#endif
  EXPECT_EQ(end_of([](const Channel&) {
              std::vector<std::vector<char>> kept;
              while (one == 1) {
                kept.emplace_back(std::size_t{1} << 20);
              }
            }),
            "needs more than 256 MiB of memory");
}

/// What a thread has locked that another one is in the middle of is no matter: the process is no copy of it.
TEST(Confined, IsMadeBesideThreadsThatHoldLocks) {
  static std::mutex mutex;
  std::mutex* const shared = &mutex;
  start_process_helper();
  const std::lock_guard held(mutex);
  std::vector<std::jthread> threads;
  std::vector<std::string> ends(8);
  for (std::string& end : ends) {
    threads.emplace_back([&end, shared] {
      end = end_of([shared](const Channel& channel) {
        const std::lock_guard lock(*shared);
        channel.send({7});
      });
    });
  }
  threads.clear();
  EXPECT_THAT(ends, testing::Each("answers"));
}

TEST(Confined, HasWhatItsWorkCapturesAsACopy) {
  const std::string text(100'000, 'x');
  std::map<int, std::vector<std::string>> many;
  many[3] = {"one", std::string(1000, 'y')};
  ConfinedProcess process(
      small,
      [text, many](const Channel& channel) mutable {
        many[4] = many.at(3);
        channel.send({static_cast<std::uint32_t>(text.size() + many.at(4).at(1).size())});
      },
      2 * text.size());
  EXPECT_EQ(process.answer().kind, 101'000U);
}

TEST(Confined, MapsMoreThanItMayTouch) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer has its own view of memory";
#endif
  constexpr std::size_t much = std::size_t{64} << 30;
  constexpr std::size_t page = 4096;
  Allowance wide = small;
  wide.address_space = much;
  const auto touch = [](std::size_t every, const Channel& channel) {
    void* const memory =
        mmap(nullptr, much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      channel.send({2});
      return;
    }
    madvise(memory, much, MADV_NOHUGEPAGE);
    for (std::size_t at = 0; at < much; at += every) {
      static_cast<volatile char*>(memory)[at] = 1;
    }
    channel.send({1});
  };
  ConfinedProcess sparing(wide, [=](const Channel& channel) { touch(much / 64, channel); });
  EXPECT_EQ(sparing.answer().kind, 1U);
  ConfinedProcess unwilling(small, [=](const Channel& channel) { touch(much / 64, channel); });
  EXPECT_EQ(unwilling.answer().kind, 2U) << "without the addresses it maps nothing";
  EXPECT_EQ(end_of([=](const Channel& channel) { touch(page, channel); }, wide), "needs more than 256 MiB of memory");
}

TEST(Confined, ReadsFilesWhereThatIsAllowedAndWritesNone) {
  Allowance reader = small;
  reader.reads_files = true;
  ConfinedProcess process(reader, [](const Channel& channel) {
    const int file = open("/etc/passwd", O_RDONLY);
    channel.send({file >= 0 ? 1U : 0U});
    open("/etc/passwd", O_RDWR);
  });
  EXPECT_EQ(process.answer().kind, 1U);
  EXPECT_THROW(process.answer(), ConfinedEnd);
  EXPECT_THAT(end_of([](const Channel&) { socket(AF_INET, SOCK_STREAM, 0); }, reader), HasSubstr("socket"));
}

TEST(Confined, WhatItPrintsIsLost) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(end_of([](const Channel& channel) {
              std::puts("passed");
              std::fflush(stdout);
              channel.send({0});
            }),
            "answers");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(Confined, AnswersRequestsThroughSharedMemory) {
  const SharedMemory memory(sizeof(int));
  int* const shared = reinterpret_cast<int*>(memory.part(0, sizeof(int)).data());
  const auto add = [shared](const Channel& channel) {
    for (Message request; channel.receive(request) == Channel::Reception::message;) {
      *shared += static_cast<int>(request.numbers.at(0));
      channel.send({7, {}, {"added"}});
    }
  };
  ConfinedProcess process(small, add, 0, &memory);
  for (const std::uint64_t number : {3U, 4U}) {
    process.ask({0, {number}});
    EXPECT_EQ(process.answer(), (Message{7, {}, {"added"}}));
  }
  EXPECT_EQ(*shared, 7);
  EXPECT_THROW(memory.part(1, sizeof(int)), Defect);
}

TEST(Confined, ErrorsOfTheUserComeThrough) {
  const auto refusing = [](const Channel&) {
    throw UserError("a.cu:1", "is wrong", "mend it", ExitStatus::check_failed);
  };
  try {
    ConfinedProcess(small, refusing).answer();
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(), std::string("a.cu:1: is wrong; mend it"));
    EXPECT_EQ(error.status(), ExitStatus::check_failed);
  }
}

TEST(Confined, AForgedErrorIsNoSuccessAndNoDefect) {
  for (const std::uint64_t status : {0U, 70U, 3U, 255U}) {
    try {
      ConfinedProcess(small, [status](const Channel& channel) {
        channel.send({ConfinedProcess::reserved_kinds + 3, {status}, {"a", "b\x1b[2J"}});
      }).answer();
      FAIL() << "no error";
    } catch (const UserError& error) {
      EXPECT_EQ(error.status(), ExitStatus::bad_input);
      EXPECT_EQ(error.what(), std::string("a: b?[2J"));
    }
  }
}

TEST(Messages, ComeBackAsTheyWere) {
  const Message message{3, {0, ~std::uint64_t{0}}, {"", "two\nlines", "\xe5\xb1\xa4"}};
  const std::string bytes = encode(message);
  EXPECT_EQ(length_of(std::span(bytes.data(), message_head_bytes)), bytes.size() - message_head_bytes);
  EXPECT_EQ(decode(std::string_view(bytes).substr(message_head_bytes)), message);
}

TEST(Messages, AreTakenWholeOrNotAtAll) {
  const std::string bytes = encode({3, {1}, {"text"}}).substr(message_head_bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(decode(std::string_view(bytes).substr(0, size)), std::nullopt) << size;
  }
  EXPECT_EQ(decode(bytes + "x"), std::nullopt);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = '\xff';
    decode(damaged);
  }
  const std::array<char, message_head_bytes> far_too_long = {0, 0, 0, 0, 1, 0, 0, 0};
  EXPECT_EQ(length_of(far_too_long), std::nullopt);
}

TEST(Messages, TextsThatAreTooLongAreCut) {
  const Message message{1, {}, {std::string(most_message_bytes, 'a'), "b"}};
  const std::string bytes = encode(message);
  const std::optional<Message> decoded = decode(std::string_view(bytes).substr(message_head_bytes));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_LE(bytes.size(), most_message_bytes + message_head_bytes);
  EXPECT_THAT(decoded->texts.front(), StartsWith("aaaa"));
}

TEST(Messages, AreFitToBePrinted) {
  const std::string bytes = encode({1, {}, {"\x1b]0;x\x07\r\xff\xc3 tab\t"}}).substr(message_head_bytes);
  EXPECT_EQ(decode(bytes)->texts.front(), "?]0;x??\xef\xbf\xbd\xef\xbf\xbd tab\t");
}

}  // namespace
}  // namespace esc
