// SPDX-License-Identifier: Apache-2.0
// --spec of a model: one bundle, as the same options make it, and layers with exceptions.

#include <regex>

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* layers = "tests/data/models/layers.safetensors";

class ModelSpec : public Workshop {
 protected:
  void SetUp() override {
    fs::create_directory(path("models"));
    fs::copy_file(fs::path(ESC_SOURCE_DIR) / layers, path("models/layers.safetensors"));
  }

  ProcessResult generate(const std::string& spec, std::vector<std::string> more = {}) const {
    write("models/spec.json", spec);
    more.insert(more.begin(), {"generate", "--spec", "models/spec.json", "-o", "out", "--no-verify"});
    return escgen(more);
  }

  void expect_refused(const std::string& spec, const std::string& words) const {
    SCOPED_TRACE(spec);
    write("models/spec.json", spec);
    expect_refusal({"generate", "--spec", "models/spec.json", "-o", "out", "--no-verify"}, words);
    EXPECT_FALSE(fs::exists(path("out/layers")));
  }
};

TEST_F(ModelSpec, MakesWhatTheOptionsMake) {
  const ProcessResult of_spec = generate(
      R"({"model": "layers.safetensors", "bcol": [16, 1], "min_sparsity": 0.5, "dtype": "bf16", "layout": "nk", "epilogue": "bias",
    "gpu": ["h200", "a100"], "tensors": ["*_proj.weight", "query.*"], "max_packed": 3, "name": "small", "packed": false})");
  EXPECT_EQ(of_spec.status, 0) << of_spec.errors;
  const ProcessResult of_options = escgen({"generate",       "models/layers.safetensors",
                                           "--bcol",         "1,16",
                                           "--min-sparsity", "0.5",
                                           "--dtype",        "bf16",
                                           "--layout",       "nk",
                                           "--epilogue",     "bias",
                                           "--gpu",          "h200,a100",
                                           "--tensor",       "*_proj.weight",
                                           "--tensor",       "query.*",
                                           "--max-packed",   "3",
                                           "--name",         "small",
                                           "--no-packed",    "-o",
                                           "line",           "--no-verify"});
  EXPECT_EQ(of_options.status, 0) << of_options.errors;
  EXPECT_EQ(snapshot("out/small"), snapshot("line/small"));
}

TEST_F(ModelSpec, TheExampleOfTheDocumentsHasItsExceptions) {
  const std::string page = shell("cat " ESC_SOURCE_DIR "/docs/guide/models.md").output;
  std::smatch example;
  ASSERT_TRUE(std::regex_search(page, example, std::regex("```json\n(\\{\n  \"model\"[^`]*)```")));
  const ProcessResult made = generate(example[1]);
  EXPECT_EQ(made.status, 0) << made.errors;
  EXPECT_THAT(made.output, HasSubstr("  is left out by the spec\n"));
  std::map<std::string, std::vector<std::int64_t>> bcols;
  std::map<std::string, std::string> kernels;
  const nlohmann::json manifest = parse_json(read("out/layers/manifest.json"));
  for (const nlohmann::json& layer : manifest["layers"]) {
    for (const nlohmann::json& variant : layer["variants"]) {
      bcols[layer["name"]].push_back(variant["bcol"]);
      kernels[layer["name"]] = variant["kernel"];
    }
  }
  EXPECT_FALSE(bcols.contains("head.weight")) << "left out";
  EXPECT_EQ(bcols.at("down_proj.weight"), (std::vector<std::int64_t>{1, 16, 64}));
  EXPECT_EQ(bcols.at("up_proj.weight"), (std::vector<std::int64_t>{1, 16}));
  EXPECT_THAT(kernels.at("query.weight"), testing::StartsWith("layers_rows_"));
  EXPECT_EQ(generate(example[1], {"--check"}).status, 0) << "as the spec says";
}

TEST_F(ModelSpec, IsRefusedAtThePlaceThatIsWrong) {
  const auto with = [](const std::string& more) {
    return R"({"model": "layers.safetensors", "bcol": 8, )" + more + "}";
  };
  for (const auto& [spec, words] : std::vector<std::pair<std::string, std::string>>{
           {R"({"model": "layers.safetensors"})",
            "models/spec.json: has no \"bcol\"; its keys are model and bcol, and if need be name, tensors"},
           {R"({"model": 3, "bcol": 8})", "models/spec.json: \"model\" is not a text"},
           {R"({"model": "layers.safetensors", "bcol": 8, "layers": []})", "has an unknown key \"layers\""},
           {R"({"model": "layers.safetensors", "bcol": [8, 1, 8]})", "models/spec.json: \"bcol\" has 8 twice"},
           {R"({"model": "layers.safetensors", "bcol": 0})", "models/spec.json: --bcol 0 is outside 1 to"},
           {R"({"model": "absent.safetensors", "bcol": 8})", "models/absent.safetensors: cannot be read"},
           {R"({"model": "layers.safetensors:up_proj.weight", "bcol": 8})",
            "models/spec.json: models/layers.safetensors:up_proj.weight is one matrix and no model"},
           {R"({"model": "", "bcol": 8})", "models/spec.json: \"model\" names no file"},
           {with(R"("min_sparsity": 1.5)"), "models/spec.json: \"min_sparsity\" is not a number from 0 to 1"},
           {with(R"("max_packed": 0)"), "\"max_packed\" is neither a number above 0 nor a percentage"},
           {with(R"("gpu": ["voodoo2"])"), "models/spec.json: --gpu voodoo2 is not a GPU"},
           {with(R"("gpu": [])"), "\"gpu\" is an empty list"},
           {with(R"("packed": 1)"), "\"packed\" is neither true nor false"},
           {with(R"("schedule": "panel:ufi=9")"), "models/spec.json: panel: tile=9x"},
           {with(R"("name": "a-b")"), "models/spec.json: --name a-b cannot be the prefix"},
           {with(R"("schedule": "published", "database": "absent.txt")"), "is of no use where --schedule names one"},
           {with(R"("exceptions": [{"bcol": 4}])"),
            "models/spec.json: exceptions[0]: has no \"tensor\"; its keys are tensor, and if need be bcol, schedule, "
            "skip"},
           {with(R"("exceptions": [{"tensor": "*"}, {"tensor": "up*", "bcol": []}])"),
            "exceptions[1]: \"bcol\" is an empty list"},
           {with(R"("exceptions": [{"tensor": "*", "skip": true, "bcol": 4}])"),
            "exceptions[0]: leaves layers out, and says how they are made"},
           {with(R"("exceptions": [{"tensor": "upp*", "skip": true}])"),
            "has no tensor like upp*, for which there is an exception"}}) {
    expect_refused(spec, words);
  }
  expect_refusal({"generate", "--spec", "models/spec.json", "-o", "out", "--tensor", "*"}, "excludes");
}

TEST_F(ModelSpec, TheSchemaIsPrinted) {
  const nlohmann::json schema = parse_json(escgen({"spec", "--schema"}).output);
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema["oneOf"].size(), 2U);
  EXPECT_EQ(escgen({"spec"}).status, 2);
}

}  // namespace
}  // namespace esc::cli
