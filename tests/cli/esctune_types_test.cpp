// SPDX-License-Identifier: Apache-2.0
// esctune --dtype: elements of 16 bits from what would be measured to the database that escgen reads.

#include <fmt/format.h>

#include <filesystem>

#include "generator/matrix/matrix_writer.h"
#include "generator/matrix/sample.h"
#include "generator/schedule/schedule_text.h"
#include "tests/cli/tuner_workshop.h"

namespace esc::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using tuning::CandidateRecord;
using tuning::Record;

constexpr const char* of_bitmaps = "bitmap: tile=16x256x32, warps=1, stages=2, stages_a=2, pdl=on";

class EsctuneTypes : public TunerWorkshop {
 protected:
  void SetUp() override {
    TunerWorkshop::SetUp();
    add_layers(2);
  }

  json listed(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"run", "--list", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const ProcessResult result = esctune(words);
    EXPECT_EQ(result.status, 0) << result.errors;
    return result.status == 0 ? json::parse(result.output).at("items") : json::array();
  }

  /// What the recorded device has measured, as of float16 with its library, and a kernel of bitmaps that is fastest.
  void write_halves() const {
    std::string text;
    for (Record record : records_in("measured.jsonl").records) {
      auto& candidate = std::get<CandidateRecord>(record);
      candidate.item.dtype = "f16";
      if (candidate.candidate == "cublas-tf32") {
        continue;
      }
      if (candidate.candidate == "cublas-fp32") {
        candidate.candidate = "cublas-f16";
      }
      text += print(record) + "\n";
      candidate.candidate = of_bitmaps;
      candidate.samples.assign(25, 1.0);
      candidate.outcome = tuning::Outcome::ok;
      candidate.detail.clear();
      text += print(record) + "\n";
    }
    write("halves.jsonl", text);
    write("halves.txt", read("space.txt") + of_bitmaps + "\n");
  }
  std::vector<std::string> run_of_halves(const std::string& journal) const {
    return {"run",     "layers",     "--bcol",   "32",           "--dtype", "f16",
            "--space", "halves.txt", "--replay", "halves.jsonl", "-o",      journal};
  }
  json generated(const std::vector<std::string>& more) const {
    std::vector<std::string> words{ESCGEN,   "generate", path("layers/layer00.smtx").string(),
                                   "--bcol", "32",       "--dry-run",
                                   "--json", "-o",       path("out").string()};
    words.insert(words.end(), more.begin(), more.end());
    const ProcessResult made = run_process(words, {.errors_apart = true});
    EXPECT_EQ(made.status, 0) << made.errors;
    return json::parse(made.output);
  }
};

TEST_F(EsctuneTypes, AreListedWithFamiliesThatHaveKernels) {
  const json single = listed({"layers", "--bcol", "32", "--exhaustive"});
  const json half = listed({"layers", "--bcol", "32", "--exhaustive", "--dtype", "f16"});
  ASSERT_EQ(half.size(), 2U);
  EXPECT_EQ(single[0]["dtype"], "f32");
  EXPECT_EQ(half[0]["dtype"], "f16");
  for (const std::string dtype : {"f32", "tf32"}) {
    for (const std::string layout : {"kn", "nk"}) {
      EXPECT_GT(listed({"layers", "--bcol", "32", "--families", "stream", "--dtype", dtype, "--layout",
                        layout})[0]["candidates"],
                20)
          << dtype << " " << layout;
    }
  }
  const json rounded = listed({"layers", "--bcol", "32", "--exhaustive", "--dtype", "tf32"});
  EXPECT_EQ(rounded[0]["dtype"], "tf32");
  EXPECT_EQ(rounded[0]["nest"], "") << "it is the shipped product in that type";
  EXPECT_EQ(rounded[0]["candidates"], single[0]["candidates"]);
  for (const std::string type : {"float", "_Float16"}) {
    write("batch_" + type + ".c", "void batch(int batches, int M, int K, const " + type + " W[M][K], const " + type +
                                      " X[batches][K][12], " + type +
                                      " Y[batches][M][12]) {\n"
                                      "  for (int b = 0; b < batches; b++) for (int i = 0; i < M; i++) for (int t = 0; "
                                      "t < 12; t++) for (int k = 0; k < K; k++)\n"
                                      "    Y[b][i][t] += W[i][k] * X[b][k][t];\n"
                                      "}\n");
  }
  EXPECT_GT(listed({"layers", "--bcol", "32", "--kernel", "batch_float.c", "--families", "stream"})[0]["candidates"],
            20);
  expect_refusal({"run", "layers", "--bcol", "32", "--kernel", "batch__Float16.c", "--families", "stream", "--list"},
                 "stream and atomic are for f32 and tf32, gather is for both in layout kn, and bitmap for f16 and "
                 "bf16; choose panel or rows");
  expect_refusal({"run", "layers", "--bcol", "32", "--families", "atomic", "--dtype", "f16", "--list"},
                 "has no kernels for f16");
  for (const std::string dtype : {"f16", "bf16"}) {
    expect_refusal({"run", "layers", "--bcol", "32", "--families", "stream", "--dtype", dtype, "--list"},
                   "has no kernels for " + dtype + " in layout kn");
    for (const std::string layout : {"kn", "nk"}) {
      EXPECT_GT(listed({"layers", "--bcol", "32", "--families", "bitmap", "--dtype", dtype, "--layout",
                        layout})[0]["candidates"],
                4)
          << dtype << " " << layout;
    }
  }
  EXPECT_GT(listed({"layers", "--bcol", "32", "--kernel", "batch__Float16.c", "--families", "bitmap"})[0]["candidates"],
            4);
  expect_refusal({"run", "layers", "--bcol", "32", "--families", "bitmap", "--dtype", "f32", "--list"},
                 "has no kernels for f32 in layout kn");
  EXPECT_GT(listed({"layers", "--bcol", "32", "--dtype", "f64"})[0]["candidates"], 100);
  expect_refusal({"run", "layers", "--bcol", "32", "--dtype", "f8", "--list"}, "--dtype");
}

TEST_F(EsctuneTypes, AreThoseOfFilesOf16Bits) {
  const std::string models = ESC_SOURCE_DIR "/tests/data/models/";
  const auto types = [&](std::vector<std::string> words) {
    std::multiset<std::string> found;
    words.insert(words.end(), {"--bcol", "8"});
    for (const json& item : listed(words)) {
      found.insert(item["dtype"].get<std::string>());
    }
    return found;
  };
  const std::vector<std::string> files{models + "dense.npy", models + "two_four.npy",
                                       models + "layers.safetensors:gate_proj.weight"};
  EXPECT_EQ(types(files), (std::multiset<std::string>{"bf16", "f16", "f32"}));
  EXPECT_EQ(types({files[1], "--dtype", "f32"}), (std::multiset<std::string>{"f32"}));
}

TEST_F(EsctuneTypes, ComeFromASpecAndFromTheNest) {
  write("spec.json", R"({"layers": [{"matrix": "layers/layer00.smtx", "bcol": 32, "dtype": "f16"},
                                    {"matrix": "layers/layer00.smtx", "bcol": 32, "name": "single"}]})");
  const json items = listed({"--spec", "spec.json"});
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0]["dtype"], "f16");
  EXPECT_EQ(items[1]["dtype"], "f32");
  EXPECT_EQ(listed({"--spec", "spec.json", "--dtype", "bf16"})[1]["dtype"], "bf16");
  write("double.json", R"({"layers": [{"matrix": "layers/layer00.smtx", "bcol": 32, "dtype": "f64"}]})");
  EXPECT_EQ(listed({"--spec", "double.json"})[0]["dtype"], "f64");
  write("half.c",
        "void multiply(int M, int N, int K, const _Float16 A[M][K], const _Float16 B[K][N], _Float16 C[M][N]) {\n"
        "  for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++) C[i][j] += A[i][k] * "
        "B[k][j];\n}\n");
  const json own = listed({"layers", "--bcol", "32", "--kernel", "half.c"});
  EXPECT_EQ(own[0]["dtype"], "f16");
  EXPECT_EQ(own[0]["nest"], "") << "it is the shipped product in that type";
  expect_refusal({"run", "layers", "--bcol", "32", "--kernel", "half.c", "--dtype", "bf16", "--list"},
                 "--dtype bf16: is not what half.c has: f16");
  EXPECT_NE(listed({"layers", "--bcol", "32", "--dtype", "f16", "--epilogue", "bias+relu"})[0]["nest"],
            listed({"layers", "--bcol", "32", "--epilogue", "bias+relu"})[0]["nest"]);
}

TEST_F(EsctuneTypes, ThatDoNotHoldAMatrixAreSaid) {
  write("large.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 1 70000\n2 2 0.5\n");
  const ProcessResult result = esctune({"run", "large.mtx", "--bcol", "8", "--dtype", "f16", "--list"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.errors, HasSubstr("large.mtx: has 1 values beyond the largest number of f16"));
  EXPECT_EQ(listed({"large.mtx", "--bcol", "8", "--dtype", "bf16"}).size(), 1U);
}

TEST_F(EsctuneTypes, ReachADatabaseOfTheirOwnAndFromThereTheGenerator) {
  write_halves();
  run("night.jsonl");
  const ProcessResult tuned = esctune(run_of_halves("half.jsonl"));
  ASSERT_EQ(tuned.status, 0) << tuned.errors;
  EXPECT_EQ(decided_in("half.jsonl").size(), 2U);
  for (const Record& record : records_in("half.jsonl").records) {
    EXPECT_EQ(item_of(record).dtype, "f16");
    if (const auto* decision = std::get_if<tuning::DecisionRecord>(&record)) {
      EXPECT_EQ(decision->winner, of_bitmaps);
      EXPECT_EQ(decision->fastest_peer, "cublas-f16");
    }
  }
  EXPECT_THAT(esctune(run_of_halves("half.jsonl")).output, HasSubstr("0 items decided, 2 known before"));
  EXPECT_THAT(esctune({"show", "half.jsonl"}).output, HasSubstr("f16"));
  const ProcessResult layer = esctune({"layer", "layers/layer00.smtx", "--bcol", "32", "--dtype", "f16", "--space",
                                       "halves.txt", "--replay", "halves.jsonl"});
  EXPECT_THAT(layer.output, HasSubstr("x as fast as cuBLAS f16, the fastest exact library")) << layer.errors;

  ASSERT_EQ(esctune({"publish", "night.jsonl", "-o", "database"}).status, 0);
  const std::string of_floats = read("database/sm90-132sm-60mib_f32.txt");
  ASSERT_EQ(esctune({"publish", "night.jsonl", "half.jsonl", "-o", "database"}).status, 0);
  EXPECT_EQ(read("database/sm90-132sm-60mib_f32.txt"), of_floats);
  EXPECT_THAT(read("database/sm90-132sm-60mib_f16.txt"),
              HasSubstr(fmt::format("\ndtype f16\nevidence measured\ncandidate 32 0 {}\n",
                                    compact(parse_schedule(of_bitmaps)))));

  const std::string database = path("database").string();
  const json half = generated({"--dtype", "f16", "--database", database});
  EXPECT_EQ(half["schedule"], of_bitmaps);
  EXPECT_THAT(half["schedule_source"], HasSubstr("measured"));
  EXPECT_THAT(half["notes"].dump(), Not(HasSubstr("no measurements")));
  const json brain = generated({"--dtype", "bf16", "--database", database});
  EXPECT_EQ(brain["schedule"], of_bitmaps);
  EXPECT_THAT(brain["notes"].dump(), HasSubstr("no measurements in bf16: the schedule is the one for f16"));
  EXPECT_EQ(generated({"--database", database})["family"], "panel");
  // On a GPU without the instructions the next candidate holds.
  EXPECT_EQ(generated({"--dtype", "f16", "--database", database, "--gpu", "t4"})["family"], "panel");
}

/// What the recorded device has measured, as of tf32, whose exact library is that of TF32.
TEST_F(EsctuneTypes, OfTf32ReachADatabaseOfTheirOwn) {
  std::string text;
  for (Record record : records_in("measured.jsonl").records) {
    std::get<CandidateRecord>(record).item.dtype = "tf32";
    text += print(record) + "\n";
  }
  write("rounded.jsonl", text);
  const auto replayed = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--bcol", "32", "--dtype", "tf32", "--space", "space.txt", "--replay", "rounded.jsonl"});
    return words;
  };
  const ProcessResult tuned = esctune(replayed({"run", "layers", "-o", "tf32.jsonl"}));
  ASSERT_EQ(tuned.status, 0) << tuned.errors;
  EXPECT_EQ(decided_in("tf32.jsonl").size(), 2U);
  for (const Record& record : records_in("tf32.jsonl").records) {
    if (const auto* decision = std::get_if<tuning::DecisionRecord>(&record)) {
      EXPECT_EQ(decision->fastest_peer, "cublas-tf32");
    }
  }
  const ProcessResult layer = esctune(replayed({"layer", "layers/layer00.smtx"}));
  EXPECT_THAT(layer.output, HasSubstr("x as fast as cuBLAS TF32, the fastest exact library")) << layer.errors;
  EXPECT_THAT(layer.output, Not(HasSubstr("which is less exact")));
  ASSERT_EQ(esctune({"publish", "tf32.jsonl", "-o", "database"}).status, 0);
  EXPECT_THAT(read("database/sm90-132sm-60mib_tf32.txt"), HasSubstr("\ndtype tf32\nevidence measured\n"));
  const json own = generated({"--dtype", "tf32", "--database", path("database").string()});
  EXPECT_THAT(own["schedule_source"], HasSubstr("measured"));
  EXPECT_THAT(own["notes"].dump(), Not(HasSubstr("no measurements")));
}

}  // namespace
}  // namespace esc::cli
