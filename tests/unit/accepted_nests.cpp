// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/accepted_nests.h"

namespace esc {
namespace {

std::string function(const std::string& body, const std::string& parameters =
                                                  "int M, int K, int N, float A[M][K], float B[K][N], float C[M][N]") {
  return "void spmm(" + parameters + ") {\n" + body + "\n}\n";
}

/// A function with the three loops i, k, j around the statement.
std::string nest(const std::string& statement,
                 const std::string& parameters = "int M, int K, int N, float A[M][K], float B[K][N], float C[M][N]") {
  return function(
      "for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++) {" + statement + "}",
      parameters);
}

std::string in_order(const std::string& order) {
  const std::map<char, std::string> heads = {
      {'i', "for (int i = 0; i < M; i++)"}, {'k', "for (int k = 0; k < K; k++)"}, {'j', "for (int j = 0; j < N; j++)"}};
  std::string text;
  for (const char iterator : order) {
    text += heads.at(iterator) + "\n";
  }
  return function(text + "if (A[i][k]) C[i][j] += A[i][k] * B[k][j];");
}

const char* const pointers = "int M, int K, int N, const float* A, const float* B, float* C";

}  // namespace

std::vector<Variant> accepted_nests() {
  return {
      {"Listing1", "a.c", nest("if (A[i][k]) C[i][j] += A[i][k] * B[k][j];")},
      {"NoGuard", "a.c", nest("C[i][j] += A[i][k] * B[k][j];"), "ikj", false},
      {"OrderIJK", "a.c", in_order("ijk"), "ijk"},
      {"OrderJIK", "a.c", in_order("jik"), "jik"},
      {"OrderJKI", "a.c", in_order("jki"), "jki"},
      {"OrderKIJ", "a.c", in_order("kij"), "kij"},
      {"OrderKJI", "a.c", in_order("kji"), "kji"},
      {"FactorsSwapped", "a.c", nest("if (A[i][k]) C[i][j] += B[k][j] * A[i][k];")},
      {"AssignedSum", "a.c", nest("if (A[i][k]) C[i][j] = C[i][j] + A[i][k] * B[k][j];")},
      {"AssignedSumSwapped", "a.c", nest("if (A[i][k]) C[i][j] = (A[i][k] * B[k][j]) + C[i][j];")},
      {"NotEqualInteger", "a.c", nest("if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];")},
      {"NotEqualZeroFirst", "a.c", nest("if (0 != A[i][k]) C[i][j] += A[i][k] * B[k][j];")},
      {"NotEqualFloat", "a.c", nest("if (A[i][k] != 0.0f) { C[i][j] += A[i][k] * B[k][j]; }")},
      {"NotEqualMinusZero", "a.c", nest("if (A[i][k] != -0.0) C[i][j] += A[i][k] * B[k][j];")},
      {"NotOfEqual", "a.c", nest("if (!(A[i][k] == 0)) C[i][j] += A[i][k] * B[k][j];")},
      {"NotNot", "a.c", nest("if (!!A[i][k]) C[i][j] += A[i][k] * B[k][j];")},
      {"ContinueAtZero", "a.c", nest("if (A[i][k] == 0) continue; C[i][j] += A[i][k] * B[k][j];")},
      {"ContinueAtNot", "a.c", nest("if (!A[i][k]) { continue; } C[i][j] += A[i][k] * B[k][j];")},
      {"GuardTwice", "a.c", nest("if (A[i][k]) if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];")},
      {"GuardAroundColumns", "a.c",
       function("for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) if (A[i][k] != 0)"
                "  for (int j = 0; j < N; j++) C[i][j] += A[i][k] * B[k][j];")},
      {"ContinueAroundColumns", "a.c",
       function("for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) { if (A[i][k] == 0) continue;"
                "  for (int j = 0; j < N; j++) C[i][j] += A[i][k] * B[k][j]; }")},
      {"OtherNames", "a.c",
       "void layer(int out, int in, int tokens, float weight[out][in], float x[in][tokens], float y[out][tokens]) {\n"
       "  for (int o = 0; o < out; o++) for (int c = 0; c < in; c++) for (int t = 0; t < tokens; t++)\n"
       "    if (weight[o][c]) y[o][t] += weight[o][c] * x[c][t];\n}\n"},
      {"NamesCrossed", "a.c",
       "void f(int N, int M, int K, float B[N][M], float C[M][K], float A[N][K]) {\n"
       "  for (int k = 0; k < N; k++) for (int j = 0; j < M; j++) for (int i = 0; i < K; i++)\n"
       "    if (B[k][j]) A[k][i] += C[j][i] * B[k][j];\n}\n"},
      {"FlatPointers", "a.c", nest("if (A[i*K + k]) C[i*N + j] += A[i*K + k] * B[k*N + j];", pointers)},
      {"FlatOtherWayRound", "a.c", nest("if (A[k + K*i]) C[j + i*N] += A[k + i*K] * B[j + N*k];", pointers)},
      {"FlatWithCast", "a.c",
       nest("C[(long)i*N + j] += A[(size_t)i*K + k] * B[k*(unsigned long)N + j];",
            "int M, int K, int N, float* A, float* B, float* C")
           .insert(0, "#include <stddef.h>\n"),
       "ikj", false},
      {"FlatVla", "a.c",
       nest("if (A[i*K + k]) C[i*N + j] += A[i*K + k] * B[k*N + j];",
            "int M, int K, int N, float A[M * K], float B[K * N], float C[N * M]")},
      {"PointerArithmetic", "a.c",
       nest("if (*(A + i*K + k)) *(C + (i*N + j)) += *(k + A + i*K) * *(B + k*N + j);", pointers)},
      {"PointerToRow", "a.c",
       function(
           "for (int i = 0; i < M; i++) { const float* row = A + i*K; float* out = &C[i*N];"
           "  for (int k = 0; k < K; k++) for (int j = 0; j < N; j++) if (row[k]) out[j] += row[k] * B[k*N + j]; }",
           pointers)},
      {"RowDereferenced", "a.c", nest("if ((*(A + i))[k]) C[i][j] += *(*(A + i) + k) * *(B[k] + j);")},
      {"PointerToPointers", "a.c",
       nest("if (A[i][k]) C[i][j] += A[i][k] * B[k][j];", "int M, int K, int N, float** A, float** B, float** C")},
      {"PointerToArrays", "a.c",
       nest("if (A[i][k]) C[i][j] += A[i][k] * B[k][j];",
            "int M, int K, int N, float (*A)[K], float (*B)[N], float C[][N]")},
      {"FirstElementOfRow", "a.c", nest("if (A[i][k]) C[i][j] += *(&A[i][0] + k) * B[k][j];")},
      {"RestrictConst", "a.c",
       nest("if (A[i*K+k]) C[i*N+j] += A[i*K+k] * B[k*N+j];",
            "const int M, const int K, const int N, const float* restrict A, float const* __restrict__ B, float* "
            "restrict C")},
      {"Double", "a.c",
       nest("if (A[i][k]) C[i][j] += A[i][k] * B[k][j];",
            "int M, int K, int N, double A[M][K], double B[K][N], double C[M][N]"),
       "ikj", true, ScalarType::f64},
      {"Half", "a.c",
       nest("if (A[i][k]) C[i][j] += A[i][k] * B[k][j];",
            "int M, int K, int N, _Float16 A[M][K], _Float16 B[K][N], _Float16 C[M][N]"),
       "ikj", true, ScalarType::f16},
      {"BrainHalf", "a.c",
       nest("if (A[i][k] != 0) C[i][j] += (float)A[i][k] * (float)B[k][j];",
            "int M, int K, int N, const __bf16 A[M][K], const __bf16 B[K][N], __bf16 C[M][N]"),
       "ikj", true, ScalarType::bf16},
      {"ProductInDouble", "a.c", nest("if (A[i][k]) C[i][j] += (double)A[i][k] * (double)B[k][j];")},
      {"AssignedSumInDouble", "a.c", nest("if (A[i][k]) C[i][j] = C[i][j] + (double)A[i][k] * B[k][j];")},
      {"GlobalArrays",
       "a.c",
       "#define M 32\n#define K 48\n#define N 64\nfloat A[M][K]; float B[K][N]; static float C[M][N];\n" +
           function("for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++)\n"
                    "if (A[i][k]) C[i][j] += A[i][k] * B[k][j];",
                    "void"),
       "ikj",
       true,
       ScalarType::f32,
       {32, 48, 64}},
      {"ConstantColumns",
       "a.c",
       "enum { N = 64 };\n" +
           nest("if (A[i*K+k]) C[i*N+j] += A[i*K+k] * B[64*k + j];", "int M, int K, float* A, float* B, float* C"),
       "ikj",
       true,
       ScalarType::f32,
       {0, 0, 64}},
      {"ConstGlobalColumns",
       "a.c",
       "static const int N = 2 * 32;\n" +
           nest("if (A[i*K+k]) C[i*N+j] += A[i*K+k] * B[k*N + j];", "int M, int K, float* A, float* B, float* C"),
       "ikj",
       true,
       ScalarType::f32,
       {0, 0, 64}},
      {"GlobalSizes", "a.c",
       "int M, K, N;\n" + nest("if (A[i*K+k]) C[i*N+j] += A[i*K+k] * B[k*N + j];", "float* A, float* B, float* C")},
      {"FlatGlobal",
       "a.c",
       "float A[32 * 48], B[48 * 64], C[32 * 64];\n"
       "void f(void) { for (int i = 0; i < 32; i++) for (int k = 0; k < 48; k++) for (int j = 0; j < 64; j++)\n"
       "  C[i * 64 + j] += A[i * 48 + k] * B[k * 64 + j]; }\n",
       "ikj",
       false,
       ScalarType::f32,
       {32, 48, 64}},
      {"IteratorsBefore", "a.c",
       function("int i, j, k; for (i = 0; i < M; ++i) for (k = 0; k < K; ++k) for (j = 0; j < N; ++j)"
                "  if (A[i][k]) C[i][j] += A[i][k] * B[k][j];")},
      {"OtherSteps", "a.c",
       function("for (int i = 0; i < M; i += 1) for (int k = 0; k < K; k = k + 1) for (int j = 0; j < N; j = 1 + j)"
                "  if (A[i][k]) C[i][j] += A[i][k] * B[k][j];")},
      {"OtherComparisons", "a.c",
       function("for (int i = 0; i <= M - 1; i++) for (int k = 0; K > k; k++) for (int j = 0; j != N; j++)"
                "  if (A[i][k]) C[i][j] += A[i][k] * B[k][j];")},
      {"InclusiveConstant",
       "a.c",
       "#define N 64u\n" +
           function("for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (unsigned j = 0; j <= N - 1; j++)"
                    "  if (A[i*K+k]) C[i*64u+j] += A[i*K+k] * B[k*64 + j];",
                    "int M, int K, float* A, float* B, float* C"),
       "ikj",
       true,
       ScalarType::f32,
       {0, 0, 64}},
      {"IteratorTypes", "a.c",
       "#include <stddef.h>\n#include <stdint.h>\n" +
           function("for (size_t i = 0; i < M; i++) for (int64_t k = 0; k < K; k++) for (unsigned j = 0; j < N; j++)"
                    "  if (A[i][k]) C[i][j] += A[i][k] * B[k][j];",
                    "size_t M, int64_t K, unsigned N, float A[M][K], float B[K][N], float C[M][N]")},
      {"LongIterators", "a.c",
       function("for (long i = 0L; i < M; i++) for (long long k = 0; k < K; k++) for (unsigned long j = 0; j < N; j++)"
                "  if (A[i][k]) C[i][j] += A[i][k] * B[k][j];")},
      {"ScalarTemporary", "a.c",
       function(
           "for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) { const float a = A[i][k]; if (a == 0) continue;"
           "  for (int j = 0; j < N; j++) C[i][j] += a * B[k][j]; }")},
      {"ManyTemporaries", "a.c",
       nest("float a = A[i][k]; float b = B[k][j]; float p = a * b; int nonzero = a != 0; if (nonzero) C[i][j] += p;")},
      {"IndexTemporaries", "a.c",
       function("for (int i = 0; i < M; i++) { const int start = i * K; for (int k = 0; k < K; k++) {"
                "  int b_start = N * k; for (int j = 0; j < N; j++) if (A[start + k]) "
                "  C[i * N + j] += A[start + k] * B[b_start + j]; } }",
                pointers)},
      {"GatheredSum", "a.c",
       function("for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { float sum = 0;"
                "  for (int k = 0; k < K; k++) if (A[i][k]) sum += A[i][k] * B[k][j];"
                "  C[i][j] = sum; }"),
       "ijk"},
      {"GatheredSumInDouble", "a.c",
       function("double sum; for (int j = 0; j < N; j++) for (int i = 0; i < M; i++) { sum = 0.0;"
                "  for (int k = 0; k < K; k++) sum = sum + A[i][k] * B[k][j];"
                "  C[i][j] += (float)sum; }"),
       "jik", false},
      {"InitialisedInside", "a.c",
       function("for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) { C[i][j] = 0;"
                "  for (int k = 0; k < K; k++) if (A[i][k]) C[i][j] += A[i][k] * B[k][j]; }"),
       "ijk"},
      {"InitialisedPerRow", "a.c",
       function(
           "for (int i = 0; i < M; i++) { for (int j = 0; j < N; j++) C[i][j] = 0.0f;"
           "  for (int k = 0; k < K; k++) for (int j = 0; j < N; j++) if (A[i][k]) C[i][j] += A[i][k] * B[k][j]; }")},
      {"InitialisedBefore", "a.c",
       function("for (int r = 0; r < M; r++) for (int c = 0; c < N; c++) C[r][c] = 0;"
                "for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++)"
                "  if (A[i][k]) C[i][j] += A[i][k] * B[k][j];")},
      {"OtherFunctions", "a.c",
       "#include <stdio.h>\nstatic float twice(float x) { return 2 * x; }\nvoid declared(float* x);\n" +
           nest("if (A[i][k]) C[i][j] += A[i][k] * B[k][j];") +
           "int main(void) { for (int i = 0; i < 3; i++) printf(\"%f\\n\", twice(i)); return 0; }\n"},
      {"ReturnsAtEnd", "a.c",
       "int f(int M, int K, int N, float A[M][K], float B[K][N], float C[M][N]) { ; for (int i = 0; i < M; i++)"
       "  for (int k = 0; k < K; k++)\n#pragma unroll\n for (int j = 0; j < N; j++)"
       "  { { if (((A)[i][(k)])) { C[i][j] += ((A[i][k]) * (B[k][j])); } } } return 0; }\n"},
      {"MacroElements", "a.c",
       "#define AT(X, r, c, ld) X[(r) * (ld) + (c)]\n" +
           nest("if (AT(A, i, k, K)) AT(C, i, j, N) += AT(A, i, k, K) * AT(B, k, j, N);", pointers)},
      {"Cpp", "a.cpp",
       "namespace layers { extern \"C\" " +
           nest("if (bool(A[i*K+k])) C[i*N+j] += A[i*K+k] * B[k*static_cast<long>(N)+j];",
                "int M, int K, int N, const float* __restrict__ A, const float* B, float* C") +
           "}\n"},
      {"CppReferences",
       "a.cc",
       "constexpr int M = 32, K = 48, N = 64;\n" +
           nest("const auto& row = A[i]; if (row[k] != 0.0) C[i][j] += row[k] * B[k][j];",
                "const float (&A)[M][K], const float (&B)[K][N], float (&C)[M][N]"),
       "ikj",
       true,
       ScalarType::f32,
       {32, 48, 64}},
      {"CudaEnding", "a.cu", nest("if (A[i*K+k]) C[i*N+j] += A[i*K+k] * B[k*N+j];", pointers)},
  };
}

}  // namespace esc
