// SPDX-License-Identifier: Apache-2.0
// What follows a product: read as the nest's epilogue, which computes what the function does.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "generator/frontend/parse_loop_nest.h"
#include "generator/ir/interpret.h"
#include "generator/ir/print.h"
#include "generator/ir/print_function.h"
#include "generator/lower/canonicalize.h"
#include "tests/unit/accepted_epilogues.h"

namespace esc {
namespace {

const Environment small_sizes{{"M", 5}, {"K", 7}, {"N", 4}};

/// Random elements in all arrays, zero in C and in two thirds of the sparse one.
Memory random_memory(const LoopNest& nest) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> between(-1, 1);
  Memory memory{small_sizes, {}};
  for (const ArrayDeclaration& array : nest.arrays) {
    Tensor& tensor = memory.arrays[array.name];
    std::size_t count = 1;
    for (const Affine& extent : array.extents) {
      tensor.extents.push_back(extent.evaluate(small_sizes));
      count *= static_cast<std::size_t>(tensor.extents.back());
    }
    for (std::size_t at = 0; at < count; ++at) {
      const double value =
          array.role == ArrayRole::output || (array.role == ArrayRole::sparse && at % 3 != 0) ? 0 : between(random);
      tensor.elements.push_back(value);
    }
  }
  return memory;
}

/// The same memory for the nest in canonical names: the arrays are in the same order.
Memory with_names_of(const LoopNest& canonical, const LoopNest& nest, const Memory& memory) {
  Memory result{small_sizes, {}};
  for (std::size_t at = 0; at < nest.arrays.size(); ++at) {
    result.arrays[canonical.arrays.at(at).name] = memory.arrays.at(nest.arrays[at].name);
  }
  return result;
}

double sum_of(const Memory& memory, std::size_t row, std::size_t column) {
  double sum = 0;
  for (std::size_t k = 0; k < 7; ++k) {
    sum += memory.arrays.at("A").elements.at(row * 7 + k) * memory.arrays.at("B").elements.at(k * 4 + column);
  }
  return sum;
}

std::string print_epilogue(const LoopNest& nest) {
  std::string text;
  if (nest.epilogue) {
    const Epilogue& epilogue = *nest.epilogue;
    for (const Define& step : epilogue.steps) {
      EXPECT_EQ(step.type, nest.sum());
      text += step.name + " = " + print(step.value) + "\n";
    }
    text += nest.array(ArrayRole::output).name;
    for (const std::string& subscript : epilogue.subscripts) {
      text += "[" + subscript + "]";
    }
    text += " = " + print(epilogue.value) + "\n";
  }
  return text;
}

class FrontendReadsEpilogue : public testing::TestWithParam<EpilogueVariant> {};

TEST_P(FrontendReadsEpilogue, AsItIsWritten) {
  const EpilogueVariant& variant = GetParam();
  EXPECT_EQ(print_epilogue(parse_loop_nest(variant.source, variant.file)), variant.printed) << variant.source;
}

TEST_P(FrontendReadsEpilogue, WithTheValuesOfTheFunction) {
  const EpilogueVariant& variant = GetParam();
  const LoopNest nest = parse_loop_nest(variant.source, variant.file);
  const LoopNest canonical = canonicalize(nest);
  const Memory memory = random_memory(nest);
  const Memory result = interpret(nest, memory);
  const Memory canonical_result = interpret(canonical, with_names_of(canonical, nest, memory));
  for (std::size_t row = 0; row < 5; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      const double expected = variant.expected({sum_of(memory, row, column), row, column, &memory});
      EXPECT_NEAR(result.arrays.at("C").elements.at(row * 4 + column), expected, 1e-12) << print(nest);
      EXPECT_NEAR(canonical_result.arrays.at("C").elements.at(row * 4 + column), expected, 1e-12) << print(canonical);
    }
  }
}

TEST_P(FrontendReadsEpilogue, AsItIsPrintedAsAFunction) {
  const LoopNest nest = parse_loop_nest(GetParam().source, GetParam().file);
  const std::string printed = print_function(nest);
  EXPECT_EQ(parse_loop_nest(printed, "printed.c"), nest) << printed;
  EXPECT_EQ(print_function(parse_loop_nest(printed, "printed.c")), printed);
}

INSTANTIATE_TEST_SUITE_P(Variants, FrontendReadsEpilogue, testing::ValuesIn(accepted_epilogues()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(FrontendEpilogue, HasItsOperandsBehindTheProduct) {
  const LoopNest nest = parse_loop_nest(accepted_epilogues().front().source, "layer.c");
  const Affine m = Affine::of("M");
  const Affine n = Affine::of("N");
  const std::vector<ArrayDeclaration> arrays = {{"A", {m, Affine::of("K")}, ArrayRole::sparse},
                                                {"B", {Affine::of("K"), n}, ArrayRole::dense},
                                                {"C", {m, n}, ArrayRole::output},
                                                {"bias", {m}, ArrayRole::operand},
                                                {"residual", {m, n}, ArrayRole::operand},
                                                {"scale", {}, ArrayRole::operand}};
  EXPECT_EQ(nest.arrays, arrays);
  EXPECT_EQ(print(nest),
            "for (i = 0; i < M; i++)\n"
            "  for (j = 0; j < N; j++)\n"
            "    for (k = 0; k < K; k++)\n"
            "      if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];\n"
            "for (i = 0; i < M; i++)\n"
            "  for (j = 0; j < N; j++) {\n"
            "    float sum = C[i][j];\n"
            "    float x = scale * sum + bias[i];\n"
            "    C[i][j] = fmax(x, 0) + residual[i][j];\n"
            "  }\n");
}

TEST(FrontendEpilogue, KeepsTheGuard) {
  const LoopNest nest = parse_loop_nest(accepted_epilogues().front().source, "layer.c");
  Memory memory = random_memory(nest);
  std::vector<double>& a = memory.arrays.at("A").elements;
  for (std::size_t row = 0; row < 5; ++row) {
    a.at(row * 7 + 2) = 0;
  }
  for (std::size_t column = 0; column < 4; ++column) {
    memory.arrays.at("B").elements.at(2 * 4 + column) = std::numeric_limits<double>::infinity();
  }
  const Memory left = interpret(nest, memory);
  for (const double element : left.arrays.at("C").elements) {
    EXPECT_TRUE(std::isfinite(element));
  }
}

TEST(FrontendEpilogue, TellsRowsFromColumnsOfASquare) {
  const LoopNest nest = canonicalize(
      parse_loop_nest("void f(int n, float A[n][n], float B[n][n], float C[n][n], float r[n], float c[n]) {\n"
                      "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { float sum = 0;\n"
                      "for (int k = 0; k < n; k++) sum += A[i][k] * B[k][j];\nC[i][j] = sum * r[i] + c[j]; } }\n",
                      "square.c"));
  EXPECT_EQ(nest.find_array("r_")->extents, std::vector<Affine>{Affine::of("M")});
  EXPECT_EQ(nest.find_array("c_")->extents, std::vector<Affine>{Affine::of("N")});
}

/// A random expression as C text, and what it is worth.
struct Drawn {
  std::string text;
  std::function<double(const OutputElement&)> value;
};

Drawn draw_value(std::mt19937& random, int depth);

Drawn draw_condition(std::mt19937& random, int depth) {
  const Drawn left = draw_value(random, depth - 1);
  const Drawn right = draw_value(random, depth - 1);
  const auto compared = [&](const std::string& sign, auto holds) {
    return Drawn{"(" + left.text + ") " + sign + " (" + right.text + ")",
                 [=](const OutputElement& c) { return holds(left.value(c), right.value(c)) ? 1.0 : 0.0; }};
  };
  switch (random() % (depth > 1 ? 7 : 4)) {
    case 0:
      return compared("<", std::less<>());
    case 1:
      return compared(">=", std::greater_equal<>());
    case 2:
      return compared("==", std::equal_to<>());
    case 3:
      return compared("!=", std::not_equal_to<>());
    default:
      break;
  }
  const Drawn one = draw_condition(random, depth - 1);
  const Drawn other = draw_condition(random, depth - 1);
  switch (random() % 3) {
    case 0:
      return {"!(" + one.text + ")", [=](const OutputElement& c) { return one.value(c) != 0 ? 0.0 : 1.0; }};
    case 1:
      return {one.text + " && " + other.text,
              [=](const OutputElement& c) { return one.value(c) != 0 && other.value(c) != 0 ? 1.0 : 0.0; }};
    default:
      return {"(" + one.text + " || " + other.text + ")",
              [=](const OutputElement& c) { return one.value(c) != 0 || other.value(c) != 0 ? 1.0 : 0.0; }};
  }
}

Drawn draw_value(std::mt19937& random, int depth) {
  if (depth <= 0) {
    switch (random() % 5) {
      case 0:
        return {"sum", [](const OutputElement& c) { return c.sum; }};
      case 1:
        return {"r[i]", [](const OutputElement& c) { return c.of_row("r"); }};
      case 2:
        return {"D[i][j]", [](const OutputElement& c) { return c.of_matrix("D"); }};
      case 3:
        return {"s", [](const OutputElement& c) { return c.number("s"); }};
      default:
        return {"0.25", [](const OutputElement&) { return 0.25; }};
    }
  }
  const Drawn left = draw_value(random, depth - 1);
  const Drawn right = draw_value(random, depth - 1);
  switch (random() % 8) {
    case 0:
      return {left.text + " + " + right.text, [=](const OutputElement& c) { return left.value(c) + right.value(c); }};
    case 1:
      return {left.text + " - (" + right.text + ")",
              [=](const OutputElement& c) { return left.value(c) - right.value(c); }};
    case 2:
      return {"(" + left.text + ") * (" + right.text + ")",
              [=](const OutputElement& c) { return left.value(c) * right.value(c); }};
    case 3:
      return {"(" + left.text + ") / (2 + fabs(" + right.text + "))",
              [=](const OutputElement& c) { return left.value(c) / (2 + std::fabs(right.value(c))); }};
    case 4:
      return {"-(" + left.text + ")", [=](const OutputElement& c) { return -left.value(c); }};
    case 5:
      return {"fmax(" + left.text + ", " + right.text + ")",
              [=](const OutputElement& c) { return std::fmax(left.value(c), right.value(c)); }};
    case 6: {
      const Drawn truth = draw_condition(random, depth);
      return {"(" + left.text + ") * (" + truth.text + ")",
              [=](const OutputElement& c) { return left.value(c) * truth.value(c); }};
    }
    default: {
      const Drawn condition = draw_condition(random, depth);
      return {"(" + condition.text + " ? " + left.text + " : " + right.text + ")",
              [=](const OutputElement& c) { return condition.value(c) != 0 ? left.value(c) : right.value(c); }};
    }
  }
}

TEST(FrontendEpilogue, ReadsRandomExpressionsWithTheirValues) {
  std::mt19937 random(11);
  for (int time = 0; time < 100; ++time) {
    const Drawn step = draw_value(random, 2);
    const Drawn drawn = draw_value(random, 3);
    const std::string source =
        "double fabs(double); double fmax(double, double);\n"
        "void f(int M, int N, int K, double A[M][K], double B[K][N], double C[M][N], double r[M], double D[M][N], "
        "double s) {\n"
        "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { double sum = 0;\n"
        "for (int k = 0; k < K; k++) sum += A[i][k] * B[k][j];\ndouble x = " +
        step.text + ";\nC[i][j] = x * sum + (" + drawn.text + "); } }\n";
    const LoopNest nest = parse_loop_nest(source, "random.c");
    EXPECT_EQ(parse_loop_nest(print_function(nest), "printed.c"), nest) << source << print_function(nest);
    Memory memory = random_memory(nest);
    const Memory result = interpret(nest, memory);
    for (const char* name : {"r", "D", "s"}) {  // what no expression names, no nest has
      memory.arrays.try_emplace(name, Tensor{{5, 4}, std::vector<double>(20)});
    }
    for (std::size_t at = 0; at < 20; ++at) {
      const OutputElement element{sum_of(memory, at / 4, at % 4), at / 4, at % 4, &memory};
      EXPECT_NEAR(result.arrays.at("C").elements.at(at), step.value(element) * element.sum + drawn.value(element),
                  1e-12)
          << source;
    }
  }
}

/// A linear layer as PyTorch has it: what the residual's subscripts say is a layout, and vectors go over rows and
/// columns as ever.
TEST(FrontendEpilogue, FollowsTransposedMatrices) {
  const std::string parameters =
      "void linear(int M, int K, int N, const float W[M][K], const float X[N][K], float Y[N][M], const float bias[M], "
      "const float residual[N][M], const float plain[M][N]) {\n";
  const LoopNest nest = parse_loop_nest(parameters +
                                            "for (int t = 0; t < N; t++) for (int i = 0; i < M; i++) { float sum = 0;\n"
                                            "for (int k = 0; k < K; k++) sum += W[i][k] * X[t][k];\nY[t][i] = sum + "
                                            "bias[i] * residual[t][i] - plain[i][t]; } }\n",
                                        "linear.c");
  EXPECT_EQ(nest.epilogue->subscripts, (std::vector<std::string>{"t", "i"}));
  const LoopNest canonical = canonicalize(nest);
  EXPECT_EQ(canonical.find_array("bias_")->extents, std::vector{Affine::of("M")});
  EXPECT_EQ(canonical.find_array("residual_")->extents, (std::vector{Affine::of("M"), Affine::of("N")}));
  EXPECT_EQ(canonical.find_array("residual_")->layout, canonical.array(ArrayRole::output).layout);
  EXPECT_TRUE(canonical.find_array("residual_")->layout.has_value());
  EXPECT_FALSE(canonical.find_array("plain_")->layout.has_value()) << "one row of C after the other";
  EXPECT_EQ(print(canonical.epilogue->value), "sum_ + bias_[i] * residual_[i][j] - plain_[i][j]");
  EXPECT_EQ(parse_loop_nest(print_function(nest), "printed.c"), nest);
}

}  // namespace
}  // namespace esc
