// SPDX-License-Identifier: Apache-2.0
// Layers of models in the commands, and the examples of their documentation, which are run.

#include <sstream>

#include "generator/support/file.h"
#include "tests/cli/workshop.h"

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

/// A command of a page, and what it prints there.
struct Example {
  std::string command;
  std::string output;
};

std::vector<Example> examples_of(const std::string& page) {
  std::vector<Example> examples;
  bool is_output = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("    $ escgen ")) {
      examples.push_back({line.substr(6), ""});
      is_output = true;
    } else if (is_output && line.starts_with("    ")) {
      examples.back().output += line.substr(4) + "\n";
    } else {
      is_output = false;
    }
  }
  return examples;
}

TEST_F(Models, ExamplesOfTheDocumentationPrintWhatItSays) {
  const std::vector<Example> examples = examples_of(read_file(ESC_SOURCE_DIR "/docs/models.md"));
  ASSERT_EQ(examples.size(), 6U);
  for (const Example& example : examples) {
    const ProcessResult run = shell("$ESCGEN " + example.command.substr(std::string("escgen ").size()));
    EXPECT_EQ(run.status, 0) << run.errors;
    EXPECT_EQ(run.output, example.output) << example.command;
  }
}

TEST_F(Models, AreListedForMachines) {
  const nlohmann::json model = parse_json(escgen({"inspect", layers, "--json"}).output);
  EXPECT_THAT(keys(model), UnorderedElementsAre("model", "tensors"));
  ASSERT_EQ(model["tensors"].size(), 8U);
  const nlohmann::json& ids = model["tensors"][4];
  EXPECT_THAT(keys(ids), UnorderedElementsAre("name", "shape", "type", "form", "bytes", "no_matrix"));
  const nlohmann::json& masked = model["tensors"][5];
  EXPECT_EQ(masked["name"], "query.weight");
  EXPECT_EQ(masked["form"], "masked");
  EXPECT_EQ(masked["nonzeros"], 186);
  EXPECT_EQ(masked["row_lengths"], (nlohmann::json{{"min", 3}, {"mean", 7.75}, {"max", 12}}));
  EXPECT_EQ(parse_json(escgen({"inspect", "tests/data/models", "--json"}).output)["tensors"].size(), 2U) << "the folder of an index";
}

TEST_F(Models, AreEstimatedForMachines) {
  const nlohmann::json estimate =
      parse_json(escgen({"inspect", layers, "--estimate", "--bcol", "16", "--json"}).output);
  EXPECT_THAT(keys(estimate), UnorderedElementsAre("model", "gpu", "bcol", "dtype", "layers", "total", "bound_by"));
  ASSERT_EQ(estimate["layers"].size(), 8U);
  const nlohmann::json& gate = estimate["layers"][2];
  EXPECT_EQ(gate["bytes"],
            (nlohmann::json{{"dense", 3840.0}, {"csr", 1588.0}, {"packed_about", 1744}, {"b_and_c", 4096.0}}));
  EXPECT_FALSE(gate.contains("measured")) << "no class is close";
  EXPECT_TRUE(estimate["layers"][4].contains("no_estimate"));
  const nlohmann::json elsewhere =
      parse_json(escgen({"inspect", layers, "--estimate", "--gpu", "l4", "--json"}).output);
  EXPECT_FALSE(elsewhere["total"].contains("bound_microseconds")) << "a bandwidth that is not known";
}

/// Two layers of 512 x 512 elements in 16 bits, three of ten of them not zero, which are like layers that were
/// measured.
std::string model_like_measured_ones() {
  const std::string header = R"({"down": {"dtype": "F16", "shape": [512, 512], "data_offsets": [0, 524288]},
                                 "up": {"dtype": "F16", "shape": [512, 512], "data_offsets": [524288, 1048576]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  file += header;
  for (int element = 0; element < 2 * 512 * 512; ++element) {
    file += (element * 7 + element / 512 * 11) % 10 < 3 ? std::string("\x00\x3c", 2) : std::string(2, '\0');
  }
  return file;
}

TEST_F(Models, LikeMeasuredOnesSayWhatTheyAreExpectedToTake) {
  write("net.safetensors", model_like_measured_ones());
  const ProcessResult estimate =
      escgen({"inspect", "net.safetensors", "--estimate", "--bcol", "8", "--dtype", "f16", "--gpu", "h200"});
  EXPECT_THAT(estimate.output, ContainsRegex(R"( [0-9]\.[0-9]/[0-9]\.[0-9]  yes: 1\.[0-9]+ x, measured)"));
  EXPECT_THAT(estimate.output, HasSubstr("2 yes, 0 no, 0 not measured\n"));
  std::vector<std::string> generate{"generate", "net.safetensors", "--bcol", "8",  "--dtype", "f16", "--gpu",
                                    "h200",     "--no-verify",     "-o",     "out"};
  const ProcessResult made = escgen(generate);
  EXPECT_THAT(made.output, ContainsRegex(R"( 8:A\(1\.[0-9]+ x\))"));
  const std::string speed =
      R"(speed      sm_90, bCol 8: 2 layers like measured ones, about [0-9]\.[0-9] us in place of [0-9]\.[0-9] with)";
  EXPECT_THAT(made.output, ContainsRegex(speed));
  // What was kept of an earlier run says the same.
  generate.push_back("--force");
  const ProcessResult again = escgen(generate);
  EXPECT_THAT(again.output, AllOf(ContainsRegex(speed), HasSubstr("kept       2 of 2")));
  ASSERT_EQ(escgen({"report", "out/net", "-o", "page.html"}).status, 0);
  EXPECT_THAT(read("page.html"), AllOf(HasSubstr("Expected, by measurements of layers like these:"),
                                       ContainsRegex("<td>8: 1\\.[0-9]+ x</td>")));
  generate.push_back("--json");
  const nlohmann::json kernel = parse_json(escgen(generate).output)["layers"][0]["kernels"][0];
  EXPECT_THAT(keys(kernel["measured"]),
              UnorderedElementsAre("over_exact", "exact_microseconds", "expected_microseconds", "where"));
  EXPECT_EQ(parse_json(read("out/net/manifest.json"))["layers"][0]["variants"][0]["measured"], kernel["measured"]);
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
    const ProcessResult generated = escgen({"generate", matrix, "--bcol", "8", "--name", "layer", "--no-verify", "-o", folder});
    EXPECT_EQ(generated.status, 0) << generated.errors;
    nlohmann::json manifest = parse_json(read(folder + "/layer/manifest.json"));
    EXPECT_EQ(manifest["source"], fs::path(matrix).filename().string());
    return std::pair(read(folder + "/layer/layer.packed"), manifest["values_sha256"].get<std::string>());
  };
  const auto expected = generate("tests/data/models/dense.npy", "expected");
  int number = 0;
  for (const std::string layer : {"layers.safetensors:up_proj.weight", "layers.safetensors:gate_proj.weight", "bitmask.safetensors:up_proj.weight",
                                  "model.safetensors.index.json:a.weight", "dia.npz", "arrays_deflated.npz:up"}) {
    EXPECT_EQ(generate("tests/data/models/" + layer, "out" + std::to_string(number++)), expected) << layer;
  }
  const nlohmann::json listed = parse_json(escgen({"inspect", layers, "--json"}).output)["tensors"][7];
  EXPECT_EQ(listed["values_sha256"], expected.second);
}

TEST_F(Models, OfSixteenBitsHaveTheSumOfTheirValuesInTheManifest) {
  ASSERT_EQ(escgen({"generate", tensor("gate_proj.weight"), "--bcol", "8", "--dtype", "bf16", "--no-verify", "-o", "out"}).status, 0);
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
  const ProcessResult generated = escgen({"generate", tensor("conv.weight"), "--kernel", ESC_SOURCE_DIR "/templates/conv2d.c", "--size",
                                          "H=6,W=5,stride=1,pad=1,dilation=1", "--bcol", "1", "-o", "out"});
  EXPECT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(generated.output, HasSubstr("layer      conv: 6 x 36, "));
}

TEST_F(Models, AreRefusedWithWhatToWrite) {
  write("spec.json", R"({"layers": [{"matrix": "tests/data/models/layers.safetensors", "bcol": 8}]})");
  expect_refusal({"generate", "--spec", "spec.json", "-o", "out"}, "has 6 matrices; write FILE:TENSOR, with one of conv.weight, down_proj.weight");
  expect_refusal({"generate", tensor("up_proj"), "--bcol", "8", "-o", "out"}, "has no tensor \"up_proj\"; write FILE:TENSOR");
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

/// Few bytes that claim much: the range of a tensor is not read before somebody asks for it, and then in parts.
TEST_F(Models, NeedNoMoreMemoryThanTheirMatrix) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer maps terabytes, which no limit of memory allows";
#endif
  constexpr std::size_t gibibytes = 1;
  const std::size_t bytes = gibibytes << 30;
  const std::string header = R"({"w": {"dtype": "F32", "shape": [16384, 16384], "data_offsets": [0, )" + std::to_string(bytes) + "]}}";
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
