// SPDX-License-Identifier: Apache-2.0
// `escgen verify` of bundles in which somebody has put what a verification would not show, or what would harm who verifies:
// each is refused with a status of its own making and one sentence.

#include <sys/stat.h>

#include <ostream>

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class HostileBundle : public Workshop {
 protected:
  void SetUp() override { make_bundle({"--no-verify"}); }

  void expect_refused(const std::string& words, int status = 1) const {
    const ProcessResult verified = escgen({"verify", "out/a", "-q"});
    EXPECT_EQ(verified.status, status) << verified.output;
    EXPECT_EQ(verified.output, "");
    EXPECT_THAT(verified.errors, AllOf(StartsWith("escgen: "), HasSubstr(words)));
    EXPECT_EQ(verified.errors.find('\n') + 1, verified.errors.size()) << verified.errors;
  }
};

TEST_F(HostileBundle, OrNotPasses) {
  const ProcessResult verified = escgen({"verify", "out/a"});
  EXPECT_EQ(verified.status, 0) << verified.errors;
  EXPECT_THAT(verified.output, EndsWith("passed by emulation\n"));
}

TEST_F(HostileBundle, WithoutItsExtrasPassesToo) {
  for (const std::string schedule : {"panel:ufi=2", "rows:columns=8", "unroll(i, 8); enumerate(); map(i, grid); map(j, lanes, "
                                                                       "columns=96, threads=32); coarsen(k, 3); "
                                                                       "transform(A, lists)"}) {
    SCOPED_TRACE(schedule);
    ASSERT_EQ(escgen({"generate", "a.mtx", "--bcol", "40", "-o", "more", "--schedule", schedule, "--force", "--no-verify"}).status,
              0);
    const ProcessResult verified = escgen({"verify", "more/a"});
    EXPECT_EQ(verified.status, 0) << verified.errors << verified.output;
  }
}

/// One change of a file, and what is said of it.
struct Change {
  const char* name;
  const char* file;
  const char* from;  ///< empty: the change is appended
  std::string to;
  const char* verdict;
  int status = 1;
};

void PrintTo(const Change& change, std::ostream* out) { *out << change.name; }

class ChangedFile : public HostileBundle, public ::testing::WithParamInterface<Change> {};

TEST_P(ChangedFile, IsRefused) {
  const Change& change = GetParam();
  const std::string file = std::string("out/a/") + change.file;
  if (*change.from == '\0') {
    write(file, read(file) + change.to);
  } else {
    replace(file, change.from, change.to);
  }
  expect_refused(change.verdict, change.status);
}

INSTANTIATE_TEST_SUITE_P(
    HostileBundle, ChangedFile,
    ::testing::Values(
        Change{"CommandInTheBuildFile", "CMakeLists.txt", "", "execute_process(COMMAND id)\n",
               "is not what is generated for this manifest and matrix"},
        Change{"BlankInTheBuildFile", "CMakeLists.txt", "", "\n", "CMakeLists.txt:"},
        Change{"MacroInTheHeader", "a.h", "#include <stddef.h>", "#include <stddef.h>\n#define float double",
               "out/a/a.h:"},
        Change{"AnotherSignature", "a.h", "int32_t n, cudaStream_t stream);", "int64_t n, cudaStream_t stream);", "out/a/a.h:67"},
        Change{"CompilerAsked", "a.cu", "extern \"C\" cudaError_t a_prepare", "#ifndef __clang__\n#define a_prepare b\n#endif\nextern \"C\" cudaError_t a_prepare",
               "has a conditional part that no generated text has, '# ifndef __clang__'"},
        Change{"SecretIncluded", "a.cu", "", "#include \"/etc/shadow\"\n",
               "the text includes \"/etc/shadow\", which is no part of a bundle"},
        Change{"SecretIncludedByTheTransformer", "a_transformer.cpp", "", "#include </etc/passwd>\n",
               "which is no part of a bundle"},
        Change{"SecretEmbedded", "a.cu", "", "static const char secret[] = {\n#embed \"/etc/shadow\"\n};\n",
               "has a directive that no generated text has, '# embed \"/etc/shadow\"'"},
        Change{"PipeIncluded", "a.cu", "", "#include \"pipe.h\"\n", "the text includes \"pipe.h\", which is no part of a bundle"},
        Change{"Constructor", "a_transformer.cpp", "", "__attribute__((constructor)) static void early() {}\n",
               "uses '__attribute__', which no generated text has"},
        Change{"Assembly", "a.cu", "", "asm(\"nop\");\n", "uses 'asm', which no generated text has"},
        Change{"NoteInTheManifest", "manifest.json", "\"layout\": \"kn\"", "\"layout\": \"kn\",\n  \"note\": \"trust me\"",
               "manifest.json:"},
        Change{"AnotherVersion", "manifest.json", "\"tool_version\": \"0.1.0\"", "\"tool_version\": \"9.9.9\"",
               "is of escgen 9.9.9, this is escgen 0.1.0; verify the bundle with that version", 2},
        Change{"SourceThatEndsAComment", "manifest.json", "\"source\": \"a.mtx\"", "\"source\": \"*/ #include /*\"",
               "has a source that is no file's name"},
        Change{"AnotherSchedule", "manifest.json", "\"text\": \"atomic:ufi=4,ufk=7,warptile=1,threads=32\"",
               "\"text\": \"atomic:ufi=4,ufk=99,warptile=1,threads=32\"", "describes what cannot be generated"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(HostileBundle, WithANestThatIncludes) {
  replace("out/a/manifest.json", "\"loop_nest\": \"", "\"loop_nest\": \"#include \\\"/etc/passwd\\\"\\n");
  const ProcessResult verified = escgen({"verify", "out/a", "-q"});
  EXPECT_EQ(verified.status, 2);
  EXPECT_EQ(verified.output, "");
  EXPECT_THAT(verified.errors, AllOf(HasSubstr("a nest may include headers of the C and C++ libraries"), Not(HasSubstr("root"))));
}

TEST_F(HostileBundle, WhoseWordsWouldPaintTheTerminal) {
  replace("out/a/manifest.json", "\"tool_version\": \"0.1.0\"", "\"tool_version\": \"\\u001b[2Jpassed by emulation\"");
  expect_refused("is of escgen ?[2Jpassed by emulation, this is", 2);
}

TEST_F(HostileBundle, WhereNoProcessCanBeConfined) {
  const ProcessResult verified = shell(ESC_WITHOUT_SECCOMP " $ESCGEN verify out/a");
  EXPECT_EQ(verified.status, 3);
  EXPECT_EQ(verified.output, "");
  EXPECT_THAT(verified.errors, AllOf(HasSubstr("escgen: this machine: does not let a process give up its rights (seccomp: "),
                                     HasSubstr("allow seccomp filters here")));
  const ProcessResult generated = shell(ESC_WITHOUT_SECCOMP " $ESCGEN generate a.mtx --bcol 40 -o more");
  EXPECT_EQ(generated.status, 3);
  EXPECT_TRUE(snapshot("more").empty());
  EXPECT_EQ(shell(ESC_WITHOUT_SECCOMP " $ESCGEN generate a.mtx --bcol 40 -o more --no-verify").status, 0);
}

TEST_F(HostileBundle, WhereAnotherFilterIsActive) {
  const ProcessResult verified = shell(ESC_WITHOUT_SECCOMP " --allow $ESCGEN verify out/a");
  EXPECT_EQ(verified.status, 0) << verified.errors;
}

TEST_F(HostileBundle, WithAnotherFile) {
  write("out/a/stdint.h", "#define int32_t int64_t\n");
  expect_refused("out/a/stdint.h: is no file of a bundle");
}

TEST_F(HostileBundle, WithAFolder) {
  fs::create_directory(path("out/a/cuda"));
  expect_refused("out/a/cuda: is no file of a bundle");
}

TEST_F(HostileBundle, WithALinkToAFile) {
  fs::rename(path("out/a/a.h"), path("out/a.h"));
  fs::create_symlink("../a.h", path("out/a/a.h"));
  expect_refused("out/a/a.h: is not a regular file");
}

TEST_F(HostileBundle, OfWhichNothingRunsWhereThereIsNoGpu) {
  // The build would take seconds, if it were begun: without a device nothing of the bundle is compiled or loaded.
  if (fs::exists("/dev/nvidiactl")) {
    GTEST_SKIP() << "there is a GPU here";
  }
  const ProcessResult verified = escgen({"verify", "out/a", "--device", "gpu"});
  EXPECT_EQ(verified.status, 3);
  EXPECT_THAT(verified.errors, HasSubstr("escgen: gpu: "));
  write("out/a/a.cu", read("out/a/a.cu") + "#include \"/etc/shadow\"\n");
  const ProcessResult foul = escgen({"verify", "out/a", "--device", "gpu"});
  EXPECT_EQ(foul.status, 1);
  EXPECT_THAT(foul.errors, HasSubstr("which is no part of a bundle"));
}

TEST_F(HostileBundle, WhoseTextIsEndlessEndsAndLeavesNothing) {
  replace("out/a/a.cu", "extern \"C\" cudaError_t a_prepare(void) {",
          "extern \"C\" cudaError_t a_prepare(void) {\n  for (volatile int i = 0; i == 0;) {\n  }\n");
  const ProcessResult verified = escgen({"verify", "out/a"});
  EXPECT_EQ(verified.status, 1);
  EXPECT_THAT(verified.output, AllOf(HasSubstr("step limit: host code at a.cu:"), EndsWith("failed by emulation\n")));
}

TEST_F(HostileBundle, OfWhichTextThatWouldLeaveTheProcessFails) {
  replace("out/a/a.cu", "extern \"C\" cudaError_t a_prepare(void) {",
          "extern \"C\" void _exit(int);\nextern \"C\" cudaError_t a_prepare(void) {\n  _exit(0);\n");
  const ProcessResult verified = escgen({"verify", "out/a"});
  EXPECT_EQ(verified.status, 2);
  EXPECT_THAT(verified.errors, HasSubstr("uses '_exit', which nothing defines"));
  EXPECT_THAT(verified.output, Not(HasSubstr("passed")));
}

TEST_F(HostileBundle, NestOfAKernelFile) {
  write("secret.txt", "root:x:0:0\n");
  write("nest.c", "#include \"secret.txt\"\n");
  const ProcessResult generated = escgen({"generate", "a.mtx", "--bcol", "40", "-o", "own", "--kernel", "nest.c"});
  EXPECT_EQ(generated.status, 2);
  EXPECT_THAT(generated.errors, AllOf(HasSubstr("a nest may include headers"), Not(HasSubstr("root"))));
  ASSERT_EQ(mkfifo(path("pipe.h").c_str(), 0600), 0);
  write("nest.c", "#include \"pipe.h\"\n");
  EXPECT_EQ(escgen({"generate", "a.mtx", "--bcol", "40", "-o", "own", "--kernel", "nest.c"}).status, 2);
  write("nest.c", "int deep = " + std::string(100000, '(') + "1" + std::string(100000, ')') + ";\n");
  expect_refusal({"lower", "--schedule", "4-7-1-32", "--kernel", "nest.c"},
                 "nest.c: the loop nest cannot be read: its text touches memory that is not there, or needs more stack");
}

}  // namespace
}  // namespace esc::cli
