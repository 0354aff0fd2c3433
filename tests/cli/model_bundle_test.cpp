// SPDX-License-Identifier: Apache-2.0
// Bundles of whole models: which layers they have, which kernels these share, and the file of their packed matrices.

#include <cstring>
#include <fstream>
#include <random>
#include <regex>

#include "generator/support/file.h"
#include "generator/support/page_text.h"
#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// A tensor of a .safetensors file: float32, so many elements of which are zero.
struct Drawn {
  std::string name;
  int rows;
  int columns;
  double zeros;
  unsigned pattern;     ///< seed
  unsigned values = 0;  ///< seed
};

/// What is in place of the kernels for a program of model_consumer.
struct Stub {
  std::string program = "main.cpp";
  std::string operands = "";
  std::string print = R"(std::printf("%s\n", __func__))";
  bool unpacks = false;
};

class ModelBundles : public Workshop {
 protected:
  void SetUp() override { write_model("tiny.safetensors", layers()); }

  /// Four layers of two shapes that are sparse enough, and others that are not.
  static std::vector<Drawn> layers() {
    return {{"a.weight", 40, 64, 0.8, 1}, {"b.weight", 40, 64, 0.8, 2},     {"c.weight", 40, 64, 0.8, 3},
            {"d.weight", 24, 40, 0.7, 4}, {"dense.weight", 24, 40, 0.1, 5}, {"embed_tokens.weight", 24, 40, 0.9, 6}};
  }

  void write_model(const std::string& file, const std::vector<Drawn>& tensors) const {
    nlohmann::json header;
    std::string data;
    for (const Drawn& tensor : tensors) {
      const std::size_t begin = data.size();
      data += elements(tensor);
      header[tensor.name] = {
          {"dtype", "F32"}, {"shape", {tensor.rows, tensor.columns}}, {"data_offsets", {begin, data.size()}}};
    }
    header["norm.weight"] = {{"dtype", "F32"}, {"shape", {2}}, {"data_offsets", {data.size(), data.size() + 8}}};
    data += std::string(8, '\0');
    const std::string text = header.dump();
    const std::uint64_t length = text.size();
    std::string whole(sizeof length, '\0');
    std::memcpy(whole.data(), &length, sizeof length);
    write(file, whole + text + data);
  }

  static std::string elements(const Drawn& tensor) {
    std::mt19937 pattern(tensor.pattern);
    std::mt19937 values(tensor.values);
    std::string bytes;
    for (int i = 0; i < tensor.rows * tensor.columns; ++i) {
      const float value = static_cast<float>(1 + values() % 1000) / 500;
      const float element = pattern() % 1000 < 1000 * tensor.zeros ? 0 : value;
      bytes.append(reinterpret_cast<const char*>(&element), sizeof element);
    }
    return bytes;
  }

  ProcessResult generate(const std::vector<std::string>& more = {},
                         const std::string& model = "tiny.safetensors") const {
    std::vector<std::string> arguments{"generate", model, "--gpu", "h200", "-o", "out"};
    if (std::ranges::find(more, "--bcol") == more.end()) {
      arguments.insert(arguments.end(), {"--bcol", "1,16"});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return escgen(arguments);
  }

  /// What a run with these options makes where there is nothing yet.
  Snapshot from_nothing(const std::vector<std::string>& options) const {
    fs::rename(path("out"), path("aside"));
    EXPECT_EQ(generate(options).status, 0);
    Snapshot made = snapshot("out");
    fs::remove_all(path("out"));
    fs::rename(path("aside"), path("out"));
    return made;
  }

  /// Generates over the bundle that is there, which must say that it has kept so much, and give what a run from nothing
  /// gives.
  void expect_kept(const std::string& kept, std::vector<std::string> options = {}) const {
    const Snapshot expected = from_nothing(options);
    options.emplace_back("--force");
    const ProcessResult made = generate(options);
    EXPECT_EQ(made.status, 0) << made.output << made.errors;
    EXPECT_THAT(made.output, kept.empty() ? testing::Matcher<std::string>(Not(HasSubstr("kept  ")))
                                          : HasSubstr("kept       " + kept));
    EXPECT_EQ(snapshot("out"), expected);
  }

  nlohmann::json manifest() const { return parse_json(read("out/tiny/manifest.json")); }

  /// Builds the program with the bundle and functions in place of its kernels.
  void build_consumer(int capability, const Stub& stub = {}) const {
    std::string kernels = "#include <cstdio>\n#include \"tiny.h\"\nconst void* multiplied_by = nullptr;\n";
    for (const std::string& name : keys(manifest()["kernels"])) {
      kernels += "extern \"C\" cudaError_t " + name +
                 "_prepare(void) { return cudaSuccess; }\nextern \"C\" cudaError_t " + name +
                 "_spmm(const void* packed, const uint64_t*, const void*, int64_t, void*, int64_t" + stub.operands +
                 ", int32_t, cudaStream_t) { multiplied_by = packed; " + stub.print + "; return cudaSuccess; }\n";
      if (stub.unpacks) {
        kernels += "extern \"C\" cudaError_t " + name +
                   "_unpack(const void*, const uint64_t*, void* a, int64_t lda, cudaStream_t) { "
                   "*static_cast<int64_t*>(a) = lda; " +
                   stub.print + "; return cudaSuccess; }\n";
        kernels += "extern \"C\" cudaError_t " + name +
                   "_values(void* packed, const uint64_t*, const void* a, int64_t lda, cudaStream_t) { "
                   "std::printf(\"%d %d \", packed != nullptr && a != nullptr, static_cast<int>(lda)); " +
                   stub.print + "; return cudaSuccess; }\n";
      }
    }
    write("kernels.cpp", kernels);
    const std::string consumer = ESC_SOURCE_DIR "/tests/cli/model_consumer";
    const std::string options = " -Wall -Wextra -Wpedantic -Werror -DCAPABILITY=" + std::to_string(capability) +
                                " -I " + consumer + " -I out/tiny ";
    const ProcessResult built = shell(ESC_HOST_COMPILER " -std=c++17" + options + "out/tiny/tiny.cpp kernels.cpp " +
                                      consumer + "/" + stub.program + " -o app -pthread");
    ASSERT_EQ(built.status, 0) << built.errors;
    const ProcessResult as_c = shell(ESC_HOST_COMPILER " -x c -std=c99 -fsyntax-only" + options + "out/tiny/tiny.h");
    EXPECT_EQ(as_c.status, 0) << as_c.errors;
  }
};

TEST_F(ModelBundles, HaveAKernelForEachTextAndSayWhatBecameOfEachTensor) {
  const ProcessResult made = generate();
  ASSERT_EQ(made.status, 0) << made.errors;
  EXPECT_THAT(made.output, HasSubstr("dense.weight"));
  EXPECT_THAT(made.output, HasSubstr("% zeros, less than 45.0 %"));
  EXPECT_THAT(made.output, HasSubstr("is an embedding"));
  EXPECT_THAT(made.output, HasSubstr("has 1 dimensions"));
  EXPECT_THAT(made.output, StartsWith("layers     4 of 7 written, 3 left out, 0 failed; elements of f32\n"));
  const nlohmann::json bundle = manifest();
  ASSERT_EQ(bundle["layers"].size(), 4U);
  EXPECT_LT(bundle["kernels"].size(), 8U) << "two layers at least share theirs";
  for (const auto& [name, kernel] : bundle["kernels"].items()) {
    EXPECT_EQ(kernel["verification"]["passed"], true) << name;
    EXPECT_THAT(read("out/tiny/CMakeLists.txt"), HasSubstr(name + ".cu"));
    EXPECT_TRUE(fs::exists(path("out/tiny/" + name + ".cu")));
  }
  EXPECT_EQ(fs::file_size(path("out/tiny/model.packed")), bundle["packed_bytes"]);
}

/// Beside dense, and of one number of columns beside all of them.
TEST_F(ModelBundles, SayTheirBytes) {
  const ProcessResult made = generate({"--no-verify", "--bcol", "1,16,64"});
  ASSERT_EQ(made.status, 0) << made.errors;
  const std::uint64_t dense = (3 * 40 * 64 + 24 * 40) * 4;
  const std::uint64_t all = manifest()["packed_bytes"];
  EXPECT_THAT(made.output, HasSubstr("bytes      " + size_text(static_cast<double>(all)) + " in place of " +
                                     size_text(static_cast<double>(dense)) + " ("));
  EXPECT_THAT(made.output, HasSubstr("N = 64 alone reads "));
  fs::remove_all(path("out"));
  const nlohmann::json json = parse_json(generate({"--no-verify", "--bcol", "1,16,64", "--json"}).output);
  EXPECT_EQ(json["dense_bytes"], dense);
  EXPECT_EQ(json["packed_bytes"], all);
  for (const char* const bcol : {"1", "16", "64"}) {
    EXPECT_LE(json["packed_bytes_of"][bcol], all);
    EXPECT_GT(json["packed_bytes_of"][bcol], 0);
  }
  EXPECT_EQ(json["layers"][0]["dense_bytes"], 40 * 64 * 4);
}

/// A stream of few rows fills its row tiles with zeros.
TEST_F(ModelBundles, LeaveLayersDenseThatWouldBeLarger) {
  const std::vector<std::string> larger{
      "--no-verify", "--bcol", "16", "--dtype", "tf32", "--schedule", "stream:columns=8,panels=8,warps=1,stages=2"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), larger.begin(), larger.end());
    return generate(more);
  };
  const ProcessResult refused = with({});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.output, HasSubstr("stays dense: "));
  EXPECT_THAT(unbroken(refused.output), HasSubstr(" of the dense bytes at least (--all makes it)"));
  EXPECT_THAT(refused.errors, HasSubstr("has no layer that a kernel could be made for"));
  EXPECT_FALSE(fs::exists(path("out/tiny")));
  for (const std::vector<std::string>& asked : {std::vector<std::string>{"--all"}, {"--tensor", "*.weight"}}) {
    const ProcessResult made = with(asked);
    EXPECT_EQ(made.status, 0) << made.output << made.errors;
    fs::remove_all(path("out"));
  }
}

/// What is decided of a layer that an earlier run has made is what a run from nothing decides.
TEST_F(ModelBundles, DecideOfKeptLayersAsFromNothing) {
  ASSERT_EQ(generate({"--no-verify", "--all"}).status, 0);
  expect_kept("8 of 8", {"--no-verify"});
}

/// Of 60 % zeros in 16 bits a kernel for one column is faster than the dense product and one for 1024 is slower: how
/// often each multiplies says whether the layer is worth its kernels.
TEST_F(ModelBundles, HaveTheLayersThatAreWorthItByTheWeightsOfTheColumns) {
  write_model("tiny.safetensors", {{"made.weight", 128, 256, 0.6, 1}, {"varies.weight", 1024, 512, 0.6, 2}});
  const auto by = [&](const std::string& bcol, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--no-verify", "--dtype", "f16", "--bcol", bcol});
    return generate(more);
  };
  const std::string dense = "stays dense: 0.93 x a library's speed where that is known, 2 of 2 numbers of columns";

  const ProcessResult alike = by("1,1024");
  ASSERT_EQ(alike.status, 0) << alike.errors;
  EXPECT_THAT(unbroken(alike.output), HasSubstr(dense + ", 2 predicted (--all makes it)"));
  EXPECT_THAT(alike.output, Not(HasSubstr("weighted")));
  EXPECT_EQ(manifest()["layers"].size(), 1U);
  EXPECT_THAT(by("1:1,1024").output, HasSubstr("(unchanged)")) << "a weight of 1 is as none";

  const ProcessResult other = by("1:20,1024");
  EXPECT_EQ(other.status, 2) << other.output;
  EXPECT_THAT(other.errors, HasSubstr("holds a different bundle"));
  EXPECT_EQ(manifest()["layers"].size(), 1U);

  const ProcessResult often_one = by("1:20,1024", {"--force"});
  EXPECT_EQ(often_one.status, 0) << often_one.errors;
  EXPECT_THAT(often_one.output, HasSubstr("\nweighted   20 x N = 1, 1 x N = 1024: about "));
  EXPECT_THAT(often_one.output, HasSubstr("kept       2 of 4")) << "kernels do not depend on weights";
  EXPECT_EQ(manifest()["layers"].size(), 2U);
  EXPECT_THAT(by("1:20,1024").output, HasSubstr("(unchanged)"));

  const ProcessResult back = by("1,1024:3");
  EXPECT_EQ(back.status, 2) << back.output;
  EXPECT_THAT(back.errors, HasSubstr("holds a different bundle"));
  const ProcessResult often_many = by("1,1024:3", {"--force"});
  EXPECT_THAT(unbroken(often_many.output), HasSubstr("numbers of columns, weighted, 2 predicted (--all makes it)"));
  EXPECT_EQ(manifest()["layers"].size(), 1U);

  const nlohmann::json json = parse_json(by("1:20,1024", {"--json", "--dry-run"}).output);
  EXPECT_EQ(json["layers"][2]["kernels"][0]["weight"], 20);
  EXPECT_EQ(json["layers"][2]["kernels"][1]["weight"], 1);
  EXPECT_EQ(json["weighted_totals"][0]["kernel_count"], 4);
  EXPECT_GT(json["weighted_totals"][0]["library_microseconds"], json["weighted_totals"][0]["microseconds"]);
}

TEST_F(ModelBundles, SayThatTheyAreTheSameThoughALayerStaysDense) {
  write_model("tiny.safetensors", {{"made.weight", 128, 256, 0.6, 1}, {"dense.weight", 1024, 512, 0.6, 2}});
  const std::vector<std::string> options{"--no-verify", "--dtype", "f16", "--bcol", "1,1024"};
  const ProcessResult first = generate(options);
  EXPECT_THAT(first.output, HasSubstr("stays dense: ")) << first.errors;
  EXPECT_THAT(generate(options).output, HasSubstr("(unchanged)"));
}

TEST_F(ModelBundles, SayWhoseSchedulesTheyHave) {
  const ProcessResult unnamed = escgen({"generate", "tiny.safetensors", "--bcol", "16", "--no-verify", "-o", "out"});
  ASSERT_EQ(unnamed.status, 0) << unnamed.errors;
  EXPECT_THAT(unbroken(unnamed.output),
              HasSubstr("note       no GPU was named (--gpu): built for sm_80 and sm_90, with the "
                        "schedule for one NVIDIA H200 (4 kernels)\n"));
  EXPECT_THAT(unnamed.output, Not(HasSubstr("speed      sm_80")));
  fs::remove_all(path("out"));
  const ProcessResult other =
      escgen({"generate", "tiny.safetensors", "--bcol", "16", "--gpu", "b200", "--no-verify", "-o", "out"});
  EXPECT_THAT(other.output, HasSubstr("note       no kernels were measured on b200: "));
  EXPECT_THAT(manifest()["layers"][0]["variants"][0]["notes"].dump(), HasSubstr("on b200"));
  EXPECT_TRUE(manifest()["layers"][0]["variants"][0].contains("not_measured"));
  EXPECT_EQ(escgen({"verify", "out/tiny"}).status, 0);
}

TEST_F(ModelBundles, AreTheSameHoweverManyLayersAreMadeAtOnce) {
  ASSERT_EQ(generate({"--jobs", "1"}).status, 0);
  const Snapshot one = snapshot("out");
  fs::remove_all(path("out"));
  ASSERT_EQ(generate({"--jobs", "5"}).status, 0);
  EXPECT_EQ(snapshot("out"), one);
  EXPECT_THAT(generate().output, HasSubstr("(unchanged)"));
}

TEST_F(ModelBundles, AreComparedWithWhatIsGenerated) {
  ASSERT_EQ(generate().status, 0);
  EXPECT_EQ(generate({"--check"}).status, 0);
  const std::string other = generate({"--check", "--min-sparsity", "0.75"}).output;
  EXPECT_THAT(other, HasSubstr("the bundle is stale"));
  EXPECT_EQ(generate({"--min-sparsity", "0.75"}).status, 2) << "it is another bundle";
  EXPECT_EQ(generate({"--min-sparsity", "0.75", "--force"}).status, 0);
  EXPECT_EQ(manifest()["layers"].size(), 3U);
  EXPECT_EQ(generate({"--tensor", "d.*", "--force"}).status, 0);
  EXPECT_EQ(manifest()["layers"].size(), 1U);
}

TEST_F(ModelBundles, HaveTheOtherLayersWhereOneFails) {
  std::string model = read("tiny.safetensors");
  const float infinite = std::numeric_limits<float>::infinity();
  std::uint64_t header = 0;
  std::memcpy(&header, model.data(), sizeof header);
  std::memcpy(model.data() + sizeof header + header, &infinite, sizeof infinite);
  write("tiny.safetensors", model);
  const ProcessResult made = generate({"--no-verify"});
  EXPECT_EQ(made.status, 2);
  EXPECT_THAT(made.output, HasSubstr("failed: "));
  EXPECT_THAT(made.output, HasSubstr("layers     3 of 7 written, 3 left out, 1 failed; elements of "));
  EXPECT_EQ(manifest()["layers"].size(), 3U);
}

TEST_F(ModelBundles, ArePackedAgainForOtherValues) {
  ASSERT_EQ(generate({"--no-verify"}).status, 0);
  const Snapshot whole = snapshot("out");
  fs::remove_all(path("out"));
  ASSERT_EQ(generate({"--no-verify", "--no-packed"}).status, 0);
  EXPECT_FALSE(fs::exists(path("out/tiny/model.packed")));
  const ProcessResult packed = escgen({"pack", "out/tiny", "tiny.safetensors"});
  EXPECT_EQ(packed.status, 0) << packed.errors;
  EXPECT_EQ(snapshot("out"), whole);

  std::vector<Drawn> tensors = layers();
  tensors.front().values = 7;
  write_model("other.safetensors", tensors);
  EXPECT_EQ(escgen({"pack", "out/tiny", "other.safetensors"}).status, 0);
  EXPECT_NE(snapshot("out"), whole);
  EXPECT_EQ(escgen({"verify", "out/tiny"}).status, 0);

  fs::create_directory(path("folder"));
  fs::rename(path("other.safetensors"), path("folder/model.safetensors"));
  EXPECT_THAT(escgen({"pack", "out/tiny", "folder"}).output, HasSubstr("(unchanged)"));

  tensors.front().pattern = 8;
  write_model("other.safetensors", tensors);
  expect_refusal({"pack", "out/tiny", "other.safetensors"}, "a.weight: is 40 x 64 with ");
}

TEST_F(ModelBundles, AreVerifiedKernelByKernel) {
  ASSERT_EQ(generate({"--no-verify"}).status, 0);
  const ProcessResult verified = escgen({"verify", "out/tiny"});
  EXPECT_EQ(verified.status, 0) << verified.output << verified.errors;
  EXPECT_THAT(verified.output, HasSubstr("passed by emulation: "));
  EXPECT_EQ(escgen({"verify", "out/tiny", "-q"}).output, "");
  std::string packed = read("out/tiny/model.packed");
  packed[600] = static_cast<char>(packed[600] ^ 1);
  write("out/tiny/model.packed", packed);
  EXPECT_EQ(escgen({"verify", "out/tiny"}).status, 1);
}

TEST_F(ModelBundles, ArePackedMatricesOfTheirLayersOnly) {
  ASSERT_EQ(generate({"--no-verify"}).status, 0);
  build_consumer(90);
  const ProcessResult run = shell("./app out/tiny/model.packed a.weight 1 a.weight 2 d.weight 16 d.weight 1000");
  EXPECT_EQ(run.status, 0) << run.output << run.errors;
  const nlohmann::json layer = manifest()["layers"][0];
  const std::string first = layer["variants"][0]["kernel"].get<std::string>() + "_spmm\n";
  EXPECT_THAT(run.output, HasSubstr("a.weight 1: " + first + "placed: " + first));
  EXPECT_THAT(run.output, HasSubstr("a.weight 2: " + layer["variants"][1]["kernel"].get<std::string>() + "_spmm\n"));
  EXPECT_THAT(
      run.output,
      HasSubstr("d.weight 1000: " + manifest()["layers"][3]["variants"][1]["kernel"].get<std::string>() + "_spmm\n"));
  EXPECT_THAT(run.output, HasSubstr("whole\n"));

  const std::string whole = read("out/tiny/model.packed");
  const auto expect = [&](std::string file, const std::string& words) {
    write("other.packed", file);
    const ProcessResult refused = shell("./app other.packed a.weight 1");
    EXPECT_EQ(refused.status, 1) << refused.output;
    EXPECT_THAT(refused.output, HasSubstr(words));
  };
  const auto changed = [&](std::size_t at) {
    std::string file = whole;
    file[at] = static_cast<char>(file[at] ^ 1);
    return file;
  };
  expect(whole.substr(0, whole.size() - 1), "has ");
  expect(changed(0), "no file of packed matrices");
  expect(changed(16), "its header");
  expect(changed(whole.size() - 1), "its index is damaged");
  expect(changed(256 + 40), "a packed matrix in it is not that of its layer");
  expect(changed(256 + 300), "its checksum does not match");
  // That of a neighbour.
  std::string swapped = whole;
  const auto place = [&](std::size_t number) {
    return manifest()["layers"][number]["packings"][0]["offset"].get<std::size_t>();
  };
  swapped.replace(place(0), 256, whole.substr(place(1), 256));
  expect(swapped, "a packed matrix in it is not that of its layer");
}

TEST_F(ModelBundles, ChooseByComputeCapabilityWhenTheyRun) {
  ASSERT_EQ(generate({"--gpu", "a100", "--schedule", "auto", "--no-verify"}).status, 0);
  const nlohmann::json variants = manifest()["layers"][0]["variants"];
  build_consumer(80);
  const ProcessResult run = shell("./app out/tiny/model.packed a.weight 1");
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("a.weight 1: " + variants[0]["kernel"].get<std::string>() + "_spmm\n"));
}

TEST_F(ModelBundles, PlaceWhatADeviceReads) {
  ASSERT_EQ(generate({"--gpu", "a100,h200", "--bcol", "1,16,64", "--no-verify"}).status, 0);
  for (const int capability : {80, 90}) {
    build_consumer(capability);
    const ProcessResult run =
        shell("./app out/tiny/model.packed a.weight 1 a.weight 16 a.weight 64 d.weight 16 d.weight 64");
    EXPECT_EQ(run.status, 0) << run.output;
  }
}

TEST_F(ModelBundles, UnpackWhatHasAKernelForIt) {
  const ProcessResult made = generate(
      {"--dtype", "f16", "--bcol", "8", "--all", "--schedule", "bitmap:columns=8,panels=1,warps=1,stages=2,units=2"});
  ASSERT_EQ(made.status, 0) << made.errors;
  EXPECT_EQ(escgen({"verify", "out/tiny", "-q"}).status, 0);
  build_consumer(90, {.program = "unpack.cpp", .unpacks = true});
  const ProcessResult run = shell("./app out/tiny/model.packed");
  EXPECT_EQ(run.status, 0) << run.output;
  const std::string kernel = manifest()["layers"][0]["variants"][0]["kernel"];
  EXPECT_EQ(run.output, kernel + "_unpack\nunpacked: 0 70\n" + kernel + "_unpack\nplaced: 0 71\nnot aligned: 1\n1 73 " +
                            kernel + "_values\nvalues: 0\n1 74 " + kernel + "_values\nplaced: 0\nnot aligned: 1\n");
}

TEST_F(ModelBundles, KeepWhatWasMadeOfTheSame) {
  ASSERT_EQ(generate({"--no-verify"}).status, 0);
  expect_kept("8 of 8");  // and verifies it
  std::vector<Drawn> tensors = layers();
  tensors[0].values = 9;
  write_model("tiny.safetensors", tensors);
  expect_kept("6 of 8");
  tensors.erase(tensors.begin());  // another layer is the first with its kernels now
  write_model("tiny.safetensors", tensors);
  expect_kept("6 of 6");
}

TEST_F(ModelBundles, KeepNothingThatIsAskedForOtherwise) {
  ASSERT_EQ(generate({"--no-verify", "--all"}).status, 0);
  expect_kept("8 of 12", {"--no-verify", "--all", "--bcol", "1,4,16"});
  expect_kept("", {"--no-verify", "--all", "--bcol", "4"});  // which alone has its own form
  expect_kept("4 of 8", {"--no-verify", "--all", "--bcol", "4", "--gpu", "a100"});
  expect_kept("8 of 8", {"--no-verify", "--all", "--bcol", "4", "--gpu", "a100"});
  expect_kept("", {"--no-verify", "--all", "--bcol", "4", "--dtype", "f64"});
  expect_kept("", {"--no-verify", "--all", "--bcol", "4", "--dtype", "f32"});
  expect_kept("", {"--no-verify", "--all", "--bcol", "4", "--dtype", "tf32"});  // which has the nest of f32 in C
  expect_kept(
      "", {"--no-verify", "--all", "--bcol", "4", "--schedule", "rows:columns=4,vector=4,unroll=4,task=32,light=8"});
  expect_kept("", {"--no-verify", "--all", "--bcol", "4", "--layout", "nk"});
}

// Where no process can be confined a verification ends with status 3: what is refused has not come so far.
TEST_F(ModelBundles, AreRefusedBeforeTheWorkWhereOthersAre) {
  ASSERT_EQ(generate().status, 0);
  const auto status = [&](const std::string& more) {
    const ProcessResult run = shell(ESC_WITHOUT_SECCOMP " $ESCGEN generate tiny.safetensors --gpu h200 -o out " + more);
    EXPECT_THAT(
        run.errors,
        AnyOf(IsEmpty(),
              HasSubstr("out/tiny: holds a different bundle; see the difference with --check, replace with --force")))
        << more;
    return run.status;
  };
  const Snapshot before = snapshot("out");
  EXPECT_EQ(status("--bcol 1,16"), 0) << "the same, which is verified";
  for (const char* const other :
       {"--bcol 1,8", "--bcol 1", "--bcol 1,16,64", "--bcol 1,16 --dtype f16", "--bcol 1,16 --layout nk",
        "--bcol 1,16 --epilogue relu", "--bcol 1,16 --arch sm_80", "--bcol 1,16 --tensor a*",
        "--bcol 1,16 --min-sparsity 0.75", "--bcol 1,16 --min-sparsity 0.01", "--bcol 1,16 --no-packed",
        "--bcol 1,16 --no-verify"}) {
    EXPECT_EQ(status(other), 2) << other;
  }
  std::vector<Drawn> tensors = layers();
  tensors[3].values = 9;
  write_model("tiny.safetensors", tensors);
  EXPECT_EQ(status("--bcol 1,16"), 2) << "another weight";
  EXPECT_TRUE(snapshot("out") == before);
  write("out/tiny/notes.txt", "mine");
  EXPECT_THAT(shell("$ESCGEN generate tiny.safetensors --bcol 1,16 -o out --force").errors,
              HasSubstr("out/tiny: holds notes.txt, which is no file of a bundle tiny"));
}

TEST_F(ModelBundles, KeepNothingThatIsNotWhole) {
  ASSERT_EQ(generate({"--no-verify"}).status, 0);
  const auto change = [&](const std::string& file, std::size_t at) {
    std::string content = read(file);
    content[at] = static_cast<char>(content[at] ^ 1);
    write(file, content);
  };
  change("out/tiny/model.packed", 256 + 300);
  expect_kept("6 of 8", {"--no-verify"});  // both kernels of the layer read it
  const std::string kernel = manifest()["layers"][3]["variants"][0]["kernel"];
  change("out/tiny/" + kernel + ".cu", 0);
  EXPECT_EQ(generate({"--check"}).status, 1);
  expect_kept("7 of 8", {"--no-verify"});

  std::vector<Drawn> tensors = layers();
  tensors[1].values = 7;
  write_model("other.safetensors", tensors);
  ASSERT_EQ(escgen({"pack", "out/tiny", "other.safetensors"}).status, 0);
  expect_kept("6 of 8", {"--no-verify"});
}

/// What they hold is the weights, rounded; and so are new ones.
TEST_F(ModelBundles, OfTf32AreVerifiedAndPackedAgain) {
  ASSERT_EQ(generate({"--dtype", "tf32", "--all", "--schedule", "stream:columns=8,panels=1,warps=1,stages=2"}).status,
            0);
  EXPECT_EQ(manifest()["dtype"], "tf32");
  EXPECT_THAT(read("out/tiny/tiny.h"), HasSubstr("in float32"));
  const ProcessResult verified = escgen({"verify", "out/tiny", "-v"});
  EXPECT_EQ(verified.status, 0) << verified.output << verified.errors;
  EXPECT_THAT(verified.output, ContainsRegex("\\(at most [1-9]\\.[0-9]+e-03\\)"));
  std::vector<Drawn> tensors = layers();
  tensors[1].values = 7;
  write_model("other.safetensors", tensors);
  ASSERT_EQ(escgen({"pack", "out/tiny", "other.safetensors"}).status, 0);
  EXPECT_EQ(escgen({"verify", "out/tiny"}).status, 0);
}

TEST_F(ModelBundles, SayWhetherTheyHaveAnEpilogue) {
  ASSERT_EQ(generate({"--no-verify", "--dtype", "f16"}).status, 0);
  EXPECT_EQ(manifest()["epilogue"], false) << "rounding to 16 bits is none";
  EXPECT_THAT(read("out/tiny/tiny.h"), Not(HasSubstr(", with an epilogue,")));
  ASSERT_EQ(generate({"--no-verify", "--dtype", "f16", "--epilogue", "relu", "--force"}).status, 0);
  EXPECT_EQ(manifest()["epilogue"], true);
  EXPECT_EQ(manifest()["epilogue_parts"], "relu");
  EXPECT_THAT(read("out/tiny/tiny.h"), HasSubstr(", with an epilogue,"));
  std::string other = read("out/tiny/manifest.json");
  other.replace(other.find(R"("relu")"), 6, R"("silu")");
  write("out/tiny/manifest.json", other);
  const ProcessResult verified = escgen({"verify", "out/tiny"});
  EXPECT_EQ(verified.status, 2);
  EXPECT_THAT(verified.errors, HasSubstr("names the epilogue 'silu', and its loop nest is another one"));
}

TEST_F(ModelBundles, HaveAPage) {
  ASSERT_EQ(generate().status, 0);
  const auto report = [this](std::vector<std::string> options) {
    options.insert(options.begin(), {"report", "out/tiny"});
    return escgen(options);
  };
  const ProcessResult made = report({"-o", "page.html"});
  EXPECT_EQ(made.status, 0) << made.errors;
  EXPECT_EQ(made.output, "report     page.html, of 4 layers\n");
  const std::string page = read("page.html");
  EXPECT_THAT(page, AllOf(HasSubstr("4 layers of tiny.safetensors in f32, layout kn"),
                          HasSubstr("<td>a.weight</td><td class=\"number\">40 x 64</td>"),
                          HasSubstr("No times of this network were given"), HasSubstr("<td>dense.weight</td>"),
                          HasSubstr("alt=\"Pattern of d.weight\" src=\"data:image/png;base64,")));
  EXPECT_EQ(report({"-o", "again.html", "-q"}).output, "");
  EXPECT_EQ(read("again.html"), page);
  write("times.json", R"({"kind": "measured layers", "format_version": 1, "gpu": "<b>", "layers": {"a.weight":
                         {"kept": null, "dense_above": 16, "products": [{"columns": 16, "dense_us": 3, "esc_us": 2}]}}})");
  ASSERT_EQ(report({"-o", "page.html", "--measured", "times.json", "--no-patterns"}).status, 0);
  EXPECT_THAT(
      read("page.html"),
      AllOf(HasSubstr("on one &lt;b&gt;,"),
            HasSubstr("<td class=\"number\">3.00 / 2.00</td><td class=\"number\">1.50</td><td>dense above 16</td>"),
            HasSubstr("not measured"), Not(HasSubstr("base64"))));
  write("times.json", "{}");
  const ProcessResult refused = report({"-o", "none.html", "--measured", "times.json"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("times.json: has no times of layers"));
  fs::remove(path("out/tiny/model.packed"));
  EXPECT_EQ(report({"-o", "none.html"}).status, 2);
  EXPECT_FALSE(fs::exists(path("none.html")));
}

TEST_F(ModelBundles, HaveEpiloguesWhoseOperandsACallTakes) {
  const std::vector<std::string> options{"--layout", "nk", "--epilogue", "bias+scale+residual"};
  const ProcessResult made = generate(options);
  ASSERT_EQ(made.status, 0) << made.output << made.errors;
  EXPECT_THAT(manifest()["loop_nest"].get<std::string>(), HasSubstr("residual[j][i]"));
  EXPECT_THAT(read("out/tiny/tiny.h"), HasSubstr("bias_: a number for each row of C;"));
  const ProcessResult verified = escgen({"verify", "out/tiny"});
  EXPECT_EQ(verified.status, 0) << verified.output << verified.errors;
  std::vector<std::string> check = options;
  check.emplace_back("--check");
  EXPECT_EQ(generate(check).status, 0);
  EXPECT_EQ(generate({"--check"}).status, 1) << "the plain product is another bundle";
  const Snapshot whole = snapshot("out");
  EXPECT_EQ(escgen({"pack", "out/tiny", "tiny.safetensors"}).status, 0);
  EXPECT_EQ(snapshot("out"), whole);

  build_consumer(90, {.program = "epilogue.cpp",
                      .operands = ", const float* bias, float scale, const float* residual, int64_t ld",
                      .print = R"(std::printf("%g %g %g %d\n", *bias, scale, *residual, static_cast<int>(ld)))"});
  const ProcessResult run = shell("./app out/tiny/model.packed");
  EXPECT_EQ(run.status, 0) << run.output << run.errors;
  EXPECT_EQ(run.output,
            "bias_ is f32 rows\nscale_ is f32 number\nresidual_ is f32 matrix\n"
            "1 2 3 5\ntyped: 0\n1 2 3 5\nwith arguments: 0\n"
            "without a number: 1\nwithout arguments: 1\nas a plain product: 1\n"
            "1 2 3 5\nplaced: 0\nplaced, without arguments: 1\n");
}

TEST_F(ModelBundles, AreRefusedWhatIsForOneLayer) {
  write("nest.c", read_file(ESC_SOURCE_DIR "/templates/spmm.c"));
  expect_refusal({"generate", "tiny.safetensors", "--bcol", "8", "--kernel", "nest.c", "-o", "out"},
                 "--kernel: is not for a model");
  expect_refusal({"generate", "tiny.safetensors:a.weight", "--bcol", "8", "--jobs", "2", "-o", "out"},
                 "--jobs 2: is for models");
  expect_refusal({"generate", "tiny.safetensors:a.weight", "--bcol", "8", "--no-packed", "-o", "out"},
                 "--no-packed: is for models");
  expect_refusal({"generate", "tiny.safetensors:a.weight", "--bcol", "8", "--all", "-o", "out"},
                 "--all: is for models");
  ASSERT_EQ(escgen({"generate", "tiny.safetensors:a.weight", "--bcol", "8", "--no-verify", "-o", "out"}).status, 0);
  expect_refusal({"pack", "out/a", "tiny.safetensors"}, "is not the manifest of a model's bundle");
}

}  // namespace
}  // namespace esc::cli
