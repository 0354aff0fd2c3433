// SPDX-License-Identifier: Apache-2.0
// What no nest may be, of however many loops and dimensions.

#include "tests/refusals/refused_nests.h"

namespace esc {
namespace {

/// A convolution of a signal of several channels: this statement, on line 3, in loops f < 8, p < 6, c < 3, r < 5.
std::string convolution(const std::string& statement, const std::string& image = "const float X[3][15]") {
  return "void f(const float W[8][3][5], " + image +
         ", float Y[8][6], int T, unsigned U) {\n"
         "for (int f = 0; f < 8; f++) for (int p = 0; p < 6; p++) for (int c = 0; c < 3; c++) for (int r = 0; r < 5; "
         "r++) {\n" +
         statement + "\n} }\n";
}

/// A product in groups: this statement, on line 3, in loops g < G, f < 4, p < 7, c < 5.
std::string grouped(const std::string& statement, const std::string& output = "float Y[8][7]",
                    const std::string& groups = "2") {
  return "void f(int G, int T, const float W[8][5], const float X[2][5][7], " + output + ") {\nfor (int g = 0; g < " +
         groups + "; g++) for (int f = 0; f < 4; f++) for (int p = 0; p < 7; p++) for (int c = 0; c < 5; c++)\n" +
         statement + "\n}\n";
}

/// A product over the stored elements of rows, line 2 this head of the loop over them and line 3 this statement in it
/// and in loops i < M around and j < N inside.
std::string stored(
    const std::string& head, const std::string& statement = "C[i][j] += V[p] * B[I[p]][j];",
    const std::string& parameters = "const int R[M + 1], const int I[], const float V[], const float B[K][N]") {
  return "void f(int M, int K, int N, int L, " + parameters + ", float C[M][N]) { for (int i = 0; i < M; i++)\n" +
         head + " for (int j = 0; j < N; j++) {\n" + statement + "\n} }\n";
}
const char* const over_row = "for (int p = R[i]; p < R[i + 1]; p++)";

/// The same with this condition before the sum.
std::string guarded(const std::string& condition) {
  return convolution("if (" + condition + ") Y[f][p] += W[f][c][r] * X[c][2 * p + r];");
}

}  // namespace

std::vector<Refused> refused_any_nests() {
  return {
      {"SizeAsStride", convolution("Y[f][p] += W[f][c][r] * X[c][p * T @+ r];"),
       "subscript T*p + r of X: expected the iterator of one loop, alone, or a sum of iterators times numbers; --size "
       "NAME=VALUE makes a number of a size"},
      {"SizeAsShift", convolution("Y[f][p] += W[f][c][r] * X[c][p @- T];"),
       "subscript -T + p of X: expected the iterator of one loop"},
      {"ConstantInFactor", convolution("Y[f][p] += W[f][c][r] * X[@2][2 * p + r];"),
       "subscript 2 of X: expected the iterator of one loop"},
      {"ProductOfIterators", convolution("Y[f][p] += W[f][c][r] * X[c][p @* r];"), "subscript p*r of X"},
      {"TargetShifted", convolution("Y[f][p @+ 1] += W[f][c][r] * X[c][2 * p + r];"),
       "subscript p + 1 of Y: expected the iterator of one loop, alone"},
      {"TargetOverlapped", convolution("Y[f][p @+ r] += W[f][c][r] * X[c][2 * p + r];"), "subscript p + r of Y"},
      {"GuardShifted", convolution("if (W[f][c][r @- 1]) Y[f][p] += W[f][c][r] * X[c][2 * p + r];"),
       "subscript r - 1 of W"},
      {"SparseFactorShifted", convolution("Y[f][p] += @W[f][c][r + 1] * X[c][2 * p + r];"),
       "subscript r + 1 of the sparse array W: expected the iterator of one loop, alone, or several that count through "
       "the dimension wherever it is used, as in 4*g + f where f runs to 4; loops run over it as it is stored, so that "
       "a shift, a stride or a sum belongs into the subscripts of X"},
      {"SparseMatrixShifted",
       "void f(const float A[8][6], const float B[5][7], float C[8][7]) {\n"
       "for (int i = 0; i < 8; i++) for (int j = 0; j < 7; j++) for (int k = 0; k < 5; k++)\nC[i][j] += @A[i][k + 1] * "
       "B[k][j];\n}\n",
       "subscript k + 1 of the sparse array A: expected the iterator of one loop, alone"},
      {"GroupsThatDoNotFill", convolution("Y[f][p] += W[f][c][r] * X[c][p];\nY[2 @* f][p] = 0;"),
       "subscript 2*f of Y: expected the iterator"},
      {"GroupsOfASize", grouped("Y[T * g @+ f][p] += W[4 * g + f][c] * X[g][c][p];"),
       "subscript T*g + f of Y: expected the iterator of one loop, alone, or several that count through the dimension "
       "wherever it is used, as in 4*g + f where f runs to 4; --size NAME=VALUE makes a number of a size"},
      {"GroupsTooFarApart", grouped("Y[5 * g @+ f][p] += W[4 * g + f][c] * X[g][c][p];"),
       "subscript f + 5*g of Y: expected the iterator"},
      {"GroupsThatEndEarly", grouped("Y[4 * g @+ f][p] += W[4 * g + f][c] * X[g][c][p];", "float Y[9][7]"),
       "subscript f + 4*g of Y counts to 8, but it is declared with 9: expected the same"},
      {"GroupsOfOneArrayOnly", grouped("Y[4 * g + f][p] += @W[f][c] * X[g][c][p];"),
       "W is declared with 8 rows, but loop f runs to 4"},
      {"GroupsThatAddNothingUp",
       "void f(const float bias[4], float Y[8][7]) {\n"
       "for (int g = 0; g < 2; g++) for (int f = 0; f < 4; f++) for (int p = 0; p < 7; p++)\n@Y[4 * g + f][p] += "
       "bias[f] * bias[f];\n}\n",
       "nothing is added up over a loop in this function: expected C[i][j] += A[i][k] * B[k][j]"},
      {"GroupsThatAreNoNumber",
       "void f(int G, const float W[G][4][5], const float X[G][5][7], float Y[G][4][7]) {\n"
       "@for (int g = 0; g < G; g++) for (int f = 0; f < 4; f++) for (int p = 0; p < 7; p++) for (int c = 0; c < 5; "
       "c++)\n"
       "Y[g][f][p] += W[g][f][c] * X[g][c][p];\n}\n",
       "loop g runs to G, which is no number here: expected one, as by --size G=NUMBER"},
      {"GroupsWithoutColumns",
       "void f(const float W[2][4][5], const float X[2][5], float Y[2][4]) {\n"
       "for (int g = 0; g < 2; g++) for (int f = 0; f < 4; f++) for (int c = 0; c < 5; c++)\nY[g][f] += W[g][f][c] * "
       "@X[g][c];\n}\n",
       "X[g][c] and Y[g][f] share g alone, which W[g][f][c] has too, as groups: expected another iterator of both, for "
       "columns, be it over one"},
      {"EpilogueInOtherLoopsThanGroups",
       grouped("@Y[4 * g + f][p] += W[4 * g + f][c] * X[g][c][p];\nfor (int i = 0; i < 8; i++) for (int p = 0; p < 7; "
               "p++) Y[i][p] *= 2;"),
       "subscript f + 4*g of Y: expected the iterator of one loop, alone, or several that count through the dimension "
       "wherever it is used"},
      {"BiasOfAGroup",
       grouped("Y[4 * g + f][p] += W[4 * g + f][c] * X[g][c][p];\nfor (int g = 0; g < 2; g++) for (int f = 0; f < 4; "
               "f++) for (int p = 0; p < 7; p++) Y[4 * g + f][p] += @bias[f];",
               "float Y[8][7], const float bias[4]"),
       "bias[f] has other subscripts than rows or columns have, or in another order: expected bias[g][f]"},
      {"TwiceInThree", convolution("Y[f][p] += W[f][c][r] * @X[c][p][c];", "const float X[3][6][3]"),
       "two subscripts of X are c: expected two different iterators"},
      {"DeclaredOtherwiseInThree", convolution("Y[f][p] += W[f][c][r] * @X[c][p][r];", "const float X[3][7][5]"),
       "X is declared with 7 elements in dimension 2, but loop p runs to 6: expected the same"},
      {"MoreThanAnAddressSpace",
       convolution("Y[f][p] += W[f][c][r] * @X[c][p + r][r + c];", "const float X[3][2147483647][16384]"),
       "X has more than 17592186044416 elements: expected at most so many"},
      {"ColumnsOfAnItem",
       "void f(int N, const float W[8][3], const float X[N][3][65536][32768], float Y[N][8][65536][32768]) {\n"
       "for (int b = 0; b < N; b++) for (int f = 0; f < 8; f++) for (int p = 0; p < 65536; p++) @for (int q = 0; q < "
       "32768; q++)\n"
       "for (int k = 0; k < 3; k++) Y[b][f][p][q] += W[f][k] * X[b][k][p][q]; }\n",
       "loop q runs to 32768, which makes more than 2147483647 columns for each item: expected at most so many"},
      {"UnknownExtent", convolution("Y[f][p] += W[f][c][r] * @X[c][2 * p + r];", "const float** X"),
       "how many columns X has is not known: expected it to be declared, as in X[8][32]"},
      {"UnknownOutermostExtent", convolution("Y[f][p] += W[f][c][r] * @X[2 * p + r][c][f];", "const float X[][3][8]"),
       "how many elements in dimension 1 X has is not known"},
      {"ExtentOfProduct", convolution("Y[f][p] += W[f][c][r] * @X[c][2 * p + r];", "int H, const float X[3][H * H]"),
       "X is declared with H*H columns: expected a size or a positive constant; --size"},
      {"ExtentBelowOne", convolution("Y[f][p] += W[f][c][r] * @X[c][2 * p + r];", "const float X[3][0]"),
       "X is declared with 0 columns"},
      {"PointerToASignal", convolution("Y[f][p] += W[f][c][r] * X[2 * p @+ r];", "const float* X"),
       "the rows of X are 2 elements apart here, but loop r runs to 5"},
      {"SignalOfOneIterator", convolution("Y[f][p] += W[f][c][r] * X[@p];", "const float X[6]"),
       "X is indexed as one dimension, [p]"},
      {"StoredRowsOfTwo", stored("for (int p = R[i]; p < @R[i + 2]; p++)"),
       "R[i + 2] is where loop p ends, which starts at R[i]: expected R[i + 1]"},
      {"StoredRowsBackwards", stored("for (int p = @R[i + 1]; p < R[i]; p++)"),
       "R[i + 1] is where loop p starts: expected the stored elements"},
      {"StoredRowsOfOneEnd", stored("@for (int p = 0; p < R[i]; p++)"),
       "the bounds of loop p are expected to be loaded, both of them and as they are: expected the stored elements of "
       "one row, for (p = rows[i]; p < rows[i + 1]; p++) C[i][j] += values[p] * "
       "B[columns[p]][j]"},
      {"StoredRowsShifted", stored("@for (int p = R[i] - 1; p < R[i + 1] - 1; p++)"),
       "the bounds of loop p are expected to be loaded, both of them and as they are"},
      {"StoredRowsOfAnotherLength",
       stored("for (int p = @R[i]; p < R[i + 1]; p++)", "C[i][j] += V[p] * B[I[p]][j];",
              "const int R[M], const int I[], const float V[], const float B[K][N]"),
       "R is declared with M elements, but loop i runs to M: expected M + 1"},
      {"StoredRowsOfTwoLoops",
       "void f(int M, int K, int N, const int R[M + 1], const int I[], const float V[], const float B[K][N], float "
       "C[M][N]) {\n"
       "for (int i = 0; i < M; i++) { const int end = R[i + 1];\n"
       "for (int p = R[i]; p < end; p++) @for (int j = end; j < N; j++) C[i][j] += V[p] * B[I[p]][j]; }\n}\n",
       "the bounds of loop p are loaded, and those of loop j too: expected the stored elements"},
      {"StoredColumnsAmongRows", stored(over_row, "C[i][j] += V[p] * B[@R[p]][j];"),
       "R[p] is loaded from R, which says where rows begin or end: expected the stored elements of one row"},
      {"StoredColumnsShifted", stored(over_row, "C[i][j] += V[p] * @B[I[p] - 1][j];"),
       "no subscript of B is that of a column, columns[p] alone: expected the stored elements of one row"},
      {"StoredColumnsOfAnotherRow", stored("for (int p = R[i]; p < R[i + 1]; p++)", "C[i][j] += V[p] * @B[I[i]][j];"),
       "no subscript of B is that of a column"},
      {"StoredColumnsTwice", stored(over_row, "C[i][j] += V[p] * @B[I[I[p]]][j];"),
       "no subscript of B is that of a column"},
      {"StoredColumnsInTheOutput",
       stored(over_row, "C[I[p]][j] += V[p] * @B[i][j];",
              "const int* R, const int I[], const float V[], const float B[M][N]"),
       "no subscript of B is that of a column"},
      {"StoredElementsInTwoFactors",
       stored(over_row, "C[i][j] += V[p] * @B[p][j];",
              "const int R[M + 1], const int I[], const float V[], const float B[L][N]"),
       "no subscript of B is that of a column"},
      {"StoredElementsUnderACondition", stored(over_row, "if (j < 2) C[i][j] += V[p] * B[@I[p]][j];"),
       "I[p] is loaded under a condition: expected it before that"},
      {"StoredElementsElsewhere",
       stored(over_row,
              "C[i][j] += V[p] * B[I[p]][j];\n} for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {\n@C[i][j] += "
              "bias[R[i]];",
              "const int R[M + 1], const int I[], const float V[], const float B[K][N], const float bias[L]"),
       "R[i] is loaded from memory"},
      {"StoredElementsOfTwoProducts",
       stored(over_row, "C[i][j] += V[p] * B[I[p]][j];\n@D[i][j] += V[p] * B[I[p]][j];",
              "const int R[M + 1], const int I[], const float V[], const float B[K][N], float D[M][N]"),
       "what is loaded is used for more than the elements of a row and their columns here"},
      {"StoredRowsInTheText",
       "static const int R[4] = {0, 2, 3, 7};\nvoid f(int K, int N, const int* I, const float* V, const float B[K][N], "
       "float C[3][N]) {\n"
       "for (int i = 0; i < 3; i++) for (int p = @R[i]; p < R[i + 1]; p++) for (int j = 0; j < N; j++) C[i][j] += V[p] "
       "* B[I[p]][j];\n}\n",
       "the values of the table R, 0, 2, 3, 7, do not follow from the index i by one number times it plus another"},
      {"PlacesOfEachElement",
       "void f(int M, int K, int N, int L, const int* R, const int* I, const float* V, const float B[K][N], float "
       "C[M][N]) {\n"
       "for (int p = 0; p < L; p++) for (int j = 0; j < N; j++) C[@R[p]][j] += V[p] * B[I[p]][j];\n}\n",
       "R[p] is loaded from memory"},
      {"RowsOfOneLength",
       "void f(int M, int K, int N, int L, const int I[M][L], const float V[M][L], const float B[K][N], float C[M][N]) "
       "{\n"
       "for (int i = 0; i < M; i++) for (int p = 0; p < L; p++) for (int j = 0; j < N; j++) C[i][j] += V[i][p] * "
       "B[@I[i][p]][j];\n}\n",
       "I[i][p] is loaded from memory"},
      {"TableAsAFactor",
       "static const float W[2][3] = {{1, 0, 2}, {0, 3, 0}};\nvoid f(int N, const float X[3][N], float Y[2][N]) {\n"
       "for (int i = 0; i < 2; i++) for (int k = 0; k < 3; k++) for (int j = 0; j < N; j++) Y[i][j] += @W[i][k] * "
       "X[k][j];\n}\n",
       "W has its elements in the text: expected a parameter of the function, so that a call hands them over"},
      {"GuardNotAffine", guarded("p @* r < 4"), "this compares p*r, which is not affine"},
      {"GuardOfSizes", guarded("T @< 4"), "a guard may leave out zeros only, and all of them"},
      {"GuardLoaded", guarded("X[c][p] @> 0"), "a guard may leave out zeros only"},
      {"GuardEquals", guarded("p @== 4"), "the guard does not compare with 0"},
      {"GuardEqualsZero", guarded("@p != 0"), "this is not a guard on one element"},
      {"GuardUnsigned", guarded("2 * p + r - 1 @< U"),
       "2*p + r - 1 wraps around below zero, because it is compared unsigned: expected int"},
      {"GuardEither", guarded("p < 4 @|| r < 2"), "this is not a guard on one element"},
      {"GuardNotBoth", guarded("!(p < 4 @&& r < 2)"), "this is not a guard on one element"},
      {"GuardDivided", guarded("p @/ 2 < 2"),
       "this is not affine: expected / and % of numbers alone; --size NAME=VALUE makes a number"},
      {"GuardOutOf64Bits", guarded("p < @9223372036854775807"), "the constants in this expression leave 64 bits"},
      {"GuardWithElse", convolution("if (p < 4) Y[f][p] += W[f][c][r] * X[c][2 * p + r]; @else Y[f][p] += 0;"),
       "a guard is expected without else"},
      {"DividedByZero", convolution("Y[f][p] += W[f][c][r] * X[c][2 * p + r + 1 @/ (2 - 2)];"), "this divides by 0"},
      {"UnsignedBelowZero", convolution("Y[f][p] += W[f][c][r] * X[c][p @- U];"),
       "-U + p wraps around below zero, because it is unsigned"},
  };
}

}  // namespace esc
