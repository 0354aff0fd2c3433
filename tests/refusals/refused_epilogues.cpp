// SPDX-License-Identifier: Apache-2.0
// What may not follow a product, or are before it.

#include "tests/refusals/refused_nests.h"

namespace esc {
namespace {

const char* const matrices = "int M, int K, int N, float A[M][K], float B[K][N], float C[M][N]";
const char* const brain_halves = "int M, int K, int N, __bf16 A[M][K], __bf16 B[K][N], __bf16 C[M][N]";
const char* const rows = "int M, int K, int N, float** A, float** B, float** C";

std::string function(const std::string& body, const std::string& operands = "",
                     const std::string& parameters = matrices) {
  return "void layer(" + parameters + (operands.empty() ? "" : ", " + operands) + ") {\n" + body + "\n}\n";
}

/// The sum gathered in a local, and these statements after it, on line 4.
std::string gathered(const std::string& statements, const std::string& operands = "",
                     const std::string& parameters = matrices, const std::string& type = "float") {
  return function("for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { " + type +
                      " sum = 0;\nfor (int k = 0; k < K; k++) sum += A[i][k] * B[k][j];\n" + statements + "\n}",
                  operands, parameters);
}

/// The sum gathered in C, and these statements after the loops.
std::string behind(const std::string& statements, const std::string& operands = "",
                   const std::string& parameters = matrices) {
  return function(
      "for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++)\nC[i][j] += A[i][k] * "
      "B[k][j];\n" +
          statements,
      operands, parameters);
}

std::string each(const std::string& statement) {
  return "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { " + statement + " }\n";
}

}  // namespace

std::vector<Refused> refused_epilogues() {
  return {
      {"OperandShifted", gathered("C[i][j] = sum + @bias[i + 1];", "float bias[]"),
       "bias[i + 1] has a part in what C becomes: expected a number, bias[i], bias[j] or bias[i][j]"},
      {"OperandScaled", gathered("C[i][j] = sum + @bias[2 * j];", "float* bias"),
       "bias[2*j] has a part in what C becomes"},
      {"OperandConstant", gathered("C[i][j] = sum + @bias[0];", "float* bias"), "bias[0] has a part in what C becomes"},
      {"OperandDereferenced", gathered("C[i][j] = sum * @*scale;", "float* scale"),
       "scale[0] has a part in what C becomes"},
      {"OperandOfThreeDimensions", gathered("C[i][j] = sum + @D[i][j][i];", "float D[M][N][M]"),
       "D[i][j][i] has a part in what C becomes: expected a number, D[i], D[j] or D[i][j]"},
      {"OperandOfRowAndColumn", gathered("C[i][j] = sum + v[i] + @v[j];", "float* v"),
       "v[j] is also read as v[i] in what C becomes: expected one of them"},
      {"OperandOfColumnAndElement", gathered("C[i][j] = sum + v[j] - @v[i * N + j];", "float* v"),
       "v[i][j] is also read as v[j] in what C becomes: expected one of them"},
      {"OperandOfElementAndColumn", gathered("C[i][j] = sum + v[i * N + j] - @v[j];", "float* v"),
       "v[j] is also read as v[i][j] in what C becomes: expected one of them"},
      {"OperandNotAffine", gathered("C[i][j] = sum + v[i @* j];", "float* v"), "subscript i*j of v"},
      {"OperandLoadedSubscript", gathered("C[i][j] = sum + v[@index[i]];", "float* v, int* index"),
       "index[i] is loaded from memory"},
      {"OperandDeclaredOtherwise", gathered("C[i][j] = sum + @bias[i];", "float bias[K]"),
       "bias is declared with K elements, but loop i runs to M: expected the same"},
      {"OperandOfDoubles", gathered("C[i][j] = sum + @bias[i];", "double* bias"),
       "bias holds double, C holds float: expected the same type"},
      {"NumberOfDouble", gathered("C[i][j] = sum * @scale;", "double scale"), "scale holds double, C holds float"},
      {"OperandOfIntegers", gathered("C[i][j] = sum + @bias[i];", "int* bias"),
       "the elements of bias are int: expected float"},
      {"OperandIsFactor", gathered("C[i][j] = sum + @A[i][j];", "", rows),
       "A is a factor of the product: expected another array in what C becomes"},
      {"OutputTransposed", gathered("C[i][j] = sum + @C[j][i];", "", rows),
       "C[j][i] is read here: expected no other element of the output than the one that is changed, C[i][j]"},
      {"OutputShifted", behind(each("C[i][j] += @C[i][j + 1];")), "C[i][j + 1] is read here"},
      {"OutputReadFirst", gathered("C[i][j] = 0.5f * @C[i][j] + sum;"),
       "C[i][j] is read before it is set: expected its sum"},
      {"OutputReadInFront",
       function(each("@C[i][j] *= 2;") +
                "for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++)\n"
                "C[i][j] += A[i][k] * B[k][j];"),
       "C[i][j] is read before it is set"},
      {"IteratorInValue", gathered("C[i][j] = sum * @i;"), "an integer in a value: expected constants, or a parameter"},
      {"SizeInValue", gathered("C[i][j] = sum / @K;"), "an integer in a value"},
      {"DividedIterator", gathered("C[i][j] = sum * (i @/ 2);"), "an integer in a value"},
      {"Truncated", gathered("C[i][j] = @(int)sum;"), "an integer in a value"},
      {"IntegerCondition", gathered("C[i][j] = i @> 0 ? sum : 0;"), "this is no condition on numbers"},
      {"NotFinite", gathered("C[i][j] = sum + 1e300 @* 1e300;"), "this constant is not finite"},
      {"AssignmentInValue", gathered("float x; C[i][j] = (x @= sum);"),
       "operator = in a value: expected numbers, elements"},
      {"Remainder", gathered("C[i][j] = sum * (3 @% i);"), "an integer in a value"},
      {"UnknownFunction", "float gelu(float);\n" + gathered("C[i][j] = @gelu(sum);"),
       "call of gelu: the nest is expected to call nothing but ceil, cos, erf, exp, exp2, expm1, fabs, floor, fmax"},
      {"FunctionOfTheProgram", "static float tanhf(float x) { return x; }\n" + gathered("C[i][j] = @tanhf(sum);"),
       "call of tanhf"},
      {"ConstantTable", "static const float table[4] = {1, 2, 3, 4};\n" + gathered("C[i][j] = sum * @table[i];"),
       "table has its elements in the text: expected a parameter of the function, so that a call hands them over"},
      {"LocalTable", gathered("static const float table[4] = {1, 2, 3, 4}; C[i][j] = sum * @table[j];"),
       "table has its elements in the text"},
      {"ChangingTable", gathered("static float @table[4] = {1, 2, 3, 4}; C[i][j] = sum * table[0];"),
       "local table is expected to be a plain number or pointer"},
      {"NarrowedInDouble",
       gathered("@C[i][j] = (float)(sum * 2);", "",
                "int M, int K, int N, double A[M][K], double B[K][N], double C[M][N]", "double"),
       "a value is narrowed to float here, but C holds double: expected that type throughout"},
      {"FunctionOfFloatsInDouble",
       "float expf(float);\n" + gathered("@C[i][j] = expf(sum);", "",
                                         "int M, int K, int N, double A[M][K], double B[K][N], double C[M][N]",
                                         "double"),
       "a value is narrowed to float here"},
      {"LocalOfFloatInDouble",
       gathered("float @x = sum * 2; C[i][j] = x;", "",
                "int M, int K, int N, double A[M][K], double B[K][N], double C[M][N]", "double"),
       "x is narrower than the elements of C: expected 64 bits"},
      {"HalfLocalInFloat", gathered("_Float16 @x = sum * 2; C[i][j] = x;"),
       "x is narrower than the elements of C: expected 32 bits"},
      {"NarrowedInFloat", gathered("@C[i][j] = (_Float16)sum * 2;"),
       "a value is narrowed to _Float16 here, but C holds float: expected that type throughout"},
      {"GatheredInHalf",
       function("for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { _Float16 @sum = 0;\n"
                "for (int k = 0; k < K; k++) sum += A[i][k] * B[k][j];\nC[i][j] = sum; }"),
       "sum is narrower than the elements it gathers: expected 32 bits"},
      {"OtherHalfLocal", gathered("_Float16 @x = sum * 2; C[i][j] = x;", "", brain_halves),
       "x is narrower than the elements of C"},
      {"NarrowedToTheOtherHalf", gathered("@C[i][j] = (_Float16)sum * 2;", "", brain_halves),
       "a value is narrowed to _Float16 here, but C holds __bf16: expected that type throughout"},
      {"OperandOfTheOtherHalf", gathered("C[i][j] = sum + @bias[i];", "_Float16* bias", brain_halves),
       "bias holds _Float16, C holds __bf16: expected the same type"},
      {"OperandOfDoublesInHalf", gathered("C[i][j] = sum + @bias[i];", "double* bias", brain_halves),
       "bias holds double, C holds __bf16"},
      {"OperandOfHalvesInFloat", gathered("C[i][j] = sum + @bias[i];", "_Float16* bias"),
       "bias holds _Float16, C holds float"},
      {"UnderACondition", behind(each("if (C[i][j] @< 0) C[i][j] = 0;")), "a guard may leave out zeros only"},
      {"UnderAGuard", behind(each("if (C[i][j]) @C[i][j] *= 2;")),
       "C is expected to be changed once per element, after the reduction loop and without a guard"},
      {"InPart", behind("for (int r = 0; r < 8; r++) for (int j = 0; j < N; j++) @C[r][j] *= 2;", "", rows),
       "C is expected to be changed over the same rows and columns as it is added to"},
      {"OneColumn", behind("for (int i = 0; i < M; i++) C[i][@0] = 1;"),
       "subscript 0 of C: expected the iterator of one loop"},
      {"Again", behind("for (int t = 0; t < 3; t++) " + each("C[i][j] @*= 2;")), "operator *=: expected +="},
      {"InTheReduction",
       function("for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) for (int k = 0; k < K; k++) {\n"
                "C[i][j] += A[i][k] * B[k][j]; C[i][j] @= C[i][j] > 0 ? C[i][j] : 0; }"),
       "this assignment does not add to its target"},
      {"LocalInTheReduction",
       function("for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { float sum = 0;\n"
                "for (int k = 0; k < K; k++) { sum += A[i][k] * B[k][j]; sum @*= 2; } C[i][j] = sum; }"),
       "operator *=: expected +="},
      {"OtherArrayChanged", gathered("C[i][j] = sum; @D[i][j] = sum * 2;", "float D[M][N]"),
       "D is changed here, but only the output C may be"},
      {"NumberChanged", gathered("@scale *= 2; C[i][j] = sum * scale;", "float scale"),
       "an element of the output is expected to be added to"},
      {"SumLost", gathered("C[i][j] = sum; @C[i][j] = 1;"),
       "C loses its sums here: expected it to be set before the reduction loop, or to a value made of C[i][j]"},
      {"SumUnused",
       function("for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { float sum = 0;\n"
                "for (int k = 0; k < K; k++) @sum += A[i][k] * B[k][j]; C[i][j] = 1; }"),
       "sum is expected to be stored to the output after the innermost loop"},
      {"LocalWithoutValue", gathered("float x; C[i][j] = sum + @x;"), "x has no value here for each element"},
      {"LocalOfAnElement", behind("float x;\n" + each("x = C[i][j];") + each("C[i][j] = @x;")),
       "x has no value here for each element: expected it to be set before, in loops around this place"},
      {"LocalUnderAGuard", behind(each("float x = 0; if (C[i][j]) x = C[i][j]; C[i][j] += @x;")),
       "x has no value here"},
      {"LocalGoesOn", behind("float x = 1;\n" + each("C[i][j] *= @x; x = 2;")),
       "x goes from one iteration to the next here: expected it to be set anew for each element"},
      {"LocalCounts", behind("float x = 0;\n" + each("x = @x * 2 + C[i][j]; C[i][j] = x;")),
       "x goes from one iteration to the next"},
  };
}

}  // namespace esc
