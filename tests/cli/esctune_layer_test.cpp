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

TEST_F(EsctuneLayer, FailsWhereACandidateIsWrong) {
  write("wrong.jsonl", measured_with("\"outcome\":\"launch-failed\"", "\"outcome\":\"wrong-result\""));
  const ProcessResult result = tune("wrong.jsonl", "journal.jsonl");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.output, HasSubstr("winner     ")) << "the others are told all the same";
  EXPECT_EQ(tune("measured.jsonl", "right.jsonl").status, 0);
}

}  // namespace
}  // namespace esc::cli
