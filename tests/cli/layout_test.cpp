// SPDX-License-Identifier: Apache-2.0
// --kernel with nests whose matrices are made of arrays of any dimensions, as a user has them: layers with a row for
// each token, batches, convolutions.

#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "generator/support/file.h"
#include "tests/cli/workshop.h"
#include "tests/support/run_size.h"

namespace esc::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string templates = ESC_SOURCE_DIR "/templates/";

constexpr const char* batched = R"(
void batched(int B, int M, int K, int T, const float W[M][K], const float X[B][K][T], float Y[B][M][T]) {
  for (int b = 0; b < B; b++)
    for (int i = 0; i < M; i++)
      for (int t = 0; t < T; t++)
        for (int k = 0; k < K; k++)
          if (W[i][k] != 0) Y[b][i][t] += W[i][k] * X[b][k][t];
}
)";

constexpr const char* block_of_a_network = R"(
void block(int N, int C, int H, int W, int F, int R, int S, const float Weights[F][C][R][S], const float X[N][C][H][W],
           float Y[N][F][H][W], const float bias[F], const float residual[N][F][H][W]) {
  for (int n = 0; n < N; n++)
    for (int f = 0; f < F; f++)
      for (int p = 0; p < H; p++)
        for (int q = 0; q < W; q++) {
          float sum = 0;
          for (int c = 0; c < C; c++)
            for (int r = 0; r < R; r++)
              for (int s = 0; s < S; s++) {
                const int h = p + r - 1;
                const int w = q + s - 1;
                if (Weights[f][c][r][s] != 0 && h >= 0 && h < H && w >= 0 && w < W) sum += Weights[f][c][r][s] * X[n][c][h][w];
              }
          const float value = sum + bias[f] + residual[n][f][p][q];
          Y[n][f][p][q] = value < 0 ? 0 : value;
        }
}
)";

constexpr const char* groups_with_epilogue = R"(
void grouped(int N, int G, int H, int W, int F, int C, int R, int S, const float Weights[F][C][R][S], const float X[N][G * C][H][W],
             float Y[N][F][H][W], const float scale[F], const float residual[N][F][H][W]) {
  const int FG = F / G;
  for (int n = 0; n < N; n++)
    for (int g = 0; g < G; g++)
      for (int f = 0; f < FG; f++)
        for (int p = 0; p < H; p++)
          for (int q = 0; q < W; q++) {
            float sum = 0;
            for (int c = 0; c < C; c++)
              for (int r = 0; r < R; r++)
                for (int s = 0; s < S; s++) {
                  const int h = p + r - 1;
                  const int w = q + s - 1;
                  if (Weights[g * FG + f][c][r][s] != 0 && h >= 0 && h < H && w >= 0 && w < W)
                    sum += Weights[g * FG + f][c][r][s] * X[n][g * C + c][h][w];
                }
            const float value = sum * scale[g * FG + f] + residual[n][g * FG + f][p][q];
            Y[n][g * FG + f][p][q] = value < 0 ? 0 : value;
          }
}
)";

const std::string batch_of_sparse_matrices = ESC_SOURCE_DIR "/docs/examples/sparse_batch.c";

/// Other names for those of `block_of_a_network`.
using Renaming = std::map<std::string, std::string>;

std::string renamed(const std::string& text, const Renaming& names) {
  static const std::regex identifier("[A-Za-z_][A-Za-z_0-9]*");
  std::string result;
  auto end = text.cbegin();
  for (std::sregex_iterator at(text.begin(), text.end(), identifier), last; at != last; ++at) {
    result.append(end, (*at)[0].first);
    const auto found = names.find(at->str());
    result += found == names.end() ? at->str() : found->second;
    end = (*at)[0].second;
  }
  return result.append(end, text.cend());
}

/// What a user writes, and what the header says of B and C.
struct LaidOut {
  std::string name;
  std::string kernel;  ///< the file, or its text
  std::vector<std::string> options;
  std::string b;
  std::string c;
  std::string operands;  ///< after C's leading dimension
};

void PrintTo(const LaidOut& one, std::ostream* stream) { *stream << one.name; }

class LayoutWorkshop : public Workshop {
 protected:
  /// Weights of so many filters, channels and taps, some of them zero, as NumPy stores them.
  void write_weights(const std::string& name, int filters, int channels, int height, int width) const {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(filters) + ", " +
                         std::to_string(channels) + ", " + std::to_string(height) + ", " + std::to_string(width) +
                         "), }";
    header.resize(117, ' ');
    header += '\n';
    std::string bytes = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header;
    for (int at = 0; at < filters * channels * height * width; ++at) {
      const float weight = at % 3 == 1 ? 0.0F : static_cast<float>(at % 7 - 3) / 4;
      bytes.append(reinterpret_cast<const char*>(&weight), sizeof weight);
    }
    write(name, bytes);
  }

  /// Makes out/layer of the weights or the matrix a.mtx.
  std::vector<std::string> line(const LaidOut& one, const std::vector<std::string>& more) const {
    std::string file = one.kernel;
    if (file.find('\n') != std::string::npos) {
      write("nest.c", file);
      file = "nest.c";
    }
    std::vector<std::string> arguments{"generate"};
    arguments.insert(arguments.end(), one.options.begin(), one.options.end());
    arguments.insert(arguments.end(), {"--kernel", file, "-o", "out", "--name", "layer"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  void SetUp() override {
    write_matrix();
    write_weights("w.npy", 5, 3, 3, 3);
    write_weights("taps.npy", 2, 1, 20, 15);
    write_weights("many.npy", 1, 1, 35, 30);
    write_weights("one.npy", 5, 6, 1, 1);
    write_weights("even.npy", 4, 3, 3, 3);
    write_weights("deep.npy", 6, 1, 3, 3);
  }
};

class LaidOutBundles : public LayoutWorkshop, public ::testing::WithParamInterface<LaidOut> {};

TEST_P(LaidOutBundles, AreVerifiedAndCurrent) {
  const ProcessResult generated = escgen(line(GetParam(), {}));
  ASSERT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(generated.output, HasSubstr("verified   by emulation: relative error"));
  EXPECT_EQ(parse_json(read("out/layer/manifest.json"))["verification"]["passed"], true);
  const ProcessResult verified = escgen({"verify", "out/layer"});
  EXPECT_EQ(verified.status, 0) << verified.output << verified.errors;
  EXPECT_THAT(verified.output, ::testing::StartsWith("passed by emulation: "));
  EXPECT_THAT(escgen(line(GetParam(), {"--check"})).output, EndsWith("check      the bundle is current\n"));
}

TEST_P(LaidOutBundles, SayWhereTheElementsOfBAndCAre) {
  ASSERT_EQ(escgen(line(GetParam(), {"--no-verify"})).status, 0);
  EXPECT_EQ(parse_json(read("out/layer/manifest.json"))["layout"], GetParam().name == "linear_nk" ? "nk" : "nest");
  const std::string header = read("out/layer/layer.h");
  EXPECT_THAT(header, AllOf(HasSubstr("b: " + GetParam().b), HasSubstr("c: " + GetParam().c)));
  std::string words;
  std::istringstream declaration(header.substr(header.find("cudaError_t layer_spmm(const void* packed")));
  for (std::string word; declaration >> word && !words.ends_with(";");) {
    words += word + (word.ends_with(";") ? "" : " ");
  }
  EXPECT_THAT(words, HasSubstr("int64_t ldc, " + GetParam().operands + "int32_t n, cudaStream_t stream);"));
}

std::string apart(const std::string& array, const std::string& leading_dimension, int least) {
  return array + ", an index of its first dimension is " + leading_dimension + " elements from the next, " +
         leading_dimension + " >= " + std::to_string(least);
}

[[maybe_unused]] const bool laid_out_bundles_is_sampled = tests::sample_suite("Layout/LaidOutBundles", 8);

INSTANTIATE_TEST_SUITE_P(
    Layout, LaidOutBundles,
    ::testing::Values(LaidOut{"linear_nk",
                              templates + "linear_nk.c",
                              {"a.mtx", "--bcol", "6"},
                              apart("X[n][17]", "ldb", 17),
                              apart("Y[n][13]", "ldc", 13),
                              ""},
                      LaidOut{"batched",
                              batched,
                              {"a.mtx", "--size", "T=12", "--bcol", "3"},
                              apart("X[n][17][12]", "ldb", 204),
                              apart("Y[n][13][12]", "ldc", 156),
                              ""},
                      LaidOut{"conv2d",
                              templates + "conv2d.c",
                              {"w.npy", "--size", "H=9,W=7,stride=1,pad=1,dilation=1", "--bcol", "2"},
                              apart("X[n][3][9][7]", "ldb", 189),
                              apart("Y[n][5][9][7]", "ldc", 315),
                              ""},
                      LaidOut{"conv2d_with_strides",
                              templates + "conv2d.c",
                              {"w.npy", "--size", "H=9,W=7,stride=2,pad=2", "--size", "dilation=2", "--bcol", "2"},
                              apart("X[n][3][9][7]", "ldb", 189),
                              apart("Y[n][5][5][4]", "ldc", 100),
                              ""},
                      LaidOut{"conv2d_nhwc",
                              templates + "conv2d_nhwc.c",
                              {"w.npy", "--size", "H=9,W=7,stride=1,pad=1,dilation=1", "--bcol", "2"},
                              apart("X[n][9][7][3]", "ldb", 189),
                              apart("Y[n][9][7][5]", "ldc", 315),
                              ""},
                      LaidOut{"groups_of_one",
                              templates + "conv2d_groups.c",
                              {"w.npy", "--size", "groups=1,H=9,W=7,stride=1,pad=1,dilation=1", "--bcol", "2"},
                              apart("X[n][3][9][7]", "ldb", 189),
                              apart("Y[n][5][9][7]", "ldc", 315),
                              ""},
                      LaidOut{"two_groups",
                              templates + "conv2d_groups.c",
                              {"even.npy", "--size", "groups=2,H=9,W=7,stride=2,pad=1,dilation=1", "--bcol", "2"},
                              apart("X[n][6][9][7]", "ldb", 378),
                              apart("Y[n][4][5][4]", "ldc", 80),
                              ""},
                      LaidOut{"depthwise",
                              templates + "conv2d_groups.c",
                              {"deep.npy", "--size", "groups=6,H=9,W=7,stride=1,pad=1,dilation=2", "--bcol", "2"},
                              apart("X[n][6][9][7]", "ldb", 378),
                              apart("Y[n][6][7][5]", "ldc", 210),
                              ""},
                      LaidOut{"depthwise_by_rows",
                              templates + "conv2d_groups.c",
                              {"deep.npy", "--size", "groups=6,H=9,W=7,stride=1,pad=1,dilation=1", "--bcol", "2",
                               "--schedule", "rows:columns=8,vector=1"},
                              apart("X[n][6][9][7]", "ldb", 378),
                              apart("Y[n][6][9][7]", "ldc", 378),
                              ""},
                      LaidOut{"two_groups_published",
                              templates + "conv2d_groups.c",
                              {"even.npy", "--size", "groups=2,H=9,W=7,stride=1,pad=1,dilation=1", "--bcol", "2",
                               "--schedule", "4-2-1-32"},
                              apart("X[n][6][9][7]", "ldb", 378),
                              apart("Y[n][4][9][7]", "ldc", 252),
                              ""},
                      LaidOut{"groups_with_epilogue",
                              groups_with_epilogue,
                              {"even.npy", "--size", "G=2,H=9,W=7", "--bcol", "2"},
                              apart("X[n][6][9][7]", "ldb", 378),
                              apart("Y[n][4][9][7]", "ldc", 252),
                              "const float* scale_, const float* residual_, int64_t residual_ld, "},
                      LaidOut{"own_epilogue",
                              block_of_a_network,
                              {"w.npy", "--size", "H=9,W=7", "--bcol", "2"},
                              apart("X[n][3][9][7]", "ldb", 189),
                              apart("Y[n][5][9][7]", "ldc", 315),
                              "const float* bias_, const float* residual_, int64_t residual_ld, "}),
    [](const auto& one) { return one.param.name; });

class ConvolutionOption : public LayoutWorkshop {
 protected:
  std::vector<std::string> convolution(const std::vector<std::string>& more, const std::string& weights = "w.npy",
                                       const std::string& sizes = "H=9,W=7,stride=1,pad=1,dilation=1") const {
    return line({"conv2d", templates + "conv2d.c", {weights, "--size", sizes}, "", "", ""}, more);
  }
};

/// Taps of one row and one column move nothing.
TEST_F(ConvolutionOption, FiltersOfOnePixelMoveVectors) {
  const std::vector<std::string> schedule{"--bcol", "2", "--schedule",
                                          "panel:ufi=2,columns=32,vector=4,groups=4,warps=2,panels=2", "--force"};
  const ProcessResult generated = escgen(convolution(schedule, "one.npy", "H=5,W=8,stride=1,pad=0,dilation=1"));
  ASSERT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(read("out/layer/layer.cu"), AllOf(HasSubstr("layer_kernel<true, true>"), Not(HasSubstr("taps"))));
  ASSERT_EQ(escgen(convolution(schedule, "one.npy", "H=5,W=6,stride=1,pad=0,dilation=1")).status, 0);
  EXPECT_THAT(read("out/layer/layer.cu"), Not(HasSubstr("layer_kernel<true, true>")));
}

TEST_F(ConvolutionOption, AManifestWithAnotherSubscriptFails) {
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"r - 1", "r"}, {"s - 1", "s"}, {"s - 1", "s - 2"}}) {
    SCOPED_TRACE(to);
    ASSERT_EQ(escgen(convolution({"--bcol", "2", "--no-verify", "--force"})).status, 0);
    replace("out/layer/manifest.json", from, to, true);
    const ProcessResult verified = escgen({"verify", "out/layer"});
    EXPECT_EQ(verified.status, 1) << verified.errors;
    EXPECT_THAT(verified.output, AllOf(HasSubstr("WRONG  n 2, ldb 189, ldc 315"), StartsWith("failed by emulation: ")));
  }
}

/// Without the border of zeros an image gives a smaller one, which the header does not say.
TEST_F(ConvolutionOption, AManifestWithoutThePaddingFails) {
  ASSERT_EQ(escgen(convolution({"--bcol", "2", "--no-verify"}, "w.npy", "H=9,W=7,stride=1,pad=0,dilation=1")).status,
            0);
  const nlohmann::json without = parse_json(read("out/layer/manifest.json"))["loop_nest"];
  ASSERT_EQ(escgen(convolution({"--bcol", "2", "--no-verify", "--force"})).status, 0);
  nlohmann::json manifest = parse_json(read("out/layer/manifest.json"));
  ASSERT_NE(manifest["loop_nest"], without);
  manifest["loop_nest"] = without;
  write("out/layer/manifest.json", manifest.dump(2) + "\n");
  const ProcessResult verified = escgen({"verify", "out/layer"});
  EXPECT_EQ(verified.status, 1) << verified.output;
  EXPECT_THAT(verified.errors, EndsWith("escgen: out/layer/layer.h:10: is not what is generated for this manifest and "
                                        "matrix; generate the bundle again\n"));
  EXPECT_THAT(verified.output, Not(HasSubstr("passed")));
}

TEST_F(ConvolutionOption, TheExampleOfABatchIsTheOneOfTheDocumentation) {
  const std::string file = read_file(batch_of_sparse_matrices);
  EXPECT_THAT(read_file(ESC_SOURCE_DIR "/docs/guide/nests.md"),
              HasSubstr("```c\n" + file.substr(file.find("void")) + "```\n"));
}

/// B and C are row-major, of all groups: the kernel is that of the block-diagonal matrix.
TEST_F(ConvolutionOption, ABatchOfSparseMatricesIsABlockDiagonalOne) {
  const LaidOut batch{"batch", batch_of_sparse_matrices, {"one.npy", "--size", "G=5,I=1,K=6", "--bcol", "8"}, "", "",
                      ""};
  const ProcessResult generated = escgen(line(batch, {}));
  ASSERT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(generated.output, HasSubstr("layer: 5 x 30, "));
  EXPECT_EQ(parse_json(read("out/layer/manifest.json"))["layout"], "kn");
  EXPECT_THAT(read("out/layer/layer.h"), HasSubstr("b: 30 x n, row k at b + k * ldb; c: 5 x n, row i at c + i * ldc"));
  EXPECT_EQ(escgen({"verify", "out/layer"}).status, 0);
}

TEST_F(ConvolutionOption, WeightsOfOtherGroupsAreRefused) {
  const LaidOut batch{"batch", batch_of_sparse_matrices, {"one.npy", "--size", "G=2,I=1,K=6", "--bcol", "8"}, "", "",
                      ""};
  expect_refusal(line(batch, {}),
                 "matrix: is 5 x 6, but the nest's sparse array has 2 rows, those of all groups, of 6 elements each");
}

TEST_F(ConvolutionOption, FiltersThatGroupsDoNotDivideAreRefused) {
  const LaidOut uneven{"uneven",
                       templates + "conv2d_groups.c",
                       {"w.npy", "--size", "groups=2,H=9,W=7,stride=1,pad=1,dilation=1", "--bcol", "2"},
                       "",
                       "",
                       ""};
  const ProcessResult refused = escgen(line(uneven, {}));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors,
              HasSubstr("subscript f + 2*g of Weights counts to 4, but it is declared with 5: expected the same"));
}

/// No launch of so many tiles computes a whole image.
TEST_F(ConvolutionOption, ImagesLargerThanALaunchAreRefused) {
  const std::string large = "H=300,W=300,stride=1,pad=1,dilation=1";
  expect_refusal(
      convolution({"--bcol", "1", "--no-verify", "--schedule", "rows:columns=1,vector=1"}, "w.npy", large),
      "rows: tile=1x1, thread=1x1, unroll_k=4, task=128, light=16, warps=4, pdl=on: one of the items that bCol counts "
      "has 90000 columns of C, more than "
      "the 65535 tiles of 1 of a launch; choose a tile N of 2 at least");
  EXPECT_EQ(escgen(convolution({"--bcol", "1", "--no-verify", "--schedule", "rows:columns=2,vector=1"}, "w.npy", large))
                .status,
            0);
}

TEST_F(ConvolutionOption, MoreColumnsThanAKernelCountsAreRefused) {
  for (const std::string schedule : {"auto", "rows:columns=8,vector=1"}) {
    expect_refusal(convolution({"--bcol", "90000", "--no-verify", "--schedule", schedule}, "w.npy",
                               "H=300,W=300,stride=1,pad=1,dilation=1"),
                   "--bcol 90000: counts items of 90000 columns of C each: together more than the 2147483647 that a "
                   "kernel counts; choose at most 23860");
  }
}

/// Up to 32 are in a word, up to 64 in a long one.
TEST_F(ConvolutionOption, LargeFiltersArePadded) {
  const ProcessResult generated =
      escgen(convolution({"--bcol", "1"}, "taps.npy", "H=30,W=30,stride=1,pad=1,dilation=1"));
  ASSERT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(generated.output, HasSubstr("verified   by emulation"));
  EXPECT_THAT(read("out/layer/layer.cu"), HasSubstr("unsigned long long taps;"));
}

TEST_F(ConvolutionOption, MoreTapsThanAWordHasBitsAreRefused) {
  expect_refusal(convolution({"--bcol", "1"}, "many.npy", "H=50,W=50,stride=1,pad=1,dilation=1"),
                 "escgen: loop nest: B: pads for 65 taps of a filter, rows and columns together, more than 64; pad the "
                 "array itself, and leave the guards out");
  EXPECT_EQ(escgen(convolution({"--bcol", "1"}, "many.npy", "H=50,W=50,stride=1,pad=0,dilation=1")).status, 0);
}

/// Names of the canonical form, of generated texts, of macros, of C++ and of sizes, for everything that a nest names:
/// the same product under each.
TEST_F(LayoutWorkshop, NamesOfANestAreTheUsersOwn) {
  const std::vector<Renaming> names{
      {{"n", "i"}, {"p", "j"}, {"q", "k"}, {"f", "m"}, {"c", "l"}},
      {{"n", "i_"}, {"p", "i"}, {"q", "k_"}, {"f", "j_"}, {"c", "k"}, {"r", "j"}, {"s", "j__"}},
      {{"n", "row"},
       {"p", "column"},
       {"q", "ldb"},
       {"f", "items"},
       {"c", "tap"},
       {"r", "outside"},
       {"s", "leading_dimension"},
       {"sum", "B"},
       {"value", "C"},
       {"bias", "packed"},
       {"residual", "b"},
       {"X", "stream"},
       {"Y", "n"},
       {"Weights", "ldc"},
       {"N", "K"},
       {"C", "M"},
       {"F", "N"}},
      {{"n", "unix"},
       {"p", "linux"},
       {"q", "INT8_C"},
       {"f", "threadIdx"},
       {"c", "CUDART_CB"},
       {"r", "uint32_t"},
       {"s", "warp"},
       {"bias", "NULL"},
       {"residual", "errno"},
       {"X", "EOF"},
       {"Y", "memcpy"},
       {"sum", "isnan"},
       {"value", "assert"}},
      {{"n", "class"},
       {"p", "this"},
       {"q", "new"},
       {"f", "template"},
       {"c", "operator"},
       {"bias", "delete"},
       {"residual", "typename"},
       {"X", "throw"},
       {"sum", "virtual"}},
      {{"n", "__LINE_"},
       {"p", "__unix_"},
       {"q", "_"},
       {"bias", "__FILE_"},
       {"residual", "__linux_"},
       {"f", "__i"},
       {"sum", "own__linux_"},
       {"value", "_Bool_"}},
      {{"N", "K"}, {"C", "N"}, {"F", "C"}, {"R", "S"}, {"S", "R"}, {"block", "kernel"}},
  };
  for (const Renaming& one : names) {
    SCOPED_TRACE(testing::PrintToString(one));
    write("nest.c", renamed(block_of_a_network, one));
    const ProcessResult made = escgen({"generate", "w.npy", "--kernel", "nest.c", "--size", "H=4,W=4", "--bcol", "2",
                                       "-o", "out", "--name", "layer", "--force"});
    EXPECT_EQ(made.status, 0) << made.errors;
    EXPECT_THAT(made.output, HasSubstr("verified   by emulation"));
  }
}

/// A block has all filters, so that a sample of rows is the whole product: calls that ask for a part of it run some
/// tiles of its columns.
TEST_F(LayoutWorkshop, PartsOfAConvolutionAreTilesOfItsColumns) {
  write_weights("filters.npy", 32, 32, 3, 3);
  ASSERT_EQ(
      escgen({"generate", "filters.npy", "--kernel", templates + "conv2d.c", "--size",
              "H=40,W=40,stride=1,pad=1,dilation=1", "--bcol", "1", "--no-verify", "-o", "out", "--name", "layer"})
          .status,
      0);
  const ProcessResult verified = escgen({"verify", "out/layer", "-v"});
  EXPECT_EQ(verified.status, 0) << verified.output;
  EXPECT_THAT(unbroken(verified.output),
              AllOf(ContainsRegex(" 32 rows, relative error [^\n]*, tuned\n"),
                    ContainsRegex("[0-9]+ rows and [0-9]+ of 1600 columns, relative [^\n]*ldc alone is another\n")));
}

}  // namespace
}  // namespace esc::cli
