// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/accepted_epilogues.h"

#include <cmath>

namespace esc {
namespace {

const char* const matrices = "int M, int N, int K, const float A[M][K], const float B[K][N], float C[M][N]";

std::string layer(const std::string& operands, const std::string& body,
                  const std::string& before = "#include <math.h>\n") {
  return before + "void layer(" + matrices + (operands.empty() ? "" : ", " + operands) + ") {\n" + body + "\n}\n";
}

/// The sum gathered in a local, and these statements after it.
std::string gathered(const std::string& operands, const std::string& statements,
                     const std::string& start = "float sum = 0;") {
  return layer(operands, "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {\n" + start +
                             "\nfor (int k = 0; k < K; k++) if (A[i][k] != 0) sum += A[i][k] * B[k][j];\n" +
                             statements + "\n}");
}

/// The sum gathered in C, and these statements after the loops.
std::string behind(const std::string& operands, const std::string& statements, const std::string& before = "") {
  return layer(operands, before +
                             "for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++)\n"
                             "if (A[i][k]) C[i][j] += A[i][k] * B[k][j];\n" +
                             statements);
}

/// A layer whose elements are of a type of 16 bits, the sum gathered in a local, and these statements after it.
std::string of_halves(const std::string& type, const std::string& operands, const std::string& statements,
                      const std::string& start = "float sum = 0;", const std::string& product = "A[i][k] * B[k][j]") {
  return "#include <math.h>\nvoid layer(int M, int N, int K, const " + type + " A[M][K], const " + type + " B[K][N], " +
         type + " C[M][N]" + (operands.empty() ? "" : ", " + operands) +
         ") {\nfor (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {\n" + start +
         "\nfor (int k = 0; k < K; k++) if (A[i][k] != 0) sum += " + product + ";\n" + statements + "\n} }\n";
}

/// A statement for each element, in loops of its own.
std::string each(const std::string& statement) {
  return "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) " + statement + "\n";
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

using Out = const OutputElement&;

}  // namespace

std::vector<EpilogueVariant> accepted_epilogues() {
  return {
      {"Layer",
       gathered("const float bias[M], const float residual[M][N], float scale",
                "const float x = scale * sum + bias[i]; C[i][j] = fmaxf(x, 0.0f) + residual[i][j];"),
       "x = scale * sum + bias[i]\nC[i][j] = fmax(x, 0) + residual[i][j]\n",
       [](Out c) { return std::fmax(c.number("scale") * c.sum + c.of_row("bias"), 0) + c.of_matrix("residual"); }},
      {"Flat",
       "void layer(int M, int N, int K, const float* A, const float* B, float* C, const float* bias, const float* "
       "residual) {\n"
       "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { float acc = 0;\n"
       "for (int k = 0; k < K; k++) acc += A[i*K + k] * B[k*N + j];\n"
       "C[i*N + j] = acc + *(bias + j) - residual[j + i*N]; } }\n",
       "C[i][j] = acc + bias[j] - residual[i][j]\n",
       [](Out c) { return c.sum + c.of_column("bias") - c.of_matrix("residual"); }},
      {"Doubled", gathered("", "C[i][j] = sum * 2;"), "C[i][j] = sum * 2\n", [](Out c) { return c.sum * 2; }},
      {"Sum", gathered("", "C[i][j] = sum;"), "", [](Out c) { return c.sum; }},
      {"Swish", gathered("", "C[i][j] = sum / (1 + expf(-sum));"), "C[i][j] = sum / (1 + exp(-sum))\n",
       [](Out c) { return c.sum * sigmoid(c.sum); }},
      {"Gelu", gathered("", "C[i][j] = 0.5f * sum * (1.f + erff(sum * 0.70710678f));"),
       "C[i][j] = 0.5 * sum * (1 + erf(sum * 0.7071067690849304))\n",
       [](Out c) { return 0.5 * c.sum * (1 + std::erf(c.sum * 0.70710678f)); }},
      {"ReluBehind", behind("", each("C[i][j] = C[i][j] > 0 ? C[i][j] : 0;")), "C[i][j] = 0 < sum ? sum : 0\n",
       [](Out c) { return c.sum > 0 ? c.sum : 0; }},
      {"SeveralBehind",
       behind("const float bias[M], float scale",
              each("C[i][j] += bias[i];") + each("C[i][j] *= scale;") + each("C[i][j] = fmaxf(C[i][j], 0);")),
       "value = sum + bias[i]\nvalue_2 = value * scale\nC[i][j] = fmax(value_2, 0)\n",
       [](Out c) { return std::fmax((c.sum + c.of_row("bias")) * c.number("scale"), 0); }},
      {"OtherIteratorsBehind",
       behind("const float bias[M]",
              "for (int c = 0; c < N; ++c) for (int r = 0; r < M; ++r) { const float b = bias[r]; C[r][c] = C[r][c] - "
              "b; }"),
       "b = bias[i]\nC[i][j] = sum - b\n", [](Out c) { return c.sum - c.of_row("bias"); }},
      {"IteratorsExchangedBehind",
       behind("const float bias[M]", "for (int j = 0; j < M; j++) for (int i = 0; i < N; i++) C[j][i] += bias[j];"),
       "C[i][j] = sum + bias[i]\n", [](Out c) { return c.sum + c.of_row("bias"); }},
      {"BehindEachRow",
       layer("const float bias[N]",
             "for (int i = 0; i < M; i++) { for (int k = 0; k < K; k++) for (int j = 0; j < N; j++)\n"
             "C[i][j] += A[i][k] * B[k][j];\nfor (int c = 0; c < N; c++) C[i][c] = tanhf(C[i][c] + bias[c]); }"),
       "C[i][j] = tanh(sum + bias[j])\n", [](Out c) { return std::tanh(c.sum + c.of_column("bias")); }},
      {"BehindTheReduction",
       layer("",
             "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { C[i][j] = 0;\n"
             "for (int k = 0; k < K; k++) C[i][j] += A[i][k] * B[k][j];\nC[i][j] /= 4; C[i][j] -= 1; }"),
       "value = sum / 4\nC[i][j] = value - 1\n", [](Out c) { return c.sum / 4 - 1; }},
      {"LocalChanged",
       gathered("const float bias[M]", "sum += bias[i]; sum = sum < 0 ? 0.1f * sum : sum; sum *= 3; C[i][j] = sum;"),
       "sum_2 = sum + bias[i]\nsum_3 = sum_2 < 0 ? 0.10000000149011612 * sum_2 : sum_2\nsum_4 = sum_3 * 3\nC[i][j] = "
       "sum_4\n",
       [](Out c) {
         const double x = c.sum + c.of_row("bias");
         return 3 * (x < 0 ? 0.1f * x : x);
       }},
      {"StartsAtBias", gathered("const float bias[M]", "C[i][j] = sum * sum;", "float sum = bias[i];"),
       "sum_2 = sum + bias[i]\nC[i][j] = sum_2 * sum_2\n",
       [](Out c) { return (c.sum + c.of_row("bias")) * (c.sum + c.of_row("bias")); }},
      {"OutputStartsAtBias", behind("const float bias[N]", "", each("C[i][j] = bias[j];")), "C[i][j] = sum + bias[j]\n",
       [](Out c) { return c.sum + c.of_column("bias"); }},
      {"OutputStartsAtOne",
       layer("",
             "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { C[i][j] = 1;\n"
             "for (int k = 0; k < K; k++) C[i][j] += A[i][k] * B[k][j]; }"),
       "C[i][j] = sum + 1\n", [](Out c) { return c.sum + 1; }},
      {"StoredTwice", gathered("", "C[i][j] = sum; C[i][j] += sum;"), "C[i][j] = sum + sum\n",
       [](Out c) { return 2 * c.sum; }},
      {"AddedToTheOutput", gathered("const float bias[M]", "C[i][j] += sum + bias[i];"), "C[i][j] = sum + bias[i]\n",
       [](Out c) { return c.sum + c.of_row("bias"); }},
      {"StoredAndChangedElsewhere", gathered("", "C[i][j] = sum; }\n" + each("C[i][j] = fabsf(C[i][j]);") + "{"),
       "C[i][j] = fabs(sum)\n", [](Out c) { return std::fabs(c.sum); }},
      {"Conditions",
       gathered("float low, float high",
                "C[i][j] = sum >= low && !(sum > high) || -sum == high ? sum : sum != 0 ? low : high;"),
       "C[i][j] = (low <= sum && (high < sum) == 0) || -sum == high ? sum : sum != 0 ? low : high\n",
       [](Out c) {
         const double low = c.number("low");
         const double high = c.number("high");
         return (c.sum >= low && c.sum <= high) || -c.sum == high ? c.sum : low;
       }},
      {"TruthLocal",
       gathered("",
                "const int positive = sum > 0; _Bool large = fabsf(sum) > 0.5f; C[i][j] = positive && !large ? sum * "
                "positive : large;"),
       "positive = 0 < sum ? 1 : 0\nlarge = 0.5 < fabs(sum) ? 1 : 0\n"
       "C[i][j] = positive != 0 && (large != 0) == 0 ? sum * positive : large\n",
       [](Out c) { return c.sum > 0 && std::fabs(c.sum) <= 0.5 ? c.sum
                          : std::fabs(c.sum) > 0.5             ? 1
                                                               : 0; }},
      {"Sign", gathered("", "C[i][j] = sum > 0 ? 1 : sum < 0 ? -1 : 0;"), "C[i][j] = 0 < sum ? 1 : sum < 0 ? -1 : 0\n",
       [](Out c) { return c.sum > 0   ? 1
                          : c.sum < 0 ? -1
                                      : 0; }},
      {"TruthAsFactor", gathered("", "C[i][j] = sum * (sum > 0);"), "C[i][j] = sum * (0 < sum ? 1 : 0)\n",
       [](Out c) { return c.sum > 0 ? c.sum : 0; }},
      {"LocalsAround",
       layer("const float bias[M], float scale",
             "const float twice = 2 * scale;\nfor (int i = 0; i < M; i++) { const float b = bias[i];\n"
             "for (int j = 0; j < N; j++) { float sum = 0; for (int k = 0; k < K; k++) sum += A[i][k] * B[k][j];\n"
             "C[i][j] = twice * sum + b; } }"),
       "twice = 2 * scale\nb = bias[i]\nC[i][j] = twice * sum + b\n",
       [](Out c) { return 2 * c.number("scale") * c.sum + c.of_row("bias"); }},
      {"LocalsOfOneName", gathered("", "float x = sum * 2; { float x = 3; C[i][j] = sum + x; } C[i][j] += x;"),
       "x = sum * 2\nx_2 = 3\nvalue = sum + x_2\nC[i][j] = value + x\n", [](Out c) { return 3 * c.sum + 3; }},
      {"LocalsNamedAsOtherThings",
       gathered("const float bias[M]",
                "{ float exp = sum + bias[i], M = 2; C[i][j] = exp * M; } { float k = C[i][j]; C[i][j] = expf(k); }"),
       "exp_2 = sum + bias[i]\nM_2 = 2\nvalue = exp_2 * M_2\nC[i][j] = exp(value)\n",
       [](Out c) { return std::exp(2 * (c.sum + c.of_row("bias"))); }},
      {"UnusedLocal", gathered("const float bias[M]", "float unused = bias[i]; C[i][j] = sum - -1.5;"),
       "C[i][j] = sum - -1.5\n", [](Out c) { return c.sum + 1.5; }},
      {"AliasOfTheSum", behind("", each("{ float raw = C[i][j]; C[i][j] = raw * raw; }")), "C[i][j] = raw * raw\n",
       [](Out c) { return c.sum * c.sum; }},
      {"OldElementKept",
       behind("const float bias[M]", each("{ float old = C[i][j]; C[i][j] += bias[i]; C[i][j] = old * C[i][j]; }")),
       "value = old + bias[i]\nC[i][j] = old * value\n", [](Out c) { return c.sum * (c.sum + c.of_row("bias")); }},
      {"InDouble", gathered("", "double x = (double)sum * 0.1; C[i][j] = (float)(1.0 / (1.0 + exp(-x)));"),
       "x = sum * 0.1\nC[i][j] = 1 / (1 + exp(-x))\n", [](Out c) { return sigmoid(c.sum * 0.1); }},
      {"OfDoubles",
       "#include <math.h>\n"
       "void layer(int M, int N, int K, double A[M][K], double B[K][N], double C[M][N], double alpha) {\n"
       "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { double sum = 0;\n"
       "for (int k = 0; k < K; k++) sum += A[i][k] * B[k][j];\nC[i][j] = fmin(alpha * sum, pow(2, alpha)); } }\n",
       "C[i][j] = fmin(alpha * sum, pow(2, alpha))\n",
       [](Out c) { return std::fmin(c.number("alpha") * c.sum, std::pow(2, c.number("alpha"))); }},
      {"ConstantsFolded",
       layer("",
             "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { float sum = 0;\n"
             "for (int k = 0; k < K; k++) sum += A[i][k] * B[k][j];\nC[i][j] = slope * sum + 1 / 2 + 3.0 / 4 - HALF + "
             "table[1]; }",
             "#define HALF (1 / 2.)\nstatic const float slope = 0.25f;\nstatic const float table[2] = {1, 0.125f};\n"),
       "C[i][j] = 0.25 * sum + 0 + 0.75 - 0.5 + 0.125\n", [](Out c) { return 0.25 * c.sum + 0.375; }},
      {"TruthOfConstantsFolded",
       layer("",
             "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { float sum = 0;\n"
             "for (int k = 0; k < K; k++) sum += A[i][k] * B[k][j];\nC[i][j] = sum > 0 && +table[1] ? sum : sum || "
             "table[0] - 1 ? 2.0f : 3.0f; }",
             "static const float table[2] = {1, 0.125f};\n"),
       "C[i][j] = 0 < sum && 1 ? sum : sum != 0 || 0 ? 2 : 3\n",
       [](Out c) { return c.sum > 0    ? c.sum
                          : c.sum != 0 ? 2
                                       : 3; }},
      {"GlobalOperands",
       layer("",
             "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { float sum = 0;\n"
             "for (int k = 0; k < K; k++) sum += A[i][k] * B[k][j];\nC[i][j] = alpha * sum + beta[j]; }",
             "float alpha; extern float beta[];\n"),
       "C[i][j] = alpha * sum + beta[j]\n", [](Out c) { return c.number("alpha") * c.sum + c.of_column("beta"); }},
      {"Cpp",
       "#include <cmath>\n"
       "void layer(int M, int N, int K, const float* A, const float* B, float* C, const float* bias, const float& "
       "scale) {\n"
       "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { auto sum = 0.f;\n"
       "for (int k = 0; k < K; k++) sum += A[i*K + k] * B[k*N + j];\n"
       "const bool positive = sum > 0; const float& b = bias[j];\n"
       "C[i*N + j] = positive ? std::exp(sum) : static_cast<float>(scale * b) + std::floor(sum); } }\n",
       "positive = 0 < sum ? 1 : 0\nC[i][j] = positive != 0 ? exp(sum) : scale * bias[j] + floor(sum)\n",
       [](Out c) { return c.sum > 0 ? std::exp(c.sum) : c.number("scale") * c.of_column("bias") + std::floor(c.sum); },
       "layer.cpp"},
      {"Halves", of_halves("_Float16", "const _Float16 bias[M]", "C[i][j] = fmaxf(sum + bias[i], 0);"),
       "C[i][j] = fmax(sum + bias[i], 0)\n", [](Out c) { return std::fmax(c.sum + c.of_row("bias"), 0); }},
      {"BrainHalves",
       of_halves("__bf16", "const __bf16 bias[N], const __bf16 residual[M][N]",
                 "C[i][j] = (sum + bias[j]) + residual[i][j];"),
       "C[i][j] = sum + bias[j] + residual[i][j]\n",
       [](Out c) { return c.sum + c.of_column("bias") + c.of_matrix("residual"); }},
      {"HalvesWithOperandsOfFloats",
       of_halves("_Float16", "const float bias[M], float scale, const float shift[N]",
                 "const float x = scale * sum + bias[i]; C[i][j] = x > 0 ? x : shift[j];", "float sum = 0;",
                 "(float)A[i][k] * (float)B[k][j]"),
       "x = scale * sum + bias[i]\nC[i][j] = 0 < x ? x : shift[j]\n",
       [](Out c) {
         const double x = c.number("scale") * c.sum + c.of_row("bias");
         return x > 0 ? x : c.of_column("shift");
       }},
      {"HalvesConvertedAtTheStore",
       of_halves("__bf16", "const float bias[M], __bf16 scale",
                 "float y = tanhf(sum + bias[i]); C[i][j] = (__bf16)(y * scale);"),
       "y = tanh(sum + bias[i])\nC[i][j] = y * scale\n",
       [](Out c) { return std::tanh(c.sum + c.of_row("bias")) * c.number("scale"); }},
      {"HalvesStartAtBias",
       of_halves("_Float16", "const _Float16 bias[M]", "C[i][j] = sum * sum;", "float sum = bias[i];"),
       "sum_2 = sum + bias[i]\nC[i][j] = sum_2 * sum_2\n",
       [](Out c) { return (c.sum + c.of_row("bias")) * (c.sum + c.of_row("bias")); }},
  };
}

}  // namespace esc
