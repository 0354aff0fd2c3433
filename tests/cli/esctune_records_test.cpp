// SPDX-License-Identifier: Apache-2.0
// What esctune makes of records: merge, show, report and publish.

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "generator/support/file.h"
#include "tests/cli/tuner_workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using tuning::CandidateRecord;
using tuning::DecisionRecord;
using tuning::Record;

class EsctuneRecords : public TunerWorkshop {
 protected:
  void SetUp() override {
    TunerWorkshop::SetUp();
    add_layers(4);
    run("night.jsonl");
    run("first.jsonl", {"--shard", "0/2"});
    run("second.jsonl", {"--shard", "1/2"});
  }

  /// A command that must end well; what it prints.
  std::string output_of(const std::vector<std::string>& words) const {
    const ProcessResult result = esctune(words);
    EXPECT_EQ(result.status, 0) << result.errors;
    return result.output;
  }

  /// The records of night.jsonl with all kernels' times multiplied, as another file.
  void write_slower(const std::string& name, double factor) const {
    std::string text;
    for (Record record : records_in("night.jsonl").records) {
      if (auto* candidate = std::get_if<CandidateRecord>(&record); candidate != nullptr && !candidate->is_peer()) {
        for (double& sample : candidate->samples) {
          sample *= factor;
        }
      } else if (auto* decision = std::get_if<DecisionRecord>(&record)) {
        decision->winner_microseconds *= factor;
      }
      text += print(record) + "\n";
    }
    write(name, text);
  }
};

TEST_F(EsctuneRecords, MergeDoesNotDependOnOrderOrRepetition) {
  output_of({"merge", "first.jsonl", "second.jsonl", "-o", "a"});
  output_of({"merge", "second.jsonl", "first.jsonl", "second.jsonl", "-o", "b"});
  output_of({"merge", "a", "first.jsonl", "night.jsonl", "-o", "c"});
  EXPECT_TRUE(read("a") == read("b"));
  EXPECT_TRUE(read("a") == read("c"));
  // Onto itself.
  EXPECT_THAT(output_of({"merge", "a", "-o", "a"}),
              StartsWith(fmt::format("{} records in a\n", records_in("b").records.size())));
  EXPECT_TRUE(read("a") == read("b"));
}

TEST_F(EsctuneRecords, MergeOfNothingIsEmpty) {
  write("bare.jsonl", "");
  EXPECT_EQ(output_of({"merge", "bare.jsonl", "-o", "a"}), "0 records in a\n");
  EXPECT_EQ(read("a"), "");
}

TEST_F(EsctuneRecords, MergeListsConflictsAndKeepsBothSides) {
  write_slower("slower.jsonl", 1.5);
  const std::string merged = output_of({"merge", "night.jsonl", "slower.jsonl", "-o", "all"});
  EXPECT_THAT(merged, AllOf(HasSubstr("conflict     "), HasSubstr("3.00 us and 4.50 us")));
  EXPECT_GT(records_in("all").records.size(), records_in("night.jsonl").records.size());
  const std::string text = read("all");
  EXPECT_EQ(output_of({"merge", "slower.jsonl", "night.jsonl", "-o", "all"}), merged);
  EXPECT_TRUE(read("all") == text);
  EXPECT_EQ(esctune({"merge", "night.jsonl", "slower.jsonl", "-o", "all", "--strict"}).status, 1);
  EXPECT_EQ(esctune({"merge", "first.jsonl", "second.jsonl", "-o", "all", "--strict"}).status, 0);
}

TEST_F(EsctuneRecords, MergeListsEnvironmentsThatDiffer) {
  std::string text = read("second.jsonl");
  for (std::size_t place = text.find("\"driver\":\"13.0\""); place != text.npos;
       place = text.find("\"driver\":\"13.0\"")) {
    text.replace(place, 15, "\"driver\":\"12.9\"");
  }
  write("second.jsonl", text);
  const ProcessResult merged = esctune({"merge", "first.jsonl", "second.jsonl", "-o", "all", "--strict"});
  EXPECT_EQ(merged.status, 1);
  EXPECT_THAT(merged.output, AllOf(HasSubstr("environment  "), HasSubstr("driver 12.9"), HasSubstr("driver 13.0")));
  EXPECT_TRUE(fs::exists(path("all"))) << "all the same they are united";
}

TEST_F(EsctuneRecords, ShowPrintsTables) {
  EXPECT_THAT(output_of({"show", "night.jsonl"}), AllOf(HasSubstr("layer00"), HasSubstr("layer03")));
  const std::string one = output_of({"show", "night.jsonl", "--item", "layer00.smtx@32"});
  EXPECT_THAT(one, AllOf(HasSubstr("panel: tile=2x"), HasSubstr("cusparse"), Not(HasSubstr("layer03"))));
  EXPECT_THAT(output_of({"show", "night.jsonl", "--tables"}), Not(IsEmpty()));
  EXPECT_FALSE(json::parse(output_of({"show", "night.jsonl", "--json"})).empty());
  EXPECT_THAT(output_of({"show", "night.jsonl", "--csv"}), StartsWith("layer,M x K,"));
  EXPECT_THAT(output_of({"show", "night.jsonl", "--junit"}), HasSubstr("<testsuite name=\"esctune\""));
  EXPECT_EQ(output_of({"show", "first.jsonl", "second.jsonl"}), output_of({"show", "night.jsonl"}));
}

TEST_F(EsctuneRecords, ShowComparesWithOlderRecords) {
  write_slower("slower.jsonl", 1.5);
  EXPECT_THAT(output_of({"show", "night.jsonl", "--against", "night.jsonl"}), HasSubstr("SAME"));
  EXPECT_THAT(output_of({"show", "night.jsonl", "--against", "slower.jsonl"}), HasSubstr("BETTER"));
  const ProcessResult worse = esctune({"show", "slower.jsonl", "--against", "night.jsonl"});
  EXPECT_EQ(worse.status, 1);
  EXPECT_THAT(worse.output, HasSubstr("WORSE"));
  const ProcessResult machine = esctune({"show", "slower.jsonl", "--against", "night.jsonl", "--json"});
  EXPECT_EQ(machine.status, 1);
  EXPECT_FALSE(json::parse(machine.output).empty());
}

/// A name begins after the folders that all files of its journal share.
TEST_F(EsctuneRecords, ShowComparesAnItemWhateverItsJournalCallsIt) {
  write_slower("slower.jsonl", 1.5);
  std::string before = read("night.jsonl");
  for (std::size_t place = before.find("layers/layer00"); place != before.npos;
       place = before.find("layers/layer00", place)) {
    before.replace(place, 14, "elsewhere/layer00");
  }
  write("before.jsonl", before);
  for (const std::string item : {"layer01.smtx@32", "layers/layer01.smtx@32"}) {
    const ProcessResult compared = esctune({"show", "slower.jsonl", "--against", "before.jsonl", "--item", item});
    EXPECT_EQ(compared.status, 1) << item;
    EXPECT_THAT(compared.output, HasSubstr("\n1 items in both: 0 BETTER, 1 WORSE, 0 SAME, 0 UNSURE")) << item;
    EXPECT_THAT(compared.output, Not(HasSubstr("only "))) << item;
  }
  expect_refusal({"show", "slower.jsonl", "--against", "before.jsonl", "--item", "layer77*"},
                 "--item layer77*: fits no item of these records; items are called NAME@BCOL");
}

TEST_F(EsctuneRecords, ReportIsOnePageThatNeedsNothingElse) {
  output_of({"report", "night.jsonl", "-o", "a.html"});
  output_of({"report", "second.jsonl", "first.jsonl", "-o", "b.html"});
  output_of({"report", "night.jsonl", "-o", "c.html", "--against", "first.jsonl", "--earlier", "monday=first.jsonl",
             "--earlier", "tuesday=second.jsonl", "--date", "wednesday", "--host", "node 7"});
  EXPECT_THAT(read("c.html"),
              AllOf(HasSubstr("monday"), HasSubstr("wednesday, node 7"), HasSubstr("Against older records")));
  expect_refusal({"report", "night.jsonl", "-o", "d.html", "--earlier", "monday"}, "is not LABEL=FILE");
  expect_refusal({"report", "night.jsonl", "-o", "first.jsonl", "--earlier", "monday=first.jsonl"},
                 "is one of the records");
  const std::string page = read("a.html");
  EXPECT_THAT(page, AllOf(HasSubstr("<svg"), HasSubstr("</html>"), HasSubstr("NVIDIA H200")));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("src=")), Not(HasSubstr("href=\"http"))));
  EXPECT_TRUE(page == read("b.html"));
}

/// The commands of docs/guide/tuning.md, word by word.
TEST_F(EsctuneRecords, TheShippedJournalServesWhereThereIsNoGpu) {
  const std::string page = read_file(ESC_SOURCE_DIR "/docs/guide/tuning.md");
  const std::size_t section = page.find("### Without a GPU");
  ASSERT_NE(section, page.npos);
  std::istringstream lines(page.substr(section, page.find("\n### ", section + 1) - section));
  fs::create_directories(path("docs"));
  fs::create_directory_symlink(fs::path(ESC_SOURCE_DIR) / "docs/examples", path("docs/examples"));
  fs::remove_all(path("layers"));
  std::size_t commands = 0;
  std::string output;
  std::string shown;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    esc")) {
      const ProcessResult done = shell("PATH=" + fs::path(ESCTUNE).parent_path().string() + ":$PATH; " + line);
      EXPECT_EQ(done.status, 0) << line << done.errors;
      output = done.output;
      shown += line.find(" show ") != line.npos ? done.output : "";
      ++commands;
    }
  }
  EXPECT_EQ(commands, 7U);
  EXPECT_THAT(output,
              HasSubstr("speed      about 1.18 x the faster of cuBLAS and cuSPARSE, 2.7 us in place of 3.1; measured"));
  EXPECT_THAT(shown, AllOf(HasSubstr("over cuBLAS f16"), HasSubstr("| challenger |"),
                           HasSubstr("the best challenger with the one that held before"), Not(HasSubstr("FP32"))));
  const json of_journal = json::parse(output_of({"show", "again.jsonl", "--json"}));
  EXPECT_TRUE(of_journal["summary"][0]["plain"].contains("cublas-f16"));
  EXPECT_FALSE(of_journal["summary"][0]["plain"].contains("cublas-fp32"));
  EXPECT_TRUE(of_journal["items"][0]["rivals"].contains("cublas-f16"));
  for (const json& item : of_journal["items"]) {
    EXPECT_EQ(item["verdict"] == "BETTER", item["winner"] != item["incumbent"]) << item;
  }
  EXPECT_LE(of_journal["outcomes"].value("skipped-by-limit", 0), 2) << "what the shipped journal has skipped itself";
  EXPECT_THAT(read("again.jsonl"), Not(HasSubstr("was not recorded")));
  EXPECT_THAT(read("again.jsonl"), HasSubstr("\"record\":\"decision\""));
  EXPECT_THAT(read("again.html"), HasSubstr("layers that are faster"));
}

TEST_F(EsctuneRecords, PublishWritesADatabaseOnce) {
  EXPECT_THAT(output_of({"publish", "night.jsonl", "-o", "database"}), HasSubstr("(written)"));
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path("database"))) {
    files.push_back(entry.path().filename());
  }
  ASSERT_THAT(files, SizeIs(1));
  const std::string file = "database/" + files.front().string();
  const std::string text = read(file);
  EXPECT_THAT(text,
              AllOf(HasSubstr("sm90-132sm-60mib"), HasSubstr("panel:tile=2x32,thread=2x4,split_k=8,lane_groups=4")));
  EXPECT_THAT(output_of({"publish", "second.jsonl", "first.jsonl", "-o", "database"}), HasSubstr("(unchanged)"));
  EXPECT_TRUE(read(file) == text);
  EXPECT_FALSE(json::parse(output_of({"publish", "night.jsonl", "-o", "database", "--json"})).empty());
}

TEST_F(EsctuneRecords, RegretSaysWhatChoicesLose) {
  output_of({"publish", "night.jsonl", "-o", "database"});
  const std::vector<std::string> regret{"regret", "night.jsonl", "--schedules", "2", "--by", "type,layout"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), regret.begin(), regret.end());
    return more;
  };
  const json printed = json::parse(output_of(with({"--database", "database", "--json"})));
  std::map<std::string, json> choosers;
  for (const json& group : printed.at("tables").at(0).at("groups")) {
    if (group.at("type") == "f32" && group.at("layout") == "kn") {
      choosers[group.at("chooser")] = group;
    } else {
      EXPECT_TRUE(group.at("geometric_mean").is_null()) << group;
    }
  }
  ASSERT_THAT(choosers, SizeIs(3)) << "auto, left-out and database";
  EXPECT_GT(choosers["database"].at("judged"), 0);
  EXPECT_LT(choosers["database"].at("worst"), 1.03) << "it was made of these very times";
  EXPECT_THAT(output_of(with({})), AllOf(HasSubstr("| f32 "), HasSubstr("no data")));
  EXPECT_EQ(esctune(with({"--most-mean", "1000"})).status, 1) << "groups without data are not within any limit";
  EXPECT_EQ(esctune({"regret", "night.jsonl", "--schedules", "2", "--by", "device", "--most-mean", "1000"}).status, 0);
}

TEST_F(EsctuneRecords, GenerateTakesTheMeasuredSchedule) {
  output_of({"publish", "night.jsonl", "-o", "database"});
  const ProcessResult generated = run_process({ESCGEN, "generate", "layers/layer00.smtx", "--bcol", "32", "--gpu",
                                               "h200", "--database", "database", "--no-verify", "-o", "out"},
                                              {.folder = path("."), .errors_apart = true});
  ASSERT_EQ(generated.status, 0) << generated.errors;
  const json manifest = json::parse(read("out/layer00/manifest.json"));
  EXPECT_THAT(manifest.at("schedule").dump(), HasSubstr("panel: tile=2x32, thread=2x4, split_k=8, lane_groups=4"));
}

}  // namespace
}  // namespace esc::cli
