// SPDX-License-Identifier: Apache-2.0
#include "tests/refusals/refused_nests.h"

namespace esc {
namespace {

const char* const matrices = "int M, int K, int N, float A[M][K], float B[K][N], float C[M][N]";
const char* const pointers = "int M, int K, int N, float* A, float* B, float* C";

/// A function with its body on the lines after the first.
std::string function(const std::string& body, const std::string& parameters = matrices) {
  return "void spmm(" + parameters + ") {\n" + body + "\n}\n";
}

/// The three loops around the statement, which is on line 3.
std::string nest(const std::string& statement, const std::string& parameters = matrices) {
  return function(
      "for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++) {\n" + statement + "\n}",
      parameters);
}

/// The product in three loops, the first of which has this head.
std::string headed(const std::string& head, const std::string& parameters = matrices) {
  return function(
      "for (" + head + ")\nfor (int k = 0; k < K; k++) for (int j = 0; j < N; j++) C[i][j] += A[i][k] * B[k][j];",
      parameters);
}

/// The product over pointers, flat, the last loop with this head.
std::string flat_headed(const std::string& head, const std::string& parameters) {
  return function(
      "for (int i = 0; i < M; i++) for (int k = 0; k < K; k++)\nfor (" + head + ") C[i*N+j] += A[i*K+k] * B[k*N+j];",
      parameters);
}

}  // namespace

std::vector<Refused> refused_loops() {
  return {
      {"EmptyFile", "@", "no loop nest found: expected one function, not a member or a template, with three for loops"},
      {"NoLoops", "@int x;\nvoid f(float* a) { a[0] = 1; }\n", "no loop nest found"},
      {"Template", "@template <int N> void f(float* C) { for (int i = 0; i < N; i++) C[i] = 0; }\n",
       "no loop nest found: expected one function, not a member or a template", "nest.cpp"},
      {"LoopsWithoutArrays", "@int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n",
       "no loop nest found"},
      {"TwoFunctions",
       "void first(float* a) { for (int i = 0; i < 4; i++) a[i] = 0; }\n"
       "void @second(float* a) { for (int i = 0; i < 4; i++) a[i] = 0; }\n",
       "several functions loop over arrays (first, second): expected one"},
      {"TwoLoops",
       function("@for (int i = 0; i < M; i++) for (int j = 0; j < N; j++)\nC[i][j] += A[i][j] * B[i][j];",
                "int M, int N, float A[M][N], float B[M][N], float C[M][N]"),
       "the update is in 2 loops: expected three, over rows, reduction and columns"},
      {"FourLoops",
       function("for (int t = 0; t < 9; t++) for (int i = 0; i < M; i++) for (int k = 0; k < K; k++)\n"
                "@for (int j = 0; j < N; j++) C[i][j] += A[i][k] * B[k][j];"),
       "the update is in 4 loops: expected three"},
      {"WhileLoop",
       function("int i = 0;\n@while (i < M) { for (int k = 0; k < K; k++) for (int j = 0; j < N; j++)\n"
                "C[i][j] += A[i][k] * B[k][j]; i++; }"),
       "a while loop is not part of a nest: expected for loops"},
      {"DoLoop",
       function("for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) { int j = 0;\n"
                "@do { C[i][j] += A[i][k] * B[k][j]; j++; } while (j < N); }"),
       "a do loop is not part of a nest"},
      {"StartsAtOne", headed("int i = @1; i < M; i++"), "loop i starts at 1: expected 0"},
      {"StartsAtSize", headed("int i = @M; i < M; i++"), "loop i starts at M: expected 0"},
      {"NoStart",
       function("int i = 0;\n@for (; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++)\n"
                "C[i][j] += A[i][k] * B[k][j];"),
       "expected to start by setting one iterator"},
      {"StepTwo", headed("int i = 0; i < M; i @+= 2"), "the step of loop i is 2: expected i++"},
      {"StepOfASize", headed("int i = 0; i < M; i @+= K"), "loop i is expected to advance by a constant"},
      {"NoStep",
       function("@for (int i = 0; i < M;) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++)\n"
                "C[i][j] += A[i][k] * B[k][j];"),
       "loop i does not advance in its head"},
      {"TwoSteps", headed("int i = 0; i < M; i++@, M--"), "loop i is expected to advance by a constant"},
      {"Decreasing", headed("int i = M - 1; i >= 0; i@--"), "loop i counts down: expected i++, from 0 upwards"},
      {"NoEnd",
       function("@for (int i = 0;; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++)\n"
                "C[i][j] += A[i][k] * B[k][j];"),
       "loop i has no end: expected i < size"},
      {"EndComparesAnother", headed("int i = 0; N @< M; i++"), "the end of loop i is expected as i < size"},
      {"EndGreater", headed("int i = 0; i @> M; i++"), "the end of loop i is expected as i < size"},
      {"BoundNotAffine", headed("int i = 0; i < M @/ 2; i++"), "this is not affine"},
      {"BoundProduct", headed("int i = 0; i @< M * K; i++"), "loop i runs to K*M, which is not affine"},
      {"BoundOneLess", headed("int i = 0; i @< M - 1; i++"), "loop i runs to M - 1: expected one size"},
      {"BoundInclusive", headed("int i = 0; i @<= M; i++"), "loop i runs to M + 1: expected one size"},
      {"BoundZero", headed("int i = 0; i @< 0; i++"), "loop i runs to 0: expected one size or a positive constant"},
      {"BoundAboveCounters", headed("int i = 0; i @< 2147483648; i++"),
       "loop i runs to 2147483648: expected at most 2147483647"},
      {"BoundTriangular",
       function("for (int i = 0; i < M; i++) for (int k = 0; k < K; k++)\n"
                "for (int j = 0; j @< i; j++) C[i][j] += A[i][k] * B[k][j];"),
       "the bound of loop j depends on iterator i"},
      {"BoundLoaded", headed("int i = 0; i < @sizes[0]; i++", std::string(matrices) + ", int* sizes"),
       "sizes[0] is loaded from memory"},
      {"BoundChanges",
       function("for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++) {\n"
                "C[i*N+j] += A[i*K+k] * B[k*N+j]; @M--; }",
                pointers),
       "M is changed here, but bounds and subscripts use M"},
      {"BoundUnsignedInclusive",
       flat_headed("unsigned j = 0; j @<= N; j++", "int M, int K, unsigned N, float* A, float* B, float* C"),
       "an unsigned j <= N wraps around where a size is 0"},
      {"BoundUnsignedDifference",
       flat_headed("unsigned j = 0; j <= N @- 1; j++", "int M, int K, unsigned N, float* A, float* B, float* C"),
       "N - 1 wraps around below zero, because it is unsigned"},
      {"BoundSignedDifferenceMadeUnsigned", flat_headed("unsigned j = 0; j @<= N - 1; j++", pointers),
       "an unsigned j <= N - 1 wraps around"},
      {"IteratorChanged", nest("C[i][j] += A[i][k] * B[k][j]; @k = k + 1;"), "iterator k is changed here"},
      {"IteratorChangedInSubscript", nest("C[i][j] += A[i][@k++] * B[k][j];"), "iterator k is changed here"},
      {"IteratorFloating", function("for (float @i = 0; i < M; i++) C[0][0] += A[0][0] * B[0][0];"),
       "iterator i is float: expected an integer"},
      {"IteratorNarrow", headed("unsigned char @i = 0; i < M; i++"), "iterator i is unsigned char"},
      {"IteratorTwice",
       function("int i, j;\nfor (i = 0; i < M; i++) @for (i = 0; i < K; i++) for (j = 0; j < N; j++)\n"
                "C[i][j] += A[i][i] * B[i][j];"),
       "a loop around already uses iterator i"},
      {"IteratorNamedAsSize",
       function("for (int i = 0; i < M; i++) for (int k = 0; k < N; k++)\n"
                "@for (int N = 0; N < 64; N++) C[i*64+N] += A[i*N+k] * B[k*64+N];",
                pointers),
       "N stands for two things here: expected different names"},
      {"Break", nest("C[i][j] += A[i][k] * B[k][j]; @break;"), "break is not part of a nest"},
      {"Goto", function("@goto end;\nend: for (int i = 0; i < M; i++) C[i][i] = 0;"), "goto is not part of a nest"},
      {"Return", nest("C[i][j] += A[i][k] * B[k][j]; @return;"), "return before the end of the function"},
      {"RangeFor", "float A[4][4], B[4][4], C[4][4];\nvoid f() {\n@for (auto& row : C) row[0] = 0; }\n",
       "a range-based for loop is not part of a nest", "nest.cpp"},
  };
}

std::vector<Refused> refused_subscripts() {
  return {
      {"SparseTransposed",
       nest("C[i][j] += @A[k][i] * B[k][j];", "int M, int K, int N, float A[K][M], float B[K][N], float C[M][N]"),
       "A[k][i] is the sparse matrix transposed: expected A[i][k], M x K"},
      {"WithoutReduction", nest("C[i*N+j] += @A[i*N+j] * B[k*N+j];", pointers), "A[i][j] is not indexed by k"},
      {"WithoutColumns", nest("C[i*N+j] += A[i*K+k] * @B[i*K+k];", pointers), "no factor is indexed by iterator j"},
      {"ShiftedSubscript", nest("C[i][j] += @A[i][k + 1] * B[k][j];"),
       "subscript k + 1 of the sparse array A: expected the iterator of one loop"},
      {"ConstantSubscript", nest("C[i][j] += A[@0][k] * B[k][j];"), "subscript 0 of A"},
      {"ScaledSubscript", nest("C[i][j] += A[i][k] * @B[2 * k][j];"), "subscript 2*k of B"},
      {"SquaredSubscript", nest("C[i][j] += A[i][k] * B[k @* k][j];"), "subscript k*k of B"},
      {"DividedSubscript", nest("C[i][j] += A[i][k @/ 2] * B[k][j];"), "this is not affine"},
      {"LoadedSubscript", nest("C[i][j] += A[i][k] * B[@index[k]][j];", std::string(matrices) + ", const int* index"),
       "index[k] is loaded from memory: expected sums of iterators times numbers, and sizes that are parameters. A "
       "sparse matrix is written whole, C[i][j] += A[i][k] * "
       "B[k][j] under if (A[i][k] != 0), in whatever form it is given: only its non-zeros are stored and multiplied"},
      {"TableOfNoLine",
       "static const int tap[3] = {0, 1, 3};\nvoid f(const float W[8][3], const float X[9], float Y[8][5]) {\n"
       "for (int f = 0; f < 8; f++) for (int p = 0; p < 5; p++) for (int r = 0; r < 3; r++) Y[f][p] += W[f][r] * X[p + "
       "@tap[r]];\n}\n",
       "the values of the table tap, 0, 1, 3, do not follow from the index r by one number times it plus another"},
      {"TableTooShort",
       "static const int tap[2] = {0, 1};\nvoid f(const float W[8][3], const float X[9], float Y[8][5]) {\n"
       "for (int f = 0; f < 8; f++) for (int p = 0; p < 5; p++) for (int r = 0; r < 3; r++) Y[f][p] += W[f][r] * X[p + "
       "@tap[r]];\n}\n",
       "tap[r] goes from 0 to 2, but the table has 2 elements"},
      {"LoadedTwice",
       nest("C[i][j] += A[i][k] * B[index[@index[k]]][j];", std::string(matrices) + ", const int* index"),
       "index[k] is loaded from memory"},
      {"LoadedFromFloats", nest("C[i][j] += A[i][k] * B[@(int)A[i][k]][j];"), "this is not affine"},
      {"LoadedFromALocal", nest("int index[4] = {3, 1, 2, 0}; C[i][j] += A[i][k] * B[@index[k]][j];"),
       "index is an array whose elements may change, or more than 1024 constants: expected a parameter of the "
       "function, or a table of constants"},
      {"LoadedRows", nest("C[@index[i]][j] += A[i][k] * B[k][j];", std::string(matrices) + ", const int* index"),
       "index[i] is loaded from memory"},
      {"LoadedInAGuard",
       nest("if (@index[k] < j) C[i][j] += A[i][k] * B[k][j];", std::string(matrices) + ", const int* index"),
       "index[k] is loaded from memory"},
      {"LoadedAtAProduct",
       nest("C[i][j] += A[i][k] * B[index[i @* k]][j];", std::string(matrices) + ", const int* index"),
       "subscript i*k of index is not affine: expected sums of iterators times numbers; --size NAME=VALUE makes a "
       "number of a size"},
      {"LoadedUnderTwoConditions",
       nest("if (j < 2) C[i][j] += A[i][k] * B[@index[k]][j]; C[i][j] += A[i][k] * B[index[k]][j];",
            std::string(matrices) + ", const int* index"),
       "index[k] is loaded under one condition and used under another: expected a local before both, const int "
       "index = index[k]"},
      {"TableUpToASize",
       "static const int tap[2] = {0, 1};\nvoid f(int R, const float W[8][R], const float X[9], float Y[8][5]) {\n"
       "for (int f = 0; f < 8; f++) for (int p = 0; p < 5; p++) for (int r = 0; r < R; r++) Y[f][p] += W[f][r] * X[p + "
       "@tap[r]];\n}\n",
       "which elements of the table tap are meant is not known at [r]"},
      {"NarrowedSubscript", nest("C[i][j] += A[i][@(char)k] * B[k][j];"), "this is not affine"},
      {"HugeSubscript", nest("C[i][j] += A[i][k] * B[4611686018427387904 @* (k + k)][j];"), "leave 64 bits"},
      {"SameIteratorTwice",
       nest("C[i][j] += @A[i][i] * B[k][j];",
            "int M, int K, int N, float A[M][M], float B[K][N], "
            "float C[M][N]"),
       "both subscripts of A are i"},
      {"StaleIterator",
       function("int i, k, j;\nfor (i = 0; i < M; i++) { float a = A[i][@k]; for (k = 0; k < K; k++)\n"
                "for (j = 0; j < N; j++) C[i][j] += a * B[k][j]; }"),
       "k is neither a size nor the iterator of a loop around this place"},
      {"WrongStride", nest("C[i*N+j] += A[i*M @+ k] * B[k*N+j];", pointers),
       "the rows of A are M elements apart here, but loop k runs to K: expected A[i * K + k]"},
      {"PaddedStride", nest("C[i*N+j] += A[i*K+k] * B[k*ldb @+ j];", std::string(pointers) + ", int ldb"),
       "the rows of B are ldb elements apart here, but loop j runs to N"},
      {"FlatShifted", nest("C[i*N+j] += A[i*K+k @+ 1] * B[k*N+j];", pointers),
       "subscript K*i + k + 1 of A: expected row"},
      {"FlatThreeIterators", nest("C[i*N+j] += A[i*K+k @+ j] * B[k*N+j];", pointers), "subscript K*i + j + k of A"},
      {"OneDimension", nest("C[i][j] += A[i][k] * b[@k];", std::string(matrices) + ", float* b"),
       "b is indexed as one dimension, [k]: expected a matrix"},
      {"ThreeDimensions",
       function("for (int i = 0; i < M; i++) for (int k = 0; k < K; k++)\nfor (int j = 0; j < N; j++) C[i][j] += "
                "A[i][k][j] * @B[k][j];",
                "int M, int K, int N, float A[M][K][N], float B[K][N], float C[M][N]"),
       "B[k][j] and C[i][j] share j alone, which A[i][k][j] has too, as groups: expected another iterator of both, for "
       "columns, be it over one"},
      {"DeclaredColumns",
       nest("C[i][j] += @A[i][k] * B[k][j];", "int M, int K, int N, float A[M][K + 1], float B[K][N], float C[M][N]"),
       "A is declared with K + 1 columns, but loop k runs to K: expected the same"},
      {"DeclaredRows",
       nest("C[i][j] += A[i][k] * @B[k][j];", "int M, int K, int N, float A[M][K], float B[64][N], float C[M][N]"),
       "B is declared with 64 rows, but loop k runs to K"},
      {"DeclaredElements",
       nest("C[i*N+j] += @A[i*K+k] * B[k*N+j];", "int M, int K, int N, float A[M], float* B, float* C"),
       "A is declared with M elements, but loops i and k run to M and K"},
      {"DeclaredByCall",
       "int rows(void);\n" + nest("C[i][j] += A[i][k] * B[k][j];",
                                  "int M, int K, int N, float A[@rows()][K], float B[K][N], float C[M][N]"),
       "this is not affine"},
      {"IntegerElements",
       nest("C[i][j] += @A[i][k] * B[k][j];", "int M, int K, int N, int A[M][K], float B[K][N], float C[M][N]"),
       "the elements of A are int: expected float, double, _Float16 or __bf16"},
      {"MixedElements",
       nest("C[i][j] += A[i][k] * @B[k][j];", "int M, int K, int N, float A[M][K], double B[K][N], float C[M][N]"),
       "B holds double, C holds float: expected the same type"},
      {"MemberArray",
       "struct Matrix { float* data; };\n" + nest("C[i][j] += A.@data[i*K+k] * B[k][j];",
                                                  "int M, int K, int N, struct Matrix A, float B[K][N], float C[M][N]"),
       "the array is expected to be a parameter or a variable"},
      {"MovedPointer", nest("C[i*N+j] += A[i*K+k] * B[k*N+j]; @A++;", pointers), "A is changed here"},
      {"CastPointer",
       nest("C[i][j] += A[i][k] * (@(const float*)B)[k*N+j];",
            "int M, int K, int N, float A[M][K], const void* B, float C[M][N]"),
       "the array is expected to be a parameter or a variable"},
  };
}

std::vector<Refused> refused_statements() {
  return {
      {"Subtracted", nest("C[i][j] @-= A[i][k] * B[k][j];"), "operator -=: expected +="},
      {"Multiplied", nest("C[i][j] @*= A[i][k] * B[k][j];"), "operator *=: expected +="},
      {"Overwritten", nest("C[i][j] @= A[i][k] * B[k][j];"), "this assignment does not add to its target"},
      {"AddedToAnother",
       nest("C[i][j] @= C[j][i] + A[i][k] * B[k][j];", "int M, int K, int N, float* A[M], float* B[K], float* C[]"),
       "this assignment does not add to its target"},
      {"Division", nest("C[i][j] += A[i][k] @/ B[k][j];"), "operator / in what is added: expected the product of two"},
      {"SumOfProducts", nest("C[i][j] += A[i][k] * B[k][j] @+ A[i][k] * B[k][j];"), "operator + in what is added"},
      {"Negated", nest("C[i][j] += @-A[i][k] * B[k][j];"), "this factor is not an element of a matrix"},
      {"ThreeFactors", nest("C[i][j] += A[i][k] * B[k][j] @* A[i][k];"), "3 factors: expected two"},
      {"OneFactor", nest("C[i][j] += @A[i][k];"), "1 factor: expected two"},
      {"ScalarFactor", nest("C[i][j] += @alpha * A[i][k] * B[k][j];", std::string(matrices) + ", float alpha"),
       "this factor is not an element of a matrix"},
      {"Truncated", nest("C[i][j] += @(int)A[i][k] * B[k][j];"), "this factor is not an element of a matrix"},
      {"Narrowed",
       nest("C[i][j] += @(float)A[i][k] * B[k][j];",
            "int M, int K, int N, double A[M][K], double B[K][N], double C[M][N]"),
       "this factor is not an element of a matrix"},
      {"NarrowedToHalf", nest("C[i][j] += @(_Float16)A[i][k] * B[k][j];"), "this factor is not an element of a matrix"},
      {"FactorsOfTwoHalves",
       nest("C[i][j] += (float)A[i][k] * (float)@B[k][j];",
            "int M, int K, int N, _Float16 A[M][K], __bf16 B[K][N], _Float16 C[M][N]"),
       "B holds __bf16, C holds _Float16: expected the same type in all three arrays"},
      {"HalfAndFloat",
       nest("C[i][j] += @A[i][k] * B[k][j];", "int M, int K, int N, _Float16 A[M][K], float B[K][N], float C[M][N]"),
       "A holds _Float16, C holds float: expected the same type in all three arrays"},
      {"SumOfHalvesInFloat",
       nest("C[i][j] += @A[i][k] * B[k][j];", "int M, int K, int N, _Float16 A[M][K], _Float16 B[K][N], float C[M][N]"),
       "A holds _Float16, C holds float: expected the same type in all three arrays"},
      {"Call", "#include <math.h>\n" + nest("C[i][j] += @fabsf(A[i][k]) * B[k][j];"),
       "call of fabsf in what is added: expected the product of two elements"},
      {"Print", "#include <stdio.h>\n" + nest("C[i][j] += A[i][k] * B[k][j]; @printf(\"%d\", i);"),
       "call of printf: the nest is expected to call nothing but ceil, cos, erf, exp"},
      {"VectorOfVectors",
       "#include <vector>\nusing Matrix = std::vector<std::vector<float>>;\n" +
           nest("C[i][j] += @A[i][k] * B[k][j];", "int M, int K, int N, Matrix& A, Matrix& B, float** C"),
       "call of operator[]", "nest.cpp"},
      {"TwoUpdates", nest("C[i][j] += A[i][k] * B[k][j]; @C[i][j] += A[i][k] * B[k][j];"),
       "a second update: expected one"},
      {"NoUpdate", "void @f(float C[4][4]) { for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) C[i][j] = 0; }\n",
       "nothing is added to an output"},
      {"AddsToParameter", nest("@total += A[i][k] * B[k][j];", std::string(matrices) + ", float total"),
       "an element of the output is expected to be added to"},
      {"OutputIsFactor",
       nest("C[i][j] += @C[i][k] * B[k][j];", "int M, int K, int N, float* A[M], float* B[K], float** C"),
       "C is read as a factor and also added to: expected three different arrays"},
      {"OneArrayTwice", nest("C[i][j] += A[i][k] * @A[k][j];", "int M, int K, int N, float** A, float** B, float** C"),
       "A is both factors: expected three different arrays"},
      {"TwoArraysOfOneName",
       "float A[4][4], C[4][4];\nnamespace other { float A[4][4]; }\n"
       "void f() {\nfor (int i = 0; i < 4; i++) for (int k = 0; k < 4; k++) for (int j = 0; j < 4; j++)\n"
       "C[i][j] += A[i][k] * @other::A[k][j];\n}\n",
       "A stands for two things here: expected different names", "nest.cpp"},
      {"OtherEffect", nest("C[i][j] += A[i][k] * B[k][j]; count@++;", std::string(matrices) + ", int count"),
       "this statement is not an update"},
      {"ChangedTemporary", nest("float a = @A[i][k]; a = a * 2; C[i][j] += a * B[k][j];"),
       "a is changed later, so it is no factor: expected the product of two elements"},
      {"TemporaryWithEffect", nest("float a = @(C[0][0] = 1); C[i][j] += A[i][k] * B[k][j];"),
       "this value is expected to be read without changing anything"},
      {"ReturnWithEffect",
       "float f(float C[4][4]) {\nfor (int i = 0; i < 4; i++) C[i][i] += 0;\nreturn C[0][0] @= 1;\n}\n",
       "this value is expected to be read without changing anything"},
      {"SelfTemporary", nest("float @a = a; C[i][j] += a * B[k][j];"), "a is set to an expression of itself"},
      {"GatheredOverTwoLoops",
       function("for (int i = 0; i < M; i++) { float @sum = 0; for (int j = 0; j < N; j++) {\n"
                "for (int k = 0; k < K; k++) sum += A[i][k] * B[k][j]; C[i][j] = sum; } }"),
       "sum is expected to be set to 0 before the innermost loop"},
      {"GatheredNeverZero",
       function("float sum; for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {\n"
                "for (int k = 0; k < K; k++) @sum += A[i][k] * B[k][j]; C[i][j] = sum; }"),
       "sum is expected to be set to 0 before the innermost loop"},
      {"GatheredNotStored",
       function("for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { float sum = 0;\n"
                "for (int k = 0; k < K; k++) @sum += A[i][k] * B[k][j]; }"),
       "sum is expected to be stored to the output after the innermost loop"},
      {"GatheredStoredUnderAGuard",
       function("for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) { float sum = 0;\n"
                "for (int j = 0; j < N; j++) sum += A[i][k] * B[k][j]; if (A[i][k]) @C[i][k] = sum; }",
                "int M, int K, int N, float A[M][K], float B[K][N], float C[M][K]"),
       "sum is expected to be stored to the output after the innermost loop"},
      {"GatheredInFloat",
       function("for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { float @sum = 0;\n"
                "for (int k = 0; k < K; k++) sum += A[i][k] * B[k][j]; C[i][j] = sum; }",
                "int M, int K, int N, double A[M][K], double B[K][N], double C[M][N]"),
       "sum is narrower than the elements it gathers: expected 64 bits"},
      {"InitialisedInReduction", nest("@C[i][j] = 0; C[i][j] += A[i][k] * B[k][j];"),
       "C is expected to be set to 0 once per element, before the reduction loop"},
      {"InitialisedAfter",
       function("for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) {\n"
                "for (int k = 0; k < K; k++) C[i][j] += A[i][k] * B[k][j]; @C[i][j] = 0; }"),
       "C loses its sums here: expected it to be set before the reduction loop, or to a value made of C[i][j]"},
      {"InitialisedUnderAGuard",
       function("for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { if (C[i][j]) @C[i][j] = 0;\n"
                "for (int k = 0; k < K; k++) C[i][j] += A[i][k] * B[k][j]; }"),
       "C is expected to be set to 0 once per element, before the reduction loop and without a guard"},
      {"InitialisedInPart",
       function("for (int r = 0; r < 8; r++) for (int j = 0; j < N; j++) @C[r*N+j] = 0;\n"
                "for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++)\n"
                "C[i*N+j] += A[i*K+k] * B[k*N+j];",
                pointers),
       "C is expected to be set to 0 over the same rows and columns"},
      {"InitialisedInput",
       function("for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) { @A[i][k] = 0;\n"
                "for (int j = 0; j < N; j++) C[i][j] += A[i][k] * B[k][j]; }"),
       "A is changed here, but only the output C may be"},
  };
}

std::vector<Refused> refused_guards() {
  return {
      {"OnDense", nest("if (@B[k][j]) C[i][j] += A[i][k] * B[k][j];"), "the guard tests B[k][j]: expected A[i][k]"},
      {"OnOutput", nest("if (@C[i][j] != 0) C[i][j] += A[i][k] * B[k][j];"),
       "the guard tests C[i][j]: expected A[i][k]"},
      {"OnMask", nest("if (@mask[i][k]) C[i][j] += A[i][k] * B[k][j];", std::string(matrices) + ", float mask[M][K]"),
       "the guard tests mask[i][k]: expected A[i][k]"},
      {"OnIterator", nest("if (@i) C[i][j] += A[i][k] * B[k][j];"), "this is not a guard on one element"},
      {"OnSizes", nest("if (i @< K) C[i][j] += A[i][k] * B[k][j];"), "a guard may leave out zeros only"},
      {"Positive", nest("if (A[i][k] @> 0) C[i][j] += A[i][k] * B[k][j];"),
       "a guard may leave out zeros only, and all of them: expected A[i][k] != 0"},
      {"AgainstOne", nest("if (A[i][k] @!= 1) C[i][j] += A[i][k] * B[k][j];"), "the guard does not compare with 0"},
      {"RowPointer",
       nest("if (@A[i*K+k]) C[i][j] += A[i][k] * B[k][j];", "int M, int K, int N, float** A, float** B, float** C"),
       "this is not an element of A, which has 2 dimensions"},
      {"Consteval", "consteval " + nest("@if consteval { C[i*N+j] += A[i*K+k] * B[k*N+j]; }", pointers),
       "a guard is expected as a condition alone", "nest.cpp"},
      {"Both", nest("if (A[i][k] && @B[k][j]) C[i][j] += A[i][k] * B[k][j];"),
       "the guard tests B[k][j]: expected A[i][k]"},
      {"Either", nest("if (A[i][k] @|| B[k][j]) C[i][j] += A[i][k] * B[k][j];"), "this is not a guard on one element"},
      {"AtZero", nest("if (A[i][k] @== 0) C[i][j] += A[i][k] * B[k][j];"), "this guard keeps the zeros"},
      {"ContinueAtNonzero", nest("if (A[i][k] @!= 0) continue; C[i][j] += A[i][k] * B[k][j];"),
       "this guard skips what is not zero"},
      {"Else", nest("if (A[i][k]) C[i][j] += A[i][k] * B[k][j]; @else C[i][j] += 0;"), "expected without else"},
      {"ContinueInBlock", nest("{ if (A[i][k] == 0) @continue; } C[i][j] += A[i][k] * B[k][j];"),
       "continue other than as the whole body of if"},
      {"Truncated", nest("if (@(int)A[i][k]) C[i][j] += A[i][k] * B[k][j];"), "this is not a guard on one element"},
      {"TruncatedTemporary", nest("int a = @A[i][k]; if (a) C[i][j] += A[i][k] * B[k][j];"),
       "this is not a guard on one element"},
      {"EarlyReturn", function("if (M @<= 0) return;\nfor (int i = 0; i < M; i++) C[i][i] = 0;"),
       "a guard may leave out zeros only"},
      {"Declaration", nest("@if (float a = A[i*K+k]) C[i*N+j] += a * B[k*N+j];", pointers),
       "a guard is expected as a condition alone", "nest.cpp"},
  };
}

std::vector<Refused> invalid_texts() {
  return {
      {"Syntax", nest("C[i][j] += A[i][k] * @;"), "error: expected expression"},
      {"Undeclared", nest("C[i][j] += A[i][k] * @X[k][j];"), "error: use of undeclared identifier 'X'"},
      {"MissingHeader", "#include @\"no_such_header.h\"\n", "fatal error: 'no_such_header.h' file not found"},
      {"Type", nest("C[i][j] += A[i] @* B[k][j];"), "error: invalid operands"},
  };
}

}  // namespace esc
