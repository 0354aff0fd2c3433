// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "generator/frontend/format_source.h"
#include "generator/support/error.h"

namespace esc {
namespace {

using testing::HasSubstr;

TEST(FormatSource, LaysOutAKernel) {
  const std::string emitted =
      "#include <stdint.h>\n#include <cuda_runtime.h>\n"
      "extern \"C\" __global__ void __launch_bounds__(64) spmm(const float*__restrict__ a,float *c){\n"
      "extern __shared__ float staged[];\n"
      "for(int i=0;i<4;i++){float4 b=*reinterpret_cast<const float4*>(a+i);c[i]+=b.x;}\n"
      "#pragma unroll\nfor(int j=0;j<2;++j)c[j]=0;\n__syncthreads();}\n"
      "void run(float*c,cudaStream_t stream){spmm<<<dim3(4,1),64,0,stream>>>(nullptr,c);}\n";
  EXPECT_EQ(format_source(emitted, "kernel.cu"),
            "#include <stdint.h>\n"
            "#include <cuda_runtime.h>\n"
            "extern \"C\" __global__ void __launch_bounds__(64) spmm(const float* __restrict__ a, float* c) {\n"
            "  extern __shared__ float staged[];\n"
            "  for (int i = 0; i < 4; i++) {\n"
            "    float4 b = *reinterpret_cast<const float4*>(a + i);\n"
            "    c[i] += b.x;\n"
            "  }\n"
            "#pragma unroll\n"
            "  for (int j = 0; j < 2; ++j) c[j] = 0;\n"
            "  __syncthreads();\n"
            "}\n"
            "void run(float* c, cudaStream_t stream) { spmm<<<dim3(4, 1), 64, 0, stream>>>(nullptr, c); }\n");
}

TEST(FormatSource, PointersStandAtTheTypeWhateverTheTextPrefers) {
  EXPECT_EQ(format_source("int *a;\nfloat *b;\nvoid f(const float *c, int &d);\n", "pointers.cpp"),
            "int* a;\nfloat* b;\nvoid f(const float* c, int& d);\n");
}

TEST(FormatSource, LinesEndAtAHundredColumns) {
  std::string call = "void f() { g(";
  for (int index = 0; index < 60; ++index) {
    call += (index == 0 ? "argument" : ", argument") + std::to_string(index);
  }
  const std::string formatted = format_source(call + "); }\n", "long.cpp");
  std::istringstream lines(formatted);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) {
    longest = std::max(longest, line.size());
  }
  EXPECT_LE(longest, 100U);
  EXPECT_GT(longest, 80U);
}

class FormatSettles : public testing::TestWithParam<const char*> {};

TEST_P(FormatSettles, SecondTimeChangesNothing) {
  for (const char* const file : {"x.cu", "x.cpp", "x.h"}) {
    const std::string once = format_source(GetParam(), file);
    EXPECT_EQ(format_source(once, file), once);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, FormatSettles,
    testing::Values(
        "", "\n", "int x ;",
        "// a comment that is a good deal longer than the hundred columns which lines of "
        "generated code may have, so that it is broken\nint x; // and another one, which "
        "is after a declaration, and is also too long to stay there\n",
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif\n",
        "static const int table[] = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,"
        "28,29,30,31,32,33,34,35,36,37,38,39,40};\n",
        "#define CHECK(x) do { if (!(x)) { return 1; } } while (0)\nint f(int a){CHECK(a);switch(a){case 1:"
        "return 2;default:break;}return 0;}\n"));

TEST(FormatSource, UnbalancedTextIsADefect) {
  try {
    format_source("void f() { if (x { }\n", "broken.cu");
    FAIL() << "accepted";
  } catch (const Defect& defect) {
    EXPECT_THAT(defect.what(), HasSubstr("broken.cu:1: emitted text has a syntax error"));
  }
}

}  // namespace
}  // namespace esc
