// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "generator/emit/text_template.h"
#include "generator/support/error.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

auto filling(const char* text_template, const std::map<std::string, std::string>& values) {
  return [=] { fill(text_template, values); };
}

auto defect(const char* words) { return ThrowsMessage<Defect>(HasSubstr(words)); }

TEST(TextTemplate, FillsHolesWhereverTheyStand) {
  EXPECT_EQ(fill("int @@NAME@@_run(); // @@NAME@@@@N_1@@", {{"NAME", "ffn1"}, {"N_1", "!"}}),
            "int ffn1_run(); // ffn1!");
  EXPECT_EQ(fill("no hole, one @ and user@host", {}), "no hole, one @ and user@host");
  EXPECT_EQ(fill("", {}), "");
}

TEST(TextTemplate, ValuesAreNotSearchedForHoles) {
  EXPECT_EQ(fill("@@A@@ @@B@@", {{"A", "@@B@@"}, {"B", ""}}), "@@B@@ ");
}

TEST(TextTemplate, UnknownUnusedAndBrokenHolesAreDefects) {
  EXPECT_THAT(filling("@@NAME@@ @@OTHER@@", {{"NAME", "x"}}),
              defect("has the hole OTHER, for which there is no value"));
  EXPECT_THAT(filling("@@NAME@@", {{"NAME", "x"}, {"OTHER", "y"}}),
              defect("has no hole OTHER, for which there is a value"));
  for (const char* broken : {"@@NAME", "@@NAME@ ", "@@", "@@@@", "@@name@@", "@@NAME @@"}) {
    EXPECT_THAT(filling(broken, {{"NAME", "x"}}), defect("is not closed")) << broken;
  }
}

}  // namespace
}  // namespace esc
