// SPDX-License-Identifier: Apache-2.0
// Nests whose subscripts and bounds are loaded from arrays of integers, and whose values from tables of constants:
// read, interpreted on those arrays, written and read back, and what they are to the steps after the front end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "generator/emit/templates.h"
#include "generator/frontend/parse_loop_nest.h"
#include "generator/ir/interpret.h"
#include "generator/ir/nest_json.h"
#include "generator/ir/print.h"
#include "generator/ir/print_function.h"
#include "generator/lower/canonicalize.h"
#include "generator/pipeline.h"
#include "generator/support/error.h"

namespace esc {
namespace {

using testing::HasSubstr;

constexpr std::int64_t rows = 6;
constexpr std::int64_t columns = 9;
constexpr std::int64_t width = 4;

Tensor tensor(const std::vector<std::int64_t>& extents, const std::vector<double>& elements) {
  return {extents, elements};
}

std::vector<double> drawn(std::size_t count, std::mt19937& random) {
  std::uniform_real_distribution<double> between(-1, 1);
  std::vector<double> values(count);
  std::ranges::generate(values, [&] { return between(random); });
  return values;
}

/// A matrix in both forms, with a row without elements.
struct Matrix {
  std::vector<double> first = {0};
  std::vector<double> column;
  std::vector<double> value;
  std::vector<double> whole = std::vector<double>(rows * columns, 0);
};

Matrix draw_matrix(std::mt19937& random) {
  Matrix matrix;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < columns; ++k) {
      if (i != 2 && random() % 3 == 0) {
        matrix.column.push_back(static_cast<double>(k));
        matrix.value.push_back(drawn(1, random).front());
        matrix.whole[static_cast<std::size_t>(i * columns + k)] = matrix.value.back();
      }
    }
    matrix.first.push_back(static_cast<double>(matrix.column.size()));
  }
  return matrix;
}

/// A product over stored elements: the function after its sizes, where its arrays are called R (or begins and ends),
/// I, V, B and C.
struct Stored {
  const char* name;
  std::string source;
  bool transposed = false;  ///< B and C have a row for each column
  std::function<double(double sum, std::size_t row)> becomes = [](double sum, std::size_t) { return sum; };
};

void PrintTo(const Stored& stored, std::ostream* out) { *out << stored.name; }

std::string function(
    const std::string& body,
    const std::string& arrays =
        "const int R[M + 1], const int I[nnz], const float V[nnz], const float B[K][N], float C[M][N]") {
  return "void f(int M, int K, int N, int nnz, " + arrays + ") {\n" + body + "\n}\n";
}

std::vector<Stored> stored_products() {
  const std::string for_i = "for (int i = 0; i < M; i++) ";
  const std::string for_j = "for (int j = 0; j < N; j++) ";
  const std::string for_p = "for (int p = R[i]; p < R[i + 1]; p++) ";
  const std::string update = "C[i][j] += V[p] * B[I[p]][j];";
  const auto sums = [&](const std::string& behind, const std::string& more = "") {
    return function(
        for_i + for_j + "{ float sum = 0; " + for_p + "sum += V[p] * B[I[p]][j];\n" + behind + " }",
        "const int R[M + 1], const int I[nnz], const float V[nnz], const float B[K][N], float C[M][N]" + more);
  };
  return {
      {"Rows", function(for_i + for_p + for_j + update)},
      {"ColumnsOutside", function(for_j + for_i + for_p + update)},
      {"LocalIndex", function(for_i + for_p + "{ const int k = I[p]; " + for_j + "C[i][j] += V[p] * B[k][j]; }")},
      {"Locals", function(for_i +
                          "{ int first = R[i], end = R[i + 1]; for (int p = first; p < end; ++p) { const float a = "
                          "V[p]; const int k = I[p]; " +
                          for_j + "C[i][j] += a * B[k][j]; } }")},
      {"Pointers", function(for_i + for_p + for_j + "C[i * N + j] += V[p] * B[I[p] * N + j];",
                            "const int* R, const int* I, const float* V, const float* B, float* C")},
      {"PointersDereferenced", function("for (int i = 0; i < M; i++) for (int p = *(R + i); p < *(R + i + 1); p++) " +
                                            for_j + "*(C + i * N + j) += *(V + p) * *(B + *(I + p) * N + j);",
                                        "const int* R, const int* I, const float* V, const float* B, float* C")},
      {"OtherIntegers",
       function("for (unsigned i = 0; i < (unsigned)M; i++) for (unsigned long p = R[i]; p < R[i + 1]; p++) " + for_j +
                    update,
                "const unsigned long* R, const short* I, const float* V, const float B[K][N], float C[M][N]")},
      {"BeginsAndEnds",
       function(
           for_i + "for (int p = begins[i]; p < ends[i]; p++) " + for_j + update,
           "const int begins[M], const int* ends, const int* I, const float* V, const float B[K][N], float C[M][N]")},
      {"GuardedElements",
       function(for_i + for_p + "if (V[p] != 0) { int k = I[p]; " + for_j + "C[i][j] += V[p] * B[k][j]; }")},
      {"UpToTheLast", function(for_i + "for (int p = R[i]; p <= R[i + 1] - 1; p++) " + for_j + update)},
      {"Gathered", sums("C[i][j] = sum;")},
      {"ClearedFirst", function(for_i + "{ " + for_j + "C[i][j] = 0; " + for_p + for_j + update + " }")},
      {"Epilogue", sums("C[i][j] = 2 * sum + bias[i];", ", const float bias[M]"), false,
       [](double sum, std::size_t row) { return 2 * sum + 10 + static_cast<double>(row); }},
      {"Table",
       "static const float scale[6] = {1, -2, 3, 0.5f, 5, 6};\n" +
           function("for (int i = 0; i < 6; i++) " + for_p + for_j + update + " for (int i = 0; i < 6; i++) " + for_j +
                        "C[i][j] *= scale[i];",
                    "const int R[7], const int I[nnz], const float V[nnz], const float B[K][N], float C[6][N]"),
       false, [](double sum, std::size_t row) { return sum * std::vector<double>{1, -2, 3, 0.5, 5, 6}[row]; }},
      {"Tokens",
       function("for (int t = 0; t < N; t++) " + for_i + for_p + "C[t][i] += V[p] * B[t][I[p]];",
                "const int* R, const int* I, const float* V, const float B[N][K], float C[N][M]"),
       true},
      {"TokensInPointers",
       function("for (int t = 0; t < N; t++) " + for_i + for_p + "C[t * M + i] += V[p] * B[t * K + I[p]];",
                "const int* R, const int* I, const float* V, const float* B, float* C"),
       true},
  };
}

Memory memory_of(const Stored& stored, const Matrix& matrix, const std::vector<double>& b) {
  const auto count = static_cast<std::int64_t>(matrix.value.size());
  Memory memory{{{"M", rows}, {"K", columns}, {"N", width}, {"nnz", count}}, {}};
  memory.arrays["R"] = tensor({rows + 1}, matrix.first);
  memory.arrays["begins"] = tensor({rows}, {matrix.first.begin(), matrix.first.end() - 1});
  memory.arrays["ends"] = tensor({rows}, {matrix.first.begin() + 1, matrix.first.end()});
  memory.arrays["I"] = tensor({count}, matrix.column);
  memory.arrays["V"] = tensor({count}, matrix.value);
  memory.arrays["B"] = tensor(stored.transposed ? std::vector{width, columns} : std::vector{columns, width}, b);
  memory.arrays["C"] = tensor(stored.transposed ? std::vector{width, rows} : std::vector{rows, width},
                              std::vector<double>(rows * width, 0));
  memory.arrays["bias"] = tensor({rows}, {10, 11, 12, 13, 14, 15});
  return memory;
}

class StoredProduct : public testing::TestWithParam<Stored> {
 protected:
  std::mt19937 random_{11};
  Matrix matrix_ = draw_matrix(random_);
  std::vector<double> b_ = drawn(columns * width, random_);

  void expect_product(const Memory& result) const {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < width; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < columns; ++k) {
          sum += matrix_.whole[i * columns + k] * b_[GetParam().transposed ? j * columns + k : k * width + j];
        }
        const std::size_t place = GetParam().transposed ? j * rows + i : i * width + j;
        EXPECT_NEAR(result.arrays.at("C").elements.at(place), GetParam().becomes(sum, i), 1e-12) << i << ' ' << j;
      }
    }
  }
};

TEST_P(StoredProduct, IsInterpretedOverItsArrays) {
  const LoopNest nest = parse_as_written(GetParam().source, "csr.c");
  expect_product(interpret(nest, memory_of(GetParam(), matrix_, b_)));
}

TEST_P(StoredProduct, IsTheProductOfTheWholeMatrix) {
  const LoopNest nest = parse_loop_nest(GetParam().source, "csr.c");
  Memory memory = memory_of(GetParam(), matrix_, b_);
  memory.arrays["V"] = tensor({rows, columns}, matrix_.whole);
  expect_product(interpret(nest, memory));
  const auto element_of = [&](ArrayRole role) { return nest.array(role).name; };
  EXPECT_EQ(element_of(ArrayRole::sparse), "V");
  EXPECT_EQ(element_of(ArrayRole::dense), "B");
  EXPECT_EQ(nest.array(ArrayRole::sparse).extents.size(), 2U);
}

TEST_P(StoredProduct, KeepsWhatItWasWrittenAs) {
  const LoopNest nest = parse_loop_nest(GetParam().source, "csr.c");
  ASSERT_EQ(nest.written.size(), 1U);
  expect_product(interpret(nest.written.front(), memory_of(GetParam(), matrix_, b_)));
  EXPECT_EQ(parse_nest_json(nest_json(nest), "nest.json"), nest);
  const std::string printed = print_function(nest);
  EXPECT_THAT(printed, HasSubstr("const int I["));
  for (const ArrayDeclaration& array : nest.written.front().arrays) {
    EXPECT_NE(array.role, ArrayRole::unknown) << array.name;
  }
  EXPECT_EQ(parse_loop_nest(printed, "printed.c"), nest) << printed;
  EXPECT_EQ(print_function(parse_loop_nest(printed, "printed.c")), printed);
}

TEST_P(StoredProduct, AsWrittenIsKeptAsJson) {
  const LoopNest nest = parse_as_written(GetParam().source, "csr.c");
  EXPECT_EQ(parse_nest_json(nest_json(nest), "nest.json"), nest);
}

INSTANTIATE_TEST_SUITE_P(Spellings, StoredProduct, testing::ValuesIn(stored_products()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(LoadedIndex, OfTheShippedProductIsThatOfTheWholeMatrix) {
  const LoopNest nest = parse_loop_nest(spmm_csr_template, "spmm_csr.c");
  EXPECT_EQ(print(nest.body),
            "for (i = 0; i < M; i++)\n"
            "  for (p = 0; p < K; p++)\n"
            "    for (j = 0; j < N; j++)\n"
            "      if (values[i][p] != 0) C[i][j] += values[i][p] * B[p][j];\n");
  EXPECT_EQ(canonicalize(nest), canonicalize(parse_loop_nest(spmm_template, "spmm.c")));
  EXPECT_EQ(canonicalize(nest), canonicalize(spmm_nest()));
}

TEST(LoadedIndex, IsShownByTheFirstStep) {
  const std::vector<LoweredStep> steps = lower_by_steps(parse_loop_nest(spmm_csr_template, "spmm_csr.c"), {});
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[0].name, "input");
  EXPECT_EQ(steps[1].name, "dense subscripts");
  EXPECT_EQ(print(steps[0].nest),
            "for (i = 0; i < M; i++) {\n"
            "  int rows_i = rows[i];\n"
            "  int rows_i_1 = rows[i + 1];\n"
            "  for (p = rows_i; p < rows_i_1; p++) {\n"
            "    int columns_p = columns[p];\n"
            "    for (j = 0; j < N; j++)\n"
            "      C[i][j] += values[p] * B[columns_p][j];\n"
            "  }\n"
            "}\n");
  EXPECT_THAT(print_iteration_space(steps[0].nest),
              HasSubstr("iteration space { (i, p) : 0 <= i < M, rows_i <= p < rows_i_1 }"));
  EXPECT_THAT(print_iteration_space(steps[0].nest), HasSubstr("access B -> [{columns_p: 1}, {j: 1}]"));
}

const char* const gather =
    "void f(const float W[3][4], const int index[4], const float X[5][2], float Y[3][2]) {\n"
    "for (int i = 0; i < 3; i++) for (int k = 0; k < 4; k++) for (int j = 0; j < 2; j++) Y[i][j] += W[i][k] * "
    "X[index[k]][j]; }\n";

Memory gathered_from(const std::vector<double>& index) {
  Memory memory;
  memory.arrays["W"] = tensor({3, 4}, std::vector<double>(12, 1));
  memory.arrays["index"] = tensor({4}, index);
  memory.arrays["X"] = tensor({5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  memory.arrays["Y"] = tensor({3, 2}, std::vector<double>(6, 0));
  return memory;
}

TEST(LoadedIndex, OutsideOfAnArrayIsFound) {
  const LoopNest nest = parse_as_written(gather, "gather.c");
  EXPECT_EQ(interpret(nest, gathered_from({4, 0, 0, 4})).arrays.at("Y").elements.front(), 16);
  for (const double wrong : {-1.0, 5.0}) {
    try {
      interpret(nest, gathered_from({4, 0, wrong, 4}));
      FAIL() << wrong;
    } catch (const Defect& found) {
      EXPECT_THAT(found.what(), HasSubstr("X[index_k][j] is outside the array: index " +
                                          std::to_string(static_cast<int>(wrong)) + " of dimension 0"));
    }
  }
}

TEST(LoadedIndex, IsNotLookedAtUnderAGuardThatFails) {
  const LoopNest nest = parse_as_written(
      "void f(const float W[3][4], const int index[2], const float X[5][2], float Y[3][2]) {\n"
      "for (int i = 0; i < 3; i++) for (int k = 0; k < 4; k++) for (int j = 0; j < 2; j++) if (k < 2) Y[i][j] += "
      "W[i][k] * X[index[k]][j]; }\n",
      "gather.c");
  Memory memory = gathered_from({});
  memory.arrays["index"] = tensor({2}, {3, 3});
  EXPECT_EQ(interpret(nest, memory).arrays.at("Y").elements.front(), 12);
}

TEST(LoadedIndex, IsInterpretedFromATableOfConstants) {
  const LoopNest nest = parse_as_written(
      "static const int tap[3] = {0, 1, 3};\nvoid f(const float W[2][3], const float X[6], float Y[2][3]) {\n"
      "for (int i = 0; i < 2; i++) for (int p = 0; p < 3; p++) for (int r = 0; r < 3; r++) Y[i][p] += W[i][r] * X[p + "
      "tap[r]]; }\n",
      "taps.c");
  EXPECT_EQ(nest.find_array("tap")->values, (std::vector<double>{0, 1, 3}));
  Memory memory;
  memory.arrays["W"] = tensor({2, 3}, {1, 10, 100, 0, 0, 1});
  memory.arrays["X"] = tensor({6}, {1, 2, 3, 4, 5, 6});
  memory.arrays["Y"] = tensor({2, 3}, std::vector<double>(6, 0));
  EXPECT_EQ(interpret(nest, memory).arrays.at("Y").elements, (std::vector<double>{421, 532, 643, 4, 5, 6}));
  EXPECT_EQ(parse_nest_json(nest_json(nest), "nest.json"), nest);
}

const char* const table_of_rows =
    "void f(int K, int N, const float A[2][3][K], const float B[K][N], float C[2][3][N]) {\n"
    "static const float scale[2][3] = {{1, 2, 3}, {0.1f, -5, 6}};\n"
    "for (int g = 0; g < 2; g++) for (int i = 0; i < 3; i++) for (int j = 0; j < N; j++) { float sum = 0;\n"
    "for (int k = 0; k < K; k++) sum += A[g][i][k] * B[k][j];\nC[g][i][j] = sum * scale[g][i]; } }\n";

TEST(ConstantTable, HasANumberForEachRowOfSeveralLoops) {
  const LoopNest nest = parse_loop_nest(table_of_rows, "table.c");
  const std::vector<double> values{1, 2, 3, 0.1F, -5, 6};
  ASSERT_NE(nest.find_array("scale"), nullptr);
  EXPECT_EQ(nest.find_array("scale")->role, ArrayRole::table);
  EXPECT_EQ(nest.find_array("scale")->values, values);
  EXPECT_TRUE(operands_of(nest).empty()) << "no call hands it over";
  EXPECT_EQ(parse_nest_json(nest_json(nest), "nest.json"), nest);
  EXPECT_EQ(parse_loop_nest(print_function(nest), "printed.c"), nest) << print_function(nest);

  const LoopNest canonical = canonicalize(nest);
  EXPECT_EQ(print(canonical.epilogue->value), "sum_ * scale_[i]");
  Memory memory{{{"M", 6}, {"K", 1}, {"N", 2}}, {}};
  memory.arrays["A"] = tensor({6, 1}, std::vector<double>(6, 2));
  memory.arrays["B"] = tensor({1, 2}, {1, 10});
  memory.arrays["C"] = tensor({6, 2}, std::vector<double>(12, 0));
  const std::vector<double> result = interpret(canonical, memory).arrays.at("C").elements;
  for (std::size_t row = 0; row < values.size(); ++row) {
    EXPECT_EQ(result[2 * row], 2 * values[row]);
    EXPECT_EQ(result[2 * row + 1], 20 * values[row]);
  }
}

}  // namespace
}  // namespace esc
