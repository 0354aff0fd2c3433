// SPDX-License-Identifier: Apache-2.0
// Which texts compilers may take in different ways, and which a bundle may have.

#include "generator/verify/text_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "generator/support/error.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// In short what a generated text has.
const std::string generated =
    "// A kernel.\n"
    "#ifndef __CUDACC_RTC__\n"
    "#include <cuda_runtime.h>\n"
    "#endif\n"
    "__global__ void kernel(float* __restrict__ c) {\n"
    "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\n"
    "  cudaGridDependencySynchronize();\n"
    "#endif\n"
    "#pragma unroll 4\n"
    "  for (int i = 0; i < 4; ++i) c[i] = __popc(i);\n"
    "}\n"
    "#ifndef __CUDACC_RTC__\n"
    "int launch();\n"
    "#endif\n";

std::string refusal_of(const std::string& text) {
  try {
    check_text("a.cu", text, generated);
    return "accepted";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::check_failed);
    return error.what();
  }
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = generated;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TextPolicy, TakesWhatIsGenerated) { EXPECT_EQ(refusal_of(generated), "accepted"); }

TEST(TextPolicy, TakesAnotherProgram) {
  EXPECT_EQ(refusal_of(replaced("c[i] = __popc(i)", "c[i] = __ldg(c + i) + 2")), "accepted");
  EXPECT_EQ(refusal_of(replaced("#pragma unroll 4", "#pragma unroll")), "accepted");
  EXPECT_EQ(refusal_of(replaced("#pragma unroll 4\n", "")), "accepted");
  EXPECT_EQ(refusal_of(replaced("int launch();", "int launch();\nint more(int rows[3]);")), "accepted");
  EXPECT_EQ(refusal_of(replaced("#if defined(__CUDA_ARCH__)", "  #  if /* for Hopper */ defined(__CUDA_ARCH__)")), "accepted");
  EXPECT_EQ(refusal_of(replaced("// A kernel.", "// A k\xc3\xa9rnel: #define x, [[x]], asm")), "accepted");
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
  const std::string refusal = refusal_of(replaced(GetParam().from, GetParam().to));
  EXPECT_THAT(refusal, StartsWith("a.cu:"));
  EXPECT_THAT(refusal, HasSubstr(GetParam().verdict));
}

constexpr const char* in_body = "#pragma unroll 4\n";

INSTANTIATE_TEST_SUITE_P(
    TextPolicy, FoulText,
    testing::Values(
        Foul{"Macro", in_body, "#define i 0\n", "a.cu:9: has a directive that no generated text has, '# define i 0'"},
        Foul{"FunctionMacro", in_body, "#define float(x) x\n", "'# define float ( x ) x'"},
        Foul{"MacroTakenAway", in_body, "#undef __global__\n", "'# undef __global__'"},
        Foul{"MacroByDigraph", in_body, "%:define i 0\n", "has a directive that no generated text has"},
        Foul{"MacroBehindASplice", in_body, "#def\\\nine i 0\n", "joins two lines with a backslash"},
        Foul{"MacroBehindAComment", in_body, "/* x */ # /* y */ define i 0\n", "'# define i 0'"},
        Foul{"MacroByTrigraph", in_body, "?" "?=define i 0\n", "has a trigraph"},
        Foul{"CompilerAsked", in_body, "#ifdef __clang__\n#else\nc[0] = 1;\n#endif\n",
             "has a conditional part that no generated text has, '# ifdef __clang__'"},
        Foul{"CompilerAskedInBoth", "int launch();", "#ifdef __clang__\nint launch();\n#endif", "'# ifdef __clang__ int launch"},
        Foul{"OtherwiseInBoth", "int launch();\n", "int launch();\n#else\nint other();\n", "'# else'"},
        Foul{"ArchitectureAskedForMore", "  cudaGridDependencySynchronize();\n", "  c[0] = 1;\n",
             "has a conditional part that no generated text has"},
        Foul{"AnotherArchitecture", ">= 900", ">= 800", "has a conditional part that no generated text has"},
        Foul{"EmptyCondition", in_body, "#if 0\n#endif\n", "has a conditional part"},
        Foul{"UnendedCondition", "int launch();\n#endif\n", "int launch();\n", "without its #endif"},
        Foul{"EndOfNothing", in_body, "#endif\n", "has a directive that no generated text has, '# endif'"},
        Foul{"FileIncluded", in_body, "#include \"/etc/shadow\"\n",
             "a.cu:9: the text includes \"/etc/shadow\", which is no part of a bundle"},
        Foul{"HeaderIncluded", in_body, "#include <stdlib.h>\n", "the text includes < stdlib . h >, which is no part"},
        Foul{"MacroIncluded", in_body, "#include PLACE\n", "the text includes PLACE, which is no part of a bundle"},
        Foul{"NextIncluded", in_body, "#include_next <cuda_runtime.h>\n", "'# include_next < cuda_runtime . h >'"},
        Foul{"Imported", in_body, "#import <cuda_runtime.h>\n", "'# import"},
        Foul{"Embedded", in_body, "#embed \"/etc/shadow\"\n", "'# embed \"/etc/shadow\"'"},
        Foul{"LineMoved", in_body, "#line 1 \"/virtual/include/cuda_runtime.h\"\n", "'# line 1"},
        Foul{"AnotherPragma", in_body, "#pragma GCC optimize(\"O0\")\n", "'# pragma GCC optimize"},
        Foul{"UnrollByMacro", in_body, "#pragma unroll PLACES\n", "'# pragma unroll PLACES'"},
        Foul{"PragmaInLine", in_body, "_Pragma(\"unroll\")\n", "uses '_Pragma', which no generated text has"},
        Foul{"CompilerAsAValue", "__popc(i)", "__GNUC__", "uses '__GNUC__'"},
        Foul{"CompilerAsAnotherValue", "__popc(i)", "__clang_major__", "uses '__clang_major__'"},
        Foul{"LineAsAValue", "__popc(i)", "__LINE__", "uses '__LINE__'"},
        Foul{"SystemAsAValue", "__popc(i)", "linux", "uses 'linux'"},
        Foul{"Emulator", "__popc(i)", "__esc_vote(1, 1)", "uses '__esc_vote'"},
        Foul{"Builtin", "__popc(i)", "__builtin_constant_p(i)", "uses '__builtin_constant_p'"},
        Foul{"Assembly", in_body, "asm(\"nop\");\n", "uses 'asm'"},
        Foul{"GnuAssembly", in_body, "__asm__(\"nop\");\n", "uses '__asm__'"},
        Foul{"GnuAttribute", "__global__ void kernel", "__attribute__((constructor)) void early();\n__global__ void kernel",
             "a.cu:5: uses '__attribute__'"},
        Foul{"Attribute", "__global__ void kernel", "[[gnu::constructor]] void early();\n__global__ void kernel",
             "has an attribute"},
        Foul{"AttributeByDigraph", "__global__ void kernel", "<:[gnu::constructor]] void early();\n__global__ void kernel",
             "has an attribute"},
        Foul{"NameBeyondAscii", "int launch()", "int l\xc3\xa4unch()", "has characters outside ASCII"},
        Foul{"NameByItsCode", "int launch()", "int l\\u00e4unch()", "has characters outside ASCII"},
        Foul{"StringBeyondAscii", "int launch()", "const char* name = \"\xc3\xa4\";\nint launch()",
             "has characters outside ASCII"},
        Foul{"ControlCharacter", "int launch()", "int\x0c launch()", "a.cu:13: has the control character 0x0c"},
        Foul{"CommentOverTwoLines", "// A kernel.", "// A kernel. \\ \t", "a.cu:1: joins two lines with a backslash"},
        Foul{"CommentThatReadsBackwards", "// A kernel.", "// A \xe2\x80\xae kernel.", "a.cu:1: has characters that do not show"},
        Foul{"CommentThatIsNoText", "// A kernel.", "// A \xff kernel.", "a.cu:1: has characters that do not show, or bytes that are not UTF-8"},
        Foul{"CarriageReturn", "// A kernel.", "// A kernel.\r", "has the control character 0x0d"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(TextPolicy, TakesTheAssemblyThatIsGeneratedAndNoOther) {
  const auto with = [](const std::string& statement) { return replaced(in_body, "int d = 0;\n" + statement + in_body); };
  const std::string known = "asm volatile(\"mma.sync \" \"{%0}, [%1];\" : \"=r\"(d) : \"r\"(i));\n";
  const auto refusal = [&](const std::string& statement) -> std::string {
    try {
      check_text("a.cu", with(statement), with(known));
      return "accepted";
    } catch (const UserError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal(known), "accepted");
  EXPECT_EQ(refusal(known + known), "accepted");
  EXPECT_EQ(refusal("asm volatile(\"mma.sync \" \"{%0}, [%1];\" : \"=r\"(d) : \"r\"(3));\n"), "accepted");
  for (const char* foul : {"asm volatile(\"nop;\");\n", "asm(\"mma.sync \" \"{%0}, [%1];\" : \"=r\"(d) : \"r\"(i));\n",
                           "asm volatile(\"mma.sync \" \"{%0}, [%1];\" \"nop;\" : \"=r\"(d) : \"r\"(i));\n", "asm\n"}) {
    EXPECT_THAT(refusal(foul), HasSubstr("a.cu:10: has assembly that no generated text has, 'asm")) << foul;
  }
  EXPECT_THAT(refusal("__asm__(\"nop;\");\n"), HasSubstr("uses '__asm__'"));
}

}  // namespace
}  // namespace esc
