// SPDX-License-Identifier: Apache-2.0
#include "tuner/publish/joined_databases.h"

#include <gtest/gtest.h>

#include <string>

namespace esc::tuning {
namespace {

const std::string head = "device sm90-132sm-60mib NVIDIA H200\ndtype f32\nevidence measured\n";

/// A candidate, a class, a layer and a default of so many columns in a layout ("", or "nk " for that one).
std::string entries(const std::string& layout, int bcol, const std::string& warps) {
  const std::string of = " " + layout + std::to_string(bcol) + " ";
  const std::string schedule = "panel:ufi=2,columns=4,panels=8,warps=" + warps;
  return "candidate" + of + "0 " + schedule + "\nclass" + of + "18 18 12 13 1 2.00 1.50 0.0\nlibrary" + of +
         "18 18 12 13 3.200\ndefault" + of + schedule + " 3 1.05 1.20 2.00 1.50\nlayer" + of + "00112233445566" +
         std::string(2, warps[0]) + " " + schedule + " 1.10 2.00 1.50\n";
}

std::vector<ScheduleDatabase> databases(const std::string& text) { return databases_in(head + text, "a.txt"); }

/// What a file has when the one is written over the other.
std::string joined(const std::string& made, const std::string& there) {
  return print(joined_databases(databases(made), databases(there)));
}

TEST(JoinedDatabases, KeepOtherColumnsAndOtherLayouts) {
  const std::string there = entries("", 4, "2") + entries("", 32, "2") + entries("nk ", 32, "2");
  EXPECT_EQ(joined(entries("", 32, "8"), there),
            print(databases(entries("", 4, "2") + entries("", 32, "8") + entries("nk ", 32, "2"))));
  EXPECT_EQ(joined(there, entries("", 256, "8")), print(databases(there + entries("", 256, "8"))));
}

TEST(JoinedDatabases, ReplaceWhatIsMadeAgain) {
  const std::string there = entries("", 4, "2") + entries("nk ", 32, "2");
  EXPECT_EQ(joined(there, there), print(databases(there)));
  EXPECT_EQ(joined(entries("", 4, "8") + entries("nk ", 32, "8"), there),
            print(databases(entries("", 4, "8") + entries("nk ", 32, "8"))));
}

TEST(JoinedDatabases, DoNotMixWhatIsMeasuredWithWhatIsPublished) {
  const std::vector<ScheduleDatabase> published = databases_in(
      "device sm90-132sm-60mib NVIDIA H200\ndtype f32\nevidence published\ndefault 64 panel:ufi=2,columns=32 3 1.10 - "
      "- -\n",
      "b.txt");
  EXPECT_EQ(joined_databases(databases(entries("", 4, "2")), published), databases(entries("", 4, "2")));
}

}  // namespace
}  // namespace esc::tuning
