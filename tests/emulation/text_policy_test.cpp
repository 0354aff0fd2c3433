// SPDX-License-Identifier: Apache-2.0
// Which texts compilers may take in different ways or keep something between calls, and which a bundle may have.

#include "generator/verify/text_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/process.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/nvcc.h"
#include "generator/verify/own_names.h"

namespace esc {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// In short what a generated kernel's text has. Host code uses `rows`, by way of `row_bytes`.
const std::string generated =
    "// A kernel.\n"
    "#ifndef __CUDACC_RTC__\n"
    "#include <cuda_runtime.h>\n"
    "#endif\n"
    "namespace {\n"
    "constexpr int rows = 4;\n"
    "constexpr int row_bytes = rows * 4;\n"
    "constexpr int unrolled = 4;\n"
    "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\n"
    "constexpr bool copies_in_bulk = true;\n"
    "#else\n"
    "constexpr bool copies_in_bulk = false;\n"
    "#endif\n"
    "struct Pair {\n"
    "  int first;\n"
    "};\n"
    "__constant__ float scale_[2] = {1, 2};\n"
    "__device__ __forceinline__ int bits_of(int value) { return __popc(value); }\n"
    "template <bool tuned>\n"
    "__global__ void __launch_bounds__(32) kernel(float* __restrict__ c) {\n"
    "  extern __shared__ __align__(16) unsigned char memory[];\n"
    "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\n"
    "  cudaGridDependencySynchronize();\n"
    "#endif\n"
    "#pragma unroll 4\n"
    "  for (int i = 0; i < unrolled; ++i) c[i] = bits_of(i);\n"
    "}\n"
    "}  // namespace\n"
    "#ifndef __CUDACC_RTC__\n"
    "namespace {\n"
    "cudaError_t prepare() { cudaFuncAttributes found; return cudaFuncGetAttributes(&found, kernel<true>); }\n"
    "}\n"
    "extern \"C\" cudaError_t launch() { return row_bytes == 16 ? cudaSuccess : prepare(); }\n"
    "#endif\n";

/// And a transformer's.
const std::string generated_transformer =
    "#include <stdint.h>\n"
    "#include <string.h>\n"
    "namespace a_packing {\n"
    "#if defined(__BYTE_ORDER__)\n"
    "#error \"no\"\n"
    "#endif\n"
    "inline constexpr uint64_t limit = 8;\n"
    "struct Shape {\n"
    "  static constexpr int count = 4;\n"
    "  uint64_t rows;\n"
    "};\n"
    "constexpr Shape operator+(const Shape& a, const Shape& b) { return {a.rows + b.rows}; }\n"
    "template <typename Use>\n"
    "void visit(Use&& use) { use(7); }\n"
    "inline uint64_t pack(unsigned char* to) {\n"
    "  uint64_t sum = 0;\n"
    "  visit([&](int value) { sum += value; });\n"
    "  memcpy(to, &sum, 8);\n"
    "  return sum;\n"
    "}\n"
    "enum Status { done = 0 };\n"
    "static thread_local char error_text[320] = \"\";\n"
    "inline Status check(const void* packed) { return packed == nullptr ? Status(1) : done; }\n"
    "}\n"
    "extern \"C\" int a_transform(void* packed) { return a_packing::check(packed); }\n";

template <class Check>
std::string refusal(const Check& check, const std::string& text, const std::string& expected) {
  try {
    check("a.cu", text, expected);
    return "accepted";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::check_failed);
    EXPECT_FALSE(error.remedy().empty());
    return error.what();
  }
}

std::string refusal_of(const std::string& text) { return refusal(check_kernel_text, text, generated); }
std::string refusal_of_transformer(const std::string& text) {
  return refusal(check_transformer_text, text, generated_transformer);
}

std::string replaced_in(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

std::string replaced(const std::string& from, const std::string& to) { return replaced_in(generated, from, to); }

TEST(TextPolicy, TakesWhatIsGenerated) {
  EXPECT_EQ(refusal_of(generated), "accepted");
  EXPECT_EQ(refusal_of_transformer(generated_transformer), "accepted");
}

TEST(TextPolicy, TakesALayerWithoutAKernelAsItIs) {
  const std::string empty = "#include <cuda_runtime.h>\nextern \"C\" cudaError_t launch() { return cudaSuccess; }\n";
  EXPECT_EQ(refusal(check_kernel_text, empty, empty), "accepted");
  EXPECT_THAT(
      refusal(check_kernel_text, replaced_in(empty, "cudaSuccess", "cudaErrorUnknown"), empty),
      HasSubstr("a.cu:2: has 'cudaErrorUnknown' where another text is generated: host code must be the generated one"));
  EXPECT_THAT(refusal(check_kernel_text, empty + "__device__ int more() { return 1; }\n", empty),
              StartsWith("a.cu:3: "));
}

TEST(TextPolicy, TakesAnotherKernel) {
  const auto with = [](const std::string& more) {
    return replaced("__device__ __forceinline__", more + "__device__ __forceinline__");
  };
  for (const std::string more :
       {"constexpr int turns_left[2] = {3, 4};\n", "constexpr float half_of{0.5f};\n",
        "inline constexpr unsigned mask = 0xffu;\n",
        "struct Tile {\n  int rows_left;\n  static constexpr int most = 2;\n  __device__ int at(int i) const { return "
        "i * most; }\n};\n",
        "template <typename T>\nstruct Sums {\n  T at[4];\n};\n", "using Four = float4;\n",
        "enum class Role { loads, stores };\n", "static_assert(unrolled == 4, \"four\");\n",
        "template <int steps>\n__device__ int twice(int left) { return left * steps; }\n",
        "constexpr int halved(int number) { return number / 2; }\n", "static __device__ int one() { return 1; }\n"}) {
    EXPECT_EQ(refusal_of(with(more)), "accepted") << more;
  }
  EXPECT_EQ(refusal_of(replaced("bits_of(i);", "__ldg(c + i) + fmaf(2.0f, 1e-3f, c[1]) + __popc(3);")), "accepted");
  EXPECT_EQ(refusal_of(replaced("{ return __popc(value); }",
                                "{ __shared__ float sums[4]; int total = min(value, 3); return total; }")),
            "accepted");
  EXPECT_EQ(refusal_of(replaced("int bits_of(int value)", "float bits_of(float number, int left = 3)")), "accepted");
  EXPECT_EQ(refusal_of(replaced("unrolled = 4;", "unrolled = 2;")), "accepted") << "no host code uses it";
  EXPECT_EQ(refusal_of(replaced("  int first;", "  int first, second;")), "accepted");
  EXPECT_EQ(refusal_of(replaced("#pragma unroll 4", "#pragma unroll")), "accepted");
  EXPECT_EQ(refusal_of(replaced("#pragma unroll 4\n", "")), "accepted");
  EXPECT_EQ(refusal_of(replaced("#if defined(__CUDA_ARCH__)", "  #  if /* for Hopper */ defined(__CUDA_ARCH__)")),
            "accepted");
  EXPECT_EQ(refusal_of(replaced("// A kernel.", "// A k\xc3\xa9rnel \xe5\xb1\xa4: #define x, [[x]], asm")), "accepted");
  EXPECT_EQ(refusal_of(replaced("constexpr int rows = 4;", "constexpr /* of C */ int\n    rows = 4;")), "accepted");
}

TEST(TextPolicy, TakesAnotherTransformer) {
  const auto replaced_there = [](const std::string& from, const std::string& to) {
    return refusal_of_transformer(replaced_in(generated_transformer, from, to));
  };
  EXPECT_EQ(replaced_there("  return sum;",
                           "  for (uint16_t step = 0; step < 3; ++step) {\n    sum ^= step;\n  }\n  return sum;"),
            "accepted");
  EXPECT_EQ(replaced_there("use(7)", "use(static_cast<int>(limit) + 0x1p-3)"), "accepted");
  EXPECT_EQ(replaced_there("limit = 8", "limit = 9"), "accepted");
  EXPECT_EQ(replaced_there("inline uint64_t pack",
                           "static int halved(int whole) { return whole / 2; }\ninline uint64_t pack"),
            "accepted");
  EXPECT_EQ(replaced_there("a.rows + b.rows", "a.rows - b.rows"), "accepted");
}

/// Whatever a family generates, its own text passes, and the host's part of it is closed.
TEST(TextPolicy, TakesTheBundlesOfAllFamilies) {
  std::size_t seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ESC_SOURCE_DIR) + "/generated")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory() || !std::filesystem::exists(entry.path() / (name + ".cu"))) {
      continue;
    }
    SCOPED_TRACE(name);
    ++seen;
    const std::string kernel = read_file(entry.path() / (name + ".cu"));
    EXPECT_EQ(refusal(check_kernel_text, kernel, kernel), "accepted");
    EXPECT_EQ(refusal(check_kernel_text, replaced_in(kernel, "cudaErrorInvalidValue", "cudaErrorUnknown"), kernel)
                  .substr(0, 5),
              "a.cu:");
    const std::string transformer = read_file(entry.path() / (name + "_transformer.cpp"));
    EXPECT_EQ(refusal(check_transformer_text, transformer, transformer), "accepted");
    EXPECT_EQ(refusal(check_transformer_text, replaced_in(transformer, "a is null", "a"), transformer).substr(0, 5),
              "a.cu:");
  }
  EXPECT_GE(seen, 3u);
}

struct Foul {
  const char* name;
  const char* from;
  std::string to;
  const char* verdict;
};

void PrintTo(const Foul& foul, std::ostream* out) { *out << foul.name; }

class FoulText : public testing::TestWithParam<Foul> {};

TEST_P(FoulText, IsRefusedWithItsLine) {
  EXPECT_THAT(refusal_of(replaced(GetParam().from, GetParam().to)),
              AllOf(StartsWith("a.cu:"), HasSubstr(GetParam().verdict)));
}

constexpr const char* in_body = "#pragma unroll 4\n";
constexpr const char* at_top = "struct Pair {";
constexpr const char* host = "host code must be the generated one";
constexpr const char* own_name = "which no generated text has, and which headers or compilers have";

INSTANTIATE_TEST_SUITE_P(
    OfDirectives, FoulText,
    testing::Values(
        Foul{"Macro", in_body, "#define i 0\n",
             "a.cu:25: has a directive that no generated text has here, '# define i 0'"},
        Foul{"FunctionMacro", in_body, "#define float(x) x\n", "'# define float ( x ) x'"},
        Foul{"MacroOutside", at_top, "#define i 0\nstruct Pair {", "'# define i 0'"},
        Foul{"MacroTakenAway", in_body, "#undef __global__\n", "'# undef __global__'"},
        Foul{"MacroByDigraph", in_body, "%:define i 0\n", "has a directive that no generated text has"},
        Foul{"MacroBehindASplice", in_body, "#def\\\nine i 0\n", "joins two lines with a backslash"},
        Foul{"MacroBehindAComment", in_body, "/* x */ # /* y */ define i 0\n", "'# define i 0'"},
        Foul{"MacroByTrigraph", in_body,
             "?"
             "?=define i 0\n",
             "has a trigraph"},
        Foul{"CompilerAsked", in_body, "#ifdef __clang__\n#else\nc[0] = 1;\n#endif\n",
             "has a conditional part that no generated text has, '# ifdef __clang__'"},
        Foul{"CompilerAskedOutside", at_top, "#ifdef __clang__\n#endif\nstruct Pair {", "'# ifdef __clang__'"},
        Foul{"RunTimeCompilerAsked", in_body, "#ifndef __CUDACC_RTC__\nc[0] = 1;\n#endif\n", "has a conditional part"},
        Foul{"OtherwiseInBoth", "int bits_of", "int bits_of(int value);\n#else\n__device__ int bits_of",
             "which is no function"},
        Foul{"ArchitectureAskedForMore", "  cudaGridDependencySynchronize();\n", "  c[0] = 1;\n",
             "has a conditional part that no generated text has"},
        Foul{"AnotherArchitecture", ">= 900\n  cuda", ">= 800\n  cuda",
             "has a conditional part that no generated text has"},
        Foul{"AnotherArchitectureOutside", ">= 900\nconst", ">= 800\nconst", "has a conditional part"},
        Foul{"OtherBulkCopies", "copies_in_bulk = false", "copies_in_bulk = true",
             "has 'true' where another text is generated"},
        Foul{"MoreWhereCopiesAreBulk", "copies_in_bulk = true;\n", "copies_in_bulk = true;\nconstexpr int more = 2;\n",
             host},
        Foul{"EmptyCondition", in_body, "#if 0\n#endif\n", "has a conditional part"},
        Foul{"UnendedCondition", in_body, "#if 0\n", "without its #endif"},
        Foul{"EndOfNothing", in_body, "#endif\n", "has a directive that no generated text has here, '# endif'"},
        Foul{"FileIncluded", in_body, "#include \"/etc/shadow\"\n",
             "a.cu:25: the text includes \"/etc/shadow\", which is no part of a bundle"},
        Foul{"HeaderIncluded", in_body, "#include <stdlib.h>\n", "the text includes < stdlib . h >, which is no part"},
        Foul{"HeaderIncludedOutside", at_top, "#include <stdlib.h>\nstruct Pair {",
             "the text includes < stdlib . h >, which is no part"},
        Foul{"MacroIncluded", in_body, "#include PLACE\n", "the text includes PLACE, which is no part of a bundle"},
        Foul{"NextIncluded", in_body, "#include_next <cuda_runtime.h>\n", "'# include_next < cuda_runtime . h >'"},
        Foul{"Imported", in_body, "#import <cuda_runtime.h>\n", "'# import"},
        Foul{"Embedded", in_body, "#embed \"/etc/shadow\"\n", "'# embed \"/etc/shadow\"'"},
        Foul{"LineMoved", in_body, "#line 1 \"/virtual/include/cuda_runtime.h\"\n", "'# line 1"},
        Foul{"AnotherPragma", in_body, "#pragma GCC optimize(\"O0\")\n", "'# pragma GCC optimize"},
        Foul{"UnrollByMacro", in_body, "#pragma unroll PLACES\n", "'# pragma unroll PLACES'"}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    OfWords, FoulText,
    testing::Values(
        Foul{"PragmaInLine", in_body, "_Pragma(\"unroll\")\n", "uses '_Pragma', which no generated text has"},
        Foul{"CompilerAsAValue", "bits_of(i)", "__GNUC__", "uses '__GNUC__'"},
        Foul{"CompilerAsAnotherValue", "bits_of(i)", "__clang_major__", "uses '__clang_major__'"},
        Foul{"LineAsAValue", "bits_of(i)", "__LINE__", "uses '__LINE__'"},
        Foul{"SystemAsAValue", "bits_of(i)", "linux",
             "uses 'linux', which no generated text has, and which headers or compilers have"},
        Foul{"Emulator", "bits_of(i)", "__esc_vote(1, 1)", "uses '__esc_vote'"},
        Foul{"Builtin", "bits_of(i)", "__builtin_constant_p(i)", "uses '__builtin_constant_p'"},
        Foul{"Assembly", in_body, "asm(\"nop\");\n", "uses 'asm'"},
        Foul{"GnuAssembly", in_body, "__asm__(\"nop\");\n", "uses '__asm__'"},
        Foul{"MacroOfAHeader", "int value) { return __popc(value)", "int CUDART_CB) { return __popc(CUDART_CB)",
             "a.cu:18: uses 'CUDART_CB', which no generated text has, and which a header may have"},
        Foul{"AnotherMacroOfAHeader", in_body, "int INT8_C = 3;\n", "uses 'INT8_C'"},
        Foul{"FunctionOfAHeader", in_body, "int kept = cudaMalloc;\n", "uses 'cudaMalloc'"},
        Foul{"MacroInLowerCase", in_body, "int alloca = 3;\n", own_name},
        Foul{"StreamMacro", in_body, "int stdin = 3;\n", own_name},
        Foul{"TypeOfAHeader", in_body, "c[0] = sizeof(ulonglong4);\n", own_name},
        Foul{"TypeOfTheLauncher", in_body, "c[0] = sizeof(cudaFuncAttributes);\n", "uses 'cudaFuncAttributes'"},
        Foul{"ValueOfTheLauncher", in_body, "c[0] = cudaSuccess;\n", "uses 'cudaSuccess'"},
        Foul{"TypeAsAParameter", "template <bool tuned>",
             "template <typename DIR>\n__device__ int of() { return 1; }\ntemplate <bool tuned>", "uses 'DIR'"},
        Foul{"FieldOfAHeader", "  int first;", "  int FIOSETOWN;", "uses 'FIOSETOWN'"},
        Foul{"Label", in_body, "PATH_MAX: c[0] = 1;\n", "uses 'PATH_MAX'"},
        Foul{"OwnFunctionOfAHeadersName", at_top, "__device__ float rsqrt(double x) { return 1; }\nstruct Pair {",
             "declares 'rsqrt', which is no name of its own"},
        Foul{"OwnFunctionOfAKnownName", at_top, "__device__ float fmaf(float a, int b) { return 1; }\nstruct Pair {",
             "declares 'fmaf', which is no name of its own"},
        Foul{"Operator", at_top, "__device__ int operator+(Pair a, int b) { return b; }\nstruct Pair {",
             "declares 'operator+'"},
        Foul{"WordOfLaterLanguages", in_body, "int concept = 1;\n", own_name},
        Foul{"Friend", "  int first;", "  int first;\n  friend int of(Pair) { return 1; }", own_name},
        Foul{"Exception", in_body, "throw 1;\n", own_name},
        Foul{"GnuAttribute", "__device__ __forceinline__", "__attribute__((constructor)) __device__ __forceinline__",
             "a.cu:18: uses '__attribute__'"},
        Foul{"Attribute", "__device__ __forceinline__", "[[gnu::constructor]] __device__ __forceinline__",
             "has an attribute"},
        Foul{"AttributeByDigraph", "__device__ __forceinline__", "<:[gnu::constructor]] __device__ __forceinline__",
             "has an attribute"},
        Foul{"NameBeyondAscii", "int value", "int v\xc3\xa4lue", "has characters outside ASCII"},
        Foul{"NameByItsCode", "int value", "int v\\u00e4lue", "has characters outside ASCII"},
        Foul{"StringBeyondAscii", in_body, "const char* name = \"\xc3\xa4\";\n", "has characters outside ASCII"},
        Foul{"LongDouble", in_body, "long double wide = 1;\n", "has a long double"},
        Foul{"LongDoubleInAnotherOrder", in_body, "double const long wide = 1;\n", "has a long double"},
        Foul{"ImaginaryNumber", in_body, "c[0] = sizeof(1i);\n",
             "has 1i, a form of literal that no generated text has"},
        Foul{"NumberOfOnesOwn", in_body, "c[0] = 1_km;\n", "has 1_km, a form of literal"},
        Foul{"NumberOfAnotherStandard", in_body, "c[0] = 1.0f16;\n", "has 1.0f16, a form of literal"},
        Foul{"PrefixedString", in_body, "const auto* name = u8\"a\";\n", "a form of literal"},
        Foul{"RawString", in_body, "const auto* name = R\"(a)\";\n", "a form of literal"}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    OfHostCode, FoulText,
    testing::Values(
        Foul{"AnotherLauncher", "row_bytes == 16", "row_bytes != 16",
             "a.cu:33: has '!=' where another text is generated: host code must be"},
        Foul{"BulkCopiesAsked", "return row_bytes == 16", "return copies_in_bulk && row_bytes == 16",
             "has 'copies_in_bulk' where another"},
        Foul{"SizesAsked", "cudaFuncAttributes found;",
             "cudaFuncAttributes found; if (sizeof(found) != 56) return cudaSuccess;", host},
        Foul{"MoreHostCode", "extern \"C\"", "extern \"C\" void more() {}\nextern \"C\"", host},
        Foul{"DeviceCodeBehind", "extern \"C\"", "__device__ int more() { return 1; }\nextern \"C\"", host},
        Foul{"HostCodeAtTheEnd", "prepare(); }\n#endif\n", "prepare(); }\n#endif\nint more;\n", host},
        Foul{"LackingLauncher",
             "extern \"C\" cudaError_t launch() { return row_bytes == 16 ? cudaSuccess : prepare(); }\n", "",
             "directive"},
        Foul{"LackingEnd", "prepare(); }\n#endif\n", "prepare(); }\n", "lacks what is generated, '# endif'"},
        Foul{"ConstantOfTheHost", "rows = 4", "rows = copies_in_bulk ? 4 : 3",
             "a.cu:6: declares 'rows' otherwise than is generated, though host code uses it"},
        Foul{"ConstantBehindIt", "rows * 4", "rows * 4 + copies_in_bulk",
             "declares 'row_bytes' otherwise than is generated"},
        Foul{"ConstantOfTheHostTwice", "constexpr int rows = 4;", "constexpr int rows = 4, others = 2;",
             "which is no function"},
        Foul{"TypeOfItsName", "constexpr int rows = 4;", "struct rows {};", "declares 'rows' otherwise"},
        Foul{"AnotherKernelHead", "kernel(float* __restrict__ c)",
             "kernel(float* __restrict__ c, int more = copies_in_bulk)",
             "has a kernel that host code does not know so"},
        Foul{"OtherBounds", "__launch_bounds__(32)", "__launch_bounds__(64)",
             "has a kernel that host code does not know so"},
        Foul{"AnotherKernel", "template <bool tuned>",
             "__global__ void other(float* c) { c[0] = 1; }\ntemplate <bool tuned>",
             "has a kernel that host code does not know so"},
        Foul{"FunctionForBoth", at_top, "__host__ __device__ int more() { return 1; }\nstruct Pair {", "__host__"},
        Foul{"FunctionForTheHost", at_top, "inline int more() { return 1; }\nstruct Pair {",
             "has a function for the host that no generated text has, 'more'"},
        Foul{"OverloadForTheHost", at_top, "__device__ cudaError_t prepare() { return 1; }\nstruct Pair {",
             "declares 'prepare' otherwise than is generated"},
        Foul{"AnotherScope", at_top, "namespace inner {\n}\nstruct Pair {", "which is no function"},
        Foul{"LinkageScope", at_top, "extern \"C\" {\n}\nstruct Pair {", "which is no function with its body"},
        Foul{"Specialisation", "template <bool tuned>", "template <>\nstruct Vector<8> {\n};\ntemplate <bool tuned>",
             "which is no function"},
        Foul{"OpenEnumeration", at_top, "enum { cudaSuccess = 3 };\nstruct Pair {", "which is no function"},
        Foul{"NamesOfOthers", at_top, "using namespace std;\nstruct Pair {", "which is no function"}),
    [](const auto& test) { return std::string(test.param.name); });

constexpr const char* keeps = "a text keeps nothing from one call to the next";
constexpr const char* no_variable = "which is no function with its body, no constexpr constant and no type";

INSTANTIATE_TEST_SUITE_P(
    OfState, FoulText,
    testing::Values(Foul{"StaticOfAFunction", in_body, "static int calls = 0;\n", keeps},
                    Foul{"StaticOfAThread", in_body, "thread_local int calls = 0;\n", keeps},
                    Foul{"StaticBehind", in_body, "int static calls = 0;\n", keeps},
                    Foul{"StaticInALoop", "for (int i", "for (static int i", keeps},
                    Foul{"StaticConstant", in_body, "static const int calls = c[0];\n", keeps},
                    Foul{"StaticDevice", in_body, "static __device__ int calls;\n", keeps},
                    Foul{"DeviceInABody", in_body, "__device__ int calls;\n", keeps},
                    Foul{"ConstantMemoryInABody", in_body, "__constant__ int calls;\n", keeps},
                    Foul{"StaticMember", "  int first;", "  static int first;", keeps},
                    Foul{"InlineMember", "  int first;", "  inline static int first = 1;", keeps},
                    Foul{"MutableMember", "  int first;", "  mutable int first;", keeps},
                    Foul{"MutableLambda", in_body, "auto next = [at = 0]() mutable { return ++at; };\n", keeps},
                    Foul{"ExternInABody", in_body, "extern int calls;\n", keeps},
                    Foul{"OtherExternShared", "extern __shared__ __align__(16) unsigned char memory[];",
                         "extern __shared__ int memory[];", keeps},
                    Foul{"Variable", at_top, "int calls = 0;\nstruct Pair {", no_variable},
                    Foul{"VariableWithoutAValue", at_top, "int calls;\nstruct Pair {", no_variable},
                    Foul{"VariableInBraces", at_top, "int calls{};\nstruct Pair {", no_variable},
                    Foul{"VariableInParentheses", at_top, "__device__ int calls(0);\nstruct Pair {", no_variable},
                    Foul{"DeviceVariable", at_top, "__device__ int calls;\nstruct Pair {", no_variable},
                    Foul{"DeviceVariableInBraces", at_top, "__device__ int calls{0};\nstruct Pair {", no_variable},
                    Foul{"DeviceArray", at_top, "__device__ float kept[4] = {};\nstruct Pair {", no_variable},
                    Foul{"ManagedVariable", at_top, "__managed__ int calls;\nstruct Pair {", no_variable},
                    Foul{"SharedOutside", at_top, "__shared__ int calls;\nstruct Pair {", no_variable},
                    Foul{"ConstantMemory", "{1, 2}", "{1, 3}", no_variable},
                    Foul{"InlineVariable", at_top, "inline int calls = 0;\nstruct Pair {", no_variable},
                    Foul{"ConstVariable", at_top, "const int calls = 0;\nstruct Pair {", no_variable},
                    Foul{"TemplateVariable", at_top, "template <int n>\nint calls = n;\nstruct Pair {", no_variable},
                    Foul{"VariableOfAType", "struct Pair {\n  int first;\n};", "struct Pair {\n  int first;\n} calls;",
                         no_variable},
                    Foul{"VariableOfNoType", at_top, "struct {\n  int first;\n} calls;\nstruct Pair {", no_variable},
                    Foul{"VariableOfAnAlignedType", at_top,
                         "struct alignas(16) {\n  int first;\n} calls;\nstruct Pair {", "a.cu:14: "},
                    Foul{"Lambda", at_top, "auto next = [](int at) { return at; };\nstruct Pair {", no_variable},
                    Foul{"TwoConstants", at_top, "constexpr int one = 1, two = 2;\nstruct Pair {", no_variable},
                    Foul{"Prototype", at_top, "__device__ int of(int);\nstruct Pair {", no_variable},
                    Foul{"UnmatchedBracket", at_top, ")\nstruct Pair {", "a.cu:14: "},
                    Foul{"UnmatchedBrace", "  cudaGridDependencySynchronize();\n#endif\n",
                         "  cudaGridDependencySynchronize();\n#endif\n{\n", "a.cu:"}),
    [](const auto& test) { return std::string(test.param.name); });

/// The same for all of them.
constexpr const char* hidden = "a.cu:1: has characters that do not show";

INSTANTIATE_TEST_SUITE_P(
    OfCharacters, FoulText,
    testing::Values(Foul{"ControlCharacter", "launch()", "\x0c launch()", "a.cu:33: has the control character 0x0c"},
                    Foul{"CommentOverTwoLines", "// A kernel.", "// A kernel. \\ \t",
                         "a.cu:1: joins two lines with a backslash"},
                    Foul{"CommentThatReadsBackwards", "// A kernel.", "// A \xe2\x80\xae kernel.", hidden},
                    Foul{"CommentThatIsNoText", "// A kernel.", "// A \xff kernel.",
                         "a.cu:1: has characters that do not show, or bytes that are not UTF-8"},
                    Foul{"ZeroWidthSpace", "// A kernel.", "// A\u200bkernel.", hidden},
                    Foul{"ZeroWidthJoiner", "// A kernel.", "// A\u200dkernel.", hidden},
                    Foul{"WordJoiner", "// A kernel.", "// A\u2060kernel.", hidden},
                    Foul{"SoftHyphen", "// A kernel.", "// A\u00adkernel.", hidden},
                    Foul{"VariationSelector", "// A kernel.", "// A\ufe0fkernel.", hidden},
                    Foul{"FurtherVariationSelector", "// A kernel.", "// A\U000e0101kernel.", hidden},
                    Foul{"Tag", "// A kernel.", "// A\U000e0041kernel.", hidden},
                    Foul{"HangulFiller", "// A kernel.", "// A\u3164kernel.", hidden},
                    Foul{"MongolianSeparator", "// A kernel.", "// A\u180ekernel.", hidden},
                    Foul{"Annotation", "// A kernel.", "// A\ufff9kernel.", hidden},
                    Foul{"PrivateCharacter", "// A kernel.", "// A\ue000kernel.", hidden},
                    Foul{"CarriageReturn", "// A kernel.", "// A kernel.\r", "has the control character 0x0d"}),
    [](const auto& test) { return std::string(test.param.name); });

class FoulTransformer : public testing::TestWithParam<Foul> {};

TEST_P(FoulTransformer, IsRefusedWithItsLine) {
  EXPECT_THAT(refusal_of_transformer(replaced_in(generated_transformer, GetParam().from, GetParam().to)),
              AllOf(StartsWith("a.cu:"), HasSubstr(GetParam().verdict)));
}

constexpr const char* in_pack = "  return sum;\n";
constexpr const char* above_pack = "inline uint64_t pack";

INSTANTIATE_TEST_SUITE_P(
    TextPolicy, FoulTransformer,
    testing::Values(
        Foul{"LambdaParameterThatIsAMacro", "[&](int value) { sum += value; }", "[&](int INT8_C) { sum += INT8_C; }",
             "a.cu:17: uses 'INT8_C', which no generated text has"},
        Foul{"LambdaParameterThatIsALowerMacro", "[&](int value) { sum += value; }", "[&](int unix) { sum += unix; }",
             "uses 'unix'"},
        Foul{"FunctionOfTheLibrary", in_pack, "  return rand();\n", "uses 'rand'"},
        Foul{"FileAsked", in_pack, "  return sizeof(FILE);\n", "uses 'FILE'"},
        Foul{"Counter", in_pack, "  static uint64_t calls = 0;\n  return sum + ++calls / 1001;\n",
             "has 'static uint64_t calls = 0', which no generated text has: a text keeps nothing from one call to the "
             "next"},
        Foul{"CounterOfAThread", in_pack, "  thread_local uint64_t calls = 0;\n  return sum;\n", keeps},
        Foul{"CounterOutside", above_pack, "uint64_t calls = 0;\ninline uint64_t pack", no_variable},
        Foul{"HiddenCounter", above_pack, "namespace {\nuint64_t calls = 0;\n}\ninline uint64_t pack", no_variable},
        Foul{"CounterOfAType", "  uint64_t rows;\n", "  uint64_t rows;\n  inline static int calls = 0;\n", keeps},
        Foul{"MutableMember", "  uint64_t rows;\n", "  mutable uint64_t rows;\n", keeps},
        Foul{"Interface", "return a_packing::check(packed)", "return 0", "has '0' where another text is generated"},
        Foul{"Checks", "Status(1) : done", "done : done", "has 'done' where another text is generated"},
        Foul{"ErrorText", "error_text[320]", "error_text[8]", "has '8' where another text is generated"},
        Foul{"OverloadOfACheck", above_pack, "inline int check(void* packed) { return 0; }\ninline uint64_t pack",
             "declares 'check' otherwise than is generated, though the C interface uses it"},
        Foul{"MoreInterface", "enum Status", "extern \"C\" int more(int whole) { return whole; }\nenum Status", keeps},
        Foul{"MoreAtTheEnd", "extern \"C\"", "inline int more() { return 1; }\nextern \"C\"",
             "host code must be the generated one"},
        Foul{"ByteOrder", "#error \"no\"\n", "", "directive"},
        Foul{"WideNumber", in_pack, "  return sizeof(__float128);\n", "uses '__float128'"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(TextPolicy, TakesTheAssemblyThatIsGeneratedAndNoOther) {
  const auto with = [](const std::string& statement) {
    return replaced(in_body, "int d = 0;\n" + statement + in_body);
  };
  const std::string known = "asm volatile(\"mma.sync \" \"{%0}, [%1];\" : \"=r\"(d) : \"r\"(i));\n";
  const auto refusal_with = [&](const std::string& statement) {
    return refusal(check_kernel_text, with(statement), with(known));
  };
  EXPECT_EQ(refusal_with(known), "accepted");
  EXPECT_EQ(refusal_with(known + known), "accepted");
  EXPECT_EQ(refusal_with("asm volatile(\"mma.sync \" \"{%0}, [%1];\" : \"=r\"(d) : \"r\"(3));\n"), "accepted");
  for (const char* foul : {"asm volatile(\"nop;\");\n", "asm(\"mma.sync \" \"{%0}, [%1];\" : \"=r\"(d) : \"r\"(i));\n",
                           "asm volatile(\"mma.sync \" \"{%0}, [%1];\" \"nop;\" : \"=r\"(d) : \"r\"(i));\n", "asm\n"}) {
    EXPECT_THAT(refusal_with(foul), HasSubstr("a.cu:26: has assembly that no generated text has, 'asm")) << foul;
  }
  EXPECT_THAT(refusal_with("__asm__(\"nop;\");\n"), HasSubstr("uses '__asm__'"));
}

/// The macros that a compiler has after some headers.
std::set<std::string> macros_of(const std::vector<std::string>& compiler, const std::vector<std::string>& headers) {
  std::string text;
  for (const std::string& header : headers) {
    text += "#include <" + header + ">\n";
  }
  const TemporaryFolder folder;
  write_file_whole(folder.path() / "a.cu", text);
  std::vector<std::string> command = compiler;
  command.push_back((folder.path() / "a.cu").string());
  std::istringstream lines(run_process(command).output);
  std::set<std::string> names;
  const std::regex macro("#define (\\w+).*");
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, match, macro)) {
      names.insert(match[1]);
    }
  }
  return names;
}

/// As a parameter, so that a text that has it compiles wherever it is no macro.
void expect_none_taken(const std::set<std::string>& macros) {
  const std::set<std::string> of_the_open_parts = {
      "__device__", "__global__",   "__constant__", "__forceinline__", "__launch_bounds__", "__shared__",
      "__align__",  "__restrict__", "__noinline__", "__CUDA_ARCH__",   "offsetof"};
  // Numbers alone, which transformers of every version may compare with.
  const std::set<std::string> limits_of_integers = {"INT32_MAX", "INT64_MAX", "UINT32_MAX", "UINT64_MAX"};
  std::size_t tried = 0;
  for (const std::string& name : macros) {
    if (!of_the_open_parts.contains(name)) {
      ++tried;
      EXPECT_NE(
          refusal_of(replaced("int value) { return __popc(value)", "int " + name + ") { return __popc(" + name + ")")),
          "accepted");
      if (!limits_of_integers.contains(name)) {
        EXPECT_NE(refusal_of_transformer(replaced_in(generated_transformer, "(int value) { sum += value; }",
                                                     "(int " + name + ") { sum += " + name + "; }")),
                  "accepted");
      }
    }
  }
  EXPECT_GT(tried, 800u) << "the headers were not read";
}

TEST(TextPolicy, RefusesEveryMacroOfTheHostsHeaders) {
  for (const char* standard : {"-std=c++17", "-std=gnu++17"}) {
    expect_none_taken(
        macros_of({"g++", standard, "-x", "c++", "-dM", "-E"}, {"stddef.h", "stdint.h", "stdio.h", "string.h"}));
  }
}

TEST(TextPolicy, RefusesEveryMacroOfTheHeadersOfCuda) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) {
    GTEST_SKIP() << "nvcc is not on this machine";
  }
  for (const char* architecture : {"-arch=sm_80", "-arch=sm_90a"}) {
    expect_none_taken(macros_of(
        {nvcc, "-std=c++17", architecture, "-E", "-Xcompiler", "-dM"},
        {"cuda_runtime.h", "cuda_fp16.h", "cuda_bf16.h", "cudaTypedefs.h", "cuda_pipeline_primitives.h", "stdint.h"}));
  }
}

TEST(OwnNames, HaveFormsThatNoHeaderUsesForMacros) {
  for (const char* name : {"row", "rows_left", "at2", "x_", "T", "Tile", "PieceOfRow", "Float4"}) {
    EXPECT_TRUE(has_own_form(name) && !is_taken(name)) << name;
  }
  for (const char* name : {"", "_", "_a", "a__b", "INT8_C", "cudaRows", "cuRows", "A_b", "MAX", "1a", "a$"}) {
    EXPECT_FALSE(has_own_form(name)) << name;
  }
  for (const char* name :
       {"I", "alloca", "linux", "index", "y1", "uint4", "memcpy", "stdin", "htobe16", "concept", "CUdevice", "zzz"}) {
    EXPECT_EQ(is_taken(name), std::string(name) != "zzz") << name;
  }
}

}  // namespace
}  // namespace esc
