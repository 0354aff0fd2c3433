// SPDX-License-Identifier: Apache-2.0
// What --json prints, of every command that the tuner lists: docs/reference/formats.md.

#include <map>

#include "tests/cli/recorded_calibration.h"
#include "tests/cli/tuner_workshop.h"
#include "tests/support/json_convention.h"

namespace esc::cli {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using Line = std::vector<std::string>;

class EsctuneJson : public TunerWorkshop {
 protected:
  void SetUp() override {
    TunerWorkshop::SetUp();
    add_layers(2);
    run("night.jsonl");
    write("recorded.jsonl", recorded_calibration());
  }

  Line with_run(const Line& more) const { return run_words("new.jsonl", more); }
};

TEST_F(EsctuneJson, IsOneObjectInALineForEveryCommand) {
  const std::map<std::string, std::vector<Line>> wanted{
      {"calibrate", {{"calibrate", "-o", "mine", "--replay", "recorded.jsonl"}}},
      {"run", {with_run({}), with_run({"--list"})}},
      {"layer",
       {{"layer", "layers/layer00.smtx", "--bcol", "32", "--space", "space.txt", "--replay", "measured.jsonl"}}},
      {"devices", {{"devices", "--replay", "measured.jsonl"}}},
      {"merge", {{"merge", "night.jsonl", "-o", "all.jsonl"}, {"merge", "night.jsonl", "-o", "all.jsonl", "--strict"}}},
      {"show", {{"show", "night.jsonl"}, {"show", "night.jsonl", "--against", "night.jsonl"}, {"show", "mine"}}},
      {"report", {{"report", "night.jsonl", "-o", "page.html"}}},
      {"publish", {{"publish", "night.jsonl", "-o", "database"}}},
      {"regret",
       {{"regret", "night.jsonl"}, {"regret", "night.jsonl", "--by", "type,layout,device,columns,size,family"}}}};
  for (const std::string& command : test::commands_in_help(esctune({"--help"}).output)) {
    const bool has_json = esctune({command, "--help"}).output.find("  --json ") != std::string::npos;
    EXPECT_NE(has_json, command == "completion") << command << " prints results, and has to have --json";
    EXPECT_EQ(has_json, wanted.contains(command)) << command << " has --json, and no line in this test";
  }
  for (const auto& [command, asked] : wanted) {
    for (Line line : asked) {
      line.emplace_back("--json");
      const ProcessResult result = esctune(line);
      EXPECT_THAT(result.output, Not(IsEmpty())) << ::testing::PrintToString(line) << result.errors;
      EXPECT_THAT(test::json_problems(result.output), IsEmpty()) << ::testing::PrintToString(line);
    }
  }
}

TEST_F(EsctuneJson, HasOldNamesBesideNewOnes) {
  const auto shown = nlohmann::json::parse(esctune({"show", "night.jsonl", "--json"}).output);
  EXPECT_EQ(shown.at("kind"), "measured items");
  EXPECT_EQ(shown.at("candidates_by_outcome"), shown.at("outcomes"));
  EXPECT_EQ(shown.at("items")[0].at("results_by_library"), shown.at("items")[0].at("rivals"));
  EXPECT_EQ(shown.at("summary")[0].at("pdl_by_library"), shown.at("summary")[0].at("chain"));
  const auto databases = nlohmann::json::parse(esctune({"publish", "night.jsonl", "-o", "database", "--json"}).output);
  EXPECT_EQ(databases.at("status"), "done");
  EXPECT_EQ(databases.at("databases")[0].at("status"), "written");
}

}  // namespace
}  // namespace esc::cli
