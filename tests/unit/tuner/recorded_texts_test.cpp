// SPDX-License-Identifier: Apache-2.0
// Every schedule that the shipped journals and databases have is the same schedule in the keys of today.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>

#include "generator/schedule/schedule_keys.h"
#include "generator/schedule/schedule_text.h"
#include "generator/support/file.h"

namespace esc::tuning {
namespace {

namespace fs = std::filesystem;

/// Puts the texts of schedules in quotes, or between spaces, into the set.
void add_texts(const std::string& text, char begin, const std::string& ends, std::set<std::string>& texts) {
  for (const std::string& family : schedule_family_names()) {
    const std::string head = begin + family + ":";
    for (std::size_t at = text.find(head); at != text.npos; at = text.find(head, at + 1)) {
      const std::string one = text.substr(at + 1, text.find_first_of(ends, at + 1) - at - 1);
      // And not a word of a sentence, nor a place or what is said of one.
      if (one.find('=') != one.npos && !one.ends_with(':') && one.find(": ", head.size()) == one.npos) {
        texts.insert(one);
      }
    }
  }
}

/// What xz unpacks; empty where it is not installed.
std::string unpacked(const fs::path& file) {
  std::FILE* const unpacking = popen(fmt::format("xz -dc '{}'", file.string()).c_str(), "r");
  std::string text;
  std::array<char, 1 << 16> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), unpacking)) {
    text.append(part.data(), count);
  }
  return pclose(unpacking) == 0 ? text : "";
}

void expect_same_in_todays_keys(const std::set<std::string>& texts) {
  for (const std::string& text : texts) {
    const Schedule schedule = parse_schedule(text);
    EXPECT_EQ(parse_schedule(print(schedule)), schedule) << text;
    EXPECT_EQ(parse_schedule(compact(schedule)), schedule) << text;
  }
}

TEST(RecordedTexts, OfDatabasesAreTheSameSchedulesInTodaysKeys) {
  std::set<std::string> texts;
  for (const fs::directory_entry& file : fs::directory_iterator(ESC_SOURCE_DIR "/generator/schedule")) {
    if (file.path().extension() == ".txt") {
      add_texts(read_file(file.path().string()), ' ', " \n", texts);
    }
  }
  EXPECT_GE(texts.size(), 300U);
  expect_same_in_todays_keys(texts);
}

TEST(RecordedTexts, OfJournalsAreTheSameSchedulesInTodaysKeys) {
  std::set<std::string> texts;
  for (const fs::directory_entry& file : fs::directory_iterator(ESC_SOURCE_DIR "/tests/bench/journals")) {
    if (file.path().extension() == ".xz") {
      const std::string text = unpacked(file.path());
      if (text.empty()) {
        GTEST_SKIP() << "xz is not installed, which unpacks the journals";
      }
      add_texts(text, '"', "\"", texts);
    }
  }
  EXPECT_GE(texts.size(), 3000U);
  expect_same_in_todays_keys(texts);
}

}  // namespace
}  // namespace esc::tuning
