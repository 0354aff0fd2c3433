// SPDX-License-Identifier: Apache-2.0
// What a verification is worth where matrices are made of arrays of any dimensions: the text of a kernel is changed in
// one place that says where elements are or which call is in order, and the verification must fail. So it must of a
// launcher that does not say that a kernel with much shared memory was not prepared.
//
// Not caught, for the text is as right with it: `ldb = given_ldb` in place of the tuned constant, the same number in
// every call that the tuned variant takes; and a larger limit of n, which is there for more columns than 32 bits count:
// B and C of them fit into no machine's memory.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "generator/emit/generate.h"
#include "generator/emit/sources.h"
#include "generator/emit/templates.h"
#include "generator/frontend/format_source.h"
#include "generator/frontend/parse_loop_nest.h"
#include "generator/matrix/drawn_value.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/verify/verify.h"
#include "tests/support/emulated_layer.h"

namespace esc {
namespace {

/// Rows of three out of four, two out of three and no elements.
SparseMatrix draw_matrix(std::int64_t rows, std::int64_t columns) {
  SparseMatrix matrix{rows, columns, {0}, {}, {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      if (row % 3 != 2 && (row + column) % (4 - row % 3) != 0) {
        matrix.column_of.push_back(static_cast<std::int32_t>(column));
        matrix.values.push_back(drawn_value(5, row, column));
      }
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

/// A bundle in memory, whose text may be changed.
class Subject {
 public:
  Subject(const LoopNest& nest, SparseMatrix matrix, std::int64_t bcol, const char* schedule)
      : matrix_(std::move(matrix)),
        nest_(nest),
        layer_(tests::layer_of(matrix_, bcol, parse_schedule(schedule), nest)),
        kernel_(tests::kernel_text(layer_)),
        transformer_(format_source(transformer_source(layer_.layer), layer_.layer.name + "_transformer.cpp")) {}

  const std::string& text() const { return kernel_; }
  const SparseMatrix& matrix() const { return matrix_; }
  const GeneratedLayer& layer() const { return layer_; }

  /// The text with the one place, or the first, where `from` is changed.
  std::string changed(const std::string& from, const std::string& to) const {
    std::string text = kernel_;
    const std::size_t at = text.find(from);
    if (at == std::string::npos) {
      ADD_FAILURE() << from << " is not in the text\n" << text;
      return text;
    }
    return text.replace(at, from.size(), to);
  }

  /// The transformer's text with the first place where `from` is changed.
  std::string changed_transformer(const std::string& from, const std::string& to) const {
    std::string text = transformer_;
    const std::size_t at = text.find(from);
    if (at == std::string::npos) {
      ADD_FAILURE() << from << " is not in the text\n" << text;
      return text;
    }
    return text.replace(at, from.size(), to);
  }

  /// The kernel's text with `function` in place of the first fmaf, by which a product is added.
  std::string with_product(const std::string& function) const {
    std::string text = changed("fmaf(", "faulty(");
    const std::size_t in_front = std::min(text.find("\ntemplate <"), text.find("\n__device__ "));
    return text.insert(in_front + 1, "__device__ float faulty(float a, float b, float sum) { " + function + " }\n\n");
  }

  /// With a text of its kernel; what is found of the transformer is the same each time.
  bool passes(const std::string& text) const {
    if (!transformer_found_) {
      transformer_found_ = verify_transformer(texts(kernel_, transformer_), matrix_, effort());
    }
    return verify_kernel(texts(text, transformer_), matrix_, *transformer_found_, effort()).passed();
  }
  bool passes_with_transformer(const std::string& transformer) const {
    return verify_by_emulation(texts(kernel_, transformer), matrix_, effort()).passed();
  }

  void expect_caught(const std::string& from, const std::string& to) const {
    SCOPED_TRACE(fmt::format("{} ==> {}", from, to));
    EXPECT_FALSE(passes(changed(from, to)));
  }
  void expect_caught_in_transformer(const std::string& from, const std::string& to) const {
    SCOPED_TRACE(fmt::format("{} ==> {}", from, to));
    EXPECT_FALSE(passes_with_transformer(changed_transformer(from, to)));
  }
  void expect_product_caught(const std::string& function) const {
    SCOPED_TRACE(function);
    EXPECT_FALSE(passes(with_product(function)));
  }
  void expect_not_caught(const std::string& from, const std::string& to) const {
    SCOPED_TRACE(fmt::format("{} ==> {}", from, to));
    EXPECT_TRUE(passes(changed(from, to)));
  }

 private:
  static EmulationEffort effort() {
    EmulationEffort effort = thorough_effort;
    effort.whole_report = false;
    return effort;
  }

  BundleUnderTest texts(const std::string& kernel, const std::string& transformer) const {
    return {.name = layer_.layer.name,
            .nest = nest_,
            .dispatch = dispatch_of(layer_.layer),
            .kernel_text = kernel,
            .transformer_text = transformer,
            .packed = layer_.bytes()};
  }

  SparseMatrix matrix_;
  LoopNest nest_;
  GeneratedLayer layer_;
  std::string kernel_;
  std::string transformer_;
  mutable std::optional<TransformerVerification> transformer_found_;
};

/// Images of 9 x 7 pixels with a border of zeros, some rows of whose weights are cut.
Subject convolution() {
  const GivenSizes sizes{
      {{"C", 3}, {"F", 5}, {"R", 3}, {"S", 3}, {"H", 9}, {"W", 7}, {"stride", 1}, {"pad", 1}, {"dilation", 1}}, {}};
  return {parse_loop_nest(conv2d_template, "conv2d.c", NestHeaders::of_system, sizes), draw_matrix(5, 27), 2,
          "rows:columns=8,vector=2,unroll=2,task=8,light=4,warps=2"};
}

/// A batch whose lanes move vectors.
Subject batch() {
  return {
      parse_loop_nest("void f(int B, int M, int K, const float W[M][K], const float X[B][K][12], float Y[B][M][12]) {\n"
                      "for (int b = 0; b < B; b++) for (int i = 0; i < M; i++) for (int t = 0; t < 12; t++) for (int k "
                      "= 0; k < K; k++)\n"
                      "if (W[i][k] != 0) Y[b][i][t] += W[i][k] * X[b][k][t]; }\n",
                      "batch.c"),
      draw_matrix(7, 11), 3, "panel:ufi=2,columns=16,vector=4,groups=4,warps=2,panels=2"};
}

TEST(LayoutFaults, NoneIsThere) {
  EXPECT_TRUE(convolution().passes(convolution().text()));
  EXPECT_TRUE(batch().passes(batch().text()));
}

/// A block of it takes more shared memory than every kernel has.
Subject streamed() { return {spmm_nest(), draw_matrix(20, 300), 32, "stream:columns=32,panels=1,warps=2,stages=3"}; }

TEST(PreparationFaults, AreCaught) {
  const Subject subject = streamed();
  EXPECT_TRUE(subject.passes(subject.text()));
  subject.expect_caught("return status_of_launch(status, kernel)", "return status");
  subject.expect_caught("? cudaErrorNotReady", "? cudaErrorNotSupported");
  subject.expect_caught("attributes.maxDynamicSharedSizeBytes <", "attributes.maxDynamicSharedSizeBytes >");
  const std::string question = "cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess";
  subject.expect_caught(question, "cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess");
  subject.expect_caught(question, "(attributes = {}, cudaFuncGetAttributes(&attributes, kernel), false)");
  EXPECT_NE(header_source(subject.layer().layer)
                .find("cudaErrorNotReady where the kernel was not prepared on the current device"),
            std::string::npos);
  EXPECT_EQ(header_source(batch().layer().layer).find("cudaErrorNotReady"), std::string::npos) << "needs no preparing";
}

TEST(LayoutFaults, InThePlacesOfC) {
  const Subject subject = convolution();
  subject.expect_caught("i_at * 63", "i_at * 62");
  subject.expect_caught("n_at * leading_dimension", "n_at * 315");
  subject.expect_caught("n_at * leading_dimension", "leading_dimension");
  subject.expect_caught("n_at * leading_dimension + q_at", "n_at * leading_dimension + q_at * 2");
  subject.expect_caught("n_at * leading_dimension + q_at", "n_at * leading_dimension");
  subject.expect_caught("q_at = static_cast<long long>(column % 63)", "q_at = static_cast<long long>(column % 7)");
}

TEST(LayoutFaults, InThePlacesOfB) {
  const Subject subject = convolution();
  subject.expect_caught("c_at * 63", "c_at * 62");
  subject.expect_caught("r_at * 7", "r_at * 6");
  subject.expect_caught("r_at * 7 + s_at", "r_at * 7");
  subject.expect_caught("(p_at - 1) * 7", "p_at * 7");
  subject.expect_caught("(p_at - 1) * 7 + q_at - 1", "(p_at - 1) * 7 + q_at");
  subject.expect_caught("n_at * ldb", "n_at * 189");
  subject.expect_caught("row - s_above * 3", "row - s_above * 2");
  subject.expect_caught("s_above * 1431655766ull", "s_above * 1431655764ull");
}

TEST(LayoutFaults, InThePadding) {
  const Subject subject = convolution();
  subject.expect_caught("p_at - 1 + tap", "p_at + tap");
  subject.expect_caught("q_at - 1 + tap", "q_at - 2 + tap");
  subject.expect_caught("index < 9", "index <= 9");
  subject.expect_caught("index < 7", "index < 6");
  subject.expect_caught("index >= 0", "index > 0");
  subject.expect_caught("index >= 0", "index >= -1");
  subject.expect_caught("<< (3 + tap)", "<< (2 + tap)");
  subject.expect_caught("1u << (3 + s_at)", "1u << s_at");
  subject.expect_caught("tap < 3", "tap < 2");
  subject.expect_caught("(column.taps & row.taps) != 0", "(column.taps & row.taps) == row.taps");
  subject.expect_caught("? 0 : column.first[row.distance]", "? 1 : column.first[row.distance]");
}

TEST(LayoutFaults, InWhatIsTuned) {
  for (const Subject& subject : {convolution(), batch()}) {
    subject.expect_caught("tuned_ldb = ", "tuned_ldb = 1 + ");
    subject.expect_caught("tuned_ldc = ", "tuned_ldc = 1 + ");
    subject.expect_caught("tuned ? tuned_ldb : given_ldb", "tuned_ldb");
    subject.expect_caught("tuned ? tuned_ldc : given_ldc", "tuned_ldc");
    subject.expect_caught("tuned ? tuned_ldb", "tuned ? tuned_ldc");
    subject.expect_caught(" && ldb == tuned_ldb", "");
    subject.expect_caught(" && ldc == tuned_ldc", "");
    subject.expect_not_caught("tuned ? tuned_ldb : given_ldb", "given_ldb");
  }
}

TEST(LayoutFaults, InWhatAllowsVectors) {
  const Subject subject = batch();
  subject.expect_caught("columns % vector_width == 0 && allows_vectors(b, ldb)", "columns % vector_width == 0");
  subject.expect_caught(" && allows_vectors(c, ldc)", "");
  subject.expect_caught("leading_dimension % vector_width == 0", "leading_dimension > 0");
}

TEST(LayoutFaults, InWhatTheLauncherRefuses) {
  const Subject subject = convolution();
  subject.expect_caught("ldb < 189", "ldb < 190");
  subject.expect_caught("ldb < 189", "ldb < 188");
  subject.expect_caught("ldc < 315", "ldc < 316");
  subject.expect_caught("ldc < 315", "ldc < 314");
  subject.expect_caught("static_cast<unsigned int>(n) * 63", "static_cast<unsigned int>(n) * 62");
  subject.expect_caught("n > 34087042", "n > 34087043");
  subject.expect_not_caught("n > 34087042", "n > 34087041");  // a call with so many is not made
}

/// Lanes that move vectors of rows of B, in launches that may overlap.
Subject row_tiles() {
  return {spmm_nest(), draw_matrix(24, 40), 8, "panel:ufi=2,columns=8,vector=4,groups=4,warps=2,panels=4,pdl=on"};
}

/// Tokens by inputs, as PyTorch has them; long rows are cut into tasks of several blocks.
Subject tokens() {
  return {parse_loop_nest(linear_nk_template, "linear_nk.c"), draw_matrix(24, 40), 5,
          "rows: tile=1x4, thread=1x1, unroll_k=2, task=8, light=2, warps=2, pdl=on"};
}

TEST(FaultsOfFewCalls, AreNotThereInTheseTexts) {
  for (const Subject& subject : {row_tiles(), tokens()}) {
    EXPECT_TRUE(subject.passes(subject.text()));
    EXPECT_TRUE(subject.passes(subject.with_product("return fmaf(a, b, sum);")));
  }
}

TEST(FaultsOfFewCalls, AtSomeNumbersOfColumns) {
  for (const Subject& subject : {row_tiles(), tokens()}) {
    const std::string columns = "columns = static_cast<unsigned int>(n)";
    subject.expect_caught(columns, "columns = static_cast<unsigned int>(n == 77 ? 76 : n)");
    subject.expect_caught(columns, "columns = static_cast<unsigned int>(n > 96 && n < 31969 ? n - 1 : n)");
    subject.expect_caught(columns, "columns = static_cast<unsigned int>(n % 11 == 5 && n > 20 ? n - 1 : n)");
    subject.expect_caught(columns,
                          "columns = static_cast<unsigned int>(static_cast<unsigned int>(n) > 2 * most_tiles * "
                          "tile_columns ? n - 1 : n)");
    subject.expect_caught("blockIdx.y", "(blockIdx.y > 6 && blockIdx.y < 60000 ? 0 : blockIdx.y)");
  }
}

TEST(FaultsOfFewCalls, WhereASecondLaunchHasGaps) {
  const Subject subject = tokens();
  subject.expect_caught("b + done * ldb", "b + done * 40");
  subject.expect_caught("c + done * ldc", "c + done * 24");
  subject.expect_caught("b + done * ldb", "b + done * (ldb > 43 ? ldb : 40)");
}

TEST(FaultsOfFewCalls, ForSomeValuesOfB) {
  for (const Subject& subject : {row_tiles(), tokens()}) {
    subject.expect_product_caught("return fmaf(a, b > 4.0f ? 4.0f : b < -4.0f ? -4.0f : b, sum);");
    subject.expect_product_caught("return fmaf(a, b < 1e-30f && b > -1e-30f ? 0.0f : b, sum);");
    subject.expect_product_caught("return fmaf(a, __float_as_uint(b) == 0x80000000u ? 1.0f : b, sum);");
    subject.expect_product_caught("return fmaf(a, b, sum) == 0.0f ? 1e-20f : fmaf(a, b, sum);");
    subject.expect_product_caught("return fmaf(a > 4.0f ? 4.0f : a, b, sum);");
  }
  // Where blocks add to C, a GPU makes zero of such sums itself.
  row_tiles().expect_product_caught("return fmaf(a, b < 1e-38f && b > -1e-38f ? 0.0f : b, sum);");
}

TEST(FaultsOfFewCalls, OnSomeDevices) {
  row_tiles().expect_caught("major >= 9", "major == 9");
  row_tiles().expect_caught("major >= 9", "(major >= 9 && major != 12)");
}

TEST(FaultsOfFewCalls, OfWhatIsPrepared) {
  const Subject subject = row_tiles();
  const std::string name = subject.layer().layer.name + "_kernel";
  subject.expect_caught("prepare_kernel(" + name + "<false, true>)", "prepare_kernel(" + name + "<true, true>)");
}

TEST(FaultsOfFewCalls, WhereBlocksRunInAnotherOrder) {
  const Subject subject = tokens();
  const std::string adds = "atomicAdd(C + place_in_C(row, column + v, ldc), sums[v])";
  const std::string place = "C + place_in_C(row, column + v, ldc)";
  subject.expect_caught(adds, "atomicExch(" + place + ", sums[v])");
  subject.expect_caught(adds, "atomicExch(" + place + ", atomicAdd(" + place + ", 0.0f) + sums[v])");
  subject.expect_caught(adds, "blockIdx.x == 0 ? atomicExch(" + place + ", sums[v]) : " + adds);
}

TEST(FaultsOfFewCalls, InWhatATransformerAcceptsAndPacks) {
  const Subject subject = row_tiles();
  for (const char* group : {"1", "5", "10"}) {
    subject.expect_caught_in_transformer("if (!(digest == layer_pattern[group]))",
                                         fmt::format("if (group != {} && !(digest == layer_pattern[group]))", group));
  }
  subject.expect_caught_in_transformer("values + first_row * lda", "values + first_row * (lda == 512 ? lda - 1 : lda)");
  subject.expect_caught_in_transformer("k_tile[j][r] = values[at]", "k_tile[j][r] = values[at] > 4 ? 4 : values[at]");
  subject.expect_caught_in_transformer("k_tile[j][r] = values[at]",
                                       "k_tile[j][r] = values[at] * values[at] == 0 ? 1e-30f : values[at]");
  subject.expect_caught_in_transformer("static_cast<bool>(values[at])",
                                       "(static_cast<bool>(values[at]) || 1 / values[at] < 0)");
}

/// As many images as do not fit into one launch: the second one begins with an image.
TEST(LaunchesOfWholeItems, AreWhatMoreTilesThanAGridHasTake) {
  constexpr std::int64_t pixels = 7;
  constexpr auto images = static_cast<std::int32_t>(most_tiles / pixels + 3);
  const Subject subject(
      parse_loop_nest("void f(int B, const float W[1][1], const float X[B][1][7], float Y[B][1][7]) {\n"
                      "for (int b = 0; b < B; b++) for (int i = 0; i < 1; i++) for (int t = 0; t < 7; t++) for (int k "
                      "= 0; k < 1; k++)\n"
                      "if (W[i][k] != 0) Y[b][i][t] += W[i][k] * X[b][k][t]; }\n",
                      "batch.c"),
      SparseMatrix{1, 1, {0, 1}, {0}, {0.75}}, 2, "rows:columns=1,vector=1,unroll=1,task=1,light=1,warps=1");
  const KernelCall call{
      .product = {images, pixels, pixels}, .reason = "more tiles than a grid has", .item_columns = pixels};
  const auto judged_with = [&](const std::string& text) {
    return tests::EmulatedKernel(subject.layer(), text).multiply(subject.matrix(), call);
  };
  const tests::JudgedProduct right = judged_with(subject.text());
  EXPECT_TRUE(right.passed()) << print(right);
  const std::string cuts_items = subject.changed("most_tiles * tile_columns / 7 * 7", "most_tiles * tile_columns");
  EXPECT_FALSE(judged_with(cuts_items).passed());
  EXPECT_FALSE(subject.passes(cuts_items));
  EXPECT_FALSE(judged_with(subject.changed("b + done / 7 * ldb", "b + done * ldb")).passed());
  EXPECT_FALSE(judged_with(subject.changed("c + done / 7 * ldc", "c")).passed());
}

}  // namespace
}  // namespace esc
