// SPDX-License-Identifier: Apache-2.0
// The shipped parts of --epilogue: each computes what its name says, and is in the documentation as it is.

#include "generator/commands/epilogue_nest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "generator/frontend/parse_loop_nest.h"
#include "generator/support/file.h"
#include "generator/verify/finish.h"

namespace esc {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t rows = 3;
constexpr std::int64_t columns = 5;

LoopNest nest_of(const std::string& parts) { return parse_loop_nest(nest_with_epilogue(parts), "spmm.c"); }

/// What the parts make of a sum in element (row, column), in double.
double value_of(const LoopNest& nest, const std::vector<Operand>& operands, std::int64_t row, std::int64_t column,
                double sum) {
  return finish(nest, operands, row, column, {sum, 0}).value;
}

/// What a part is to make of x, from its operands at the element in their order: the textbook's formula.
using Textbook = std::function<double(double x, const std::vector<double>& operands)>;

std::map<std::string, Textbook> textbook() {
  const auto add = [](double x, const std::vector<double>& operands) { return x + operands.at(0); };
  return {{"bias", add},
          {"bias_column", add},
          {"residual", add},
          {"zero_point", add},
          {"scale", [](double x, const auto& operands) { return x * operands.at(0); }},
          {"relu", [](double x, const auto&) { return std::max(x, 0.0); }},
          {"gelu", [](double x, const auto&) { return x * std::erfc(-x / std::numbers::sqrt2) / 2; }},
          {"gelu_tanh",
           [](double x, const auto&) {
             return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * std::pow(x, 3))));
           }},
          {"silu", [](double x, const auto&) { return x / (1 + std::exp(-x)); }},
          {"clamp", [](double x, const auto& operands) { return std::clamp(x, operands.at(0), operands.at(1)); }}};
}

TEST(EpilogueNest, TransposesItsMatricesWithC) {
  const std::string text = nest_with_epilogue("bias+bias_column+residual", NestLayout::nk);
  for (const char* const words : {"const float B[N][K]", "float C[N][M]", "const float bias[M]",
                                  "const float bias_column[N]", "const float residual[N][M]", "A[i][k] * B[j][k]",
                                  "x1 + bias_column[j]", "x2 + residual[j][i]", "C[j][i] = x3;"}) {
    EXPECT_THAT(text, HasSubstr(words));
  }
  EXPECT_NE(parse_loop_nest(text, "spmm.c").array(ArrayRole::output).name, "");
}

TEST(EpilogueNest, PartsComputeWhatTheirNamesSay) {
  const std::map<std::string, Textbook> formulas = textbook();
  for (const EpiloguePart& part : epilogue_parts()) {
    SCOPED_TRACE(part.name);
    const LoopNest nest = nest_of(part.name);
    const std::vector<Operand> operands = draw_operands(nest, rows, columns);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        std::vector<double> here;
        for (const Operand& operand : operands) {
          here.push_back(operand.at(row, column));
        }
        for (double sum = -6; sum <= 6; sum += 0.375) {
          const double wanted = formulas.at(part.name)(sum, here);
          EXPECT_NEAR(value_of(nest, operands, row, column, sum), wanted, 1e-15 * (1 + std::abs(sum))) << sum;
        }
      }
    }
  }
  EXPECT_EQ(formulas.size(), epilogue_parts().size());
}

TEST(EpilogueNest, PartsStandOneBehindTheOther) {
  const LoopNest nest = nest_of("scale+bias+relu+residual");
  const std::vector<Operand> operands = draw_operands(nest, rows, columns);
  ASSERT_EQ(operands.size(), 3u);
  for (const double sum : {-2.0, 0.25, 3.0}) {
    const double wanted = std::max(sum * operands[0].at(2, 4) + operands[1].at(2, 4), 0.0) + operands[2].at(2, 4);
    EXPECT_NEAR(value_of(nest, operands, 2, 4, sum), wanted, 1e-15);
  }
}

TEST(EpilogueNest, PartsAreDocumented) {
  const std::string page = read_file(ESC_SOURCE_DIR "/docs/guide/epilogues.md");
  for (const EpiloguePart& part : epilogue_parts()) {
    const std::string operands = *part.parameters == '\0' ? " " : " `" + std::string(part.parameters) + "` ";
    EXPECT_THAT(page, HasSubstr("| `" + std::string(part.name) + "` |" + operands + "| `" + part.value + "` | " +
                                part.meaning + " |"));
  }
}

/// The nest of the documentation is the file that comes with it, which the command line's tests generate.
TEST(EpilogueNest, TheExampleIsDocumented) {
  const std::string file = read_file(ESC_SOURCE_DIR "/docs/examples/layer.c");
  const std::string function = file.substr(file.find("void layer"));
  EXPECT_THAT(read_file(ESC_SOURCE_DIR "/docs/guide/epilogues.md"), HasSubstr("```c\n" + function + "```\n"));
}

}  // namespace
}  // namespace esc
