// SPDX-License-Identifier: Apache-2.0
#include "generator/support/plain_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/support/error.h"
#include "generator/support/escaped.h"
#include "generator/support/strict_json.h"
#include "tests/support/refusals.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

TEST(PlainText, KeepsWhatShows) {
  for (const char* text : {"", "ffn-1.weight 7", "層", "äöü~", "\ufffd", "\u0e33", "\U00020000", "\xf0\x9f\x98\x80"}) {
    EXPECT_TRUE(is_plain_text(text)) << text;
    EXPECT_EQ(plain_text(text), text);
  }
}

TEST(PlainText, ReplacesWhatDoesNot) {
  for (const char* mark :
       {"\n",         "\r",         "\t",         "\x1b",      "\x7f",   "\u0085", "\u061c",     "\u200e",
        "\u200f",     "\u2028",     "\u2029",     "\u202a",    "\u202e", "\u2066", "\u2069",     "\ufeff",
        "\u00ad",     "\u034f",     "\u180e",     "\u200b",    "\u200d", "\u2060", "\u2064",     "\u206a",
        "\u3164",     "\ufe00",     "\ufe0f",     "\ufff9",    "\ufffe", "\ue000", "\U0001d173", "\U000e0001",
        "\U000e0041", "\U000e0101", "\U000f0000", "\U0010ffff"}) {
    const std::string text = std::string("a") + mark + "b";
    EXPECT_FALSE(is_plain_text(text)) << testing::PrintToString(text);
    EXPECT_EQ(plain_text(text), "a?b") << testing::PrintToString(text);
  }
  EXPECT_EQ(plain_text(std::string("a\0b", 3), '.'), "a.b");
  EXPECT_EQ(plain_lines("a\n\tb\x1b"), "a\n\tb?");
  EXPECT_EQ(escaped("<a\u202e>"), "&lt;a &gt;");
}

TEST(PlainText, ReplacesBytesThatAreNotUtf8) {
  // A lone byte, one that is missing, more bytes than needed, half of a pair, and beyond the last character.
  EXPECT_EQ(plain_text("\xff"), "\ufffd");
  EXPECT_EQ(plain_text("a\xe2\x80"), "a\ufffd\ufffd");
  EXPECT_EQ(plain_text("\xc0\xaf"), "\ufffd\ufffd");
  EXPECT_EQ(plain_text("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(plain_text("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");
}

TEST(CommentText, CanNeitherEndNorJoinNorBeSomethingElse) {
  EXPECT_EQ(comment_text("a*/b"), "a*_b");
  EXPECT_EQ(comment_text("a/*b"), "a/_b");
  EXPECT_EQ(comment_text("a\\"), "a_");
  EXPECT_EQ(comment_text("a?\?/"), "a?_/");
  EXPECT_EQ(comment_text("a?\?\?/"), "a?\?_/");
  EXPECT_EQ(comment_text("a?\?b"), "a?\?b");
  EXPECT_EQ(comment_text("a\n#error"), "a?#error");
  EXPECT_EQ(comment_text("*\n/"), "*?/");
}

TEST(StrictJson, RefusesAKeyThatIsThereTwice) {
  const auto refusal = [](const char* text) {
    return test::refusal_of([&] { static_cast<void>(parse_strict_json(text, "spec.json")); });
  };
  EXPECT_EQ(refusal(R"({"a": [{"b": 1, "c": 2}, {"b": 1}], "d": {"b": 1}})"), "accepted");
  EXPECT_THAT(refusal(R"({"a": 1, "a": 1})"), StartsWith("spec.json: a: is there twice"));
  EXPECT_THAT(refusal(R"({"a": 1, "\u0061": 1})"), StartsWith("spec.json: a: is there twice"));
  EXPECT_THAT(refusal(R"({"a": [1, [2], {"b": 1}, {"c": {}, "b": [], "b": 1}]})"),
              StartsWith("spec.json: a[3].b: is there twice"));
  EXPECT_THAT(refusal(R"({"a": ["b", "c\u0000d"]})"), StartsWith("spec.json: a[1]: has a NUL in a text"));
  EXPECT_THAT(refusal(R"({"a\u0000": 1})"), StartsWith("spec.json: a?: has a NUL in a text"));
  EXPECT_EQ(refusal((std::string(900, '[') + std::string(900, ']')).c_str()), "accepted");
  EXPECT_EQ(refusal(std::string(2000, '[').c_str()),
            "spec.json: is nested too deeply; leave the brackets out that nothing needs");
  EXPECT_THAT(refusal(R"({"a": [{"b": 1}, [1e999]]})"),
              StartsWith("spec.json: a[1][0]: is a number that is too large"));
  EXPECT_EQ(parse_strict_json("[1, {\"a\": null}]", "").dump(), "[1,{\"a\":null}]");
  EXPECT_EQ(parse_strict_json(R"([true, -1, 1.5, "", [], {"a": {}}])", "").dump(), R"([true,-1,1.5,"",[],{"a":{}}])");
  EXPECT_THROW(static_cast<void>(parse_strict_json("[1] 2", "")), nlohmann::json::parse_error);
  EXPECT_THROW(static_cast<void>(parse_strict_json("{", "")), nlohmann::json::parse_error);
}

}  // namespace
}  // namespace esc
