// SPDX-License-Identifier: Apache-2.0
// --dtype tf32: float32 in memory, whose factors may be rounded to 11 significant bits, from the options to the bundle.

#include "tests/cli/workshop.h"
#include "tests/support/run_size.h"

namespace esc::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* streamed = "stream:columns=16,panels=1,warps=2,stages=2";

class Tf32 : public Workshop {
 protected:
  void SetUp() override { write_matrix(); }

  static std::vector<std::string> line(const std::string& matrix, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"generate", matrix, "--bcol", "40", "-o", "out", "--dtype", "tf32"});
    return more;
  }
  ProcessResult generate(const std::string& matrix, const std::vector<std::string>& more = {}) const {
    ProcessResult result = escgen(line(matrix, more));
    EXPECT_EQ(result.status, 0) << result.output << result.errors;
    return result;
  }
  nlohmann::json manifest(const std::string& bundle) const { return parse_json(read(bundle + "/manifest.json")); }
  void replace(const std::string& file, const std::string& text, const std::string& other) const {
    std::string content = read(file);
    const std::size_t at = content.find(text);
    ASSERT_NE(at, content.npos) << text;
    write(file, content.replace(at, text.size(), other));
  }
  ProcessResult verify(const std::string& bundle) const { return escgen({"verify", bundle}); }
};

struct Tf32Case {
  std::string name;
  std::vector<std::string> options;
  std::string tolerance;  ///< its power of ten: numbers next to underflow may be some further from the reference
};

class Tf32OfAFamily : public Tf32, public ::testing::WithParamInterface<Tf32Case> {};

TEST_P(Tf32OfAFamily, MakesBundlesOfFloatsThatAreVerifiedAndCurrent) {
  std::vector<std::string> writing = GetParam().options;
  writing.emplace_back("--no-verify");
  generate("a.mtx", writing);
  EXPECT_EQ(manifest("out/a")["dtype"], "tf32");
  EXPECT_THAT(manifest("out/a")["loop_nest"].get<std::string>(), HasSubstr("const float "));
  EXPECT_THAT(read("out/a/a.h"), HasSubstr("const float* b, int64_t ldb, float* c"));
  EXPECT_THAT(read("out/a/a.h"), HasSubstr("int a_transform(const float* a, int64_t lda, void* packed);"));
  const ProcessResult verified = verify("out/a");
  EXPECT_EQ(verified.status, 0) << verified.output << verified.errors;
  EXPECT_THAT(verified.output, ContainsRegex("\\(at most [1-9]\\.[0-9]+" + GetParam().tolerance));
  EXPECT_THAT(verified.output, StartsWith("passed by emulation: "));
  std::vector<std::string> checking = GetParam().options;
  checking.emplace_back("--check");
  EXPECT_THAT(escgen(line("a.mtx", checking)).output, EndsWith("check      the bundle is current\n"));
}

[[maybe_unused]] const bool tf32_of_a_family_is_sampled = tests::sample_suite("Tf32/Tf32OfAFamily", 3);

INSTANTIATE_TEST_SUITE_P(
    Tf32, Tf32OfAFamily,
    ::testing::Values(
        Tf32Case{"Auto", {}, "e-06"},
        Tf32Case{"Panel",
                 {"--schedule", "panel:ufi=4,columns=16,vector=4,groups=4,warps=2,panels=4,ufk=4,stage=on"},
                 "e-06"},
        Tf32Case{"Rows", {"--schedule", "rows:columns=16,vector=4,unroll=4,task=32,light=8"}, "e-06"},
        Tf32Case{"Atomic", {"--schedule", "4-7-1-32"}, "e-06"}, Tf32Case{"Stream", {"--schedule", streamed}, "e-03"},
        Tf32Case{"StreamInBulk", {"--schedule", std::string(streamed) + ",copies=bulk", "--arch", "sm_90"}, "e-03"},
        Tf32Case{"StreamOfTokens", {"--schedule", streamed, "--layout", "nk"}, "e-03"},
        Tf32Case{"StreamWithEpilogue", {"--schedule", streamed, "--epilogue", "scale+bias+residual+gelu"}, "e-03"}),
    [](const auto& one) { return one.param.name; });

TEST_F(Tf32, RoundsTheMatrixOnceAndSaysWhatBecameZero) {
  // Two in the middle between numbers of tf32, one of less than half of the least, and one that is rounded to the
  // largest.
  write("tiny.mtx",
        "%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 1.00048828125\n1 2 -1.00048828125\n2 2 1e-44\n2 3 "
        "3.401e38\n3 4 0.3\n");
  for (const std::string schedule : {streamed, "rows:columns=8,vector=1,unroll=2,task=32,light=8"}) {
    const ProcessResult generated = generate("tiny.mtx", {"--force", "--schedule", schedule});
    EXPECT_THAT(generated.errors, HasSubstr("tiny.mtx: 1 of its values became zero in tf32"));
    EXPECT_EQ(manifest("out/tiny")["nnz"], 4);
    EXPECT_EQ(manifest("out/tiny")["rounding"], (nlohmann::json{{"became_zero", 1}, {"became_infinite", 0}}));
    EXPECT_EQ(verify("out/tiny").status, 0);
  }
}

TEST_F(Tf32, OfAWeightThatRoundsToInfinityIsRefused) {
  write("large.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 1 3.4028e38\n3 4 0.5\n");
  expect_refusal({"generate", "large.mtx", "--bcol", "8", "-o", "none", "--dtype", "tf32"},
                 "large.mtx: has 1 values beyond the largest number of tf32, 3.40116e+38; scale the matrix, choose "
                 "--dtype f32, or allow values that are "
                 "not finite (--allow-nonfinite)");
  EXPECT_EQ(escgen({"generate", "large.mtx", "--bcol", "8", "-o", "out", "--dtype", "f32"}).status, 0);
  generate("large.mtx", {"--force", "--allow-nonfinite"});
  EXPECT_EQ(manifest("out/large")["rounding"], (nlohmann::json{{"became_zero", 0}, {"became_infinite", 1}}));
}

/// The kernel multiplies once where float32's multiplies three times.
TEST_F(Tf32, StreamsOneProduct) {
  generate("a.mtx", {"--schedule", streamed, "--no-verify"});
  const std::string kernel = read("out/a/a.cu");
  EXPECT_THAT(kernel, HasSubstr("sums + 4 * (t * m16_tiles + s)"));
  EXPECT_THAT(kernel, Not(HasSubstr("multiply_split_steps")));
  EXPECT_THAT(kernel, HasSubstr("The tensor core reads 11 significant bits of a float32. A is rounded"));
  EXPECT_THAT(read("out/a/a.h"), HasSubstr("An element of B counts with 11 significant bits (TF32)"));
}

TEST_F(Tf32, VerifyFindsAKernelThatCutsOffInsteadOfRounding) {
  generate("a.mtx", {"--schedule", streamed, "--no-verify"});
  replace("out/a/a.cu", "fmaf(power, 0x1p-11f, number)", "number");
  const ProcessResult verified = verify("out/a");
  EXPECT_EQ(verified.status, 1);
  EXPECT_THAT(verified.output, HasSubstr("rounding explains a difference of"));
}

TEST_F(Tf32, VerifyFindsATransformerThatCutsOffInsteadOfRounding) {
  for (const std::string schedule : {streamed, "rows:columns=16,vector=4,unroll=4,task=32,light=8"}) {
    generate("a.mtx", {"--schedule", schedule, "--no-verify", "--force"});
    replace("out/a/a_transformer.cpp", "bits + half", "bits");
    const ProcessResult verified = verify("out/a");
    EXPECT_EQ(verified.status, 1) << schedule;
    EXPECT_THAT(verified.output, HasSubstr("transformer"));
  }
}

/// Where the packed matrix has more digits it is no matrix of tf32, whatever the manifest says.
TEST_F(Tf32, VerifyRefusesAPackedMatrixOfMoreDigits) {
  ASSERT_EQ(escgen({"generate", "a.mtx", "--bcol", "40", "-o", "out", "--schedule", streamed, "--no-verify"}).status,
            0);
  nlohmann::json other = manifest("out/a");
  other["dtype"] = "tf32";
  write("out/a/manifest.json", other.dump());
  const ProcessResult verified = verify("out/a");
  EXPECT_EQ(verified.status, 1);
  EXPECT_THAT(verified.errors, HasSubstr("has a loop nest of tf32 and a packed matrix of f32"));
}

TEST_F(Tf32, IsForNestsOfFloats) {
  const auto nest = [&](const std::string& file, const std::string& type) {
    write(file, "void multiply(int M, int N, int K, const " + type + " A[M][K], const " + type + " B[K][N], " + type +
                    " C[M][N]) {\n  for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; "
                    "j++) C[i][j] += A[i][k] * B[k][j];\n}\n");
  };
  nest("nest.c", "float");
  generate("a.mtx", {"--schedule", streamed, "--no-verify"});
  const std::string by_option = read("out/a/a.cu");
  generate("a.mtx", {"--schedule", streamed, "--no-verify", "--force", "--kernel", "nest.c"});
  EXPECT_EQ(read("out/a/a.cu"), by_option);
  EXPECT_EQ(manifest("out/a")["dtype"], "tf32");
  EXPECT_THAT(escgen({"nest", "--kernel", "nest.c", "--dtype", "tf32"}).output, HasSubstr(R"("type":"tf32")"));
  nest("double.c", "double");
  expect_refusal({"generate", "a.mtx", "--bcol", "40", "-o", "none", "--kernel", "double.c", "--dtype", "tf32"},
                 "--dtype tf32: is not what double.c has: f64; leave --dtype out, or write the nest in float");
}

/// Indices stay what they are, and what an epilogue reads is not rounded.
TEST_F(Tf32, OfStoredElementsWithAnEpilogueIsVerified) {
  write("scaled.c",
        "void f(int M, int K, int N, const int rows[M + 1], const int* columns, const float* values, const float "
        "B[K][N], float C[M][N], float gain,\n"
        "       const float bias[M]) {\n"
        "  for (int i = 0; i < M; i++)\n"
        "    for (int j = 0; j < N; j++) {\n"
        "      float sum = 0;\n"
        "      for (int p = rows[i]; p < rows[i + 1]; p++) sum += values[p] * B[columns[p]][j];\n"
        "      C[i][j] = sum * gain + bias[i];\n"
        "    }\n"
        "}\n");
  generate("a.mtx", {"--schedule", streamed, "--kernel", "scaled.c"});
  EXPECT_THAT(read("out/a/a.h"), HasSubstr("float gain"));
  const ProcessResult verified = verify("out/a");
  EXPECT_EQ(verified.status, 0) << verified.output << verified.errors;
}

/// A model chooses, unless the user has measured in this type.
TEST_F(Tf32, AutoTakesWhatTheUserHasMeasuredOrTheModel) {
  const auto chosen = [&](const std::string& matrix, const std::vector<std::string>& more) {
    std::vector<std::string> words{"generate",  matrix,   "--bcol",  "128",  "-o",    "out",
                                   "--dry-run", "--json", "--dtype", "tf32", "--gpu", "h200"};
    words.insert(words.end(), more.begin(), more.end());
    const ProcessResult generated = escgen(words);
    EXPECT_EQ(generated.status, 0) << generated.errors;
    return parse_json(generated.output);
  };
  ASSERT_EQ(escgen({"sample", "--rows", "512", "--cols", "600", "--sparsity", "0.9", "-o", "sparse.mtx"}).status, 0);
  const nlohmann::json small = chosen("sparse.mtx", {});
  EXPECT_EQ(small["family"], "panel");
  EXPECT_THAT(small["schedule_source"].get<std::string>(), StartsWith("model: "));
  ASSERT_EQ(escgen({"sample", "--rows", "512", "--cols", "600", "--sparsity", "0.7", "-o", "small.mtx"}).status, 0);
  EXPECT_THAT(chosen("small.mtx", {})["schedule_source"].get<std::string>(), StartsWith("model: "));
  write("mine.txt",
        "device sm90-132sm-60mib My GPU\ndtype tf32\nevidence measured\n"
        "candidate 128 0 stream:columns=8,panels=2,warps=2,stages=3\nclass 128 18 18 15 15 3 - - 0.0\n");
  const nlohmann::json own = chosen("small.mtx", {"--database", "mine.txt"});
  EXPECT_THAT(own["schedule_source"].get<std::string>(), StartsWith("database: one My GPU"));
  EXPECT_EQ(own["schedule"], "stream: tile=32x256x8, warp_m=16, warps=4, stages=3, copy=cp_async, pdl=on");
  EXPECT_TRUE(own["notes"].empty());
}

}  // namespace
}  // namespace esc::cli
