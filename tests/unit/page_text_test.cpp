// SPDX-License-Identifier: Apache-2.0
#include "generator/support/page_text.h"

#include <gmock/gmock.h>

namespace esc {
namespace {

using ::testing::ElementsAre;

TEST(PageText, BreaksBetweenWords) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("  one   two ", 7), ElementsAre("one two"));
  EXPECT_THAT(wrapped("", 7), ElementsAre(""));
}

TEST(PageText, KeepsALongWordWhole) {
  EXPECT_THAT(wrapped("at /a/very/long/path it is", 6), ElementsAre("at", "/a/very/long/path", "it is"));
}

TEST(PageText, CountsCodePointsAndNotBytes) {
  EXPECT_EQ(columns_of("\u00e9t\u00e9"), 3U);
  EXPECT_THAT(wrapped("\u00e9t\u00e9 \u00e9t\u00e9", 7), ElementsAre("\u00e9t\u00e9 \u00e9t\u00e9"));
}

TEST(PageText, FurtherLinesBeginUnderTheFirstWord) {
  std::string words;
  for (int word = 0; word < 30; ++word) {
    words += "words ";
  }
  const std::string page = labelled("note", words);
  const std::size_t end = page.find('\n');
  EXPECT_TRUE(page.starts_with("note       words words"));
  EXPECT_LE(end, page_columns);
  EXPECT_EQ(page.substr(end + 1, 16), "           words");
}

TEST(PageText, SizesHaveTwoDigitsWhereOneWouldBeRough) {
  EXPECT_EQ(size_text(512), "512 B");
  EXPECT_EQ(size_text(135488), "135 KB");
  EXPECT_EQ(size_text(1.25e9), "1.2 GB");
  EXPECT_EQ(size_text(9.96e3), "10.0 KB");
}

}  // namespace
}  // namespace esc
