// SPDX-License-Identifier: Apache-2.0
// Nests with an epilogue of the user's own, and what verification finds in texts that were changed.

#include "tests/cli/epilogue_workshop.h"

namespace esc::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class OwnEpilogue : public EpilogueWorkshop {
 protected:
  static constexpr const char* example = ESC_SOURCE_DIR "/docs/examples/layer.c";
  /// The nest with these parameters after C and this statement after the sum.
  static std::string nest(const std::string& parameters, const std::string& statement) {
    return "#include <math.h>\nvoid f(int M, int K, int N, const float A[M][K], const float B[K][N], float C[M][N], " +
           parameters +
           ") {\n  for (int i = 0; i < M; i++)\n    for (int j = 0; j < N; j++) {\n      float sum = 0;\n"
           "      for (int k = 0; k < K; k++) sum += A[i][k] * B[k][j];\n      " +
           statement + "\n    }\n}\n";
  }
  std::vector<std::string> with_nest(const std::string& file, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"generate", "a.mtx", "--bcol", "40", "-o", "out", "--force", "--kernel", file});
    return more;
  }
};

TEST_F(OwnEpilogue, OfTheDocumentation) {
  const ProcessResult generated = escgen(with_nest(example));
  ASSERT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(generated.output, HasSubstr("verified   by emulation"));
  EXPECT_EQ(operands(), "float gate_, const float* bias_, const float* input_, int64_t input_ld, ");
  expect_verified();
  EXPECT_EQ(escgen({"generate", "a.mtx", "--bcol", "40", "-o", "out", "--check", "--kernel", example}).status, 0);
}

TEST_F(OwnEpilogue, IsTheShippedOneWhereItSaysTheSame) {
  write("nest.c", nest("const float bias[M]", "float x1 = sum + bias[i]; float x2 = x1 < 0 ? 0 : x1; C[i][j] = x2;"));
  ASSERT_EQ(escgen(with_nest("nest.c", {"--schedule", rows_schedule, "--no-verify"})).status, 0);
  const Snapshot own = snapshot("out/a");
  generate("bias+relu", {"--schedule", rows_schedule, "--no-verify", "--force"});
  EXPECT_EQ(own.at("a.cu"), read("out/a/a.cu"));
  EXPECT_EQ(own.at("a.h"), read("out/a/a.h"));
}

TEST_F(OwnEpilogue, TakesOperandsInTheOrderOfTheParameters) {
  write("nest.c", nest("float offset, const float by_column[N], float unused, const float by_row[M]",
                       "C[i][j] = sum * by_row[i] + by_column[j] - offset;"));
  const ProcessResult generated = escgen(with_nest("nest.c"));
  ASSERT_EQ(generated.status, 0) << generated.errors;
  EXPECT_EQ(operands(), "float offset_, const float* by_column_, const float* by_row_, ");
}

/// As many rows as columns of C: by row and by column are not the same.
TEST_F(OwnEpilogue, MayHaveEqualSizes) {
  for (const std::string sizes : {"13", "M"}) {
    for (const std::string index : {"i", "j"}) {
      SCOPED_TRACE(sizes + " " + index);
      const std::string depth = sizes == "M" ? "K" : "17";
      write("nest.c", "void f(" + std::string(sizes == "M" ? "int M, int K, " : "") + "const float A[" + sizes + "][" +
                          depth + "], const float B[" + depth + "][" + sizes + "], float C[" + sizes + "][" + sizes +
                          "], const float v[" + sizes + "]) {\n  for (int i = 0; i < " + sizes +
                          "; i++)\n    for (int j = 0; j < " + sizes +
                          "; j++) {\n      float sum = 0;\n      for (int k = 0; k < " + depth +
                          "; k++) sum += A[i][k] * B[k][j];\n      C[i][j] = sum * v[" + index + "];\n    }\n}\n");
      const ProcessResult generated =
          escgen({"generate", "a.mtx", "--bcol", "13", "-o", "out", "--force", "--kernel", "nest.c"});
      EXPECT_EQ(generated.status, 0) << generated.errors;
    }
  }
}

TEST_F(OwnEpilogue, MayHaveNamesLikeThoseOfLeadingDimensions) {
  for (const auto& [parameters, statement] : std::vector<std::pair<std::string, std::string>>{
           {"const float D[M][N], float D_ld", "C[i][j] = sum + D[i][j] * D_ld;"},
           {"const float D[M][N], float s", "float D_ld = sum * s; C[i][j] = D_ld + D[i][j];"}}) {
    SCOPED_TRACE(statement);
    write("nest.c", nest(parameters, statement));
    const ProcessResult generated = escgen(with_nest("nest.c"));
    EXPECT_EQ(generated.status, 0) << generated.errors;
  }
}

TEST_F(OwnEpilogue, WhatIsNoneIsRefusedAtItsPlace) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {nest("const float bias[M]", "C[i][j] = sum + bias[i + 1];"), "bias[i + 1] has a part in what C becomes"},
      {nest("double scale", "C[i][j] = sum * scale;"), "scale holds double, C holds float: expected the same type"},
      {nest("float scale", "C[i][j] = sum * scale * i;"), "an integer in a value"},
      {nest("float scale", "C[i][j] = lgammaf(sum * scale);"),
       "call of lgammaf: the nest is expected to call nothing but"},
  };
  for (const auto& [text, words] : wrong) {
    write("nest.c", text);
    const ProcessResult refused = escgen(with_nest("nest.c"));
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.errors, AllOf(ContainsRegex("^escgen: nest\\.c:7:[0-9]+: error: "), HasSubstr(words)));
  }
  EXPECT_TRUE(snapshot("out").empty());
}

class TamperedEpilogue : public EpilogueWorkshop {
 protected:
  void SetUp() override {
    EpilogueWorkshop::SetUp();
    generate("scale+bias+residual+relu", {"--no-verify", "--schedule", rows_schedule});
  }

  /// With this change of its text the verification must fail and say so.
  void expect_caught(const std::string& from, const std::string& to, const std::string& words) const {
    SCOPED_TRACE(to);
    const std::string intact = read("out/a/a.cu");
    replace("out/a/a.cu", from, to, true);
    const ProcessResult verified = escgen({"verify", "out/a"});
    EXPECT_EQ(verified.status, 1) << verified.errors;
    EXPECT_THAT(verified.output, AllOf(ContainsRegex(words), StartsWith("failed by emulation: ")));
    write("out/a/a.cu", intact);
  }
};

TEST_F(TamperedEpilogue, ValuesOfOtherElements) {
  expect_caught("bias_[row]", "bias_[0]", "WRONG  n 40, .*C\\[[0-9]+\\]\\[[0-9]+\\] is ");
  expect_caught("bias_[row]", "bias_[row + 1]", "out of bounds: .*operand bias");
  expect_caught("residual_[row * residual_ld", "residual_[row * ldc", "WRONG  n 40");
  expect_caught("residual_ld + at + w]", "residual_ld + at]", "WRONG  n 40");
}

TEST_F(TamperedEpilogue, StepsThatAreLeftOut) {
  expect_caught("= x4_;", "= sum_;", "WRONG  n 40");
  expect_caught("= x4_;", "= x3_;", "WRONG  n 40");
  expect_caught("x1_ = scale_ * sum_", "x1_ = sum_", "WRONG  n 40");
}

TEST_F(TamperedEpilogue, OtherOperations) {
  expect_caught("x3_ < 0.0f ?", "x3_ > 0.0f ?", "WRONG  n 40");
  expect_caught("x2_ = x1_ +", "x2_ = x1_ -", "WRONG  n 40");
}

TEST_F(TamperedEpilogue, RefusalsThatAreLeftOut) {
  const std::string intact = read("out/a/a.cu");
  for (const auto& [from, to] : {std::pair{"residual_ == nullptr || ", ""}, {"residual_ld < n", "residual_ld < 0"}}) {
    replace("out/a/a.cu", from, to, true);
    const ProcessResult verified = escgen({"verify", "out/a"});
    EXPECT_EQ(verified.status, 1) << from;
    EXPECT_THAT(verified.errors, ContainsRegex("a\\.cu:[0-9]+: has '[^']+' where another text is generated"));
    write("out/a/a.cu", intact);
  }
}

}  // namespace
}  // namespace esc::cli
