// SPDX-License-Identifier: Apache-2.0
// The schedule of a bundle that the user does not name: which one it is, and what is said of it.

#include "generator/support/file.h"
#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ChosenSchedule : public Workshop {};

TEST_F(ChosenSchedule, ScheduleSourceIsRecorded) {
  write_matrix();
  escgen({"generate", "a.mtx", "--bcol", "64", "-o", "auto", "--schedule", "auto", "--no-verify"});
  const nlohmann::json chosen = parse_json(read("auto/a/manifest.json"))["schedule"];
  escgen({"generate", "a.mtx", "--bcol", "64", "-o", "user", "--schedule", chosen["text"], "--no-verify"});
  const nlohmann::json given = parse_json(read("user/a/manifest.json"))["schedule"];
  EXPECT_THAT(chosen["source"].get<std::string>(), StartsWith("model: expected to be the fastest"));
  EXPECT_EQ(given["source"], "user");
  EXPECT_EQ(chosen["text"], given["text"]);
  EXPECT_EQ(read("auto/a/a.cu"), read("user/a/a.cu"));
}

/// A database in which a schedule was measured on layers of 512 x 256 with 90 % zeros, beside libraries.
constexpr const char* measured_on_hidden =
    "device sm90-132sm-60mib NVIDIA H200\ndtype f32\nevidence measured\n"
    "candidate 64 0 panel:ufi=2,columns=64,groups=2,warps=4\n"
    "class 64 18 16 9 11 3 1.75 - 0.0\nlibrary 64 18 16 9 11 3.6\n";

TEST_F(ChosenSchedule, SaysHowFastItWasMeasuredToBe) {
  write("mine.txt", measured_on_hidden);
  const std::string hidden = ESC_SOURCE_DIR "/tests/data/digits/hidden.mtx";
  const std::vector<std::string> line{"generate", hidden,      "--bcol",     "64",      "-o",
                                      "out",      "--dry-run", "--database", "mine.txt"};
  EXPECT_THAT(unbroken(escgen(line).output),
              HasSubstr("\nspeed      about 1.75 x the faster of cuBLAS and cuSPARSE, 2.1 us in place of 3.6; measured "
                        "with layers like it on one NVIDIA H200\n"));
  std::vector<std::string> as_json = line;
  as_json.emplace_back("--json");
  const nlohmann::json layer = parse_json(escgen(as_json).output);
  EXPECT_NEAR(layer["over_exact"], 1.75, 0.005);
  EXPECT_EQ(layer["measured"]["device"], "NVIDIA H200");
}

/// What was measured is of that schedule, without an epilogue, with so many columns, on that GPU.
TEST_F(ChosenSchedule, SaysNoSpeedOfWhatWasNotMeasured) {
  write("mine.txt", measured_on_hidden);
  const std::string hidden = ESC_SOURCE_DIR "/tests/data/digits/hidden.mtx";
  const auto generated = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", hidden, "-o", "out", "--dry-run", "--database", "mine.txt"});
    const std::string text = escgen(more).output;
    more.emplace_back("--json");
    return std::pair(text, parse_json(escgen(more).output));
  };
  EXPECT_THAT(escgen({"generate", hidden, "-o", "out", "--dry-run", "--bcol", "64", "--schedule", "4-7-1-32"}).output,
              HasSubstr("speed      not measured\npredicted  about "));
  const std::string elsewhere = "what is known is of one NVIDIA H200";
  struct NotMeasured {
    std::vector<std::string> more;
    std::string why;
    std::string known_from;  // the model was fitted to an H100 and an H200
  };
  for (const auto& [more, why, known_from] : std::vector<NotMeasured>{
           {{"--bcol", "64", "--epilogue", "gelu"}, "what is known is of the product without the epilogue", "model"},
           {{"--bcol", "96"}, "", "model"},
           {{"--bcol", "64", "--gpu", "b200"}, elsewhere, "bytes"},
           {{"--bcol", "64", "--gpu", "gh200"}, elsewhere, "bytes"},
           {{"--bcol", "64", "--gpu", "h100"}, elsewhere, "model"},
           {{"--bcol", "64", "--gpu", "rtx4090"}, elsewhere, "bytes"},
           {{"--bcol", "64", "--arch", "sm_100"}, elsewhere, "bytes"}}) {
    const auto [text, json] = generated(more);
    EXPECT_THAT(text, HasSubstr("\nspeed      not measured: " + why)) << more.back();
    EXPECT_THAT(text, Not(HasSubstr(" x the faster"))) << more.back();
    EXPECT_FALSE(json.contains("measured")) << more.back();
    EXPECT_FALSE(json.contains("over_exact")) << more.back();
    EXPECT_THAT(json["not_measured"].get<std::string>(), StartsWith(why)) << more.back();
    EXPECT_EQ(json["speed"]["known_from"], known_from) << more.back();
  }
}

TEST_F(ChosenSchedule, SaysNoSpeedOfBlocks) {
  write("mine.txt",
        "device sm90-132sm-60mib NVIDIA H200\ndtype f32\nevidence measured\n"
        "candidate 64 0 panel:ufi=2,columns=64,groups=2,warps=4\nclass 64 18 18 11 13 3 1.75 - 0.0\n");
  const auto chosen = [&](const std::string& structure) {
    const std::string file = structure + ".mtx";
    escgen({"sample", "--rows", "512", "--cols", "512", "--sparsity", "0.9", "--structure", structure, "-o", file});
    return parse_json(escgen({"generate", file, "--bcol", "64", "-o", "out", "--dry-run", "--json", "--gpu", "h200",
                              "--database", "mine.txt"})
                          .output);
  };
  EXPECT_TRUE(chosen("uniform").contains("measured"));
  const nlohmann::json blocks = chosen("blocks");
  EXPECT_FALSE(blocks.contains("measured"));
  EXPECT_THAT(blocks["not_measured"].get<std::string>(), HasSubstr("are in blocks"));
}

TEST_F(ChosenSchedule, SaysWhatIsNotKnownOfTheGpu) {
  write_matrix();
  ASSERT_EQ(escgen({"sample", "--rows", "4096", "--cols", "2048", "--sparsity", "0.6", "-o", "large.npy"}).status, 0);
  const auto notes = [&](const std::string& matrix, std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", matrix, "--bcol", "64", "-o", "out", "--dry-run", "--json"});
    return parse_json(escgen(more).output)["notes"].dump();
  };
  EXPECT_THAT(notes("a.mtx", {}),
              HasSubstr("no GPU was named (--gpu): built for sm_80 and sm_90, with the schedule for one NVIDIA H200"));
  EXPECT_THAT(notes("a.mtx", {"--schedule", "4-7-1-32"}),
              HasSubstr("no GPU was named (--gpu): built for sm_80 and sm_90"));
  EXPECT_THAT(notes("a.mtx", {"--arch", "sm_90"}),
              HasSubstr("of those with sm_90, the schedule is the one for one NVIDIA H200"));
  EXPECT_EQ(notes("a.mtx", {"--gpu", "h200"}), "[]");
  EXPECT_THAT(notes("large.npy", {"--gpu", "b200"}),
              HasSubstr("no kernels were measured on b200: the schedule is the one that a model expects to be the "
                        "fastest, which was corrected by kernels of an H100 and an H200, with the memory bandwidth of "
                        "an H200"));
  EXPECT_THAT(notes("large.npy", {"--gpu", "h200"}), Not(HasSubstr("no kernels were measured")));
}

TEST_F(ChosenSchedule, SaysHowFastTheDenseProductIsWhereThatIsPredicted) {
  ASSERT_EQ(escgen({"sample", "--rows", "256", "--cols", "256", "--sparsity", "0.6", "-o", "a.npy"}).status, 0);
  const auto known_from = [&](const std::string& dtype, const std::string& bcol, const std::string& gpu) {
    return parse_json(escgen({"generate", "a.npy", "--bcol", bcol, "--dtype", dtype, "--gpu", gpu, "-o", "out",
                              "--dry-run", "--json"})
                          .output)["speed"]["known_from"];
  };
  for (const std::string dtype : {"f16", "bf16"}) {
    EXPECT_EQ(known_from(dtype, "100", "h200"), "model");
    EXPECT_EQ(known_from(dtype, "8192", "h200"), "model");
    EXPECT_EQ(known_from(dtype, "64", "t4"), "bytes") << "no kernels were measured there";
  }
}

/// Every family that multiplies by zeros says in its header that B must be finite, and the page of limits names it.
TEST_F(ChosenSchedule, FamiliesThatMultiplyByZerosAreNamed) {
  ASSERT_EQ(escgen({"sample", "--rows", "64", "--cols", "256", "--sparsity", "0.9", "-o", "a.mtx"}).status, 0);
  const std::string limits = read_file(ESC_SOURCE_DIR "/docs/reference/limits.md");
  const std::size_t sentence = limits.find("multiply by zeros that fill");
  ASSERT_NE(sentence, limits.npos);
  const std::string named = limits.substr(limits.rfind("\n- ", sentence), sentence - limits.rfind("\n- ", sentence));
  for (const auto& [family, schedule] : std::vector<std::pair<std::string, std::string>>{
           {"panel", "panel:ufi=2,columns=32,vector=4,groups=2,warps=2,panels=2"},
           {"rows", "rows:columns=32,vector=4,unroll=4,task=32,light=8"},
           {"stream", "stream:columns=32,panels=1,warps=1,stages=2"},
           {"stream", "stream:columns=64,panels=1,warps=1,stages=2,dense=on"},
           {"gather", "gather:warps=2,sets=1"},
           {"bitmap", "bitmap:panels=1,warps=1"},
           {"atomic", "4-7-1-32"}}) {
    const ProcessResult made =
        escgen({"generate", "a.mtx", "--bcol", "64", "--schedule", schedule, "--arch", "sm_90", "--dtype",
                family == "bitmap" ? "f16" : "f32", "--no-verify", "--force", "-o", "out"});
    ASSERT_EQ(made.status, 0) << schedule << made.errors;
    const bool multiplies = read("out/a/a.h").find("B must be finite") != std::string::npos;
    EXPECT_EQ(multiplies, family != "atomic") << schedule;
    EXPECT_EQ(named.find("`" + family + "`") != named.npos, multiplies) << named;
  }
}

/// In both layouts, with an epilogue and without.
TEST_F(ChosenSchedule, BitmapsAreGeneratedAndVerified) {
  ASSERT_EQ(escgen({"sample", "--rows", "70", "--cols", "600", "--sparsity", "0.5", "-o", "a.npy"}).status, 0);
  const std::string schedule = "bitmap:columns=8,panels=2,warps=2,stages=3,units=2";
  for (const std::string layout : {"kn", "nk"}) {
    for (const std::string epilogue : {"", "bias+relu", "residual+gelu"}) {
      std::vector<std::string> words{"generate", "a.npy",      "--bcol", "8",       "--dtype", "bf16", "--layout",
                                     layout,     "--schedule", schedule, "--force", "-o",      "out",  "--no-verify"};
      if (!epilogue.empty()) {
        words.insert(words.end(), {"--epilogue", epilogue});
      }
      const ProcessResult made = escgen(words);
      ASSERT_EQ(made.status, 0) << layout << " " << epilogue << made.errors;
      EXPECT_EQ(escgen({"verify", "out/a"}).status, 0) << layout << " " << epilogue;
      const nlohmann::json manifest = parse_json(read("out/a/manifest.json"));
      EXPECT_EQ(manifest["schedule"]["text"], "bitmap: tile=32x256x8, warps=4, stages=3, stages_a=2, pdl=on");
      EXPECT_EQ(manifest["packed_format"]["height"], 16);
    }
  }
}

/// One row of 20,000 among 30,000 of one non-zero: regions of one size would take hundreds of megabytes.
TEST_F(ChosenSchedule, PowerLawsOfRowLengthsGetTheFamilyForThem) {
  std::string matrix = "%%MatrixMarket matrix coordinate pattern general\n30001 20000 50000\n";
  for (int column = 1; column <= 20000; ++column) {
    matrix += "1 " + std::to_string(column) + "\n";
  }
  for (int row = 2; row <= 30001; ++row) {
    matrix += std::to_string(row) + " 1\n";
  }
  write("uneven.mtx", matrix);
  const ProcessResult generated = escgen({"generate", "uneven.mtx", "--bcol", "4", "-o", "out"});
  ASSERT_EQ(generated.status, 0) << generated.errors;
  const nlohmann::json schedule = parse_json(read("out/uneven/manifest.json"))["schedule"];
  EXPECT_THAT(schedule["text"].get<std::string>(), StartsWith("rows: tile=1x4, thread=1x4, "));
}

/// One float32 sum of the best schedule would run over more than 700 columns; the next best one shares them among more
/// warps.
TEST_F(ChosenSchedule, IsTheNextBestOneWhereTheBestIsIllegalForTheMatrix) {
  ASSERT_EQ(escgen({"sample", "--rows", "16", "--cols", "1536", "--sparsity", "0.2", "-o", "long.mtx"}).status, 0);
  write(
      "mine.txt",
      "device sm90-132sm-60mib My GPU\ndtype f32\nevidence measured\n"
      "candidate 64 0 panel:ufi=2,columns=64,groups=2,warps=1\ncandidate 64 1 panel:ufi=2,columns=64,groups=2,warps=4\n"
      "class 64 8 21 21 21 3 - - 0.0 7.0\n");
  const ProcessResult generated =
      escgen({"generate", "long.mtx", "--bcol", "64", "-o", "out", "--json", "--dry-run", "--database", "mine.txt"});
  ASSERT_EQ(generated.status, 0) << generated.errors;
  const nlohmann::json layer = parse_json(generated.output);
  EXPECT_THAT(layer["schedule"].get<std::string>(),
              StartsWith("panel: tile=2x64, thread=2x4, split_k=4, lane_groups=2, "));
  EXPECT_THAT(layer["schedule_source"].get<std::string>(), HasSubstr("one My GPU"));
  EXPECT_THAT(layer["schedule_source"].get<std::string>(),
              HasSubstr(", number 2 in rank, because panel: tile=2x64, thread=2x4, split_k=1"));
}

TEST_F(ChosenSchedule, SchedulesAreThoseOfTheDevice) {
  write_matrix();
  const auto chosen = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", "a.mtx", "--bcol", "64", "-o", "out", "--dry-run", "--json"});
    const ProcessResult generated = escgen(more);
    EXPECT_EQ(generated.errors, "");
    return parse_json(generated.output);
  };
  for (const std::string gpu : {"a100", "t4", "a10", "rtx3090", "b200"}) {
    const nlohmann::json layer = chosen({"--gpu", gpu});
    EXPECT_THAT(layer["schedule_source"].get<std::string>(), StartsWith("model: expected to be the fastest")) << gpu;
    EXPECT_THAT(layer["notes"].dump(), HasSubstr("no kernels were measured on " + gpu));
  }
  EXPECT_THAT(chosen({"--gpu", "h200", "--arch", "sm_90"})["notes"].dump(), Not(HasSubstr("one schedule serves")))
      << "an H200 is an sm_90";
}

TEST_F(ChosenSchedule, PublishedSchedulesComeOnRequest) {
  write_matrix();
  const ProcessResult generated =
      escgen({"generate", "a.mtx", "--bcol", "64", "-o", "out", "--schedule", "published", "--no-verify"});
  ASSERT_EQ(generated.status, 0) << generated.errors;
  const nlohmann::json schedule = parse_json(read("out/a/manifest.json"))["schedule"];
  EXPECT_EQ(schedule["text"], "atomic: thread=3x2, unroll_k=7, threads=32");
  EXPECT_EQ(schedule["source"], "published: the paper's best single schedule on an A100 at bCol 64");
  write("spec.json", R"({"layers": [{"matrix": "a.mtx", "bcol": 64, "schedule": "published"}]})");
  EXPECT_EQ(escgen({"generate", "--spec", "spec.json", "-o", "out", "--check"}).status, 0);
}

TEST_F(ChosenSchedule, OneScheduleForSeveralGpusIsSaidToBeThatOfTheFirst) {
  write_matrix();
  const std::vector<std::string> line{"generate", "a.mtx", "--bcol", "64", "-o", "out", "--gpu", "t4", "--gpu", "h200"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), line.begin(), line.end());
    return escgen(more);
  };
  const ProcessResult generated = with({"--no-verify"});
  EXPECT_EQ(generated.status, 0);
  EXPECT_THAT(generated.errors, StartsWith("a: one schedule serves t4 and h200: it is chosen for t4, the first one"));
  EXPECT_THAT(generated.output, HasSubstr("note       one schedule serves t4 and h200"));
  const nlohmann::json manifest = parse_json(read("out/a/manifest.json"));
  EXPECT_THAT(manifest["schedule"]["source"].get<std::string>(),
              HasSubstr(", chosen for t4, the first of t4 and h200"));
  EXPECT_EQ(manifest["architectures"], nlohmann::json({"sm_75", "sm_90"}));
  EXPECT_EQ(with({"--no-verify", "--check", "--quiet"}).errors, "");
  EXPECT_EQ(with({"--dry-run", "--schedule", "4-7-1-32"}).errors, "") << "the user's schedule is for all";
}

TEST_F(ChosenSchedule, ScheduleDatabaseOfTheUserIsTaken) {
  write_matrix();
  write("mine.txt",
        "device sm90-132sm-60mib My GPU\ndtype f32\nevidence measured\n"
        "candidate 64 0 panel:ufi=1,columns=64,groups=2\nclass 64 7 8 5 6 3 0.5 - 0.0\n");
  const std::vector<std::string> line{"generate", "a.mtx", "--bcol", "64", "-o", "out", "--dry-run", "--database"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), line.begin(), line.end());
    return escgen(more);
  };
  const std::string taken = unbroken(with({"mine.txt", "--gpu", "a100", "-v"}).output);
  EXPECT_THAT(taken, HasSubstr("panel: tile=1x64, thread=1x4, split_k=8, lane_groups=2, "));
  EXPECT_THAT(taken, HasSubstr("cuBLAS or cuSPARSE in float32 was 2.00 times as fast as this kernel"));
  EXPECT_THAT(taken, HasSubstr("no measurements of such layers on a100: the schedule is from the database of the "
                               "nearest device, one My GPU (sm90-132sm-60mib, measured)"));
  write("damaged.txt", "device sm90-132sm-60mib My GPU\nclass 64 4\n");
  EXPECT_THAT(with({"damaged.txt"}).errors, HasSubstr("damaged.txt:2: ends too early"));
  EXPECT_EQ(with({"damaged.txt"}).status, 2);
  EXPECT_EQ(with({"mine.txt", "--schedule", "4-7-1-32"}).status, 2);
}

TEST_F(ChosenSchedule, ScheduleDatabaseMayBeAFolderOfOneForEachDevice) {
  write_matrix();
  std::filesystem::create_directory(path("mine"));
  const std::string entries = "candidate 64 0 panel:ufi=1,columns=64,groups=2\nclass 64 7 8 5 6 3 - - 0.0\n";
  for (const std::string key : {"sm80-108sm-40mib", "sm90-132sm-60mib"}) {
    write("mine/" + key + "_f32.txt", "device " + key + " My " + key + "\ndtype f32\nevidence measured\n" + entries);
  }
  const auto source_with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", "a.mtx", "--bcol", "64", "-o", "out", "--dry-run", "--json", "--database"});
    return parse_json(escgen(more).output)["schedule_source"].get<std::string>();
  };
  EXPECT_THAT(source_with({"mine", "--gpu", "a100"}), StartsWith("database: one My sm80"));
  EXPECT_THAT(source_with({"mine", "--gpu", "h200"}), StartsWith("database: one My sm90"));
  expect_refusal({"generate", "a.mtx", "--bcol", "64", "-o", "out", "--database", "mine"},
                 "--database: has the databases of 2 devices, and no device is named; name it with --gpu");
  std::filesystem::remove(path("mine/sm80-108sm-40mib_f32.txt"));
  EXPECT_THAT(source_with({"mine"}), StartsWith("database: one My sm90"));
  expect_refusal({"generate", "a.mtx", "--bcol", "64", "-o", "out", "--database", "."},
                 "has no schedule database in it");
}

}  // namespace
}  // namespace esc::cli
