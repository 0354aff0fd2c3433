// SPDX-License-Identifier: Apache-2.0
// --spec: many layers from one file.

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Spec : public Workshop {
 protected:
  void SetUp() override { write_matrix(); }

  ProcessResult generate(const std::string& spec, std::vector<std::string> more = {"--no-verify"}) const {
    write("spec.json", spec);
    more.insert(more.begin(), {"generate", "--spec", "spec.json", "-o", "out"});
    return escgen(more);
  }

  void expect_refused(const std::string& spec, const std::string& words) const {
    SCOPED_TRACE(spec);
    write("spec.json", spec);
    expect_refusal({"generate", "--spec", "spec.json", "-o", "out", "--no-verify"}, words);
  }
};

TEST_F(Spec, TwoLayersAndAListOfColumns) {
  fs::create_directory(path("layers"));
  write("layers/z.mtx", "%%MatrixMarket matrix coordinate real general\n5 7 1\n2 3 -1.5\n");
  fs::copy_file(path("a.mtx"), path("layers/a.mtx"));
  write("layers/spec.json", R"({"layers": [
      {"matrix": "a.mtx", "bcol": [40, 8]},
      {"matrix": "z.mtx", "bcol": 3, "name": "last", "schedule": "2-1-1-32", "gpu": "h200"}]})");
  const ProcessResult generated =
      escgen({"generate", "--spec", "layers/spec.json", "-o", "out", "--json", "--arch", "sm_80"});
  EXPECT_EQ(generated.status, 0) << generated.errors;
  EXPECT_EQ(generated.errors, "");
  std::vector<std::string> names;
  std::istringstream lines(generated.output);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json result = parse_json(line);
    names.push_back(result["name"]);
    EXPECT_EQ(result["status"], "written");
    EXPECT_EQ(result["verified"], true);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("a_n40", "a_n8", "last"));
  EXPECT_EQ(snapshot("out").size(), 21u);
  EXPECT_EQ(parse_json(read("out/last/manifest.json"))["architectures"], nlohmann::json({"sm_90"}));
  EXPECT_EQ(parse_json(read("out/a_n8/manifest.json"))["architectures"], nlohmann::json({"sm_80"}));

  EXPECT_EQ(escgen({"generate", "a.mtx", "--bcol", "8", "--name", "a_n8", "-o", "line", "--arch", "sm_80"}).status, 0);
  Snapshot from_spec = snapshot("out/a_n8");
  EXPECT_TRUE(from_spec == snapshot("line/a_n8")) << "the flags are a spec of one";

  EXPECT_EQ(escgen({"generate", "--spec", "layers/spec.json", "-o", "out", "--check", "--arch", "sm_80"}).status, 0);
  replace("out/a_n8/a_n8.h", "size_t a_n8_packed_bytes(void);", "");
  EXPECT_EQ(escgen({"generate", "--spec", "layers/spec.json", "-o", "out", "--check", "--arch", "sm_80"}).status, 1);
}

TEST_F(Spec, OneLayerThatFailsDoesNotStopTheOthers) {
  const ProcessResult generated =
      generate(R"({"layers": [{"matrix": "absent.mtx", "bcol": 4}, {"matrix": "a.mtx", "bcol": 4}]})");
  EXPECT_EQ(generated.status, 2);
  EXPECT_THAT(generated.errors, ::testing::StartsWith("escgen: absent.mtx: cannot be read"));
  EXPECT_THAT(generated.output, HasSubstr("bundle     out/a (written)\n"));
  EXPECT_EQ(snapshot("out").size(), 7u);
}

TEST_F(Spec, WhatIsNoSpecIsRefused) {
  expect_refused("", "spec.json: is not JSON: ");
  expect_refused("{", "spec.json: is not JSON: ");
  for (const std::string spec : {"[]", "{}", "3"}) {
    expect_refused(spec, "spec.json: is not a spec; write {\"layers\": ");
  }
  expect_refused(R"({"layers": {}})", "spec.json: \"layers\" is not a list of objects; its keys are layers\n");
  expect_refused(R"({"layers": []})", "spec.json: \"layers\" is an empty list");
  expect_refused(R"({"layers": [{"matrix": "a.mtx", "bcol": 4}], "more": 1})",
                 "spec.json: has an unknown key \"more\"");
  expect_refusal({"generate", "--spec", "absent.json", "-o", "out"}, "absent.json: cannot be read");
  expect_refusal({"generate", "--spec", ".", "-o", "out"}, "is a directory");
}

TEST_F(Spec, WrongLayersAreRefusedWithTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {R"(3)", "is not an object"},
      {R"({"bcol": 4})", "has no \"matrix\""},
      {R"({"matrix": "a.mtx"})", "has no \"bcol\""},
      {R"({"matrix": 4, "bcol": 4})", "\"matrix\" is not a text"},
      {R"({"matrix": "a.mtx", "bcol": "4"})", "\"bcol\" is neither a whole number nor a list of them"},
      {R"({"matrix": "a.mtx", "bcol": 4.5})", "\"bcol\" is neither"},
      {R"({"matrix": "a.mtx", "bcol": [4, null]})", "\"bcol\" is neither"},
      {R"({"matrix": "a.mtx", "bcol": []})", "\"bcol\" is an empty list"},
      {R"({"matrix": "a.mtx", "bcol": 0})", "--bcol 0 is outside 1 to 2147483647"},
      {R"({"matrix": "a.mtx", "bcol": [4, -1]})", "--bcol -1 is outside"},
      {R"({"matrix": "a.mtx", "bcol": 18446744073709551615})", "--bcol 9223372036854775807 is outside"},
      {R"({"matrix": "a.mtx", "bcol": [4, 4]})", "makes a second bundle a_n4"},
      {R"({"matrix": "a.mtx", "bcol": 4, "name": "zero"})", "makes a second bundle zero, as spec.json: layers[0] does"},
      {R"({"matrix": "a.mtx", "bcol": 4, "name": "a-b"})", "--name a-b cannot be the prefix of C functions"},
      {R"({"matrix": "a.mtx", "bcol": 4, "name": 4})", "\"name\" is not a text"},
      {R"({"matrix": "a.mtx", "bcol": 4, "schedule": "9-1-1-32"})",
       "atomic: thread=9x1, unroll_k=1, threads=32 thread M=9 is outside 1 to 8"},
      {R"({"matrix": "a.mtx", "bcol": 4, "schedule": "4-7-1-64"})",
       "atomic: thread=4x1, unroll_k=7, threads=64 threads=64 is more than max(32, N=4)"},
      {R"({"matrix": "a.mtx", "bcol": 4, "kernel": 1})", "\"kernel\" is not a text"},
      {R"({"matrix": "a.mtx", "bcol": 4, "seed": -1})", "\"seed\" is not a whole number from 0"},
      {R"({"matrix": "a.mtx", "bcol": 4, "gpu": "voodoo2"})", "--gpu voodoo2 is not a GPU"},
      {R"({"matrix": "a.mtx", "bcol": 4, "arch": ["sm_80"]})", "\"arch\" is not a text"},
      {R"({"matrix": "a.mtx", "bcol": 4, "arch": "80x"})", "--arch 80x is not a CUDA architecture"},
      {R"({"matrix": "a.mtx", "bcol": 4, "arch": "sm_70"})", "--arch sm_70 is not a CUDA architecture"},
      {R"({"matrix": "a.mtx", "bcol": 4, "speed": 9})", "has an unknown key \"speed\""},
  };
  for (const auto& [layer, words] : wrong) {
    expect_refused(R"({"layers": [{"matrix": "a.mtx", "bcol": 8, "name": "zero"}, )" + layer + "]}",
                   "escgen: spec.json: layers[1]: " + words);
  }
}

TEST_F(Spec, TakesNoOptionsOfOneLayer) {
  write("spec.json", R"({"layers": [{"matrix": "a.mtx", "bcol": 4}]})");
  for (const std::string option : {"--bcol=4", "--name=b", "--schedule=4-7-1-32", "--kernel=k.c", "--seed=1"}) {
    expect_refusal({"generate", "--spec", "spec.json", "-o", "out", option}, "excludes");
  }
  expect_refusal({"generate", "a.mtx", "--spec", "spec.json", "-o", "out"}, "takes a matrix or --spec, not both");
}

TEST_F(Spec, KeysThatAreThereTwiceAreRefused) {
  expect_refused(
      R"({"layers": [{"matrix": "a.mtx", "bcol": 8}, {"matrix": "a.mtx", "bcol": 32, "name": "b", "bcol": 64}]})",
      "spec.json: layers[1].bcol: is there twice");
}

}  // namespace
}  // namespace esc::cli
