// SPDX-License-Identifier: Apache-2.0
// `escgen verify` of bundles in which somebody has put what a verification would not show, or what would harm who
// verifies: each is refused with a status of its own making and one sentence.

#include <sys/stat.h>

#include <ostream>

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
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
  EXPECT_THAT(verified.output, StartsWith("passed by emulation: "));
}

TEST_F(HostileBundle, WithoutItsExtrasPassesToo) {
  for (const std::string schedule : {"panel:ufi=2", "rows:columns=8",
                                     "unroll(i, 8); enumerate(); map(i, grid); map(j, lanes, "
                                     "columns=96, threads=32); coarsen(k, 3); "
                                     "transform(A, lists)"}) {
    SCOPED_TRACE(schedule);
    ASSERT_EQ(
        escgen({"generate", "a.mtx", "--bcol", "40", "-o", "more", "--schedule", schedule, "--force", "--no-verify"})
            .status,
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
        Change{"AnotherSignature", "a.h", "int32_t n, cudaStream_t stream);", "int64_t n, cudaStream_t stream);",
               "out/a/a.h:67"},
        Change{"CompilerAsked", "a.cu", "extern \"C\" cudaError_t a_prepare",
               "#ifndef __clang__\n#define a_prepare b\n#endif\nextern \"C\" cudaError_t a_prepare",
               "has a conditional part that no generated text has here, '# ifndef __clang__'"},
        Change{"SecretIncluded", "a.cu", "", "#include \"/etc/shadow\"\n",
               "the text includes \"/etc/shadow\", which is no part of a bundle"},
        Change{"SecretIncludedByTheTransformer", "a_transformer.cpp", "", "#include </etc/passwd>\n",
               "which is no part of a bundle"},
        Change{"SecretEmbedded", "a.cu", "", "static const char secret[] = {\n#embed \"/etc/shadow\"\n};\n",
               "has 'static' where another text is generated: host code must be the generated one"},
        Change{"PipeIncluded", "a.cu", "", "#include \"pipe.h\"\n",
               "the text includes \"pipe.h\", which is no part of a bundle"},
        Change{"Constructor", "a_transformer.cpp", "inline uint64_t checksum(",
               "__attribute__((constructor)) static void early() {}\ninline uint64_t checksum(",
               "uses '__attribute__', which no generated text has"},
        Change{"Assembly", "a.cu",
               "const int last =", "asm(\"nop\");\n  const int last =", "uses 'asm', which no generated text has"},
        // What nvcc and g++ would take otherwise than the emulator: names of their headers, in code that is open.
        Change{"MacroInATransformer", "a_transformer.cpp",
               "const auto at = [&](SectionId id) -> void* {\n    return static_cast<unsigned char*>(packed) + "
               "format.section(id).offset;",
               "const auto at = [&](SectionId INT8_C) -> void* {\n    return static_cast<unsigned char*>(packed) + "
               "format.section(INT8_C).offset;",
               "uses 'INT8_C', which no generated text has, and which a header may have; rename it"},
        Change{"LowerMacroInATransformer", "a_transformer.cpp",
               "const auto at = [&](SectionId id) -> void* {\n    return static_cast<unsigned char*>(packed) + "
               "format.section(id).offset;",
               "const auto at = [&](SectionId stdout) -> void* {\n    return static_cast<unsigned char*>(packed) + "
               "format.section(stdout).offset;",
               "uses 'stdout', which no generated text has, and which headers or compilers have"},
        Change{"MacroInAKernel", "a.cu", "const int last = RPP[list + 1];",
               "const int CUDART_CB = RPP[list + 1];\n  const int last = CUDART_CB;",
               "uses 'CUDART_CB', which no generated text has, and which a header may have; rename it"},
        Change{"MacroInALauncher", "a.cu", "cudaLaunchConfig_t launch = {};",
               "cudaLaunchConfig_t launch = {};\n  const auto CUDART_CB = launch;",
               "has 'const' where another text is generated: host code must be the generated one"},
        Change{"SizeInAKernel", "a.cu", "const int last = RPP[list + 1];",
               "const int last = sizeof(cudaFuncAttributes) == 56 ? 0 : RPP[list + 1];",
               "uses 'cudaFuncAttributes', which no generated text has"},
        Change{"SizeInALauncher", "a.cu", "cudaLaunchConfig_t launch = {};",
               "if (sizeof(cudaFuncAttributes) != 56) return cudaSuccess;\n  cudaLaunchConfig_t launch = {};",
               "has 'if' where another text is generated: host code must be the generated one"},
        Change{"ArchitectureInALauncher", "a.cu", "cudaLaunchConfig_t launch = {};",
               "#ifdef __CUDA_ARCH__\n#endif\n  cudaLaunchConfig_t launch = {};",
               "host code must be the generated one"},
        // What keeps something from one call to the next.
        Change{
            "CounterInATransformer", "a_transformer.cpp", "  ListCounts at;\n  bool inside = true;",
            "  static int calls = 0;\n  ListCounts at;\n  bool inside = ++calls < 1001;",
            "has 'static int calls = 0', which no generated text has: a text keeps nothing from one call to the next"},
        Change{"CounterBesideATransformer", "a_transformer.cpp", "inline uint64_t checksum(",
               "inline int calls = 0;\ninline uint64_t checksum(",
               "has 'inline int calls = 0 ;', which no generated text has, and which is no function"},
        Change{"CounterOfADevice", "a.cu", "template <bool tuned>\n__global__",
               "__device__ int calls = 0;\ntemplate <bool tuned>\n__global__",
               "has '__device__ int calls = 0 ;', which no generated text has, and which is no function"},
        Change{"ThreadsErrorText", "a_transformer.cpp", "static thread_local char error_text", "static char error_text",
               "has 'char' where another text is generated"},
        Change{"ZeroWidthInAComment", "a.cu", "// Use, copy", "// Us\u200be, copy",
               "a.cu:4: has characters that do not show"},
        Change{"TagInAComment", "a_transformer.cpp", "// Use, copy", "// Use\U000e0041, copy",
               "a_transformer.cpp:4: has characters that do not show"},
        Change{"NoteInTheManifest", "manifest.json", "\"layout\": \"kn\"",
               "\"layout\": \"kn\",\n  \"note\": \"trust me\"", "manifest.json:"},
        Change{"AnotherVersion", "manifest.json", "\"tool_version\": \"0.1.0\"", "\"tool_version\": \"9.9.9\"",
               "is of escgen 9.9.9, this is escgen 0.1.0; verify the bundle with that version", 2},
        Change{"SourceThatEndsAComment", "manifest.json", "\"source\": \"a.mtx\"", "\"source\": \"*/ #include /*\"",
               "has a source that is no file's name"},
        Change{"AnotherSchedule", "manifest.json", "\"text\": \"atomic: thread=4x1, unroll_k=7, threads=32\"",
               "\"text\": \"atomic: thread=4x1, unroll_k=99, threads=32\"", "describes what cannot be generated"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(HostileBundle, WithANestThatIncludes) {
  replace("out/a/manifest.json", "\"loop_nest\": \"", "\"loop_nest\": \"#include \\\"/etc/passwd\\\"\\n");
  const ProcessResult verified = escgen({"verify", "out/a", "-q"});
  EXPECT_EQ(verified.status, 2);
  EXPECT_EQ(verified.output, "");
  EXPECT_THAT(verified.errors,
              AllOf(HasSubstr("a nest may include headers of the C and C++ libraries"), Not(HasSubstr("root"))));
}

TEST_F(HostileBundle, WhoseWordsWouldPaintTheTerminal) {
  replace("out/a/manifest.json", "\"tool_version\": \"0.1.0\"", "\"tool_version\": \"\\u001b[2Jpassed by emulation\"");
  expect_refused("is of escgen ?[2Jpassed by emulation, this is", 2);
}

TEST_F(HostileBundle, WhereNoProcessCanBeConfined) {
  const ProcessResult verified = shell(ESC_WITHOUT_SECCOMP " $ESCGEN verify out/a");
  EXPECT_EQ(verified.status, 3);
  EXPECT_EQ(verified.output, "");
  EXPECT_THAT(verified.errors,
              AllOf(HasSubstr("escgen: this machine: does not let a process give up its rights (seccomp: "),
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

// Whatever is in a bundle under the name of one of its files: nothing is followed, waited for or read without end.
TEST_F(HostileBundle, WithSomethingElseInPlaceOfAFile) {
  fs::copy_file(ESC_SOURCE_DIR "/tests/data/models/layers.safetensors", path("m.safetensors"));
  ASSERT_EQ(escgen({"generate", "m.safetensors", "--bcol", "4", "-o", "out", "--no-verify"}).status, 0);
  for (const std::string bundle : {"out/a", "out/m"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path(bundle))) {
      const std::string file = bundle + "/" + entry.path().filename().string();
      for (const std::string& make :
           {"mkfifo " + file, "ln -s /dev/zero " + file, "ln -s kept " + file, "ln -s /proc/kmsg " + file,
            "mkdir " + file, "ln -s " + entry.path().filename().string() + " " + file}) {
        ASSERT_EQ(shell("mv " + file + " kept && cp kept " + bundle + "/../kept && " + make).status, 0);
        const ProcessResult verified = shell("exec timeout 60 $ESCGEN verify " + bundle + " -q");
        EXPECT_THAT(verified.status, AnyOf(1, 2)) << make << ": " << verified.errors;
        EXPECT_THAT(verified.errors, AnyOf(HasSubstr("is not a regular file"), HasSubstr("is a directory"),
                                           HasSubstr("is no file of a bundle")))
            << make;
        shell("rm -rf " + file + " out/kept && mv kept " + file);
      }
    }
  }
}

TEST_F(HostileBundle, WhoseFilesSayThatTheyAreEndless) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer maps terabytes, which no limit of memory allows";
#endif
  for (const std::string file : {"manifest.json", "a.cu", "a.h", "a.packed", "CMakeLists.txt", "a_transformer.cpp"}) {
    const std::string kept = read("out/a/" + file);
    fs::resize_file(path("out/a/" + file), std::uintmax_t{4} << 30U);  // of holes
    const ProcessResult verified = shell("ulimit -v 1500000; exec timeout 60 $ESCGEN verify out/a -q");
    EXPECT_THAT(verified.status, AnyOf(1, 2)) << file << ": " << verified.errors;
    EXPECT_THAT(verified.errors, AnyOf(HasSubstr("more than"), HasSubstr("of which its header says"))) << file;
    write("out/a/" + file, kept);
  }
}

TEST_F(HostileBundle, OfAModelWithALayerManyTimes) {
  fs::copy_file(ESC_SOURCE_DIR "/tests/data/models/layers.safetensors", path("m.safetensors"));
  ASSERT_EQ(escgen({"generate", "m.safetensors", "--bcol", "4", "-o", "out", "--no-verify"}).status, 0);
  nlohmann::json manifest = parse_json(read("out/m/manifest.json"));
  const nlohmann::json first = manifest["layers"][0];
  for (const bool has_names : {false, true}) {
    for (int number = 0; number < 20'000; ++number) {
      manifest["layers"].push_back(first);
      if (has_names) {
        manifest["layers"].back()["name"] = "layer." + std::to_string(number);
      }
    }
    write("out/m/manifest.json", manifest.dump());
    const ProcessResult verified = shell("ulimit -v 1500000; exec timeout 60 $ESCGEN verify out/m -q");
    EXPECT_THAT(verified.status, AnyOf(1, 2)) << verified.errors;
    EXPECT_THAT(verified.errors, AnyOf(HasSubstr("is there twice"), HasSubstr("lies where another"))) << has_names;
    manifest["layers"] = nlohmann::json::array({first});
  }
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
  replace("out/a/a.cu", "const int last = RPP[list + 1];",
          "const int last = RPP[list + 1];\n  for (volatile int i = 0; i == 0;) {\n  }\n");
  const ProcessResult verified = escgen({"verify", "out/a"});
  EXPECT_EQ(verified.status, 1);
  EXPECT_THAT(verified.output, AllOf(HasSubstr("step limit: "), StartsWith("failed by emulation: ")));
}

TEST_F(HostileBundle, OfWhichTextThatWouldLeaveTheProcessFails) {
  replace("out/a/a_transformer.cpp", "  ListCounts at;\n  bool inside = true;",
          "  ListCounts at;\n  leave(0);\n  bool inside = true;");
  const ProcessResult verified = escgen({"verify", "out/a"});
  EXPECT_NE(verified.status, 0);
  EXPECT_THAT(verified.errors, HasSubstr("'leave'"));
  EXPECT_THAT(verified.output, Not(HasSubstr("passed")));
}

/// Host code is compiled without __CUDA_ARCH__, by nvcc as here: what bulk copies depend on is another value there.
TEST_F(HostileBundle, WhoseHostCodeAsksForTheArchitecture) {
  ASSERT_EQ(escgen({"generate", "a.mtx", "--bcol", "16", "--dtype", "tf32", "-o", "bulk", "--schedule",
                    "stream: tile=16x256x16, warps=1, stages=2, copy=tma, pdl=off", "--no-verify"})
                .status,
            0);
  const auto expect_words = [&](const std::string& from, const std::string& to, const std::string& words) {
    const std::string intact = read("bulk/a/a.cu");
    replace("bulk/a/a.cu", from, to);
    const ProcessResult verified = escgen({"verify", "bulk/a", "-q"});
    EXPECT_EQ(verified.status, 1) << verified.output;
    EXPECT_THAT(verified.errors, HasSubstr(words));
    write("bulk/a/a.cu", intact);
  };
  expect_words("cudaLaunchConfig_t launch = {};",
               "if (!copies_in_bulk) return cudaSuccess;\n  cudaLaunchConfig_t launch = {};",
               "has 'if' where another text is generated: host code must be the generated one");
  expect_words("constexpr int tile_columns = 16;", "constexpr int tile_columns = copies_in_bulk ? 16 : 8;",
               "declares 'tile_columns' otherwise than is generated, though host code uses it");
  expect_words("constexpr bool copies_in_bulk = false;", "constexpr bool copies_in_bulk = true;",
               "host code must be the generated one");
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
  expect_refusal(
      {"lower", "--schedule", "4-7-1-32", "--kernel", "nest.c"},
      "nest.c: the loop nest cannot be read: its text touches memory that is not there, or needs more stack");
}

}  // namespace
}  // namespace esc::cli
