// SPDX-License-Identifier: Apache-2.0
// esctune layer where its journal has more than the layer on this device.

#include "tests/cli/tuner_workshop.h"

namespace esc::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class EsctuneLayer : public TunerWorkshop {
 protected:
  void SetUp() override {
    TunerWorkshop::SetUp();
    add_layer(0);
  }

  /// The recorded measurements with every occurrence of some words replaced.
  std::string measured_with(const std::string& words, const std::string& others) const {
    std::string text = read("measured.jsonl");
    for (std::size_t place = text.find(words); place != std::string::npos;
         place = text.find(words, place + others.size())) {
      text.replace(place, words.size(), others);
    }
    return text;
  }

  /// The last schedule of the space, which runs into a limit.
  std::string failing_schedule() const {
    const std::string space = read("space.txt");
    return space.substr(space.rfind('\n', space.size() - 2) + 1);
  }

  ProcessResult tune(const std::string& records, const std::string& journal) const {
    return esctune(
        {"layer", "layers/layer00.smtx", "--bcol", "32", "--space", "space.txt", "--replay", records, "-o", journal});
  }
};

TEST_F(EsctuneLayer, PrintsWhatThisDeviceHasMeasured) {
  write("a100.jsonl", measured_with("sm90-132sm-60mib", "sm80-108sm-40mib"));
  EXPECT_THAT(tune("a100.jsonl", "both.jsonl").output, HasSubstr("sm80-108sm-40mib"));
  EXPECT_THAT(tune("measured.jsonl", "both.jsonl").output,
              AllOf(HasSubstr("sm90-132sm-60mib"), Not(HasSubstr("sm80-108sm-40mib"))));
}

/// What holds on an A100 without a measurement is what --schedule auto takes there: what the H200 has measured.
TEST_F(EsctuneLayer, HasTheIncumbentOfTheNearestMeasuredDevice) {
  write("a100.jsonl", measured_with("sm90-132sm-60mib", "sm80-108sm-40mib"));
  tune("a100.jsonl", "a100-layer.jsonl");
  EXPECT_THAT(read("a100-layer.jsonl"), HasSubstr("\"incumbent\":\"panel:"));
  tune("measured.jsonl", "h200-layer.jsonl");
  EXPECT_THAT(read("h200-layer.jsonl"), HasSubstr("\"incumbent\":\"panel:"));
}

TEST_F(EsctuneLayer, MeasuresTheSchedulesOfAFileAlone) {
  const std::vector<std::string> words{
      "layer",    "layers/layer00.smtx", "--bcol",       "32",     "--space", "space.txt",
      "--replay", "measured.jsonl",      "--only-space", "--json", "-o",      "alone.jsonl"};
  const ProcessResult result = esctune(words);
  ASSERT_EQ(result.status, 0) << result.errors;
  const auto item = nlohmann::json::parse(result.output).at("items").at(0);
  ASSERT_EQ(item.at("candidates").size(), 4U);
  for (const auto& candidate : item.at("candidates")) {
    const bool is_right = candidate.at("outcome") == "ok";
    EXPECT_EQ(candidate.at("microseconds").is_number(), is_right);
    EXPECT_EQ(candidate.at("detail"), is_right ? "" : "too many resources requested for launch");
  }
  EXPECT_THAT(item.at("winner").get<std::string>(), testing::StartsWith("panel: tile=2x32, thread=2x4, split_k=8, "));
  EXPECT_TRUE(item.at("verdict").is_null()) << "nothing held before";
  EXPECT_EQ(records_in("alone.jsonl").records.size(), 4U) << "no libraries, no final, no decision";
  EXPECT_TRUE(decided_in("alone.jsonl").empty());
  EXPECT_EQ(esctune(words).output, result.output);
  EXPECT_EQ(records_in("alone.jsonl").records.size(), 4U) << "what the journal has is not measured again";
  run("alone.jsonl");
  EXPECT_THAT(decided_in("alone.jsonl"), testing::Contains("layer00/32")) << "a run goes on from there";
  write("one.txt", failing_schedule());
  const ProcessResult none = esctune({"layer", "layers/layer00.smtx", "--bcol", "64", "--space", "one.txt", "--replay",
                                      "measured.jsonl", "--only-space"});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.output, HasSubstr("winner     no candidate was right"));
  expect_refusal({"layer", "layers/layer00.smtx", "--bcol", "32", "--only-space"}, "--only-space requires --space");
}

TEST_F(EsctuneLayer, FailsWhereACandidateIsWrong) {
  write("wrong.jsonl", measured_with("\"outcome\":\"launch-failed\"", "\"outcome\":\"wrong-result\""));
  const ProcessResult result = tune("wrong.jsonl", "journal.jsonl");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.output, HasSubstr("winner     ")) << "the others are told all the same";
  EXPECT_EQ(tune("measured.jsonl", "right.jsonl").status, 0);
}

}  // namespace
}  // namespace esc::cli
