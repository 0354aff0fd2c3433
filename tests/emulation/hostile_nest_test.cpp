// SPDX-License-Identifier: Apache-2.0
// Nests that would harm who reads them: read in a process of their own, they are refused in a sentence.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

#include "generator/support/error.h"
#include "generator/support/temporary_folder.h"
#include "generator/verify/confined_nest.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string product =
    "void product(int M, int K, int N, const float A[M][K], const float B[K][N], float C[M][N]) {\n"
    "  for (int i = 0; i < M; i++)\n    for (int k = 0; k < K; k++)\n      for (int j = 0; j < N; j++)\n"
    "        if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];\n}\n";

std::string refusal_of(const std::string& text, const std::string& file_name = "nest.c",
                       NestHeaders headers = NestHeaders::of_system) {
  try {
    read_confined_nest(text, file_name, headers);
    return "read";
  } catch (const UserError& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_input);
    return error.what();
  }
}

TEST(ConfinedNest, IsReadAsItIsRead) {
  EXPECT_EQ(read_confined_nest(product, "nest.c", NestHeaders::of_system), parse_loop_nest(product, "nest.c"));
  EXPECT_EQ(refusal_of("#include <stddef.h>\n#include <math.h>\n#include <stdio.h>\n" + product), "read");
  EXPECT_EQ(
      refusal_of(
          "#include <vector>\n#include <cmath>\nvoid product(int M, int K, int N, const float* A, const float* B, "
          "float* C) {\n"
          "  for (int i = 0; i < M; i++)\n    for (int k = 0; k < K; k++)\n"
          "      for (int j = 0; j < N; j++) C[i * N + j] += A[i * K + k] * B[k * N + j];\n}\n",
          "nest.cpp"),
      "read");
}

TEST(ConfinedNest, ReadsWhatFollowsTheProduct) {
  const std::string layer =
      "#include <math.h>\nvoid layer(int M, int K, int N, float A[M][K], float B[K][N], float C[M][N], float bias[M]) "
      "{\n"
      "  for (int i = 0; i < M; i++)\n    for (int j = 0; j < N; j++) {\n      float sum = bias[i];\n"
      "      for (int k = 0; k < K; k++) sum += A[i][k] * B[k][j];\n"
      "      C[i][j] = sum > 0 ? expf(sum) / 2 : 1e-3f;\n    }\n}\n";
  EXPECT_EQ(read_confined_nest(layer, "nest.c", NestHeaders::of_system), parse_loop_nest(layer, "nest.c"));
}

TEST(ConfinedNest, KeepsItsMessages) {
  EXPECT_THAT(refusal_of("void f() { int a = b; }\n"),
              HasSubstr("nest.c:1:20: error: use of undeclared identifier 'b'"));
}

struct Hostile {
  const char* name;
  std::string text;
  const char* verdict;
  const char* file_name = "nest.c";
};

void PrintTo(const Hostile& hostile, std::ostream* out) { *out << hostile.name; }

class HostileNest : public testing::TestWithParam<Hostile> {};

TEST_P(HostileNest, IsRefused) {
  const std::string refusal = refusal_of(GetParam().text + product, GetParam().file_name);
  EXPECT_THAT(refusal, HasSubstr(GetParam().verdict));
  EXPECT_THAT(refusal, Not(HasSubstr("root:")));
}

constexpr const char* rule = "a nest may include headers of the C and C++ libraries and headers in its own folder";

std::string macro_bomb() {
  std::string text = "#define A0 1 +\n";
  for (int level = 1; level < 12; ++level) {
    text += fmt::format("#define A{} ", level);
    for (int time = 0; time < 10; ++time) {
      text += fmt::format("A{} ", level - 1);
    }
    text += "\n";
  }
  return text + "long bomb = A11 1;\n";
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int time = 0; time < times; ++time) {
    result += text;
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(
    ConfinedNest, HostileNest,
    testing::Values(Hostile{"IncludesAFile", "#include \"/etc/passwd\"\n", rule},
                    Hostile{"IncludesASecret", "#include \"/etc/shadow\"\n", rule},
                    Hostile{"IncludesAFileInBrackets", "#include </etc/passwd>\n", rule},
                    Hostile{"IncludesWhatIsNotThere", "#include \"/etc/is/not/there\"\n", rule},
                    Hostile{"IncludesItsEnvironment", "#include \"/proc/self/environ\"\n", rule},
                    Hostile{"IncludesAbove", "#include </usr/include/../../etc/passwd>\n", rule},
                    Hostile{"IncludesALibrary", "#include \"/usr/lib/os-release\"\n", rule},
                    Hostile{"IncludesADevice", "#include \"/dev/zero\"\n", rule},
                    Hostile{"IncludesBesideIt", "#include \"beside.h\"\n", "'beside.h' file not found"},
                    Hostile{"EmbedsAFile", "const char table[] = {\n#embed \"/etc/passwd\"\n};\n", "file not found"},
                    Hostile{"IncludesItself", "#include __FILE__\n", "nested too deeply"},
                    Hostile{"HasTooManyBrackets",
                            "int deep = " + std::string(100000, '(') + "1" + std::string(100000, ')') + ";\n",
                            "its text touches memory that is not there, or needs more stack than there is"},
                    Hostile{"IsDeepWithoutBrackets", "int deep = " + repeated("- ", 400000) + "1;\n",
                            "the loop nest cannot be read: its text"},
                    Hostile{"IsAMacroBomb", macro_bomb(), "the loop nest cannot be read: its text"},
                    Hostile{"RecursesInTemplates",
                            "template <int n> struct Deep { static constexpr int value = Deep<n + 1>::value; };\nint "
                            "deep = Deep<0>::value;\n",
                            "recursive template instantiation", "nest.cpp"}),
    [](const auto& test) { return std::string(test.param.name); });

/// A folder with headers beside a nest.
class NestWithHeaders : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder.path() / name) << text; }
  std::string refusal(const std::string& text) const {
    return refusal_of(text + product, (folder.path() / "nest.c").string(), NestHeaders::beside);
  }

  TemporaryFolder folder;
};

TEST_F(NestWithHeaders, MayHaveThoseBesideIt) {
  std::filesystem::create_directory(folder.path() / "more");
  write("sizes.h", "#include \"more/inner.h\"\n");
  write("more/inner.h", "typedef float element;\n#include \"../twice.h\"\n");
  write("twice.h", "typedef double twice;\n");
  EXPECT_EQ(refusal("#include \"sizes.h\"\n"), "read");
  EXPECT_THAT(refusal("#include \"absent.h\"\n"), HasSubstr("'absent.h' file not found"));
}

TEST_F(NestWithHeaders, MayNotHaveOtherFiles) {
  const TemporaryFolder outside;
  std::ofstream(outside.path() / "outside.h") << "int outside;\n";
  write("notes.txt", "a secret\n");
  std::filesystem::create_symlink(outside.path() / "outside.h", folder.path() / "linked.h");
  std::filesystem::create_symlink("/etc/passwd", folder.path() / "users.h");
  ASSERT_EQ(mkfifo((folder.path() / "pipe.h").c_str(), 0600), 0);
  for (const char* name : {"notes.txt", "linked.h", "users.h", "pipe.h", "../outside.h", "/etc/passwd"}) {
    SCOPED_TRACE(name);
    const std::string said = refusal(fmt::format("#include \"{}\"\n", name));
    EXPECT_TRUE(said.find(rule) != said.npos || said.find("file not found") != said.npos) << said;
    EXPECT_THAT(said, Not(HasSubstr("secret")));
    EXPECT_THAT(said, Not(HasSubstr("root")));
  }
  EXPECT_THAT(refusal("#include \"" + (outside.path() / "outside.h").string() + "\"\n"), HasSubstr(rule));
}

}  // namespace
}  // namespace esc
