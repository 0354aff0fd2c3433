// SPDX-License-Identifier: Apache-2.0
// Command lines that are wrong: one line that names the option, the rule and the remedy; status 2; nothing left behind.

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class RefusedOptions : public Workshop {
 protected:
  void SetUp() override { write_matrix(); }

  /// `escgen generate a.mtx --bcol 40 -o out` with more options.
  void expect_generate_refusal(std::vector<std::string> more, const std::string& words) const {
    more.insert(more.begin(), {"generate", "a.mtx", "--bcol", "40", "-o", "out"});
    expect_refusal(more, words);
  }
};

TEST_F(RefusedOptions, CommandAndArguments) {
  expect_refusal({}, "a command is needed");
  expect_refusal({"frobnicate"}, "frobnicate; see escgen --help");
  expect_refusal({"--frobnicate"}, "--frobnicate");
  expect_refusal({"generate"}, "--output is required; see escgen generate --help");
  expect_refusal({"generate", "--bcol", "4", "-o", "out"}, "generate: needs a matrix");
  expect_refusal({"generate", "a.mtx", "b.mtx", "--bcol", "4", "-o", "out"}, "b.mtx");
  expect_refusal({"generate", "a.mtx", "--bcol", "4"}, "--output is required");
  expect_refusal({"generate", "a.mtx", "--bcol", "4", "-o"}, "--output");
  expect_generate_refusal({"--frobnicate"}, "--frobnicate");
  expect_generate_refusal({"--check", "--force"}, "excludes");
  expect_generate_refusal({"--check", "--dry-run"}, "excludes");
  expect_refusal({"verify"}, "bundle is required");
  expect_refusal({"verify", "out", "--device", "fpga"}, "fpga not in {host,gpu}");
  expect_refusal({"verify", "a.mtx"}, "a.mtx: is not a bundle's folder");
  for (const char* const name : {"bundles/a_n16", "bundles/a_n8"}) {
    fs::create_directories(path(name));
    write(std::string(name) + "/manifest.json", "{}");
  }
  expect_refusal({"verify", "bundles/a"}, "name DIR/NAME as `escgen generate` wrote it, as in bundles/a_n16\n");
  expect_refusal({"verify", "bundles/a/"}, "as in bundles/a_n16\n");
  expect_refusal({"inspect"}, "matrix is required");
  expect_refusal({"lower"}, "--schedule: is not given; give --schedule or --schedule-file");
  expect_refusal({"sample"}, "--output is required");
}

TEST_F(RefusedOptions, Size) {
  expect_generate_refusal({"--size", "N"},
                          "--size N: has 'N' where a name with a whole number is needed; write it as in stride=2");
  expect_generate_refusal({"--size", "N=-1"}, "--size N=-1: is outside 0 to 2147483647; give the number");
  expect_generate_refusal({"--size", "N=40", "--size", "K=17,N=40"},
                          "--size N=40: gives N a second number; give each parameter once");
  expect_generate_refusal({"--size", "stride=2"},
                          "--size stride=2: names no integer parameter of the function spmm; those it has are M, K, N");
  expect_generate_refusal({"--size", "N=40", "--spec", "s.json"}, "excludes");
  expect_refusal({"lower", "--schedule", "4-2-2-64", "--size", "S=1"},
                 "--size S=1: names no integer parameter of the function spmm");
  write("f.c",
        "void f(int M, int K, int N, const float A[M][K], const float B[K][N], float C[M][N], int s) {\n"
        "for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++) C[i][j] += A[i][k] * "
        "B[k][j]; }\n");
  expect_generate_refusal({"--kernel", "f.c", "--size", "t=2"},
                          "--size t=2: names no integer parameter of the function f; those it has are M, K, N, s");
}

TEST_F(RefusedOptions, Bcol) {
  expect_refusal({"generate", "a.mtx", "-o", "out"}, "generate: needs --bcol");
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"0", "--bcol 0: is outside 1 to 2147483647"},
      {"-1", "--bcol -1: is outside"},
      {"2147483648", "--bcol 2147483648: is outside"},
      {"99999999999999999999", "is outside"},
      {"four", "--bcol four: has 'four' where a whole number is needed; write it as in 64, or several as in 32,64,128"},
      {"4.5", "--bcol 4.5: has '4.5' where"},
      {"4x", "--bcol 4x: has '4x' where"},
      {"32,", "--bcol 32,: has '' where"},
      {"32, 64", "--bcol 32, 64: has ' 64' where"},
      {"32,0", "--bcol 0: is outside 1 to 2147483647"},
      {"32,64,32", "--bcol 32,64,32: has 32 twice; give each number of columns once"},
  };
  for (const auto& [value, words] : wrong) {
    expect_refusal({"generate", "a.mtx", "-o", "out", "--bcol", value}, words);
  }
  expect_generate_refusal({"--bcol", "41"}, "--bcol");
}

TEST_F(RefusedOptions, Name) {
  for (const std::string name : {"", "a-b", "1a", "a b", "a/b", "../a", ".", "é", "a\"b"}) {
    expect_generate_refusal({"--name", name}, "--name " + name + ": cannot be the prefix of C functions");
  }
  expect_generate_refusal({"--name", std::string(65, 'a')}, "at most 64");
  for (const std::string name : {"time", "stdint", "cuda_runtime", "string", "test", "all"}) {
    expect_generate_refusal({"--name", name},
                            "--name " + name + ": is the name of a system header or of a target of CMake");
  }
  EXPECT_EQ(
      escgen({"generate", "a.mtx", "--bcol", "40", "-o", "out", "--no-verify", "--name", std::string(64, 'a')}).status,
      0);
}

TEST_F(RefusedOptions, Schedule) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "is not a schedule; write UFi-UFk-WarpTile-ThreadBlockSize as in 4-7-1-32"},
      {"4-7-1", "4-7-1: is not a schedule"},
      {"4-7-1-32-1", "is not a schedule"},
      {"4-7-one-32", "'one' is not a number for thread N"},
      {"4-7-1-99999999999", "is not a number for threads"},
      {"0-1-1-32", "thread M=0 is outside 1 to 8; the nearest legal value is thread=1x1"},
      {"9-1-1-32", "thread M=9 is outside 1 to 8; the nearest legal value is thread=8x1"},
      {"4-17-1-32", "unroll_k=17 is outside 1 to 16; the nearest legal value is unroll_k=16"},
      {"4-7-5-32", "thread N=5 is outside 1 to 4; the nearest legal value is thread=4x4"},
      {"4-7-1-33", "threads=33 is not a multiple of 32 from 32 to 256; the nearest legal value is threads=32"},
      {"4-7-1-64", "threads=64 is more than max(32, N=40); the nearest legal value is threads=32"},
      {"4-7-2-32", "32 * thread N = 64 is more than max(32, N=40); the nearest legal value is thread=4x1"},
      {"mma:ufi=4", "there is no family 'mma'"},
      {"atomic:", "family atomic has no key ''"},
      {"atomic:ufi", "'' is not a number for ufi"},
      {"atomic:speed=9", "family atomic has no key 'speed'"},
      {"atomic:ufi=4,ufi=4", "key 'ufi' is given twice"},
      {"atomic:compaction=perhaps", "compaction=perhaps is neither on nor off"},
  };
  for (const auto& [schedule, words] : wrong) {
    expect_generate_refusal({"--schedule", schedule}, words);
  }
  expect_refusal({"lower", "--schedule", "9-1-1-32"}, "thread M=9 is outside 1 to 8");
}

TEST_F(RefusedOptions, Target) {
  expect_generate_refusal({"--gpu", "voodoo2"},
                          "--gpu voodoo2: is not a GPU that is known here; use --arch, or one of");
  for (const std::string arch :
       {"sm_1", "sm_", "sm_9999", "ninety", "-90", "sm_70", "sm_72", "sm_76", "sm_91", "sm_999", "sm_090", "sm_90a"}) {
    expect_generate_refusal(
        {"--arch=" + arch},
        "--arch " + arch +
            ": is not a CUDA architecture that bundles are built for; write it as in sm_90: one of sm_75, ");
  }
  expect_generate_refusal(
      {"--arch", "sm_80", "--schedule", "gather:warps=2,sets=1"},
      "gather: tile=8x256x32, warps=2, pdl=on: sm_80 has no engine that copies in bulk; choose a schedule of "
      "family panel, or build for sm_90 and newer");
  expect_generate_refusal({"--arch", "sm_75", "--dtype", "f16", "--schedule", "bitmap:warps=2"},
                          "bitmap: tile=32x256x8, warps=4, stages=3, stages_a=2, pdl=on: sm_75 has no copies past the "
                          "registers; choose a schedule of family panel, or build "
                          "for sm_80 and newer");
}

TEST_F(RefusedOptions, BitmapsOfOtherTypesAndOfTooMuchSharedMemory) {
  for (const std::string dtype : {"f32", "f64", "tf32"}) {
    expect_generate_refusal({"--dtype", dtype, "--schedule", "bitmap:warps=2"},
                            "the words of registers hold two elements of 16 bits; choose --dtype f16 or bf16");
  }
  expect_generate_refusal(
      {"--arch", "sm_80", "--dtype", "f16", "--schedule", "bitmap:columns=32,panels=1,warps=16,stages=8,units=2"},
      "choose fewer stages, stages_a or warps, or a smaller tile");
  expect_generate_refusal({"--dtype", "bf16", "--schedule",
                           "mainloop(i, row_tiles=1, warps=2); fragment(j, 8); transform(A, bitmap); epilogue()"},
                          "multiplies K tiles that are in no shared memory, for which there is no kernel; copy them "
                          "ahead: pipeline(k, stages=3, stages_a=2)");
}

TEST_F(RefusedOptions, ElementTypeAndLayout) {
  for (const std::string dtype : {"tf19", "F32", "double", "half"}) {
    expect_generate_refusal({"--dtype=" + dtype},
                            "escgen: --dtype " + dtype +
                                ": is not supported: the elements of A, B and C are f32, f64, f16, bf16 or tf32; "
                                "use one of these, as in --dtype f16\n");
    expect_refusal({"generate", "--spec", "spec.json", "-o", "out", "--dtype=" + dtype}, "--dtype " + dtype);
  }
  for (const std::string layout : {"NK", "KN", "rows", "nest"}) {
    const std::string words = "escgen: --layout " + layout +
                              ": is neither kn nor nk; use kn for B (K x N) and C (M x N), nk for both transposed, or "
                              "give a nest of your own with --kernel\n";
    expect_generate_refusal({"--layout=" + layout, "--schedule", "panel:warps=4"}, words);
    expect_refusal({"inspect", "a.mtx", "--layout", layout}, words);
    expect_refusal({"lower", "--schedule", "rows:task=64", "--layout", layout}, words);
  }
  write("nest.c",
        "void product(int M, int K, int N, const float A[M][K], const float B[K][N], float C[M][N]) {\n"
        "  for (int i = 0; i < M; i++)\n    for (int j = 0; j < N; j++)\n"
        "      for (int k = 0; k < K; k++) C[i][j] += A[i][k] * B[k][j];\n}\n");
  for (const std::string layout : {"kn", "nk"}) {
    expect_generate_refusal(
        {"--kernel", "nest.c", "--layout", layout},
        "escgen: --layout " + layout +
            ": is of no use with --kernel, whose nest says how B and C lie; leave one of the two out\n");
  }
}

TEST_F(RefusedOptions, Numbers) {
  for (const std::string value : {"-0.1", "1.1", "nan"}) {
    expect_generate_refusal({"--min-sparsity=" + value}, "is outside 0 to 1");
  }
  for (const std::string value : {"0", "-1.5", "nan", "inf"}) {
    expect_generate_refusal({"--max-packed=" + value},
                            "is neither a ratio above 0 nor a percentage; give the most bytes of the packed matrix");
  }
  for (const std::string value : {"-1", "1.5", "x", "99999999999999999999"}) {
    expect_generate_refusal({"--seed=" + value}, "--seed");
    expect_refusal({"sample", "-o", "b.mtx", "--seed=" + value}, "--seed");
  }
  expect_refusal({"inspect", "a.mtx", "--tile-rows", "0"}, "--tile-rows 0: is outside 1 to 8");
  expect_refusal({"inspect", "a.mtx", "--tile-rows", "9"}, "--tile-rows 9: is outside 1 to 8");
  expect_refusal({"sample", "-o", "b.mtx", "--rows", "0"}, "--rows: 0 is outside 1 to 2^31 - 1");
  expect_refusal({"sample", "-o", "b.mtx", "--cols", "3000000000"}, "--cols: 3000000000 is outside 1 to 2^31 - 1");
  expect_refusal({"sample", "-o", "b.mtx", "--sparsity", "1.5"}, "--sparsity: 1.5 is outside 0 to 1");
  expect_refusal({"sample", "-o", "b.mtx", "--structure", "spiral"}, "'spiral' is not a structure");
  expect_refusal({"sample", "-o", "b.csv"}, "the ending .csv is not a matrix format that can be written");
}

TEST_F(RefusedOptions, Pattern) {
  for (const std::string pattern : {"", "2", "0000", "11011", "0b11011", "x101", "-101"}) {
    expect_refusal({"lower", "--schedule", "4-2-1-32", "--pattern=" + pattern}, "--pattern");
  }
  EXPECT_EQ(escgen({"lower", "--schedule", "4-2-1-32", "--pattern", "0b1101"}).output,
            escgen({"lower", "--schedule", "4-2-1-32", "--pattern", "1101", "--pattern", "1101"}).output);
}

}  // namespace
}  // namespace esc::cli
