// SPDX-License-Identifier: Apache-2.0
// Products over the stored elements of a sparse matrix, and tables of constants in nests: what their bundles are.

#include "tests/cli/epilogue_workshop.h"

namespace esc::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class StoredElements : public EpilogueWorkshop {
 protected:
  static constexpr const char* shipped = ESC_SOURCE_DIR "/templates/spmm_csr.c";
  static std::vector<std::string> with_nest(const std::string& file, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"generate", "a.mtx", "--bcol", "8", "-o", "out", "--force", "--kernel", file});
    return more;
  }
};

TEST_F(StoredElements, MakeTheKernelOfTheWholeMatrix) {
  const ProcessResult generated = escgen(with_nest(shipped));
  ASSERT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(generated.output, HasSubstr("verified   by emulation"));
  const Snapshot own = snapshot("out/a");
  ASSERT_EQ(escgen(with_nest(ESC_SOURCE_DIR "/templates/spmm.c", {"--no-verify"})).status, 0);
  const Snapshot whole = snapshot("out/a");
  for (const char* const file : {"a.cu", "a.h", "a_transformer.cpp"}) {
    ASSERT_TRUE(own.contains(file)) << file;
    EXPECT_EQ(own.at(file), whole.at(file)) << file;
  }
}

TEST_F(StoredElements, AreInTheManifestAsTheyWereWritten) {
  ASSERT_EQ(escgen(with_nest(shipped, {"--no-verify"})).status, 0);
  const nlohmann::json manifest = parse_json(read("out/a/manifest.json"));
  EXPECT_THAT(manifest.dump(), AllOf(HasSubstr("const int rows[M + 1]"), HasSubstr("int columns_p = columns[p];")));
  expect_verified();
  EXPECT_EQ(escgen({"generate", "a.mtx", "--bcol", "8", "-o", "out", "--check", "--kernel", shipped}).status, 0);
}

TEST_F(StoredElements, AreShownByTheFirstStepOfLowering) {
  const ProcessResult lowered =
      escgen({"lower", "--kernel", shipped, "--schedule", "2-2-1-32", "--dump-steps", "--pattern", "11"});
  ASSERT_EQ(lowered.status, 0) << lowered.errors;
  EXPECT_THAT(lowered.output,
              AllOf(HasSubstr("--- input\nfor (i = 0; i < M; i++) {\n  int rows_i = rows[i];\n"),
                    HasSubstr("--- dense subscripts\nfor (i = 0; i < M; i++)\n  for (p = 0; p < K; p++)\n")));
}

TEST_F(StoredElements, AreRefusedWhereTheyAreNotThoseOfRows) {
  write("nest.c",
        "void f(int M, int K, int N, const int* rows, const int* columns, const float* values, const float B[K][N], "
        "float C[M][N]) {\n"
        "  for (int i = 0; i < M; i++)\n    for (int p = rows[i]; p < rows[i + 1]; p++)\n      for (int j = 0; j < N; "
        "j++)\n"
        "        C[i][j] += values[p] * B[columns[p] - 1][j];\n}\n");
  const ProcessResult refused = escgen(with_nest("nest.c"));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(
      refused.errors,
      StartsWith(
          "escgen: nest.c:5:32: error: no subscript of B is that of a column, columns[p] alone: expected the stored "
          "elements of one row, for (p = rows[i]; p < rows[i + 1]; p++) C[i][j] += values[p] * B[columns[p]][j]\n"));
  EXPECT_TRUE(snapshot("out").empty());
}

TEST_F(StoredElements, MayStandBesideATableOfConstants) {
  std::string numbers;
  for (int row = 0; row < 13; ++row) {
    numbers += std::to_string(row - 4) + ".5f, ";
  }
  write("nest.c", "static const float scale[13] = {" + numbers +
                      "};\nvoid f(int K, int N, const int rows[14], const int* columns, const float* values, const "
                      "float B[K][N], float C[13][N]) {\n"
                      "  for (int i = 0; i < 13; i++)\n    for (int j = 0; j < N; j++) {\n      float sum = 0;\n"
                      "      for (int p = rows[i]; p < rows[i + 1]; p++) sum += values[p] * B[columns[p]][j];\n"
                      "      C[i][j] = sum * scale[i];\n    }\n}\n");
  for (const char* const schedule : {panel_schedule, rows_schedule}) {
    SCOPED_TRACE(schedule);
    const ProcessResult generated = escgen(with_nest("nest.c", {"--schedule", schedule, "--no-verify"}));
    ASSERT_EQ(generated.status, 0) << generated.errors;
    EXPECT_EQ(operands(), "");
    EXPECT_THAT(read("out/a/a.cu"), AllOf(HasSubstr("__constant__ float scale_[13] = {"), HasSubstr("* scale_[")));
    EXPECT_THAT(read("out/a/a.h"), AllOf(HasSubstr("scale_: a number for each row of C, which the kernel has"),
                                         Not(HasSubstr("const float* scale_"))));
    expect_verified();
  }
}

}  // namespace
}  // namespace esc::cli
