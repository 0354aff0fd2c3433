// SPDX-License-Identifier: Apache-2.0
// --dtype f16 and bf16: elements of 16 bits, from the options to the bundle.

#include <tuple>

#include "tests/cli/workshop.h"
#include "tests/support/run_size.h"

namespace esc::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class DtypeOption : public Workshop {
 protected:
  void SetUp() override {
    write_matrix();
    // Of five values f16 holds three, one of them its largest.
    write("tiny.mtx",
          "%%MatrixMarket matrix coordinate real general\n3 4 5\n1 1 65504\n1 2 1e-9\n2 2 0.5\n2 3 1e-40\n3 4 -0.25\n");
    write("large.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 70000\n2 2 -1e6\n3 4 0.5\n");
  }

  static std::vector<std::string> line(const std::string& matrix, const std::string& dtype,
                                       std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"generate", matrix, "--bcol", "40", "-o", "out", "--dtype", dtype, "--force"});
    return more;
  }
  ProcessResult generate(const std::string& matrix, const std::string& dtype,
                         const std::vector<std::string>& more = {}) const {
    ProcessResult result = escgen(line(matrix, dtype, more));
    EXPECT_EQ(result.status, 0) << result.output << result.errors;
    return result;
  }
  nlohmann::json manifest(const std::string& bundle) const { return parse_json(read(bundle + "/manifest.json")); }
  void expect_verified(const std::string& bundle) const {
    const ProcessResult verified = escgen({"verify", bundle});
    EXPECT_EQ(verified.status, 0) << verified.output << verified.errors;
    EXPECT_THAT(verified.output, StartsWith("passed by emulation: "));
  }
};

struct DtypeCase {
  std::string name;
  std::string dtype;
  std::string schedule;
  std::string c_type;
};

class DtypeOfAFamily : public DtypeOption, public ::testing::WithParamInterface<DtypeCase> {};

TEST_P(DtypeOfAFamily, MakesBundlesThatAreVerifiedAndCurrent) {
  for (const std::string epilogue : {"", "scale+bias+residual+relu"}) {
    SCOPED_TRACE(epilogue);
    std::vector<std::string> options{"--schedule", GetParam().schedule};
    if (!epilogue.empty()) {
      options.insert(options.end(), {"--epilogue", epilogue});
    }
    std::vector<std::string> writing = options;
    writing.emplace_back("--no-verify");
    generate("a.mtx", GetParam().dtype, writing);
    EXPECT_EQ(manifest("out/a")["dtype"], GetParam().dtype);
    EXPECT_THAT(read("out/a/a.h"), HasSubstr("const struct " + GetParam().c_type + "* b, int64_t ldb"));
    EXPECT_THAT(read("out/a/a.h"), HasSubstr("int a_transform(const uint16_t* a, int64_t lda, void* packed);"));
    expect_verified("out/a");
    options.insert(options.end(), {"--check"});
    std::vector<std::string> checking = line("a.mtx", GetParam().dtype, options);
    std::erase(checking, "--force");
    EXPECT_THAT(escgen(checking).output, EndsWith("check      the bundle is current\n"));
  }
}

[[maybe_unused]] const bool dtype_of_a_family_is_sampled = tests::sample_suite("DtypeOption/DtypeOfAFamily", 2);

INSTANTIATE_TEST_SUITE_P(
    DtypeOption, DtypeOfAFamily,
    ::testing::Values(
        DtypeCase{"Auto", "f16", "auto", "__half"},
        DtypeCase{"Panel", "bf16", "panel:ufi=4,columns=16,vector=4,groups=4,warps=2,panels=4,ufk=4,stage=on",
                  "__nv_bfloat16"},
        DtypeCase{"Rows", "f16", "rows:columns=16,vector=4,unroll=4,task=32,light=8", "__half"},
        DtypeCase{"Bitmap", "f16", "bitmap: tile=16x256x16, warps=2, stages=3, stages_a=2, pdl=on", "__half"},
        DtypeCase{"BitmapOfWarpgroups", "f16",
                  "bitmap: tile=64x256x32, warps=4, stages=3, stages_a=2, mma=wgmma, pdl=on", "__half"},
        DtypeCase{"BitmapOfBrainFloats", "bf16", "bitmap: tile=32x256x8, warps=2, stages=2, stages_a=2, pdl=off",
                  "__nv_bfloat16"}),
    [](const auto& one) { return one.param.name; });

TEST_F(DtypeOption, HeaderIsCAndCpp) {
  for (const std::string dtype : {"f16", "bf16"}) {
    generate("a.mtx", dtype, {"--no-verify"});
    write("user.c", "#include \"out/a/a.h\"\nsize_t bytes(void) { return a_packed_bytes(); }\n");
    write("user.cpp", "#include \"out/a/a.h\"\nsize_t bytes() { return a_packed_bytes(); }\n");
    const std::string warnings = " -Wall -Wextra -Wpedantic -Werror -DESC_HOST_ONLY -I. -c -o user.o ";
    const ProcessResult c = shell("cc -std=c99 -Wstrict-prototypes" + warnings + "user.c");
    EXPECT_EQ(c.status, 0) << c.output << c.errors;
    const ProcessResult cpp = shell("c++ -std=c++17" + warnings + "user.cpp");
    EXPECT_EQ(cpp.status, 0) << cpp.output << cpp.errors;
  }
}

TEST_F(DtypeOption, OfALargeWeightIsRefused) {
  expect_refusal({"generate", "large.mtx", "--bcol", "8", "-o", "none", "--dtype", "f16"},
                 "large.mtx: has 2 values beyond the largest number of f16, 65504; scale the matrix, choose --dtype "
                 "bf16 or f32, or allow "
                 "values that are not finite (--allow-nonfinite)");
  generate("large.mtx", "bf16");
  EXPECT_EQ(manifest("out/large")["rounding"], (nlohmann::json{{"became_zero", 0}, {"became_infinite", 0}}));
  generate("large.mtx", "f16", {"--allow-nonfinite"});
  EXPECT_EQ(manifest("out/large")["rounding"], (nlohmann::json{{"became_zero", 0}, {"became_infinite", 2}}));
}

TEST_F(DtypeOption, CountsWhatBecomesZero) {
  const ProcessResult generated = generate("tiny.mtx", "f16", {"--no-verify"});
  EXPECT_THAT(generated.errors, HasSubstr("tiny.mtx: 2 of its values became zero in f16"));
  EXPECT_THAT(generated.output, HasSubstr("3 x 4, 3 non-zeros"));
  EXPECT_EQ(manifest("out/tiny")["nnz"], 3);
  EXPECT_EQ(manifest("out/tiny")["rounding"], (nlohmann::json{{"became_zero", 2}, {"became_infinite", 0}}));
  expect_verified("out/tiny");
  EXPECT_THAT(generate("tiny.mtx", "bf16").errors, Not(HasSubstr("became zero")));
  generate("tiny.mtx", "f32");
  EXPECT_FALSE(manifest("out/tiny").contains("rounding"));
}

TEST_F(DtypeOption, OfZerosAloneNeedsNoKernel) {
  write("none.mtx", "%%MatrixMarket matrix coordinate real general\n3 4 1\n1 1 1e-30\n");
  generate("none.mtx", "f16", {"--no-verify"});
  expect_verified("out/none");
}

TEST_F(DtypeOption, RefusesWhatAddsUpPartsOfSumsInC) {
  for (const std::string dtype : {"f16", "bf16"}) {
    expect_refusal(
        {"generate", "a.mtx", "--bcol", "40", "-o", "none", "--dtype", dtype, "--schedule", "4-7-1-32"},
        "parts of a sum are added up in C: nobody has the whole of it; choose a schedule whose threads own their rows");
  }
}

TEST_F(DtypeOption, StreamsNumbersOfThirtyTwoBitsAlone) {
  const std::string stream = "stream: tile=16x256x8, warps=1, stages=2, pdl=on";
  expect_refusal({"generate", "a.mtx", "--bcol", "40", "-o", "none", "--dtype", "f64", "--schedule", stream},
                 "transform(A, sparse24): fragments have elements of 32 bits, and f64 has 64; choose --dtype f32 or "
                 "tf32, or a schedule of family panel");
  for (const std::string dtype : {"f16", "bf16"}) {
    for (const auto& [format, transformed] : std::vector<std::pair<std::string, std::string>>{
             {"sparse24", "sparse24"}, {"dense", "dense"}, {"bitmap", "compressed"}}) {
      expect_refusal({"generate", "a.mtx", "--bcol", "40", "-o", "none", "--dtype", dtype, "--schedule",
                      stream + ", format=" + format},
                     "transform(A, " + transformed + "): fragments have elements of 32 bits, and " + dtype +
                         " has 16; write transform(A, bitmap), or --schedule bitmap: that packed matrix serves every "
                         "number of columns");
    }
    for (const std::string gone : {"sparse14=on", "quarters=on"}) {
      expect_refusal(
          {"generate", "a.mtx", "--bcol", "40", "-o", "none", "--dtype", dtype, "--schedule", "stream:" + gone},
          "family stream has no key '" + gone.substr(0, gone.find('=')) +
              "' any more, nor kernels of 16 bits; write bitmap, whose packed matrix serves every number of "
              "columns in 16 bits");
    }
  }
  for (const std::string dtype : {"tf32", "f32"}) {
    for (const std::string layout : {"kn", "nk"}) {
      const ProcessResult generated = escgen({"generate", "a.mtx", "--bcol", "40", "-o", dtype + layout, "--dtype",
                                              dtype, "--layout", layout, "--schedule", stream});
      EXPECT_EQ(generated.status, 0) << generated.errors;
    }
  }
  expect_refusal({"generate", "a.mtx", "--bcol", "40", "-o", "none", "--dtype", "tf32", "--schedule",
                  "stream:columns=64,panels=1,warps=16,stages=8"},
                 "choose fewer stages or warps, or a smaller tile");
}

/// Auto: as measured in either type of 16 bits and in each layout, on devices that have the instructions.
TEST_F(DtypeOption, ChoosesFamiliesByTheirTimesInTheTypeAndTheLayout) {
  const auto chosen = [&](const std::string& matrix, const std::vector<std::string>& more) {
    std::vector<std::string> line{"generate", matrix, "--bcol", "8", "-o", "out", "--dry-run", "--json"};
    line.insert(line.end(), more.begin(), more.end());
    if (std::ranges::find(more, "--gpu") == more.end()) {
      line.insert(line.end(), {"--gpu", "h200"});
    }
    const ProcessResult generated = escgen(line);
    EXPECT_EQ(generated.status, 0) << generated.errors;
    return parse_json(generated.output);
  };
  for (const std::string zeros : {"0.7"}) {
    ASSERT_EQ(
        escgen({"sample", "--rows", "512", "--cols", "600", "--sparsity", zeros, "-o", "z" + zeros + ".mtx"}).status,
        0);
  }
  for (const std::string dtype : {"f16", "bf16"}) {
    const nlohmann::json measured = chosen("z0.7.mtx", {"--dtype", dtype});
    EXPECT_EQ(measured["family"], "bitmap");
    EXPECT_EQ(chosen("z0.7.mtx", {"--dtype", dtype, "--gpu", "t4"})["family"], "panel");
    EXPECT_EQ(chosen("z0.7.mtx", {"--dtype", dtype, "--layout", "nk"})["family"], "bitmap");
  }
  EXPECT_EQ(chosen("z0.7.mtx", {})["family"], "panel");
  // A database of either type of 16 bits comes before the model, and f32's layers do not see it.
  write("mine.txt",
        "device sm90-132sm-60mib My GPU\ndtype f16\nevidence measured\n"
        "candidate 8 0 bitmap:columns=8,panels=2,warps=2,stages=3,units=2\nclass 8 18 18 15 15 3 - - 0.0\n");
  const nlohmann::json own = chosen("z0.7.mtx", {"--dtype", "f16", "--database", "mine.txt"});
  EXPECT_THAT(own["schedule_source"].get<std::string>(), ::testing::StartsWith("database: one My GPU"));
  EXPECT_EQ(own["schedule"], "bitmap: tile=32x256x8, warps=4, stages=3, stages_a=2, pdl=on");
  EXPECT_THAT(own["notes"].dump(), Not(HasSubstr("no measurements")));
  EXPECT_THAT(chosen("z0.7.mtx", {"--dtype", "bf16", "--database", "mine.txt"})["notes"].dump(),
              HasSubstr("no measurements in bf16: the schedule is the one for f16"));
  const nlohmann::json single = chosen("z0.7.mtx", {"--database", "mine.txt"});
  EXPECT_THAT(single["schedule_source"].get<std::string>(), Not(HasSubstr("My GPU")));
  EXPECT_THAT(single["notes"].dump(), HasSubstr("--database has no measurements that hold for f32"));
}

/// Of 16 bits as they are; else float32. What a kernel has otherwise is said.
TEST_F(DtypeOption, IsThatOfAFileOf16Bits) {
  const std::string models = ESC_SOURCE_DIR "/tests/data/models/";
  const auto made = [&](const std::string& matrix, std::vector<std::string> more = {}) {
    more.insert(more.begin(),
                {"generate", models + matrix, "--bcol", "8", "--gpu", "h200", "-o", "out", "--dry-run", "--json"});
    const nlohmann::json layer = parse_json(escgen(more).output);
    return std::pair(layer["dtype"].get<std::string>(), layer["notes"].dump());
  };
  for (const auto& [matrix, dtype, note] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"layers.safetensors:down_proj.weight", "f16", ""},
           {"layers.safetensors:gate_proj.weight", "bf16", ""},
           {"two_four.npy", "f16", ""},
           {"layers.safetensors:up_proj.weight", "f32", ""},
           {"dense.npy", "f32", ""},
           {"layers.safetensors:head.weight", "f32", "elements of f64, the kernel of f32: --dtype f64 keeps those"}}) {
    EXPECT_EQ(made(matrix).first, dtype) << matrix;
    const std::string notes = made(matrix).second;
    EXPECT_EQ(notes.find("the file has elements") == notes.npos, note.empty()) << matrix;
    EXPECT_THAT(notes, HasSubstr(note)) << matrix;
  }
  EXPECT_EQ(made("layers.safetensors:down_proj.weight", {"--dtype", "f32"}).first, "f32");
  EXPECT_THAT(made("layers.safetensors:down_proj.weight", {"--dtype", "f32"}).second,
              HasSubstr("--dtype f16 keeps those of the file"));
  EXPECT_THAT(made("layers.safetensors:down_proj.weight", {"--dtype", "bf16"}).second,
              HasSubstr("elements of f16, the kernel of bf16"));
  EXPECT_THAT(made("dense.npy", {"--dtype", "f16"}).second, HasSubstr("elements of f32, the kernel of f16"));
  EXPECT_THAT(made("dense.npy", {"--dtype", "tf32"}).second, Not(HasSubstr("the file has elements")))
      << "which is f32 in memory";
  const nlohmann::json inspected = parse_json(escgen({"inspect", models + "two_four.npy", "--json"}).output);
  const nlohmann::json rows = inspected["rows"];
  EXPECT_EQ(inspected["bytes"]["dense"], rows.get<int>() * inspected["columns"].get<int>() * 2);
  write("spec.json", R"({"layers": [{"matrix": ")" + models + R"(two_four.npy", "bcol": 8}]})");
  EXPECT_EQ(escgen({"generate", "--spec", "spec.json", "--no-verify", "-o", "out"}).status, 0);
  EXPECT_EQ(manifest("out/two_four")["dtype"], "f16");
}

TEST_F(DtypeOption, OfAModelIsThe16BitsThatAllItsMatricesHave) {
  const std::string model = ESC_SOURCE_DIR "/tests/data/models/layers.safetensors";
  const auto made = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", model, "--bcol", "8", "-o", "out", "--dry-run", "--json"});
    return parse_json(escgen(more).output);
  };
  EXPECT_EQ(made({"--tensor", "down_proj.weight"})["dtype"], "f16");
  EXPECT_EQ(made({"--tensor", "gate_proj.weight"})["dtype"], "bf16");
  EXPECT_TRUE(made({"--tensor", "gate_proj.weight"})["notes"].empty());
  const nlohmann::json mixed = made({});
  EXPECT_EQ(mixed["dtype"], "f32");
  EXPECT_THAT(mixed["notes"].dump(),
              HasSubstr("elements of other types (3 f32, 1 f64, 1 f16, 1 bf16) than the kernels, f32"));
  EXPECT_THAT(made({"--dtype", "bf16", "--tensor", "down_proj.weight"})["notes"].dump(),
              HasSubstr("(1 f16) than the kernels, bf16"));
}

TEST_F(DtypeOption, IsThatOfTheNest) {
  write("nest.c",
        "void multiply(int M, int N, int K, const _Float16 A[M][K], const _Float16 B[K][N], _Float16 C[M][N]) {\n"
        "  for (int i = 0; i < M; i++) for (int k = 0; k < K; k++) for (int j = 0; j < N; j++) C[i][j] += A[i][k] * "
        "B[k][j];\n}\n");
  generate("a.mtx", "f16", {"--no-verify"});
  const std::string by_option = read("out/a/a.cu");
  ASSERT_EQ(escgen({"generate", "a.mtx", "--bcol", "40", "-o", "own", "--kernel", "nest.c", "--no-verify"}).status, 0);
  EXPECT_EQ(read("own/a/a.cu"), by_option);
  EXPECT_EQ(manifest("own/a")["dtype"], "f16");
  expect_refusal({"generate", "a.mtx", "--bcol", "40", "-o", "none", "--kernel", "nest.c", "--dtype", "bf16"},
                 "--dtype bf16: is not what nest.c has: f16; leave --dtype out");
}

}  // namespace
}  // namespace esc::cli
