// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/journal.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/spawn.h"
#include "generator/support/temporary_folder.h"
#include "tests/unit/tuner/tuning_records.h"
#include "tuner/records/record_text.h"

namespace esc::tuning {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

/// Records that can be told apart, as long as it is wanted.
CandidateRecord numbered(int number, std::size_t bytes = 0) {
  CandidateRecord record = measured(item_of_pattern(std::to_string(number)), numbered_text(1), {1.0 + number});
  record.detail.assign(bytes, 'x');
  return record;
}

std::vector<Record> numbered_up_to(int count, std::size_t bytes = 0) {
  std::vector<Record> records;
  for (int number = 0; number < count; ++number) {
    records.emplace_back(numbered(number, bytes));
  }
  return records;
}

std::string text_of(const std::vector<Record>& records) {
  std::string text;
  for (const Record& record : records) {
    text += print(record) + "\n";
  }
  return text;
}

/// Another process, which ends with status 0 where its life has not thrown and nothing that was expected in it has
/// failed.
pid_t start_process(const std::function<void()>& life) {
  const pid_t process = ::fork();
  if (process == 0) {
    EXPECT_NO_THROW(life());
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  return process;
}

class JournalTest : public testing::Test {
 protected:
  const std::filesystem::path& file() const { return file_; }
  void fill(const std::string& text) const { std::ofstream(file_, std::ios::binary) << text; }

 private:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "journal.jsonl";
};

TEST_F(JournalTest, BeginsAnEmptyFile) {
  const Journal journal(file());
  EXPECT_THAT(journal.records(), IsEmpty());
  EXPECT_EQ(journal.removed_bytes(), 0U);
  EXPECT_EQ(read_file(file()), "");
}

TEST_F(JournalTest, HasWhatWasWrittenWhenItIsOpenedAgain) {
  {
    Journal journal(file());
    journal.write(numbered(0));
    EXPECT_EQ(read_file(file()), journal_header() + "\n" + text_of(numbered_up_to(1)))
        << "each record is in the file when the call returns";
    journal.write(numbered(1));
    EXPECT_THAT(journal.records(), IsEmpty()) << "these are the ones of earlier runs";
  }
  Journal again(file());
  EXPECT_EQ(again.records(), numbered_up_to(2));
  again.write(numbered(2));
  EXPECT_EQ(read_records({file().string()}), numbered_up_to(3));
}

TEST_F(JournalTest, WritesFromSeveralThreads) {
  {
    Journal journal(file());
    std::vector<std::jthread> threads;
    for (int number = 0; number < 4; ++number) {
      threads.emplace_back([&journal] {
        for (int line = 0; line < 25; ++line) {
          journal.write(numbered(line, 10'000));
        }
      });
    }
  }
  EXPECT_THAT(read_records({file().string()}), SizeIs(100));
}

TEST_F(JournalTest, RemovesThePartOfALineThatAKilledWriterLeft) {
  const std::string whole = text_of(numbered_up_to(2));
  const std::string last = print(Record(numbered(2)));
  for (const std::size_t bytes : {std::size_t{1}, last.size() / 2, last.size()}) {
    fill(whole + last.substr(0, bytes));
    {
      Journal journal(file());
      EXPECT_EQ(journal.removed_bytes(), bytes);
      EXPECT_EQ(journal.records(), numbered_up_to(2));
      journal.write(numbered(2));
    }
    EXPECT_EQ(read_records({file().string()}), numbered_up_to(3));
  }
}

TEST_F(JournalTest, RemovesAPartOfItsFirstLine) {
  fill(journal_header().substr(0, 9));
  const Journal journal(file());
  EXPECT_EQ(journal.removed_bytes(), 9U);
  EXPECT_EQ(read_file(file()), "");
}

TEST_F(JournalTest, LeavesWhatIsNoJournalAsItIs) {
  using namespace std::string_literals;
  for (const std::string& text :
       {"\0"s, "\0\0\n\0"s, text_of(numbered_up_to(1)).substr(0, 9), R"({"bcol":)"s, "mine"s, "mine\n"s}) {
    fill(text);
    EXPECT_THAT([&] { Journal journal(file()); }, ThrowsMessage<UserError>(HasSubstr("is no journal of esctune")));
    EXPECT_EQ(read_file(file()), text);
  }
}

TEST_F(JournalTest, GoesOnInOneFromBeforeTheFirstLineSaidWhatItIs) {
  fill(text_of(numbered_up_to(2)));
  Journal journal(file());
  EXPECT_EQ(journal.records(), numbered_up_to(2));
  journal.write(numbered(2));
  EXPECT_EQ(read_file(file()), text_of(numbered_up_to(3)));
}

TEST_F(JournalTest, RefusesADamagedLineInTheMiddleAndChangesNothing) {
  const std::string text = text_of(numbered_up_to(2)) + "damaged\n" + text_of(numbered_up_to(1)) + "a part";
  fill(text);
  EXPECT_THAT([&] { Journal journal(file()); },
              ThrowsMessage<UserError>(HasSubstr(file().string() + ":3: is not JSON")));
  EXPECT_EQ(read_file(file()), text);
}

TEST_F(JournalTest, CannotBeAFolderOrBeInNone) {
  EXPECT_THROW(Journal(file().parent_path()), UserError);
  EXPECT_THAT([&] { Journal journal(file().parent_path() / "missing" / "journal.jsonl"); },
              ThrowsMessage<UserError>(HasSubstr("cannot be written")));
}

TEST_F(JournalTest, HasOneWriterAtATime) {
  const auto refused = [&] {
    EXPECT_THAT([&] { Journal second(file()); },
                ThrowsMessage<UserError>(HasSubstr("is being written by another run")));
  };
  {
    Journal first(file());
    refused();
    EXPECT_EQ(wait_for_end(start_process(refused)), 0) << "in another process";
    first.write(numbered(0));
  }
  EXPECT_EQ(Journal(file()).records(), numbered_up_to(1));
}

/// A disk that is full at any byte of a line costs that line alone.
TEST_F(JournalTest, KeepsWholeLinesOnAFullDisk) {
  const std::size_t line = text_of(numbered_up_to(1)).size();
  for (const std::size_t room : {std::size_t{0}, std::size_t{1}, line - 1, line, line + line / 2}) {
    fill(text_of(numbered_up_to(3)));
    const std::size_t limit = 3 * line + room;
    const int kept = 3 + static_cast<int>(room / line);
    const pid_t writer = start_process([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit bytes{limit, limit};
      Journal journal(file());
      ::setrlimit(RLIMIT_FSIZE, &bytes);
      for (int number = 3; number < kept; ++number) {
        journal.write(numbered(number));
      }
      for (int time = 0; time < 2; ++time) {
        EXPECT_THAT([&] { journal.write(numbered(kept)); },
                    ThrowsMessage<UserError>(AllOf(HasSubstr(file().string()), HasSubstr("cannot be written"))));
      }
    });
    EXPECT_EQ(wait_for_end(writer), 0);
    EXPECT_EQ(read_file(file()), text_of(numbered_up_to(kept))) << room << " bytes of room";
  }
}

/// The number of records that a writer, killed after some time, says it has written.
int written_until_killed(const std::filesystem::path& file, int begin, std::size_t bytes,
                         std::chrono::microseconds life) {
  int said[2];
  EXPECT_EQ(::pipe(said), 0);
  const pid_t writer = start_process([&] {
    Journal journal(file);
    for (int number = begin;; ++number) {
      journal.write(numbered(number, bytes));
      ASSERT_EQ(::write(said[1], "w", 1), 1);
    }
  });
  ::close(said[1]);
  std::this_thread::sleep_for(life);
  ::kill(writer, SIGKILL);
  EXPECT_EQ(wait_for_end(writer), 128 + SIGKILL);
  int count = 0;
  for (char word = 0; ::read(said[0], &word, 1) == 1;) {
    ++count;
  }
  ::close(said[0]);
  return count;
}

TEST_F(JournalTest, LosesAtMostTheRecordInFlightOfAKilledWriter) {
  std::mt19937 generator(7);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1} << 17U}) {
    std::filesystem::remove(file());
    int there = 0;
    for (int kill = 0; kill < 15; ++kill) {
      const int said = written_until_killed(
          file(), there, bytes, std::chrono::microseconds(std::uniform_int_distribution(0, 30'000)(generator)));
      const Journal journal(file());
      const int now = static_cast<int>(journal.records().size());
      EXPECT_GE(now, there + said);
      EXPECT_LE(now, there + said + 1);
      ASSERT_EQ(journal.records(), numbered_up_to(now, bytes));
      there = now;
    }
    EXPECT_GT(there, 0) << "none of the writers came to anything";
  }
}

}  // namespace
}  // namespace esc::tuning
