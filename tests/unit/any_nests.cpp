// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/any_nests.h"

namespace esc {
namespace {

/// The loops around the statement, two spaces a level.
std::string looped(const std::vector<std::pair<std::string, std::string>>& loops, const std::string& statement) {
  std::string text;
  std::string indent;
  for (const auto& [iterator, upper] : loops) {
    text += indent + "for (" + iterator + " = 0; " + iterator + " < " + upper + "; " + iterator + "++)\n";
    indent += "  ";
  }
  return text + indent + statement + "\n";
}

/// for (int iterator = 0; iterator < upper; iterator++).
std::string head(const std::string& iterator, const std::string& upper) {
  return "for (int " + iterator + " = 0; " + iterator + " < " + upper + "; " + iterator + "++) ";
}

/// A convolution of one image whose filters are in W, with this parameter for the image and this statement in its
/// loops.
std::string convolution(const std::string& image, const std::string& statement) {
  return "void f(const float W[8][3][5][2], " + image + ", float Y[8][6][7]) {\n" + head("f", "8") + head("p", "6") +
         head("q", "7") + head("c", "3") + head("r", "5") + head("s", "2") + "{\n" + statement + "\n} }\n";
}

std::string convolved(const std::string& statement) {
  return looped({{"f", "8"}, {"p", "6"}, {"q", "7"}, {"c", "3"}, {"r", "5"}, {"s", "2"}}, statement);
}

}  // namespace

std::vector<AnyNest> any_nests() {
  return {
      {"TokensFirst",
       "void f(int M, int K, int N, const float W[M][K], const float X[N][K], float Y[N][M]) {\n" + head("t", "N") +
           head("i", "M") + head("k", "K") + "if (W[i][k] != 0) Y[t][i] += W[i][k] * X[t][k]; }\n",
       looped({{"t", "N"}, {"i", "M"}, {"k", "K"}}, "if (W[i][k] != 0) Y[t][i] += W[i][k] * X[t][k];"),
       "W[M][K], X[N][K], Y[N][M]"},
      {"BatchOfMatrices",
       "void f(int B, int M, int K, const float W[M][K], const float X[B][K][64], float Y[B][M][64]) {\n" +
           head("b", "B") + head("i", "M") + head("t", "64") + head("k", "K") +
           "Y[b][i][t] += W[i][k] * X[b][k][t]; }\n",
       looped({{"b", "B"}, {"i", "M"}, {"t", "64"}, {"k", "K"}}, "Y[b][i][t] += W[i][k] * X[b][k][t];"),
       "W[M][K], X[B][K][64], Y[B][M][64]"},
      {"BatchOfTokens",
       "void f(int B, int M, int K, float (*Y)[64][M], const float (*W)[K], const float (*X)[64][K]) {\n" +
           head("b", "B") + head("i", "M") + head("t", "64") + head("k", "K") +
           "Y[b][t][i] = W[i][k] * X[b][t][k] + Y[b][t][i]; }\n",
       looped({{"b", "B"}, {"i", "M"}, {"t", "64"}, {"k", "K"}}, "Y[b][t][i] += W[i][k] * X[b][t][k];"),
       "Y[B][64][M], W[M][K], X[B][64][K]"},
      {"FlatMatrixOfABatch",
       "void f(int M, int K, const float* W, const float X[4][K][64], float Y[4][M][64]) {\n" + head("b", "4") +
           head("i", "M") + head("t", "64") + head("k", "K") +
           "if (W[i * K + k]) Y[b][i][t] += W[i * K + k] * X[b][k][t]; }\n",
       looped({{"b", "4"}, {"i", "M"}, {"t", "64"}, {"k", "K"}},
              "if (W[i][k] != 0) Y[b][i][t] += W[i][k] * X[b][k][t];"),
       "W[M][K], X[4][K][64], Y[4][M][64]"},
      {"Convolution", convolution("const float X[3][15][8]", "Y[f][p][q] += W[f][c][r][s] * X[c][2 * p + r][q + s];"),
       convolved("Y[f][p][q] += W[f][c][r][s] * X[c][2*p + r][q + s];"), "W[8][3][5][2], X[3][15][8], Y[8][6][7]"},
      {"ConvolutionInRowsOfPointers",
       convolution("const float (*X)[15][8]",
                   "const float* row = X[c][2 * p + r]; Y[f][p][q] += W[f][c][r][s] * *(row + s + q);"),
       convolved("Y[f][p][q] += W[f][c][r][s] * X[c][2*p + r][q + s];"), "W[8][3][5][2], X[3][15][8], Y[8][6][7]"},
      {"PaddedConvolution",
       convolution(
           "const float X[3][11][8]",
           "const int h = 2 * p + r - 2; const int w = q + s - 1;\n"
           "if (W[f][c][r][s] != 0 && h >= 0 && h < 11 && w >= 0 && w < 8) Y[f][p][q] += W[f][c][r][s] * X[c][h][w];"),
       convolved("if (W[f][c][r][s] != 0 && 0 <= 2*p + r - 2 && 2*p + r - 2 < 11 && 0 <= q + s - 1 && q + s - 1 < 8) "
                 "Y[f][p][q] += W[f][c][r][s] * X[c][2*p + r - 2][q + s - 1];"),
       "W[8][3][5][2], X[3][11][8], Y[8][6][7]"},
      {"PaddedConvolutionThatSkips",
       convolution("const float X[3][11][8]",
                   "int h = 2 * p + r - 2; if (h < 0 || h >= 11) continue;\n"
                   "if (W[f][c][r][s] == 0) continue;\nY[f][p][q] += X[c][h][q + s] * W[f][c][r][s];"),
       convolved("if (0 <= 2*p + r - 2 && 2*p + r - 2 < 11 && W[f][c][r][s] != 0) "
                 "Y[f][p][q] += X[c][2*p + r - 2][q + s] * W[f][c][r][s];"),
       "W[8][3][5][2], X[3][11][8], Y[8][6][7]"},
      {"ConvolutionOfASignal",
       "void f(const double W[8][3], const double X[16], double Y[8][7]) {\n" + head("f", "8") + head("p", "7") +
           head("r", "3") + "Y[f][p] += W[f][r] * X[2 * p + r]; }\n",
       looped({{"f", "8"}, {"p", "7"}, {"r", "3"}}, "Y[f][p] += W[f][r] * X[2*p + r];"), "W[8][3], X[16], Y[8][7]"},
      {"TableOfTaps",
       "static const int tap[3] = {-1, 0, 1};\nvoid f(const float W[8][3], const float X[7], float Y[8][7]) {\nconst "
       "int twice[4] = {0, 2, 4, 6};\n" +
           head("f", "8") + head("p", "7") + head("r", "3") +
           "{ const int h = p + tap[r]; if (h >= 0 && h < 7) Y[f][p] += W[f][r] * X[p + tap[r] + twice[1] - 2]; } }\n",
       looped({{"f", "8"}, {"p", "7"}, {"r", "3"}},
              "if (0 <= p + r - 1 && p + r - 1 < 7) Y[f][p] += W[f][r] * X[p + r - 1];"),
       "W[8][3], X[7], Y[8][7]"},
      {"TableOfUnevenTaps",
       "static const int tap[3] = {0, 1, 3};\nvoid f(const float W[8][3], const float X[9], float Y[8][6]) {\n" +
           head("f", "8") + head("p", "6") + head("r", "3") + "Y[f][p] += W[f][r] * X[p + tap[r]]; }\n",
       "for (f = 0; f < 8; f++)\n  for (p = 0; p < 6; p++)\n    for (r = 0; r < 3; r++) {\n      int tap_r = tap[r];\n"
       "      Y[f][p] += W[f][r] * X[p + tap_r];\n    }\n",
       "W[8][3], X[9], Y[8][6], tap[3]"},
      {"LoadedRows",
       "void f(int K, const float W[8][K], const int* order, const unsigned short again[K], const float X[][7], float "
       "Y[8][7]) {\n" +
           head("f", "8") + head("k", "K") + head("p", "7") + "Y[f][p] += W[f][k] * X[order[again[k]]][p]; }\n",
       "for (f = 0; f < 8; f++)\n  for (k = 0; k < K; k++)\n    for (p = 0; p < 7; p++) {\n      int again_k = "
       "again[k];\n"
       "      int order_again_k = order[again_k];\n      Y[f][p] += W[f][k] * X[order_again_k][p];\n    }\n",
       "W[8][K], order[0], again[K], X[0][7], Y[8][7]"},
      {"StoredRows",
       "void f(int M, int K, int N, const int R[M + 1], const int I[], const float* V, const float X[K][N], float "
       "Y[M][N]) {\n" +
           head("i", "M") + "{ const int last = R[i + 1]; for (int p = R[i]; p < last; p++) { const int k = I[p]; " +
           head("j", "N") + "Y[i][j] += V[p] * X[k][j]; } } }\n",
       "for (i = 0; i < M; i++) {\n  int last = R[i + 1];\n  int R_i = R[i];\n  for (p = R_i; p < last; p++) {\n    "
       "int k = I[p];\n"
       "    for (j = 0; j < N; j++)\n      Y[i][j] += V[p] * X[k][j];\n  }\n}\n",
       "R[M + 1], I[0], V[0], X[K][N], Y[M][N]"},
      {"PlacesOfEachElement",
       "void f(int L, const int* row, const int* column, const float* V, const float X[4][7], float Y[8][7]) {\n" +
           head("p", "L") + head("j", "7") + "Y[row[p]][j] += X[column[p]][j] * V[p]; }\n",
       "for (p = 0; p < L; p++)\n  for (j = 0; j < 7; j++) {\n    int row_p = row[p];\n    int column_p = column[p];\n"
       "    Y[row_p][j] += X[column_p][j] * V[p];\n  }\n",
       "row[0], column[0], V[L], X[4][7], Y[8][7]"},
      {"TableOfRows",
       "static const float scale[3] = {1, -0.5f, 1e-3f};\nvoid f(int K, int N, const float A[3][K], const float "
       "B[K][N], float C[3][N]) {\n" +
           head("i", "3") + head("k", "K") + head("j", "N") + "C[i][j] += A[i][k] * B[k][j];\n" + head("i", "3") +
           head("j", "N") + "C[i][j] *= scale[i]; }\n",
       looped({{"i", "3"}, {"k", "K"}, {"j", "N"}}, "C[i][j] += A[i][k] * B[k][j];") +
           looped({{"i", "3"}, {"j", "N"}}, "C[i][j] = C[i][j] * scale[i];"),
       "A[3][K], B[K][N], C[3][N], scale[3]"},
      {"PyTorchsGroups",
       "void f(int F, int C, int G, const float W[F][C], const float X[G * C][7], float Y[F][7]) {\n" + head("g", "G") +
           head("i", "F / G") + head("p", "7") + head("c", "C") +
           "if (W[g * (F / G) + i][c]) Y[g * (F / G) + i][p] += W[g * (F / G) + i][c] * X[C * g + c][p]; }\n",
       looped({{"g", "2"}, {"i", "4"}, {"p", "7"}, {"c", "3"}},
              "if (W[4*g + i][c] != 0) Y[4*g + i][p] += W[4*g + i][c] * X[c + 3*g][p];"),
       "W[8][3], X[6][7], Y[8][7]",
       {{{"F", 8}, {"C", 3}, {"G", 2}}, {}}},
      {"DividedSizes",
       "void f(int H, int R, int stride, int pad, const float W[8][R], const float X[H], float Y[8][(H + 2 * pad - R) "
       "/ stride + 1]) {\n"
       "const int P = (H + 2 * pad - R) / stride + 1;\n" +
           head("f", "8") + head("p", "P") + head("r", "R") +
           "{ const int h = p * stride + r - pad; if (h >= 0 && h < H) Y[f][p] += W[f][r] * X[h]; } }\n",
       looped({{"f", "8"}, {"p", "6"}, {"r", "3"}},
              "if (0 <= 2*p + r - 1 && 2*p + r - 1 < 12) Y[f][p] += W[f][r] * X[2*p + r - 1];"),
       "W[8][3], X[12], Y[8][6]",
       {{{"H", 12}, {"R", 3}, {"stride", 2}, {"pad", 1}}, {}}},
      {"WithRemainders",
       "void f(int H, int R, const float W[8][R], const float X[H % 10], float Y[8][-(-7) % 4]) {\n" + head("f", "8") +
           head("p", "H % 10 - R + 1") + head("r", "R") + "Y[f][p] += W[f][r] * X[p + r]; }\n",
       looped({{"f", "8"}, {"p", "3"}, {"r", "3"}}, "Y[f][p] += W[f][r] * X[p + r];"),
       "W[8][3], X[5], Y[8][3]",
       {{{"H", 25}, {"R", 3}}, {}}},
  };
}

}  // namespace esc
