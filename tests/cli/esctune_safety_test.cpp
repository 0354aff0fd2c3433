// SPDX-License-Identifier: Apache-2.0
// What a run may not do to what is not its own, nor others to it: files that are no journals, the streams it says
// things on, and texts in a journal that would be read as something else.

#include <fmt/format.h>

#include <filesystem>

#include "tests/cli/tuner_workshop.h"

namespace esc::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class EsctuneSafety : public TunerWorkshop {
 protected:
  void SetUp() override {
    TunerWorkshop::SetUp();
    add_layers(2);
  }

  /// night.jsonl with one text in place of another.
  void write_changed(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read("night.jsonl");
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
    write(name, text);
  }
};

TEST_F(EsctuneSafety, FilesThatAreNoJournalStayAsTheyAre) {
  using namespace std::string_literals;
  for (const std::string& text :
       {"\0binary\0\n\0"s, "\0"s, R"({"bcol": 64, "mine": true})"s, R"({"bcol":)"s, R"({"algorithm":"mine"})"s,
        "notes\n"s, "{\"layers\": []}\n"s, R"({"journal":"mine"})"s}) {
    write("mine", text);
    expect_refusal(run_words("mine"),
                   "mine: is no journal of esctune; give another file; nothing of this one is changed");
    expect_refusal({"layer", "layers/layer00.smtx", "--bcol", "32", "--space", "space.txt", "--replay",
                    "measured.jsonl", "-o", "mine"},
                   "mine: is no journal of esctune");
    expect_refusal({"merge", "measured.jsonl", "-o", "mine"}, "mine: is no journal of esctune");
    EXPECT_TRUE(read("mine") == text);
  }
}

TEST_F(EsctuneSafety, JournalSaysWhatItIs) {
  run("night.jsonl");
  const std::string text = read("night.jsonl");
  EXPECT_THAT(text, StartsWith("{\"journal\":\"esctune\",\"format\":1}\n{"));
  write("later.jsonl", "{\"journal\":\"esctune\",\"format\":2}\n" + text);
  expect_refusal(run_words("later.jsonl"),
                 "later.jsonl:1: says that this is a journal of another format; this program reads format 1");
  // From before there was such a line, and a first line that a killed writer has left.
  write("older.jsonl", text.substr(text.find('\n') + 1));
  EXPECT_THAT(run("older.jsonl"), StartsWith("0 items decided, 4 known before"));
  write("begun.jsonl", text.substr(0, 9));
  EXPECT_THAT(run("begun.jsonl"), StartsWith("4 items decided"));
  EXPECT_TRUE(read("begun.jsonl") == text);
  // One after the other.
  write("both.jsonl", text + text);
  EXPECT_EQ(esctune({"show", "both.jsonl"}).output, esctune({"show", "night.jsonl"}).output);
}

TEST_F(EsctuneSafety, StreamsThatAreNotThereCostNothing) {
  run("night.jsonl");
  for (const std::string streams : {"2>&-", "<&- 2>&-", "2>/dev/full"}) {
    const ProcessResult result = shell("$RUN -o other.jsonl --verbose " + streams);
    EXPECT_EQ(result.status, 0) << streams;
    EXPECT_TRUE(read("other.jsonl") == read("night.jsonl")) << streams;
    std::filesystem::remove(path("other.jsonl"));
  }
  for (const std::string streams : {">/dev/full", ">&-"}) {
    const ProcessResult result = shell("$RUN -o other.jsonl " + streams);
    EXPECT_EQ(result.status, 2) << streams;
    EXPECT_THAT(result.errors, HasSubstr("esctune: standard output: cannot be written: ")) << streams;
    EXPECT_TRUE(read("other.jsonl") == read("night.jsonl")) << streams;
    std::filesystem::remove(path("other.jsonl"));
  }
  // Whoever has read the progress has gone.
  EXPECT_EQ(
      shell("{ sleep 0.2; $RUN -o other.jsonl --verbose; echo $? > status; } 2>&1 >/dev/null | true; sleep 2").status,
      0);
  EXPECT_EQ(read("status"), "0\n");
  EXPECT_TRUE(read("other.jsonl") == read("night.jsonl"));
}

TEST_F(EsctuneSafety, TextsOfAJournalAreWhatTheyLookLike) {
  run("night.jsonl");
  const std::string planted = R"(H200\nlayer 32 0000000000000000 panel:ufi=1 9 9 9)";
  write_changed("planted.jsonl", "NVIDIA H200", planted);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"publish", "planted.jsonl", "-o", "database"},
                                             {"show", "planted.jsonl"},
                                             {"report", "planted.jsonl", "-o", "a.html"}}) {
    expect_refusal(command, "planted.jsonl:2: has characters that do not show in its device_name");
  }
  write_changed("planted.jsonl", "layer00.smtx", R"(layer\u202e00.smtx)");
  expect_refusal({"show", "planted.jsonl"}, "has characters that do not show in its file, 'layers/layer?00.smtx'");
  write_changed("planted.jsonl", R"("dtype":"f32")", R"("dtype":"../f32")");
  expect_refusal({"publish", "planted.jsonl", "-o", "database"}, "has the dtype '../f32', which is no word");
}

TEST_F(EsctuneSafety, KeysThatAreThereTwiceAreRefused) {
  run("night.jsonl");
  write_changed("twice.jsonl", R"("bcol":64,)", R"("bcol":64,"bcol":32,)");
  const ProcessResult refused = esctune({"show", "twice.jsonl"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, AllOf(StartsWith("esctune: twice.jsonl:"), HasSubstr("bcol is there twice")));
}

TEST_F(EsctuneSafety, WorkingDirectoryThatIsGone) {
  const ProcessResult gone = shell(
      "mkdir gone; cd gone; rmdir ../gone; exec $ESCTUNE run ../layers --bcol 32 --replay ../measured.jsonl -o "
      "../a.jsonl");
  EXPECT_THAT(gone.status, testing::AnyOf(0, 1, 2, 3)) << gone.errors;
  EXPECT_THAT(gone.errors, Not(HasSubstr("defect")));
}

}  // namespace
}  // namespace esc::cli
