// SPDX-License-Identifier: Apache-2.0
// Layers of models in the commands.

#include <random>

#include "tests/cli/workshop.h"
#include "tests/support/run_size.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// A workshop with the project's tests in it, as the documentation names them.
class Models : public Workshop {
 protected:
  void SetUp() override { fs::create_directory_symlink(ESC_SOURCE_DIR "/tests", path("tests")); }

  static constexpr const char* layers = "tests/data/models/layers.safetensors";
  static std::string tensor(const std::string& name) { return std::string(layers) + ":" + name; }
};

TEST_F(Models, AreListedForMachines) {
  const nlohmann::json model = parse_json(escgen({"inspect", layers, "--json"}).output);
  EXPECT_THAT(keys(model), UnorderedElementsAre("kind", "status", "format_version", "model", "tensors"));
  ASSERT_EQ(model["tensors"].size(), 8U);
  const nlohmann::json& ids = model["tensors"][4];
  EXPECT_THAT(keys(ids), UnorderedElementsAre("name", "shape", "type", "form", "bytes", "stored_bytes", "no_matrix"));
  const nlohmann::json& masked = model["tensors"][5];
  EXPECT_EQ(masked["name"], "query.weight");
  EXPECT_EQ(masked["form"], "masked");
  EXPECT_EQ(masked["nonzeros"], 186);
  EXPECT_EQ(masked["row_lengths"], (nlohmann::json{{"min", 3}, {"mean", 7.75}, {"max", 12}}));
  EXPECT_EQ(parse_json(escgen({"inspect", "tests/data/models", "--json"}).output)["tensors"].size(), 2U)
      << "the folder of an index";
}

TEST_F(Models, AreEstimatedForMachines) {
  const nlohmann::json estimate =
      parse_json(escgen({"inspect", layers, "--estimate", "--bcol", "16", "--json"}).output);
  EXPECT_THAT(keys(estimate),
              UnorderedElementsAre("kind", "status", "format_version", "model", "gpu", "gpu_named", "bcol", "bcols",
                                   "dtype", "layers", "total", "totals", "notes", "bound_by"));
  EXPECT_EQ(estimate["gpu_named"], false);
  ASSERT_EQ(estimate["layers"].size(), 8U);
  const nlohmann::json& gate = estimate["layers"][2];
  EXPECT_EQ(gate["bytes"],
            (nlohmann::json{{"dense", 3840.0}, {"csr", 1588.0}, {"packed_about", 1744}, {"b_and_c", 4096.0}}));
  EXPECT_FALSE(gate.contains("measured")) << "no class is close";
  EXPECT_TRUE(estimate["layers"][4].contains("no_estimate"));
  const nlohmann::json elsewhere =
      parse_json(escgen({"inspect", layers, "--estimate", "--gpu", "b300", "--json"}).output);
  EXPECT_FALSE(elsewhere["total"].contains("bound_microseconds")) << "a bandwidth that is not known";
}

/// Two layers of 512 x 512 elements in float32, three of ten of them not zero, which are like layers that were
/// measured.
std::string model_like_measured_ones() {
  const std::string header = R"({"down": {"dtype": "F32", "shape": [512, 512], "data_offsets": [0, 1048576]},
                                 "up": {"dtype": "F32", "shape": [512, 512], "data_offsets": [1048576, 2097152]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  file += header;
  std::mt19937 random(1);
  for (int element = 0; element < 2 * 512 * 512; ++element) {
    file += random() % 10 < 3 ? std::string("\x00\x00\x80\x3f", 4) : std::string(4, '\0');
  }
  return file;
}

TEST_F(Models, LikeMeasuredOnesSayWhatTheyAreExpectedToTake) {
  write("net.safetensors", model_like_measured_ones());
  const ProcessResult estimate = escgen({"inspect", "net.safetensors", "--estimate", "--bcol", "64", "--gpu", "h200"});
  EXPECT_THAT(estimate.output, ContainsRegex(R"( ~[1-3]\.[0-9]+ x)"));
  EXPECT_THAT(estimate.output, ContainsRegex(R"(about [0-9]\.[0-9] us in place of [0-9]+\.[0-9] for 2 of them)"));
  EXPECT_THAT(estimate.output, HasSubstr("2 faster than a library, 0 slower, 0 not measured\n"));
  std::vector<std::string> generate{"generate", "net.safetensors", "--bcol", "64", "--gpu",
                                    "h200",     "--no-verify",     "-o",     "out"};
  const ProcessResult made = escgen(generate);
  EXPECT_THAT(made.output, ContainsRegex(R"( 64: ~[1-3]\.[0-9]+ x)"));
  const std::string speed =
      R"(speed      N = 64: about [0-9]\.[0-9] us in place of [0-9]+\.[0-9] with the faster of cuBLAS and)";
  EXPECT_THAT(made.output, ContainsRegex(speed));
  // Without a GPU's name the times are those of the same GPU, and of no architecture.
  const std::string unnamed =
      escgen({"generate", "net.safetensors", "--bcol", "64", "--no-verify", "-o", "unnamed"}).output;
  EXPECT_THAT(unnamed, AllOf(ContainsRegex(speed), HasSubstr("no GPU was named (--gpu): built for sm_80 and sm_90")));
  EXPECT_EQ(unnamed.find("speed      sm_"), unnamed.npos);
  // What was kept of an earlier run says the same.
  generate.push_back("--force");
  const ProcessResult again = escgen(generate);
  EXPECT_THAT(again.output, AllOf(ContainsRegex(speed), HasSubstr("kept       2 of 2")));
  ASSERT_EQ(escgen({"report", "out/net", "-o", "page.html"}).status, 0);
  EXPECT_THAT(read("page.html"), AllOf(HasSubstr("Expected, by measurements of layers like these:"),
                                       ContainsRegex("<td>64: [1-3]\\.[0-9]+ x</td>")));
  generate.push_back("--json");
  const nlohmann::json kernel = parse_json(escgen(generate).output)["layers"][0]["kernels"][0];
  EXPECT_THAT(keys(kernel["measured"]), UnorderedElementsAre("over_exact", "over_tf32", "exact_microseconds",
                                                             "expected_microseconds", "where", "device"));
  EXPECT_EQ(parse_json(read("out/net/manifest.json"))["layers"][0]["variants"][0]["measured"], kernel["measured"]);
}

/// Both are asked for several numbers of columns, and decide alike.
TEST_F(Models, AreEstimatedAsTheyAreGenerated) {
  const std::vector<std::vector<std::string>> all{{},
                                                  {"--gpu", "h200"},
                                                  {"--gpu", "l4", "--dtype", "f32"},
                                                  {"--min-sparsity", "0.75"},
                                                  {"--tensor", "*_proj.weight", "--dtype", "bf16"},
                                                  {"--dtype", "f16"},
                                                  {"--layout", "nk", "--dtype", "bf16"}};
  for (const std::vector<std::string>& more : tests::drawn_of(all, 4)) {
    std::vector<std::string> estimate{"inspect", layers, "--estimate", "--bcol", "1,16,64", "--json"};
    std::vector<std::string> generate{"generate",    layers, "--bcol", "1,16,64", "--json",
                                      "--no-verify", "-o",   "out",    "--force"};
    estimate.insert(estimate.end(), more.begin(), more.end());
    generate.insert(generate.end(), more.begin(), more.end());
    const nlohmann::json estimated = parse_json(escgen(estimate).output)["layers"];
    const ProcessResult made = escgen(generate);
    if (made.status != 0) {  // no layer is worth it
      for (const nlohmann::json& layer : estimated) {
        EXPECT_TRUE(layer.contains("left_out") || layer.contains("no_estimate")) << layer;
      }
      continue;
    }
    const nlohmann::json generated = parse_json(made.output)["layers"];
    ASSERT_EQ(estimated.size(), generated.size());
    for (std::size_t at = 0; at < generated.size(); ++at) {
      const auto why = [](const nlohmann::json& layer, const char* key) {
        return layer.value(key, layer.value("left_out", ""));
      };
      EXPECT_EQ(why(estimated[at], "no_estimate"), why(generated[at], "left_out"));
      EXPECT_EQ(estimated[at].value("kernels", nlohmann::json()).size() == 3 && !estimated[at].contains("left_out"),
                generated[at].contains("kernels"));
    }
  }
}

TEST_F(Models, WithOneMatrixOfSciPyAreThatMatrix) {
  const nlohmann::json matrix = parse_json(escgen({"inspect", "tests/data/models/csc.npz", "--json"}).output);
  EXPECT_EQ(matrix["nonzeros"], 186);
  EXPECT_TRUE(matrix.contains("census"));
  EXPECT_THAT(escgen({"inspect", "tests/data/models/arrays.npz"}).output, HasSubstr("3 tensors, 2 matrices"));
}

/// The bundle of a layer is that of the same matrix as a file, whatever form it has.
TEST_F(Models, MakeTheBundlesOfTheirMatrices) {
  const auto generate = [&](const std::string& matrix, const std::string& folder) {
    const ProcessResult generated =
        escgen({"generate", matrix, "--bcol", "8", "--dtype", "f32", "--name", "layer", "--no-verify", "-o", folder});
    EXPECT_EQ(generated.status, 0) << generated.errors;
    nlohmann::json manifest = parse_json(read(folder + "/layer/manifest.json"));
    EXPECT_EQ(manifest["source"], fs::path(matrix).filename().string());
    return std::pair(read(folder + "/layer/layer.packed"), manifest["values_sha256"].get<std::string>());
  };
  const auto expected = generate("tests/data/models/dense.npy", "expected");
  int number = 0;
  for (const std::string layer : {"layers.safetensors:up_proj.weight", "layers.safetensors:gate_proj.weight",
                                  "bitmask.safetensors:up_proj.weight", "model.safetensors.index.json:a.weight",
                                  "dia.npz", "arrays_deflated.npz:up"}) {
    EXPECT_EQ(generate("tests/data/models/" + layer, "out" + std::to_string(number++)), expected) << layer;
  }
  const nlohmann::json listed = parse_json(escgen({"inspect", layers, "--json"}).output)["tensors"][7];
  EXPECT_EQ(listed["values_sha256"], expected.second);
}

TEST_F(Models, OfSixteenBitsHaveTheSumOfTheirValuesInTheManifest) {
  ASSERT_EQ(
      escgen({"generate", tensor("gate_proj.weight"), "--bcol", "8", "--dtype", "bf16", "--no-verify", "-o", "out"})
          .status,
      0);
  const nlohmann::json manifest = parse_json(read("out/gate_proj/manifest.json"));
  const nlohmann::json listed = parse_json(escgen({"inspect", layers, "--json"}).output)["tensors"][2];
  EXPECT_EQ(manifest["values_sha256"], listed["values_sha256"]);
  EXPECT_EQ(manifest["pattern_sha256"], listed["pattern_sha256"]);
}

TEST_F(Models, NameTheLayersOfSpecs) {
  write("spec.json", R"({"layers": [{"matrix": "tests/data/models/layers.safetensors:up_proj.weight", "bcol": 8},
                                     {"matrix": "tests/data/models/bitmask.safetensors:down_proj.weight", "bcol": [8, 16]}]})");
  EXPECT_EQ(escgen({"generate", "--spec", "spec.json", "--no-verify", "-o", "out"}).status, 0);
  for (const char* name : {"up_proj", "down_proj_n8", "down_proj_n16"}) {
    EXPECT_TRUE(fs::exists(path("out") / name / "manifest.json")) << name;
  }
}

TEST_F(Models, HaveWeightsOfConvolutions) {
  const ProcessResult generated =
      escgen({"generate", tensor("conv.weight"), "--kernel", ESC_SOURCE_DIR "/templates/conv2d.c", "--size",
              "H=6,W=5,stride=1,pad=1,dilation=1", "--bcol", "1", "-o", "out"});
  EXPECT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(generated.output, HasSubstr("layer      conv: 6 x 36, "));
}

TEST_F(Models, AreRefusedWithWhatToWrite) {
  write("spec.json", R"({"layers": [{"matrix": "tests/data/models/layers.safetensors", "bcol": 8}]})");
  expect_refusal({"generate", "--spec", "spec.json", "-o", "out"},
                 "has 6 matrices; write FILE:TENSOR, with one of conv.weight, down_proj.weight");
  expect_refusal({"generate", tensor("up_proj"), "--bcol", "8", "-o", "out"},
                 "has no tensor \"up_proj\"; write FILE:TENSOR");
  expect_refusal({"generate", tensor("up_proj.bias"), "--bcol", "8", "-o", "out"}, "up_proj.bias: has 1 dimensions");
  expect_refusal({"inspect", layers, "--svg", "a.svg"}, "--svg a.svg: draws one matrix");
  expect_refusal({"inspect", "tests/data/models/dense.npy", "--estimate"}, "--estimate: is for models");
  expect_refusal({"inspect", layers, "--gpu", "h200"}, "--gpu requires --estimate");
  expect_refusal({"inspect", "absent.safetensors"}, "absent.safetensors: cannot be read: No such file");
  expect_refusal({"generate", "tests", "--bcol", "8", "-o", "out"}, "tests: ");
  write("a.pt", "PK");
  for (const char* command : {"inspect", "generate"}) {
    std::vector<std::string> line{command, "a.pt"};
    if (line.front() == "generate") {
      line.insert(line.end(), {"--bcol", "8", "-o", "out"});
    }
    expect_refusal(line, "a.pt: is a pickle, which is a program");
  }
}

/// A .safetensors file of these tensors, of elements 0 and 1.
class TensorFile {
 public:
  TensorFile& add(const std::string& name, const std::string& type, const std::vector<int>& shape, int element_bytes,
                  int nonzero_each = 1) {
    std::size_t elements = 1;
    for (const int extent : shape) {
      elements *= static_cast<std::size_t>(extent);
    }
    const std::size_t begin = data_.size();
    for (std::size_t at = 0; at < elements; ++at) {
      const float value = at % static_cast<std::size_t>(nonzero_each) == 0 ? 1.0F : 0.0F;
      data_ += element_bytes == 4 ? std::string(reinterpret_cast<const char*>(&value), 4)
                                  : std::string(static_cast<std::size_t>(element_bytes), '\1');
    }
    header_[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {begin, data_.size()}}};
    return *this;
  }
  std::string bytes() const {
    const std::string header = header_.dump();
    std::string length(8, '\0');
    length[0] = static_cast<char>(header.size() % 256);
    length[1] = static_cast<char>(header.size() / 256);
    return length + header + data_;
  }

 private:
  nlohmann::json header_;
  std::string data_;
};

TEST_F(Models, OfQuantisedLayersHaveNoKernelOfAScale) {
  write("q.safetensors",
        TensorFile().add("l.weight", "I8", {8, 16}, 1).add("l.weight_scale", "F32", {8, 1}, 4).bytes());
  expect_refusal({"generate", "q.safetensors", "--bcol", "8", "-o", "out"},
                 "q.safetensors:l.weight: is quantised (I8 with weight_scale); write the model again");
  expect_refusal({"generate", "q.safetensors:l.weight_scale", "--bcol", "8", "-o", "out"},
                 "belongs to l.weight, which is quantised (I8)");
  write("mixed.safetensors", TensorFile()
                                 .add("h.weight", "F32", {8, 16}, 4, 4)
                                 .add("l.weight", "I8", {8, 16}, 1)
                                 .add("l.weight_scale", "F32", {8, 1}, 4)
                                 .bytes());
  const ProcessResult mixed = escgen({"generate", "mixed.safetensors", "--bcol", "8", "--no-verify", "-o", "out"});
  EXPECT_EQ(mixed.status, 0) << mixed.errors;
  EXPECT_THAT(mixed.output, AllOf(HasSubstr("is quantised (I8 with weight_scale)"), HasSubstr("1 of 3 written")));
}

TEST_F(Models, OfOneDenseMatrixHaveNoKernelUnasked) {
  write("dense.safetensors", TensorFile().add("l.weight", "F32", {8, 16}, 4).bytes());
  expect_refusal({"generate", "dense.safetensors", "--bcol", "8", "-o", "out"},
                 "has one matrix, l.weight, with 0.0 % zeros");
  EXPECT_EQ(escgen({"generate", "dense.safetensors", "--bcol", "8", "--min-sparsity", "0.5", "-o", "out"}).errors,
            "dense.safetensors: skipped, 0.0 % zeros are less than 50.0 %\n");
  EXPECT_FALSE(fs::exists(path("out/l")));
  for (const std::vector<std::string>& asked :
       {std::vector<std::string>{"dense.safetensors", "--min-sparsity", "0"}, {"dense.safetensors:l.weight"}}) {
    std::vector<std::string> line{"generate", "--bcol", "8", "--no-verify", "-o", "out", "--force"};
    line.insert(line.end(), asked.begin(), asked.end());
    EXPECT_EQ(escgen(line).status, 0);
  }
}

TEST_F(Models, HaveALayerForEachExpert) {
  write("moe.safetensors", TensorFile()
                               .add("mlp.experts.gate_up_proj", "F32", {2, 16, 8}, 4, 5)
                               .add("mlp.experts.down_proj", "F32", {2, 8, 8}, 4, 5)
                               .bytes());
  const ProcessResult made =
      escgen({"generate", "moe.safetensors", "--bcol", "8", "--no-verify", "--all", "-o", "out"});
  EXPECT_EQ(made.status, 0) << made.errors;
  EXPECT_THAT(made.output, HasSubstr("4 of 4 written"));
  EXPECT_EQ(escgen({"pack", "out/moe", "moe.safetensors"}).status, 0);
  const nlohmann::json expert = parse_json(escgen({"inspect", "moe.safetensors", "--json"}).output)["tensors"][3];
  EXPECT_EQ(expert["name"], "mlp.experts.gate_up_proj.1");
  EXPECT_EQ(expert["expert"], (nlohmann::json{{"number", 1}, {"of", 2}, {"transposed", false}}));
}

/// The line that a pickle is refused with is run, with modules in place of PyTorch, which no test needs.
TEST_F(Models, OfPicklesAreConvertedWhateverTheirNesting) {
  if (shell("python3 --version").status != 0) {
    GTEST_SKIP() << "there is no python3";
  }
  write("torch.py",
        "class Tensor(str):\n"
        "  def to_dense(self): return self\n"
        "  clone = contiguous = to_dense\n"
        "def is_tensor(x): return isinstance(x, Tensor)\n"
        "def load(name, map_location, weights_only):\n"
        "  a, b, c, d = map(Tensor, 'abcd')\n"
        "  return {'epoch': 3, 'model': {'l.weight': a, 'deep': [b, {'w': c}]}, 'optimizer': {'state': {0: d}}, "
        "'args': None}\n");
  fs::create_directory(path("safetensors"));
  write("safetensors/__init__.py", "");  // goes before one that is installed
  write("safetensors/torch.py", "def save_file(tensors, name): print(name, sorted(tensors.items()))\n");
  write("a.pt", "PK");
  const std::string refusal = escgen({"inspect", "a.pt"}).errors;
  const std::size_t begin = refusal.find("python3 -c");
  ASSERT_NE(begin, refusal.npos) << refusal;
  const ProcessResult converted = shell("PYTHONPATH=. " + refusal.substr(begin));
  EXPECT_EQ(converted.output,
            "a.safetensors [('model.deep.0', 'b'), ('model.deep.1.w', 'c'), ('model.l.weight', 'a')]\n")
      << converted.errors;
}

/// Few bytes that claim much: the range of a tensor is not read before somebody asks for it, and then in parts.
TEST_F(Models, NeedNoMoreMemoryThanTheirMatrix) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer maps terabytes, which no limit of memory allows";
#endif
  constexpr std::size_t gibibytes = 1;
  const std::size_t bytes = gibibytes << 30;
  const std::string header =
      R"({"w": {"dtype": "F32", "shape": [16384, 16384], "data_offsets": [0, )" + std::to_string(bytes) + "]}}";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  write("sparse.safetensors", length + header);
  fs::resize_file(path("sparse.safetensors"), 8 + header.size() + bytes);
  const ProcessResult listed = shell("ulimit -v 900000; exec $ESCGEN inspect sparse.safetensors");
  EXPECT_EQ(listed.status, 0) << listed.errors;
  EXPECT_THAT(listed.output, HasSubstr(" 100.00  "));
}

}  // namespace
}  // namespace esc::cli
