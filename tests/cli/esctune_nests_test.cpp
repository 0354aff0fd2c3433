// SPDX-License-Identifier: Apache-2.0
// esctune for nests other than the plain product: what it would measure, what it records, and what becomes of that.

#include <fmt/format.h>

#include <filesystem>

#include "generator/schedule/schedule_text.h"
#include "tests/cli/tuner_workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using tuning::CandidateRecord;
using tuning::Record;

constexpr const char* spread =
    "panel: tile=16x8, thread=4x8, split_k=1, lane_groups=32, unroll_k=4, stage_a=on, pdl=on";

class EsctuneNests : public TunerWorkshop {
 protected:
  void SetUp() override {
    TunerWorkshop::SetUp();
    add_layers(2);
  }

  ProcessResult list(std::vector<std::string> more) const {
    std::vector<std::string> words{"run", "--list", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return esctune(words);
  }
  json listed(const std::vector<std::string>& more) const {
    const ProcessResult result = list(more);
    EXPECT_EQ(result.status, 0) << result.errors;
    return result.status == 0 ? json::parse(result.output).at("items") : json::array();
  }
  /// What the recorded device has measured, as of nk, with one more schedule, which is the fastest.
  void write_transposed() const {
    std::string text;
    for (Record record : records_in("measured.jsonl").records) {
      auto& candidate = std::get<CandidateRecord>(record);
      candidate.item.nest = {.layout = "nk", .contiguous = false};
      text += print(record) + "\n";
      candidate.candidate = spread;
      candidate.samples.assign(25, 1.0);
      candidate.outcome = tuning::Outcome::ok;
      candidate.detail.clear();
      text += print(record) + "\n";
    }
    write("transposed.jsonl", text);
    write("spread.txt", read("space.txt") + spread + "\n");
  }
  std::vector<std::string> transposed_run(const std::string& journal) const {
    return {"run",        "layers",   "--bcol",           "32", "--layout", "nk", "--space",
            "spread.txt", "--replay", "transposed.jsonl", "-o", journal};
  }
};

TEST_F(EsctuneNests, AreListedEachByItself) {
  EXPECT_EQ(listed({"layers", "--bcol", "32"})[0]["layout"], "kn");
  const json transposed = listed({"layers", "--bcol", "32", "--layout", "nk"});
  ASSERT_EQ(transposed.size(), 2U);
  EXPECT_EQ(transposed[0]["layout"], "nk");
  EXPECT_EQ(transposed[0]["nest"], "");
  const json finished = listed({"layers", "--bcol", "32", "--layout", "nk", "--epilogue", "bias+relu"});
  EXPECT_EQ(finished[0]["layout"], "nk");
  EXPECT_NE(finished[0]["nest"], "") << "its times are not those of the product alone";
}

TEST_F(EsctuneNests, ComeFromASpecAsOfEscgenGenerate) {
  fs::copy_file(ESC_SOURCE_DIR "/templates/conv2d.c", path("conv2d.c"));
  write("spec.json", R"({"layers": [
    {"matrix": "layers/layer00.smtx", "bcol": [32, 64]},
    {"matrix": "layers/layer00.smtx", "bcol": 32, "layout": "nk", "name": "nk"},
    {"matrix": "layers/layer01.smtx", "bcol": 2, "kernel": "conv2d.c", "schedule": "auto",
     "sizes": {"F": 64, "C": 64, "R": 1, "S": 1, "H": 7, "W": 7, "stride": 1, "pad": 0, "dilation": 1}}]})");
  const json items = listed({"--spec", "spec.json"});
  ASSERT_EQ(items.size(), 4U);
  EXPECT_EQ(items[0]["layout"], "kn");
  EXPECT_EQ(items[2]["layout"], "nk");
  EXPECT_EQ(items[3]["layout"], "n_k_n_n.n_m_n_n");
  EXPECT_GT(items[3]["candidates"], 10);
  EXPECT_THAT(list({"--spec", "spec.json", "--bcol", "32"}).errors, HasSubstr("--spec"));
}

TEST_F(EsctuneNests, AreReadFromWhatEscgenPrintsToo) {
  const ProcessResult printed =
      run_process({ESCGEN, "nest", "--layout", "nk", "--epilogue", "bias+relu"}, {.errors_apart = true});
  ASSERT_EQ(printed.status, 0) << printed.errors;
  write("layer.nest.json", printed.output);
  const std::vector<std::string> here{"layers", "--bcol", "32", "--kernel", "layer.nest.json"};
  EXPECT_EQ(listed(here), listed({"layers", "--bcol", "32", "--layout", "nk", "--epilogue", "bias+relu"}));
  write("broken.nest.json", printed.output.substr(2));
  expect_refusal({"run", "layers", "--bcol", "32", "--kernel", "broken.nest.json", "--list"},
                 "is no loop nest as escgen nest prints it");
}

TEST_F(EsctuneNests, AreRefusedAsEscgenRefusesThem) {
  expect_refusal({"run", "layers", "--bcol", "32", "--layout", "nn", "--list"}, "--layout nn: is neither kn nor nk");
  expect_refusal({"run", "layers", "--bcol", "32", "--epilogue", "relux", "--list"}, "there is no 'relux'");
  write("double.c",
        "void f(int M, int K, int N, const double A[M][K], const double B[K][N], double C[M][N]) {\n"
        "  for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) for (int k = 0; k < K; k++) C[i][j] += A[i][k] * "
        "B[k][j];\n}\n");
  EXPECT_EQ(listed({"layers", "--bcol", "32", "--kernel", "double.c"})[0]["dtype"], "f64");
  fs::copy_file(ESC_SOURCE_DIR "/templates/conv2d.c", path("conv2d.c"));
  const ProcessResult mismatched = list({"layers", "--bcol", "2", "--kernel", "conv2d.c", "--size",
                                         "F=64,C=65,R=1,S=1,H=7,W=7,stride=1,pad=0,dilation=1"});
  EXPECT_EQ(mismatched.status, 2);
  EXPECT_THAT(mismatched.errors, HasSubstr("layers/layer00.smtx: loop nest: has 65 columns, but the matrix has 64"));
  fs::copy_file(ESC_SOURCE_DIR "/templates/conv2d_groups.c", path("groups.c"));
  expect_refusal({"run", "layers", "--bcol", "2", "--kernel", "groups.c", "--size",
                  "groups=2,F=64,CG=32,R=1,S=1,H=7,W=7,stride=1,pad=0,dilation=1", "--list"},
                 "has groups");
  write("wrong.c", "void f(void) {}\n");
  expect_refusal({"run", "layers", "--bcol", "32", "--kernel", "wrong.c", "--list"}, "wrong.c");
}

TEST_F(EsctuneNests, ReachTheDatabaseAndFromThereTheGenerator) {
  write_transposed();
  run("night.jsonl");
  const ProcessResult tuned = esctune(transposed_run("nk.jsonl"));
  ASSERT_EQ(tuned.status, 0) << tuned.errors;
  EXPECT_EQ(decided_in("nk.jsonl").size(), 2U);
  for (const Record& record : records_in("nk.jsonl").records) {
    EXPECT_EQ(item_of(record).nest.layout, "nk");
    if (const auto* decision = std::get_if<tuning::DecisionRecord>(&record)) {
      EXPECT_EQ(decision->winner, spread);
    }
  }
  EXPECT_THAT(esctune(transposed_run("nk.jsonl")).output, HasSubstr("0 items decided, 2 known before"));
  EXPECT_THAT(esctune({"show", "nk.jsonl"}).output, HasSubstr("nk"));

  // What one journal says nothing of stays in the file.
  ASSERT_EQ(esctune({"publish", "night.jsonl", "-o", "database"}).status, 0);
  const std::string file = "database/sm90-132sm-60mib_f32.txt";
  const std::string kn_alone = read(file);
  ASSERT_EQ(esctune({"publish", "nk.jsonl", "-o", "database"}).status, 0);
  EXPECT_THAT(read(file), HasSubstr(fmt::format("\ncandidate nk 32 0 {}\n", compact(parse_schedule(spread)))));
  const std::string both = read(file);
  ASSERT_EQ(esctune({"publish", "night.jsonl", "nk.jsonl", "-o", "both"}).status, 0);
  EXPECT_EQ(read("both/sm90-132sm-60mib_f32.txt"), both);
  ASSERT_EQ(esctune({"publish", "night.jsonl", "nk.jsonl", "--layout", "kn", "-o", "of_kn"}).status, 0);
  EXPECT_EQ(read("of_kn/sm90-132sm-60mib_f32.txt"), kn_alone);
  EXPECT_THAT(esctune({"publish", "nk.jsonl", "--layout", "kn", "-o", "none"}).errors,
              HasSubstr("--layout kn: is the layout of no right kernel"));

  const auto source_of = [&](const std::string& layout) {
    const ProcessResult made =
        run_process({ESCGEN, "generate", path("layers/layer00.smtx").string(), "--bcol", "32", "--layout", layout,
                     "--database", path("database").string(), "--dry-run", "--json", "-o", path("out").string()},
                    {.errors_apart = true});
    EXPECT_EQ(made.status, 0) << made.errors;
    return json::parse(made.output);
  };
  EXPECT_EQ(source_of("nk")["schedule"], spread);
  EXPECT_THAT(source_of("nk")["schedule_source"], HasSubstr("measured"));
  EXPECT_NE(source_of("kn")["schedule"], spread);
}

}  // namespace
}  // namespace esc::cli
