// SPDX-License-Identifier: Apache-2.0
// `escgen verify` must find what is wrong with a bundle that somebody or something has changed.

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class TamperedBundle : public Workshop {
 protected:
  void SetUp() override { make_bundle({"--no-verify", "--schedule", "4-2-1-32"}); }

  /// The verification must fail, and its report must match the expression.
  void expect_failure(const std::string& expression) const {
    const ProcessResult verified = escgen({"verify", "out/a"});
    EXPECT_EQ(verified.status, 1) << verified.errors;
    EXPECT_THAT(verified.output, AllOf(ContainsRegex(expression), StartsWith("failed by emulation: ")));
  }

  /// The bundle must be refused in one sentence.
  void expect_refused(const std::string& words, int status) const {
    const ProcessResult verified = escgen({"verify", "out/a", "-q"});
    EXPECT_EQ(verified.status, status);
    EXPECT_EQ(verified.output, "");
    EXPECT_THAT(verified.errors, AllOf(StartsWith("escgen: "), HasSubstr(words)));
    EXPECT_EQ(verified.errors.find('\n') + 1, verified.errors.size()) << verified.errors;
  }
};

TEST_F(TamperedBundle, WrongFactor) {
  replace("out/a/a.cu", "c0_0 += ANNZ[values + c] * b0_0;", "c0_0 += 2 * ANNZ[values + c] * b0_0;", true);
  expect_failure("WRONG  n 40, ldb 40, ldc 40, shift 0 .*relative error [0-9.]+e[-+][0-9]+");
}

TEST_F(TamperedBundle, AnotherLauncher) {
  replace("out/a/a.cu", "cudaMemsetAsync(c, 0, row_bytes * 13, stream)",
          "cudaMemsetAsync(c, 0, row_bytes * 12, stream)");
  expect_refused("has '12' where another text is generated: host code must be the generated one", 1);
}

TEST_F(TamperedBundle, WrongSection) {
  replace("out/a/a.cu", "ANNZ_at = 1536", "ANNZ_at = 1280");
  expect_failure("WRONG  n 40");
}

TEST_F(TamperedBundle, PlainAddInPlaceOfTheAtomicOne) {
  replace("out/a/a.cu", "atomicAdd(&C[(row0 + i) * ldc + j], c0_0);", "C[(row0 + i) * ldc + j] += c0_0;", true);
  expect_failure("race: kernel .*a\\.cu:[0-9]+:[0-9]+, block .*of buffer 'C'");
}

TEST_F(TamperedBundle, ResultNotSetToZero) {
  replace("out/a/a.cu", "= set_to_zero(c, ldc, n, stream);", "= cudaSuccess;");
  expect_refused("has 'cudaSuccess' where another text is generated: host code must be the generated one", 1);
}

TEST_F(TamperedBundle, ColumnTooMany) {
  replace("out/a/a.cu", "j < N; j += 32", "j <= N; j += 32", true);
  expect_failure("out of bounds: kernel .*a\\.cu:[0-9]+:[0-9]+, block .*past the end of buffer");
}

TEST_F(TamperedBundle, ListTooLong) {
  replace("out/a/a.cu", "const int last = RPP[list + 1];", "const int last = RPP[list + 1] + 1;");
  expect_failure("WRONG  n 40");
}

TEST_F(TamperedBundle, OnlyTheGeneralKernelIsWrong) {
  replace("out/a/a.cu", "tuned ? tuned_columns : given_ldc", "tuned ? tuned_columns : given_ldb");
  const ProcessResult verified = escgen({"verify", "out/a"});
  EXPECT_EQ(verified.status, 1);
  EXPECT_THAT(verified.output,
              AllOf(StartsWith("failed by emulation: "), Not(HasSubstr("WRONG  n 40, ldb 40, ldc 40, shift 0")),
                    HasSubstr("WRONG  n 40, ldb 43, ldc 45, shift 1")));
}

TEST_F(TamperedBundle, AnUnpreparedKernelThatIsNotTold) {
  make_bundle({"--no-verify", "--force", "--schedule", "stream:columns=32,panels=1,warps=2,stages=3"});
  EXPECT_EQ(escgen({"verify", "out/a", "-q"}).status, 0);
  replace("out/a/a.cu", "? cudaErrorNotReady", "? cudaErrorNotSupported");
  const ProcessResult verified = escgen({"verify", "out/a"});
  EXPECT_EQ(verified.status, 1);
  EXPECT_THAT(
      verified.output + verified.errors,
      AnyOf(HasSubstr("a call with a device that was not prepared returns 801 instead of 600"), HasSubstr("a.cu:")));
}

TEST_F(TamperedBundle, WrongUnpacking) {
  make_bundle(
      {"--no-verify", "--force", "--dtype", "f16", "--schedule", "bitmap:columns=8,panels=1,warps=1,stages=2,units=2"});
  EXPECT_EQ(escgen({"verify", "out/a", "-q"}).status, 0);
  replace("out/a/a.cu", "store_a(A, lda, row_tile * row_tile_height,",
          "store_a(A, lda, row_tile * row_tile_height + k_tile,");
  EXPECT_EQ(escgen({"verify", "out/a", "-q"}).status, 0) << "there is one K tile";
  replace("out/a/a.cu", "i < rows && first_column + k < columns", "i + 1 < rows && first_column + k < columns");
  expect_failure("WRONG  unpacking with lda [0-9]+, shift 0: .*A\\[[0-9]+\\]\\[[0-9]+\\] is ");
}

TEST_F(TamperedBundle, WrongValues) {
  make_bundle(
      {"--no-verify", "--force", "--dtype", "f16", "--schedule", "bitmap:columns=8,panels=1,warps=1,stages=2,units=2"});
  replace("out/a/a.cu", "to[code / 4 % 2]", "to[0]");
  expect_failure("WRONG  taking values with lda [0-9]+, shift 0: byte [0-9]+ of the packed matrix is ");
}

TEST_F(TamperedBundle, TextThatDoesNotCompile) {
  replace("out/a/a.cu", "const int last = RPP[list + 1];", "const int last = RPP[list + 1]");
  const ProcessResult kernel = escgen({"verify", "out/a"});
  EXPECT_NE(kernel.status, 0);
  EXPECT_EQ(kernel.output, "");
  EXPECT_THAT(kernel.errors,
              ContainsRegex("\nescgen: a\\.cu:[0-9]+:[0-9]+: .*\na\\.cu:[0-9]+:[0-9]+: error: expected ';'"));
  replace("out/a/a.cu", "const int last = RPP[list + 1]", "const int last = RPP[list + 1];");
  replace("out/a/a_transformer.cpp", "k_tile[j][r] = values[at];", "k_tile[j][r] = values[at]", true);
  const ProcessResult transformer = escgen({"verify", "out/a"});
  EXPECT_NE(transformer.status, 0);
  EXPECT_THAT(transformer.errors, ContainsRegex("escgen: a_transformer\\.cpp:[0-9]+:[0-9]+: "));
}

TEST_F(TamperedBundle, TransformerThatPacksOtherwise) {
  replace("out/a/a_transformer.cpp", "k_tile[j][r] = values[at];", "k_tile[j][r] = -values[at];", true);
  expect_failure("WRONG  the transformer ");
}

TEST_F(TamperedBundle, TransformerThatAcceptsAnyPattern) {
  replace("out/a/a_transformer.cpp", "return a.hash == b.hash && a.nonzeros == b.nonzeros;", "return true;");
  replace("out/a/a_transformer.cpp", "if (!inside || !(describe(format.shape, at) == format)) {", "if (!inside) {");
  expect_failure("WRONG  the transformer .*non-zero in another place");
}

TEST_F(TamperedBundle, TransformerThatDoesNotCheckThePattern) {
  replace("out/a/a_transformer.cpp", "if (!(digest == layer_pattern[group])) {", "if (false) {");
  expect_refused("has 'false' where another text is generated: host code must be the generated one", 1);
}

TEST_F(TamperedBundle, IsRightWithAnotherKernelAndTransformer) {
  replace("out/a/a.cu", "c0_0 += ANNZ[values + c] * b0_0;",
          "c0_0 = fmaf(ANNZ[values + c], b0_0, c0_0 + nothing_of(c));", true);
  replace("out/a/a.cu", "// Lists with 1 non-zero row",
          "constexpr float nothing = 0.0f;\n"
          "template <typename T>\n__device__ float nothing_of(T place) {\n  return place < 0 ? 1.0f : nothing;\n}\n"
          "// Lists with 1 non-zero row");
  replace("out/a/a_transformer.cpp", "k_tile[j][r] = values[at];",
          "const auto read = values[at];\n k_tile[j][r] = read;", true);
  const ProcessResult verified = escgen({"verify", "out/a"});
  EXPECT_EQ(verified.status, 0) << verified.errors << verified.output;
}

TEST_F(TamperedBundle, DamagedPackedFile) {
  const std::string packed = read("out/a/a.packed");
  for (const std::size_t at : {0u, 9u, 60u, 255u, 256u, 700u, 2047u}) {
    SCOPED_TRACE(at);
    std::string damaged = packed;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write("out/a/a.packed", damaged);
    expect_refused("out/a/a.packed: ", 1);
  }
  for (const std::size_t size : {0u, 100u, 256u, 2047u}) {
    SCOPED_TRACE(size);
    write("out/a/a.packed", packed.substr(0, size));
    expect_refused("out/a/a.packed: ", 1);
  }
  write("out/a/a.packed", packed + "x");
  expect_refused("out/a/a.packed: ", 1);
}

TEST_F(TamperedBundle, FilesThatNoMemoryHolds) {
  for (const char* const file :
       {"out/a/manifest.json", "out/a/a.cu", "out/a/a_transformer.cpp", "out/a/a.packed", "out/a/a.h"}) {
    SCOPED_TRACE(file);
    const std::string whole = read(file);
    fs::resize_file(path(file), std::uintmax_t{1} << 40);
    expect_refused(std::string(file) + ": has 1099511627776 bytes",
                   std::string_view(file).ends_with(".packed") ? 1 : 2);
    write(file, whole);
  }
}

TEST_F(TamperedBundle, PackedFileOfAnotherMatrix) {
  ASSERT_EQ(escgen({"sample", "-o", "b.mtx", "--rows", "13", "--cols", "17", "--sparsity", "0.6", "--seed", "4", "-q"})
                .status,
            0);
  ASSERT_EQ(escgen({"generate", "b.mtx", "--bcol", "40", "-o", "out", "--no-verify"}).status, 0);
  fs::copy_file(path("out/b/b.packed"), path("out/a/a.packed"), fs::copy_options::overwrite_existing);
  expect_refused("out/a/a.packed: does not hold the matrix of the manifest: SHA-256 of its pattern differs", 1);
}

TEST_F(TamperedBundle, ManifestThatIsNone) {
  for (const std::string text : {"", "{", "[]", "{\"format_version\": 2}", "\xff"}) {
    write("out/a/manifest.json", text);
    expect_refused("out/a/manifest.json: is not a manifest", 2);
  }
  for (const std::string open : {"[", "{\"a\":"}) {
    std::string deep = "{\"format_version\": ";
    for (int depth = 0; depth < 100000; ++depth) {
      deep += open;
    }
    write("out/a/manifest.json", deep);
    expect_refused("out/a/manifest.json: is nested too deeply", 2);
  }
  write("out/a/manifest.json", "{\"format_version\": 99}");
  expect_refused("out/a/manifest.json: has format version 99; this program reads version 2", 2);
}

TEST_F(TamperedBundle, ManifestWithValuesThatCannotBe) {
  const std::string intact = read("out/a/manifest.json");
  const auto with = [&](const std::string& key, const nlohmann::json& value) {
    nlohmann::json manifest = nlohmann::json::parse(intact);
    manifest[key] = value;
    write("out/a/manifest.json", manifest.dump());
  };
  for (const nlohmann::json& bcol : {nlohmann::json(-5), nlohmann::json(0), nlohmann::json(1e300), nlohmann::json("32"),
                                     nlohmann::json(~std::uint64_t{0})}) {
    with("bcol", bcol);
    expect_refused("out/a/manifest.json: has bcol " + bcol.dump() + ", which is no whole number from 1 to 2147483647",
                   2);
  }
  with("name", "../a");
  expect_refused("has name \"../a\", which cannot be the prefix of C functions", 2);
  with("dtype", "tf19");
  expect_refused("has dtype \"tf19\"; this program knows \"f32\" and \"f64\" and \"f16\" and \"bf16\" and \"tf32\"", 2);
  with("dtype", "f16");
  expect_refused("is not what is generated for this manifest and matrix", 1);
  with("layout", "nhwc");
  expect_refused("has layout \"nhwc\"; this program knows \"kn\" and \"nk\" and \"nest\"", 2);
  for (const std::string layout : {"nk", "nest"}) {
    with("layout", layout);
    expect_refused("has layout \"" + layout + "\" and a loop nest of \"kn\"", 1);
  }
}

TEST_F(TamperedBundle, ManifestWithOtherSizes) {
  const std::string intact = read("out/a/manifest.json");
  for (const std::string key : {"m", "k", "nnz"}) {
    nlohmann::json manifest = nlohmann::json::parse(intact);
    manifest[key] = manifest[key].get<int>() + 1;
    write("out/a/manifest.json", manifest.dump());
    expect_refused("out/a/manifest.json: says ", 1);
  }
}

TEST_F(TamperedBundle, HeaderWithoutAFunction) {
  replace("out/a/a.h", "a_spmm(", "a_product(", true);
  expect_refused("out/a/a.h: does not have 'a_spmm('", 1);
}

TEST_F(TamperedBundle, EmptyBuildFile) {
  write("out/a/CMakeLists.txt", "");
  expect_refused("out/a/CMakeLists.txt: does not have 'add_library(esc::a ALIAS a)'", 1);
}

TEST_F(TamperedBundle, MissingFile) {
  for (const std::string name : {"a.packed", "a_transformer.cpp", "a.cu", "a.h", "CMakeLists.txt", "manifest.json"}) {
    const std::string file = "out/a/" + name;
    const std::string content = read(file);
    fs::remove(path(file));
    expect_refused(file + ": cannot be read: No such file or directory", 2);
    ASSERT_EQ(shell("mkfifo " + file).status, 0);
    expect_refused(file + ": is not a regular file", 1);
    fs::remove(path(file));
    write(file, content);
  }
  fs::remove_all(path("out/a"));
  expect_refused("out/a: is not a bundle's folder", 2);
}

TEST_F(TamperedBundle, KeysOfTheManifestThatAreThereTwice) {
  replace("out/a/manifest.json", "\"bcol\": 40,", "\"bcol\": 40, \"bcol\": 41,");
  expect_refused("manifest.json: bcol: is there twice", 2);
}

}  // namespace
}  // namespace esc::cli
