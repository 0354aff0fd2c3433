// SPDX-License-Identifier: Apache-2.0
// --kernel: a loop nest of the user's own, however it is written, gives the same kernel; another computation is
// refused.

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class KernelOption : public Workshop {
 protected:
  void SetUp() override { make_bundle(); }

  ProcessResult generate(const std::string& nest) const {
    write("nest.c", nest);
    return escgen({"generate", "a.mtx", "--bcol", "40", "-o", "own", "--no-verify", "--force", "--schedule", "4-7-1-32",
                   "--kernel", "nest.c"});
  }

  void expect_same_kernel(const std::string& nest) const {
    const ProcessResult generated = generate(nest);
    ASSERT_EQ(generated.status, 0) << generated.errors;
    EXPECT_EQ(read("own/a/a.cu"), read("out/a/a.cu"));
    EXPECT_EQ(read("own/a/a.packed"), read("out/a/a.packed"));
  }

  /// The message begins with file:line:column; the line of the nest and a mark may follow.
  void expect_refused(const std::string& nest, const std::string& place, const std::string& words) const {
    const ProcessResult generated = generate(nest);
    EXPECT_EQ(generated.status, 2);
    EXPECT_EQ(generated.output, "");
    EXPECT_THAT(generated.errors, ContainsRegex("^escgen: nest\\.c:" + place + ": (fatal )?error: "));
    EXPECT_THAT(generated.errors, HasSubstr(words));
    EXPECT_TRUE(snapshot("own").empty());
  }
};

TEST_F(KernelOption, OtherNamesAndFlatIndices) {
  expect_same_kernel(R"(
void multiply(int rows, int depth, int width, const float* w, const float* x, float* y) {
  for (int r = 0; r < rows; ++r)
    for (int d = 0; d < depth; ++d)
      for (int c = 0; c < width; ++c)
        y[r * width + c] += w[r * depth + d] * x[d * width + c];
}
)");
}

TEST_F(KernelOption, SizesAsNumbers) {
  const std::string nest = R"(
void multiply(int M, int K, int N, int twice, const float A[M][K], const float B[K][N], float C[M][twice / 2 - 1 + 1]) {
  const int columns = twice / 2;
  for (int i = 0; i < M; i++)
    for (int k = 0; k < K; k++)
      for (int j = 0; j < columns; j++) C[i][j] += A[i][k] * B[k][j];
}
)";
  write("nest.c", nest);
  const ProcessResult lowered =
      escgen({"lower", "--schedule", "4-2-2-64", "--kernel", "nest.c", "--size", "twice=80,N=40", "--dump-steps"});
  ASSERT_EQ(lowered.status, 0) << lowered.errors;
  EXPECT_THAT(lowered.output, HasSubstr("{ (i, k, j) : 0 <= i < M, 0 <= k < K, 0 <= j < 40 }"));
}

TEST_F(KernelOption, OtherOrderOfLoops) {
  expect_same_kernel(R"(
void multiply(int M, int K, int N, const float A[M][K], const float B[K][N], float C[M][N]) {
  for (int k = 0; k < K; k++)
    for (int j = 0; j < N; j++)
      for (int i = 0; i < M; i++)
        if (A[i][k] != 0) C[i][j] = C[i][j] + B[k][j] * A[i][k];
}
)");
}

TEST_F(KernelOption, ConstantSizesOfTheMatrix) {
  expect_same_kernel(R"(
void multiply(int N, const float A[13][17], const float B[17][N], float C[13][N]) {
  for (int i = 0; i < 13; i++)
    for (int k = 0; k < 17; k++)
      for (int j = 0; j < N; j++) C[i][j] += A[i][k] * B[k][j];
}
)");
}

TEST_F(KernelOption, ConstantNumberOfColumns) {
  expect_same_kernel(R"(
void multiply(const float A[13][17], const float B[17][40], float C[13][40]) {
  for (int i = 0; i < 13; i++)
    for (int k = 0; k < 17; k++)
      for (int j = 0; j < 40; j++) C[i][j] += A[i][k] * B[k][j];
}
)");
}

TEST_F(KernelOption, ANestOfDoublesGivesAKernelOfDoubles) {
  const std::string nest = R"(
void multiply(int M, int K, int N, const double A[M][K], const double B[K][N], double C[M][N]) {
  for (int i = 0; i < M; i++)
    for (int k = 0; k < K; k++)
      for (int j = 0; j < N; j++) C[i][j] += A[i][k] * B[k][j];
}
)";
  write("nest.c", nest);
  for (const std::string schedule :
       {"auto", "4-7-1-32", "panel:ufi=2,columns=8,vector=2,groups=4,warps=2,panels=4,stage=on", "rows:columns=8"}) {
    ASSERT_EQ(escgen({"generate", "a.mtx", "--bcol", "40", "-o", "own", "--force", "--schedule", schedule, "--kernel",
                      "nest.c", "--no-verify"})
                  .status,
              0)
        << schedule;
    EXPECT_THAT(read("own/a/a.h"), HasSubstr("const double* b, int64_t ldb, double* c"));
    EXPECT_FALSE(read("own/a/a.cu").find("float ") != std::string::npos) << schedule;
    EXPECT_THAT(read("own/a/manifest.json"), HasSubstr("\"dtype\": \"f64\""));
    const ProcessResult verified = escgen({"verify", "own/a"});
    EXPECT_EQ(verified.status, 0) << verified.output;
    EXPECT_THAT(verified.output, ContainsRegex("relative error [0-9.]+e-1[67] \\(at most [0-9.]+e-15\\)"));
  }
  const std::string by_kernel = read("own/a/a.cu");
  ASSERT_EQ(
      escgen({"generate", "a.mtx", "--bcol", "40", "-o", "option", "--schedule", "rows:columns=8", "--dtype", "f64"})
          .status,
      0);
  EXPECT_EQ(read("option/a/a.cu"), by_kernel);
  expect_refusal({"generate", "a.mtx", "--bcol", "40", "-o", "none", "--kernel", "nest.c", "--dtype", "f32"},
                 "--dtype f32: is not what nest.c has: f64; leave --dtype out");
}

TEST_F(KernelOption, ConstantSizesOfAnotherMatrix) {
  const ProcessResult generated = generate(R"(
void multiply(const float A[12][17], const float B[17][40], float C[12][40]) {
  for (int i = 0; i < 12; i++)
    for (int k = 0; k < 17; k++)
      for (int j = 0; j < 40; j++) C[i][j] += A[i][k] * B[k][j];
}
)");
  EXPECT_EQ(generated.status, 2);
  EXPECT_THAT(generated.errors, ::testing::StartsWith("escgen: loop nest: has 12 rows, but the matrix has 13; "));
  EXPECT_TRUE(snapshot("own").empty());
}

TEST_F(KernelOption, WhatIsNoProductIsRefusedWithItsPlace) {
  const std::string head = "void f(int M, int K, int N, const float A[M][K], const float B[K][N], float C[M][N]) {\n";
  const std::string loops = "for (int i = 0; i < M; i++)\nfor (int k = 0; k < K; k++)\nfor (int j = 0; j < N; j++)\n";
  expect_refused(head + loops + "C[i][j] += A[i][k] + B[k][j];\n}\n", "5:[0-9]+", "operator + in what is added");
  expect_refused(head + loops + "C[i][j] -= A[i][k] * B[k][j];\n}\n", "5:[0-9]+", "");
  expect_refused(head + loops + "C[i][j] += A[k][i] * B[k][j];\n}\n", "[0-9]+:[0-9]+", "");
  expect_refused(head +
                     "for (int i = 0; i < M; i += 2)\nfor (int k = 0; k < K; k++)\nfor (int j = 0; j < N; j++)\n"
                     "C[i][j] += A[i][k] * B[k][j];\n}\n",
                 "2:[0-9]+", "the step of loop i is 2");
  expect_refused(head + loops + "C[i][j] += A[i][k] * B[k][j]\n}\n", "5:[0-9]+", "expected ';'");
  expect_refused("#include \"absent.h\"\n", "1:[0-9]+", "'absent.h' file not found");
  expect_refused("", "1:1", "no loop nest found");
}

TEST_F(KernelOption, FileThatCannotBeRead) {
  expect_refusal({"generate", "a.mtx", "--bcol", "40", "-o", "own", "--kernel", "absent.c"},
                 "absent.c: cannot be read");
  expect_refusal({"lower", "--schedule", "4-7-1-32", "--kernel", "out"}, "out: is a directory");
}

}  // namespace
}  // namespace esc::cli
