// SPDX-License-Identifier: Apache-2.0
// esctune calibrate on a recorded GPU that escgen does not know, and what escgen makes of what it writes.

#include <filesystem>

#include "tests/cli/recorded_calibration.h"
#include "tests/cli/tuner_workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class EsctuneCalibrate : public TunerWorkshop {
 protected:
  void SetUp() override {
    TunerWorkshop::SetUp();
    write("recorded.jsonl", recorded_calibration());
  }

  ProcessResult calibrate(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"calibrate", "-o", "mine", "--replay", "recorded.jsonl"};
    words.insert(words.end(), more.begin(), more.end());
    return esctune(words);
  }

  ProcessResult escgen(const std::vector<std::string>& words) const {
    std::vector<std::string> arguments{ESCGEN};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return run_process(arguments, {.folder = path(""), .errors_apart = true});
  }
};

TEST_F(EsctuneCalibrate, WritesWhatEscgenReads) {
  const ProcessResult first = calibrate({"--json"});
  ASSERT_EQ(first.status, 0) << first.errors;
  const json result = json::parse(first.output);
  EXPECT_EQ(result["kind"], "calibration");
  EXPECT_EQ(result["status"], "done");
  EXPECT_EQ(result["gpu"], "x100-pcie");
  EXPECT_EQ(result["device"], "sm80-64sm-20mib");
  EXPECT_EQ(result["left"], 0);
  EXPECT_GE(result["kernels"], 50);
  EXPECT_LE(result["kernels"], 70);
  EXPECT_THAT(read("mine/x100-pcie.txt"),
              AllOf(HasSubstr("name x100-pcie\nproduct X100 PCIe\nkernels measured\n"),
                    HasSubstr("memory_gigabytes 900 measured one device, by esctune calibrate: ")));
  const std::string corrections = read("mine/sm80-64sm-20mib_corrections.txt");
  EXPECT_THAT(corrections, HasSubstr("\ndevice sm80-64sm-20mib\n"));

  const std::string shown = esctune({"show", "mine"}).output;
  EXPECT_THAT(shown, AllOf(HasSubstr("x100-pcie"), HasSubstr(" 1.500 |"), HasSubstr("bitmap"), HasSubstr("nk")));
  for (const json& group : json::parse(esctune({"show", "mine", "--json"}).output)["corrections"]) {
    EXPECT_NEAR(group["mean_ratio"], 1.5, 0.01) << group;
  }

  ASSERT_EQ(escgen({"sample", "-o", "layer.smtx", "--rows", "256", "--cols", "256"}).status, 0);
  const std::vector<std::string> generate{"generate",  "layer.smtx", "--bcol",  "32",     "--gpu",
                                          "x100-pcie", "-o",         "bundles", "--json", "--dry-run"};
  EXPECT_THAT(escgen(generate).errors,
              HasSubstr("--gpu x100-pcie: is not a GPU that is known here; did you mean h100-pcie? use --arch, or one "
                        "of a10, a100, "));
  EXPECT_THAT(escgen(generate).errors, HasSubstr("run esctune calibrate -o FOLDER on a machine with it, then give "
                                                 "--database FOLDER"));
  std::vector<std::string> with = generate;
  with.insert(with.end(), {"--database", "mine"});
  const ProcessResult generated = escgen(with);
  ASSERT_EQ(generated.status, 0) << generated.errors;
  const json layer = json::parse(generated.output);
  EXPECT_EQ(layer["speed"]["known_from"], "model") << layer;
  EXPECT_EQ(layer["speed"]["device"], "X100 PCIe");
  EXPECT_THAT(layer.dump(), Not(HasSubstr("no kernels were measured")));
  with.back() = "mine/x100-pcie.txt";
  const ProcessResult by_figures = escgen(with);
  ASSERT_EQ(by_figures.status, 0) << by_figures.errors;
  EXPECT_THAT(by_figures.output, HasSubstr("no kernels were measured on x100-pcie"));
}

/// The same comes of it, in another folder and after a kill; by another name.
TEST_F(EsctuneCalibrate, GoesOnWhereItsJournalEnds) {
  ASSERT_EQ(calibrate().status, 0);
  const std::string whole = read("mine/calibration.jsonl");
  fs::create_directory(path("killed"));
  write("killed/calibration.jsonl", whole.substr(0, whole.size() / 3));  // in the middle of a line
  ASSERT_EQ(esctune({"calibrate", "-o", "killed", "--replay", "recorded.jsonl", "--name", "lab-3"}).status, 0);
  EXPECT_EQ(read("killed/calibration.jsonl"), whole);
  EXPECT_EQ(read("killed/sm80-64sm-20mib_corrections.txt"), read("mine/sm80-64sm-20mib_corrections.txt"));
  EXPECT_THAT(read("killed/lab-3.txt"), HasSubstr("name lab-3\nproduct X100 PCIe\n"));
}

TEST_F(EsctuneCalibrate, IsRefusedBeforeItMeasures) {
  const std::vector<std::string> words{"calibrate", "-o", "mine", "--replay", "recorded.jsonl"};
  const auto expect_refused = [&](const std::vector<std::string>& more, const std::string& expected) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    expect_refusal(all, expected);
  };
  expect_refusal({"calibrate"}, "--output is required");
  expect_refused({"--name", "H 100"}, "--name H 100: 'H 100' is no name of a GPU; write lower-case letters");
  expect_refused({"--name", "h200"}, "--name h200: is the name of another GPU, sm90-132sm-60mib, and this one is");
  expect_refused({"--budget", "soon"}, "--budget soon: is not a time");
  add_layer(0);
  expect_refusal({"calibrate", "-o", "mine", "--replay", "measured.jsonl"}, "the recorded device: has no rates");
  expect_refusal({"show", "layers", "--csv"}, "layers: is of devices, corrections or databases, which are shown alone");
}

TEST_F(EsctuneCalibrate, NeedsAGpu) {
  const ProcessResult without = esctune({"calibrate", "-o", "mine"}, {"CUDA_VISIBLE_DEVICES="});
  EXPECT_EQ(without.status, 3);
  EXPECT_EQ(without.output, "");
  EXPECT_FALSE(fs::exists(path("mine")));
}

TEST_F(EsctuneCalibrate, KeepsTheJournalOfAnotherGpu) {
  const std::string before = read("recorded.jsonl");
  fs::create_directory(path("mine"));
  write("mine/calibration.jsonl", before);
  std::string other = before;
  for (std::size_t place = other.find("sm80-64sm"); place != other.npos; place = other.find("sm80-64sm", place)) {
    other.replace(place, 9, "sm80-65sm");
  }
  write("other.jsonl", other);
  expect_refusal({"calibrate", "-o", "mine", "--replay", "other.jsonl"},
                 "mine/calibration.jsonl: is of a GPU sm80-64sm-20mib, and this one is sm80-65sm-20mib; give another");
  EXPECT_EQ(read("mine/calibration.jsonl"), before);
}

TEST_F(EsctuneCalibrate, SaysWhereTheTimeEndsBeforeAKernel) {
  const ProcessResult stopped = calibrate({"--budget", "0.001s"});
  EXPECT_EQ(stopped.status, 1);
  EXPECT_EQ(stopped.output, "");
  EXPECT_THAT(stopped.errors, HasSubstr("stopped at the end of --budget, before the first product was measured"));
  EXPECT_THAT(records_in("mine/calibration.jsonl").rates, testing::SizeIs(1)) << "which are not measured again";
}

TEST_F(EsctuneCalibrate, MergeKeepsRates) {
  ASSERT_EQ(esctune({"merge", "recorded.jsonl", "recorded.jsonl", "-o", "merged.jsonl"}).status, 0);
  EXPECT_EQ(records_in("merged.jsonl").rates, records_in("recorded.jsonl").rates);
  EXPECT_EQ(records_in("merged.jsonl").records.size(), records_in("recorded.jsonl").records.size());
}

}  // namespace
}  // namespace esc::cli
