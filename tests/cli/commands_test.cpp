// SPDX-License-Identifier: Apache-2.0
// Each command as a user and as a script sees it when all is well.

#include <sstream>

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class Commands : public Workshop {};

const std::vector<std::string> all_commands = {"generate", "verify", "inspect", "lower", "sample"};

TEST_F(Commands, HelpHasAnExampleAndGoesToStandardOutput) {
  for (const std::string& command : all_commands) {
    SCOPED_TRACE(command);
    const ProcessResult help = escgen({command, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.output,
                AllOf(HasSubstr("Usage: escgen " + command), ContainsRegex("Examples?:\n  escgen " + command)));
    EXPECT_THAT(help.errors, IsEmpty());
  }
  const ProcessResult help = escgen({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.output, HasSubstr("Exit status: 0 done, 1 a check failed, 2 bad usage or input"));
  for (const std::string& command : all_commands) {
    EXPECT_THAT(help.output, HasSubstr("\n  " + command));
  }
}

TEST_F(Commands, ExampleOfLowerRuns) {
  const ProcessResult lowered = escgen({"lower", "--schedule", "4-2-2-64", "--dump-steps", "--pattern", "1101"});
  EXPECT_EQ(lowered.status, 0);
  EXPECT_THAT(lowered.errors, IsEmpty());
  EXPECT_THAT(lowered.output, StartsWith("schedule   atomic: thread=4x2, unroll_k=2, threads=64\n"));
}

TEST_F(Commands, SampleWritesTheFileAndSaysSoOnStandardError) {
  const ProcessResult sampled = escgen({"sample", "-o", "b.smtx", "--rows", "8", "--cols", "5", "--sparsity", "0.5"});
  EXPECT_EQ(sampled.status, 0);
  EXPECT_EQ(sampled.output, "");
  EXPECT_EQ(sampled.errors, "b.smtx: 8 x 5, 20 non-zeros (50.00 % zeros)\n");
  EXPECT_EQ(snapshot(".").size(), 1u);
  EXPECT_THAT(read("b.smtx"), StartsWith("8, 5, 20\n"));
}

TEST_F(Commands, GenerateWritesTheSixFilesOfABundle) {
  write_matrix();
  const ProcessResult generated = escgen({"generate", "a.mtx", "--bcol", "40", "-o", "out"});
  EXPECT_EQ(generated.status, 0);
  EXPECT_EQ(generated.errors, "");
  EXPECT_THAT(generated.output,
              AllOf(StartsWith("layer      a: 13 x 17, 88 non-zeros (60.2 % zeros), f32, made for N = 40\n"),
                    HasSubstr("verified   by emulation"), HasSubstr("bundle     out/a (written)\n")));
  std::vector<std::string> files;
  for (const auto& [name, content] : snapshot("out")) {
    files.push_back(name);
  }
  EXPECT_THAT(files, UnorderedElementsAre("a", "a/a.h", "a/a.cu", "a/a_transformer.cpp", "a/a.packed",
                                          "a/manifest.json", "a/CMakeLists.txt"));
}

TEST_F(Commands, SeveralBColsGiveABundleForEach) {
  write_matrix();
  const std::vector<std::string> line{"generate", "a.mtx", "--no-verify", "--json", "--bcol", "40,8", "-o"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), line.begin(), line.end());
    return escgen(more);
  };
  EXPECT_EQ(with({"out"}).status, 0);
  EXPECT_THAT(snapshot("out"), AllOf(Contains(Key("a_n40")), Contains(Key("a_n8")), SizeIs(2 * 7)));
  EXPECT_EQ(parse_json(read("out/a_n8/manifest.json"))["bcol"], 8);
  EXPECT_EQ(with({"out", "--check"}).status, 0);
  EXPECT_EQ(with({"named", "--name", "ffn"}).status, 0);
  EXPECT_THAT(snapshot("named"), AllOf(Contains(Key("ffn_n40")), Contains(Key("ffn_n8"))));

  write("spec.json", R"({"layers": [{"matrix": "a.mtx", "bcol": [40, 8]}]})");
  EXPECT_EQ(escgen({"generate", "--spec", "spec.json", "-o", "out", "--check"}).status, 0) << "as a spec names them";
}

TEST_F(Commands, ManifestSaysWhatIsPromised) {
  make_bundle({"--gpu", "h200", "--arch", "sm_86"});
  const nlohmann::json manifest = parse_json(read("out/a/manifest.json"));
  EXPECT_THAT(keys(manifest), UnorderedElementsAre("format_version", "tool_version", "name", "source", "m", "k", "bcol",
                                                   "dtype", "layout", "nnz", "pattern_sha256", "values_sha256",
                                                   "loop_nest", "family", "schedule", "architectures", "packed_bytes",
                                                   "csr_bytes", "packed_format", "verification", "resources"));
  EXPECT_EQ(manifest["name"], "a");
  EXPECT_EQ(manifest["source"], "a.mtx");
  EXPECT_EQ(manifest["m"], 13);
  EXPECT_EQ(manifest["k"], 17);
  EXPECT_EQ(manifest["bcol"], 40);
  EXPECT_EQ(manifest["nnz"], 88);
  EXPECT_EQ(manifest["csr_bytes"], 4 * (14 + 88 + 88));
  EXPECT_EQ(manifest["packed_bytes"], read("out/a/a.packed").size());
  EXPECT_EQ(manifest["architectures"], nlohmann::json({"sm_86", "sm_90"}));
  EXPECT_EQ(manifest["schedule"]["text"], "atomic: thread=4x1, unroll_k=7, threads=32");
  EXPECT_EQ(manifest["verification"]["passed"], true);
  EXPECT_EQ(manifest["verification"]["method"], "emulation");
  EXPECT_EQ(manifest["verification"]["rows_covered"], 1.0);
  EXPECT_EQ(manifest["resources"], nullptr);
}

TEST_F(Commands, NoCompactionEmitsOneBodyPerPattern) {
  write_matrix();
  const std::vector<std::string> line{"generate", "a.mtx", "--bcol", "40", "--schedule", "2-2-1-32"};
  for (const std::string more : {"--no-compaction", "-v"}) {
    std::vector<std::string> arguments = line;
    arguments.insert(arguments.end(), {"-o", more == "-v" ? "compact" : "whole", more});
    EXPECT_EQ(escgen(arguments).status, 0);
  }
  const nlohmann::json manifest = parse_json(read("whole/a/manifest.json"));
  EXPECT_EQ(manifest["schedule"]["text"], "atomic: thread=2x1, unroll_k=2, threads=32, compaction=off");
  EXPECT_THAT(manifest["schedule"]["directives"].get<std::vector<std::string>>(), Each(Not(StartsWith("compact"))));
  EXPECT_NE(read("whole/a/a.cu"), read("compact/a/a.cu"));
  EXPECT_EQ(read("whole/a/a.packed"), read("compact/a/a.packed"));
  EXPECT_EQ(escgen({"verify", "whole/a"}).status, 0);
}

TEST_F(Commands, MinSparsitySkips) {
  write_matrix();
  const ProcessResult skipped = escgen({"generate", "a.mtx", "--bcol", "40", "-o", "out", "--min-sparsity", "0.7"});
  EXPECT_EQ(skipped.status, 0);
  EXPECT_EQ(skipped.output, "");
  EXPECT_EQ(skipped.errors, "a.mtx: skipped, 60.2 % zeros are less than 70.0 %\n");
  EXPECT_TRUE(snapshot("out").empty());
  EXPECT_EQ(escgen({"generate", "a.mtx", "--bcol", "40", "-o", "out", "--min-sparsity", "0.6", "--no-verify"}).status,
            0);
  EXPECT_FALSE(snapshot("out").empty());
}

TEST_F(Commands, DryRunWritesNothing) {
  write_matrix();
  const ProcessResult dry = escgen({"generate", "a.mtx", "--bcol", "40", "-o", "out", "--dry-run"});
  EXPECT_EQ(dry.status, 0);
  EXPECT_THAT(dry.output,
              AllOf(HasSubstr("\nspeed      "), HasSubstr("not written: --dry-run"), Not(HasSubstr("panel:"))));
  EXPECT_EQ(snapshot(".").size(), 1u);
}

TEST_F(Commands, GenerateAsJson) {
  const std::vector<std::string> facts{"name",
                                       "m",
                                       "k",
                                       "nnz",
                                       "dtype",
                                       "bcol",
                                       "architectures",
                                       "schedule",
                                       "schedule_source",
                                       "notes",
                                       "not_measured",
                                       "family",
                                       "blocks",
                                       "packed_bytes",
                                       "csr_bytes",
                                       "dense_bytes",
                                       "speed",
                                       "status",
                                       "kind",
                                       "format_version",
                                       "rows",
                                       "columns",
                                       "nonzeros",
                                       "sparsity"};
  write_matrix();
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", "a.mtx", "--bcol", "40", "-o", "out", "--json"});
    const ProcessResult generated = escgen(more);
    EXPECT_EQ(generated.errors, "");
    return parse_json(generated.output);
  };
  const nlohmann::json dry = with({"--dry-run"});
  EXPECT_THAT(keys(dry), ::testing::UnorderedElementsAreArray(facts));
  EXPECT_EQ(dry["status"], "dry run");

  const nlohmann::json written = with({});
  std::vector<std::string> more = facts;
  more.insert(more.end(), {"folder", "verified"});
  EXPECT_THAT(keys(written), ::testing::UnorderedElementsAreArray(more));
  EXPECT_EQ(written["status"], "written");
  EXPECT_EQ(written["folder"], "out/a");
  EXPECT_EQ(written["verified"], true);
  EXPECT_EQ(with({})["status"], "unchanged");

  const nlohmann::json current = with({"--check"});
  EXPECT_EQ(current["status"], "current");
  EXPECT_EQ(current["diff"], "");
}

TEST_F(Commands, VerifyDrawsCallsThatTheSeedRepeats) {
  make_bundle();
  const auto drawn = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"verify", "out/a"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = escgen(arguments);
    EXPECT_EQ(result.status, 0) << result.errors;
    return result.output;
  };
  EXPECT_EQ(drawn({"--seed", "7"}), drawn({"--seed", "7"}));
  EXPECT_NE(drawn({"--seed", "7"}), drawn({"--seed", "8"}));
  EXPECT_THAT(drawn({"--seed", "7"}), HasSubstr("seed       7: the same calls again with --seed 7\n"));
  const std::string without_a_seed = "$ESCGEN verify out/a";
  EXPECT_NE(shell(without_a_seed).output, shell(without_a_seed).output)
      << "whoever wrote the bundle cannot know what it is called with";
  EXPECT_EQ(parse_json(escgen({"verify", "out/a", "--json", "--seed", "7"}).output).at("seed"), 7);
  EXPECT_THAT(drawn({"--whole", "-v"}), HasSubstr("each n"));
  EXPECT_THAT(drawn({"-v"}), ::testing::Not(HasSubstr("each n"))) << "the texts are those that are generated";
  replace("out/a/a.cu", "constexpr int threads_per_block",
          "constexpr int further_number = 0;\nconstexpr int threads_per_block");
  EXPECT_THAT(drawn({"-v"}), HasSubstr("each n")) << "a text that says the same otherwise";
}

TEST_F(Commands, VerifyAsTextAndAsJson) {
  make_bundle();
  const ProcessResult verified = escgen({"verify", "out/a"});
  EXPECT_EQ(verified.status, 0);
  EXPECT_THAT(verified.output, StartsWith("passed by emulation: "));
  EXPECT_EQ(verified.errors, "a: 13 x 17, 88 non-zeros, made for N = 40\n");

  const nlohmann::json report = parse_json(escgen({"verify", "out/a", "--json", "-q"}).output);
  EXPECT_THAT(keys(report), UnorderedElementsAre("kind", "status", "format_version", "name", "method", "passed", "runs",
                                                 "tolerance", "seed", "problems", "skipped"));
  EXPECT_EQ(report["passed"], true);
  EXPECT_TRUE(report["problems"].empty());
  ASSERT_GE(report["runs"].size(), 4u);
  for (const nlohmann::json& run : report["runs"]) {
    EXPECT_THAT(keys(run), UnorderedElementsAre("n", "ldb", "ldc", "shift_b", "shift_c", "rows", "relative_error",
                                                "tolerance", "reason", "problem"));
    EXPECT_LE(run["relative_error"], run["tolerance"]);
    EXPECT_GE(run["rows"], 1);
    EXPECT_LE(run["rows"], 13);
  }
}

TEST_F(Commands, InspectAsTextAsJsonAndAsPicture) {
  write_matrix();
  const ProcessResult seen = escgen({"inspect", "a.mtx", "--svg", "a.svg"});
  EXPECT_EQ(seen.status, 0);
  EXPECT_THAT(seen.output, HasSubstr("shape      13 x 17, 88 non-zeros, 60.18 % zeros\n"));
  EXPECT_EQ(seen.errors, "picture in a.svg\n");
  EXPECT_THAT(read("a.svg"), AllOf(HasSubstr("<svg"), HasSubstr("</svg>")));

  const ProcessResult machine = escgen({"inspect", "a.mtx", "--tile-rows", "2", "--json"});
  EXPECT_EQ(machine.errors, "");
  const nlohmann::json report = parse_json(machine.output);
  EXPECT_THAT(keys(report),
              UnorderedElementsAre("kind", "status", "format_version", "rows", "columns", "nonzeros", "sparsity",
                                   "row_lengths", "column_lengths", "bytes", "dense_bytes", "csr_bytes", "packed_bytes",
                                   "bcol", "schedule", "schedule_source", "census", "notes", "dtype", "speed"));
  EXPECT_THAT(keys(report["bytes"]), UnorderedElementsAre("dense", "csr", "packed"));
  EXPECT_THAT(keys(report["census"]),
              UnorderedElementsAre("ufi", "panels", "enumerated_columns", "multiply_adds_per_load", "empty_pairs",
                                   "patterns", "tile_rows", "row_tiles", "columns_by_pattern"));
  EXPECT_EQ(report["nonzeros"], 88);
  const nlohmann::json generated =
      parse_json(escgen({"generate", "a.mtx", "--bcol", "64", "-o", "out", "--dry-run", "--json"}).output);
  EXPECT_EQ(report["bytes"]["packed"], generated["packed_bytes"]);
  EXPECT_EQ(report["schedule"], generated["schedule"]);
  EXPECT_EQ(report["speed"], generated["speed"]);
  EXPECT_THAT(unbroken(escgen({"inspect", "a.mtx", "-v"}).output),
              HasSubstr("schedule   " + generated["schedule"].get<std::string>() + "\n"));
  EXPECT_EQ(report["census"]["panels"], 7);
  std::int64_t nonzeros = 0;
  for (const auto& [pattern, columns] : report["census"]["patterns"].items()) {
    nonzeros += columns.get<std::int64_t>() * std::count(pattern.begin() + 2, pattern.end(), '1');
  }
  EXPECT_EQ(nonzeros, 88);
}

/// A .npy file of so many float32, every third of which is not zero.
std::string npy_of_floats(const std::string& shape, int count) {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }\n";
  std::string bytes("\x93NUMPY\1\0", 8);
  bytes += static_cast<char>(header.size());
  bytes += '\0' + header;
  for (int number = 0; number < count; ++number) {
    bytes += std::string("\0\0", 2) + (number % 3 == 0 ? std::string("\x80\x3f") : std::string("\0\0", 2));
  }
  return bytes;
}

TEST_F(Commands, WeightsOfAConvolutionAreTheMatrixOfThePlainProduct) {
  for (const auto& [shape, folder] : {std::pair("(6, 4, 3, 3)", "four"), std::pair("(6, 36)", "two")}) {
    write("w.npy", npy_of_floats(shape, 6 * 36));
    EXPECT_THAT(escgen({"inspect", "w.npy"}).output, HasSubstr("shape      6 x 36, 72 non-zeros"));
    const ProcessResult generated = escgen({"generate", "w.npy", "--bcol", "8", "--no-verify", "-o", folder});
    ASSERT_EQ(generated.status, 0) << generated.errors;
  }
  EXPECT_TRUE(snapshot("four") == snapshot("two"));
}

TEST_F(Commands, SizesOfTheKernelFollowFromTheWeights) {
  write("w.npy", npy_of_floats("(6, 4, 3, 3)", 6 * 36));
  write("own.c",
        "void own(int F, int C, int R, int S, int M, int K, int N, const float A[M][K], const float B[K][N], float "
        "Y[M][N],\n"
        "const float unused[F][C][R][S]) {\n"
        "for (int i = 0; i < M; i++) for (int k = 0; k < C * R * S; k++) for (int j = 0; j < N; j++) Y[i][j] += "
        "A[i][k] * B[k][j]; }\n");
  const ProcessResult generated =
      escgen({"generate", "w.npy", "--bcol", "8", "--kernel", "own.c", "--size", "K=36", "--no-verify", "-o", "out"});
  ASSERT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(read("out/w/manifest.json"), HasSubstr("k < 36"));
  const ProcessResult refused =
      escgen({"generate", "w.npy", "--bcol", "8", "--kernel", "own.c", "--size", "K=36,R=5", "-o", "other"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(
      refused.errors,
      HasSubstr(
          "--size R=5: contradicts the weights, which are 6 x 4 x 3 x 3: in unused that makes R 3; leave it out"));
}

TEST_F(Commands, QuietSaysNothingAndVerboseHowItIsMade) {
  const ProcessResult quiet = escgen({"sample", "-o", "b.mtx", "--rows", "8", "--cols", "5", "--quiet"});
  EXPECT_EQ(quiet.status, 0);
  EXPECT_EQ(quiet.errors, "");
  const std::vector<std::string> line{"generate", "b.mtx", "--bcol", "8", "-o", "out", "--dry-run"};
  const auto with = [&](const std::string& option) {
    std::vector<std::string> arguments = line;
    arguments.push_back(option);
    return escgen(arguments);
  };
  const std::string usual = escgen(line).output;
  const std::string verbose = with("-v").output;
  EXPECT_THAT(verbose, StartsWith(usual));
  EXPECT_THAT(verbose.substr(usual.size()), AllOf(StartsWith("schedule   "), HasSubstr("\nfrom       ")));
  EXPECT_THAT(usual, Not(HasSubstr("schedule  ")));
  EXPECT_EQ(with("-q").output, "");
  EXPECT_EQ(with("-q").errors, "");
  EXPECT_THAT(with("-v").errors, StartsWith("reading b.mtx\n"));
  EXPECT_THAT(escgen({"inspect", "none.mtx", "-q"}).errors, StartsWith("escgen: none.mtx: cannot be read"));
}

/// What a person reads stays within a page; names of files alone may be longer.
TEST_F(Commands, LinesHaveAtMost100Columns) {
  escgen({"sample", "-o", "b.mtx", "--rows", "512", "--cols", "512", "--sparsity", "0.9", "-q"});
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"generate", "b.mtx", "--bcol", "64", "-o", "out", "-v"},
        {"generate", "b.mtx", "--bcol", "96", "--gpu", "a100,t4", "-o", "out", "--name", "c", "--no-verify"},
        {"inspect", "b.mtx", "-v"},
        {"verify", "out/b", "-v"},
        {"inspect", ESC_SOURCE_DIR "/tests/data/models/layers.safetensors", "--estimate", "--bcol", "1,16", "-v"}}) {
    const ProcessResult printed = escgen(line);
    EXPECT_EQ(printed.status, 0) << printed.errors;
    std::istringstream lines(printed.output);
    for (std::string one; std::getline(lines, one);) {
      EXPECT_TRUE(one.size() <= 100 || one.find(ESC_SOURCE_DIR) != one.npos) << line.front() << ": " << one;
    }
  }
}

TEST_F(Commands, AllZeroMatrixIsLegal) {
  write("z.mtx", "%%MatrixMarket matrix coordinate real general\n5 7 0\n");
  EXPECT_EQ(escgen({"generate", "z.mtx", "--bcol", "4", "-o", "out"}).status, 0);
  EXPECT_EQ(escgen({"verify", "out/z"}).status, 0);
  EXPECT_THAT(read("out/z/z.cu"), AllOf(HasSubstr("cudaMemset"), Not(HasSubstr("__global__"))));
  EXPECT_EQ(escgen({"inspect", "z.mtx"}).status, 0);
}

/// All of C is touched by each call, of which more columns than a grid has would take gigabytes.
TEST_F(Commands, AllZeroMatrixOfManyRowsIsVerified) {
  write("zeros.mtx", "%%MatrixMarket matrix coordinate real general\n4096 70 0\n");
  const ProcessResult generated = escgen({"generate", "zeros.mtx", "--bcol", "71", "-o", "out"});
  EXPECT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(generated.output, HasSubstr("verified   by emulation"));
}

TEST_F(Commands, ResultsThatCannotBeWrittenAreAnError) {
  write_matrix();
  const ProcessResult full = shell("$ESCGEN inspect a.mtx > /dev/full");
  EXPECT_EQ(full.status, 2);
  EXPECT_THAT(full.errors, StartsWith("escgen: standard output: cannot be written"));
}

TEST_F(Commands, ResourcesComeFromNvcc) {
  write_matrix();
  const ProcessResult generated = escgen(
      {"generate", "a.mtx", "--bcol", "40", "-o", "out", "--arch", "sm_80", "--resources", "--schedule", "4-7-1-32"});
  if (generated.status == 3) {
    EXPECT_THAT(generated.errors, StartsWith("escgen: nvcc: "));
    EXPECT_TRUE(snapshot("out").empty());
    GTEST_SKIP() << "nvcc is not on this machine";
  }
  ASSERT_EQ(generated.status, 0) << generated.errors;
  const nlohmann::json resources = parse_json(read("out/a/manifest.json"))["resources"];
  ASSERT_EQ(resources.size(), 2u);
  for (const nlohmann::json& kernel : resources) {
    EXPECT_EQ(kernel["architecture"], "sm_80");
    EXPECT_EQ(kernel["spill_bytes"], 0);
    EXPECT_EQ(kernel["shared_bytes"], 0);
    EXPECT_GT(kernel["registers"], 8);
  }
  EXPECT_EQ(
      escgen({"generate", "a.mtx", "--bcol", "40", "-o", "out", "--arch", "sm_80", "--check", "--schedule", "4-7-1-32"})
          .status,
      0)
      << "what nvcc said is measured, not generated";
}

}  // namespace
}  // namespace esc::cli
