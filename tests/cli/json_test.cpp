// SPDX-License-Identifier: Apache-2.0
// What --json prints, of every command that the program lists: docs/reference/formats.md.

#include <set>

#include "tests/cli/workshop.h"
#include "tests/support/json_convention.h"

namespace esc::cli {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using Line = std::vector<std::string>;

class Json : public Workshop {
 protected:
  void SetUp() override {
    make_bundle();
    ASSERT_EQ(escgen({"generate", model, "--all", "--bcol", "8", "--no-verify", "--name", "net", "-o", "out"}).status,
              0);
  }

  /// Lines to try, by command: whatever a command can be asked for in JSON has one.
  std::map<std::string, std::vector<Line>> lines() const {
    return {{"generate",
             {{"a.mtx", "--bcol", "8,16", "-o", "new"},
              {"a.mtx", "--bcol", "8", "--no-verify", "-o", "new", "--check"},
              {"a.mtx", "--bcol", "8", "-o", "new", "--dry-run"},
              {"a.mtx", "--bcol", "8", "-o", "new", "--min-sparsity", "0.99"},
              {model, "--all", "--bcol", "8,16", "--no-verify", "-o", "new"},
              {model, "--bcol", "8", "--no-verify", "-o", "new", "--name", "other", "--check"}}},
            {"inspect",
             {{"a.mtx"}, {model}, {model, "--estimate", "--gpu", "h200", "--bcol", "1,16"}, {model, "--estimate"}}},
            {"verify", {{"out/a"}, {"out/net"}}},
            {"pack", {{"out/net", model}}},
            {"report", {{"out/net", "-o", "page.html"}}},
            {"sample", {{"-o", "b.mtx", "--rows", "16", "--cols", "16"}}}};
  }

  std::string model = ESC_SOURCE_DIR "/tests/data/models/layers.safetensors";
};

TEST_F(Json, IsOneObjectInALineForEveryCommand) {
  const auto wanted = lines();
  for (const std::string& command : test::commands_in_help(escgen({"--help"}).output)) {
    const bool has_json = escgen({command, "--help"}).output.find("  --json ") != std::string::npos;
    const bool prints_a_text = std::set<std::string>{"completion", "lower", "nest", "spec"}.contains(command);
    EXPECT_NE(has_json, prints_a_text) << command << " prints results, and has to have --json";
    EXPECT_EQ(has_json, wanted.contains(command)) << command << " has --json, and no line in this test";
  }
  for (const auto& [command, asked] : wanted) {
    for (Line line : asked) {
      line.insert(line.begin(), command);
      line.emplace_back("--json");
      const ProcessResult result = escgen(line);
      EXPECT_THAT(result.output, Not(IsEmpty())) << ::testing::PrintToString(line) << result.errors;
      EXPECT_THAT(test::json_problems(result.output), IsEmpty()) << ::testing::PrintToString(line);
    }
  }
}

TEST_F(Json, HasOldNamesBesideNewOnes) {
  const nlohmann::json layer = parse_json(escgen({"generate", "a.mtx", "--bcol", "8", "-o", "new", "--json"}).output);
  EXPECT_EQ(layer.at("kind"), "generated layer");
  EXPECT_EQ(layer.at("status"), "written");
  EXPECT_EQ(layer.at("rows"), layer.at("m"));
  EXPECT_EQ(layer.at("columns"), layer.at("k"));
  EXPECT_EQ(layer.at("nonzeros"), layer.at("nnz"));
  const nlohmann::json matrix = parse_json(escgen({"inspect", "a.mtx", "--json"}).output);
  EXPECT_EQ(matrix.at("packed_bytes"), matrix.at("bytes").at("packed"));
  EXPECT_EQ(matrix.at("census").at("columns_by_pattern"), matrix.at("census").at("patterns"));
  const nlohmann::json net =
      parse_json(escgen({"generate", model, "--all", "--bcol", "8", "--no-verify", "-o", "new", "--json"}).output);
  EXPECT_EQ(net.at("packed_bytes_by_bcol"), net.at("packed_bytes_of"));
}

TEST_F(Json, SaysWhatHasFailed) {
  replace("out/a/a.h", "a_spmm", "a_spxx", true);
  const ProcessResult stale =
      escgen({"generate", "a.mtx", "--bcol", "40", "--schedule", "4-7-1-32", "-o", "out", "--check", "--json"});
  EXPECT_EQ(stale.status, 1);
  EXPECT_EQ(parse_json(stale.output).at("status"), "stale");
  const ProcessResult skipped =
      escgen({"generate", "a.mtx", "--bcol", "8", "-o", "new", "--min-sparsity", "0.99", "--json"});
  EXPECT_EQ(parse_json(skipped.output).at("status"), "skipped");
  // An error is no result: it is said on standard error, as without --json.
  expect_refusal({"inspect", "none.mtx", "--json"}, "none.mtx: cannot be read");
}

TEST(JsonProblems, AreFound) {
  const std::string good = R"({"format_version":1,"kind":"a","status":"done","by_name":1})";
  EXPECT_THAT(test::json_problems(good + "\n"), IsEmpty());
  EXPECT_THAT(test::json_problems(good), Not(IsEmpty()));
  for (const char* const bad :
       {"[]", "{", "{}", R"({"format_version":1,"kind":"a"})", R"({"format_version":1,"kind":"a","status":""})"}) {
    EXPECT_THAT(test::json_problems(std::string(bad) + "\n"), Not(IsEmpty())) << bad;
  }
  const auto with = [](const std::string& more) {
    return test::json_problems(R"({"format_version":1,"kind":"a","status":"done",)" + more + "}\n");
  };
  EXPECT_THAT(with(R"("dense-bytes":1)"), Not(IsEmpty()));
  EXPECT_THAT(with(R"("list":[{"Inner":1}])"), Not(IsEmpty()));
  EXPECT_THAT(with(R"("time_us":1)"), Not(IsEmpty()));
  EXPECT_THAT(with(R"("times_by_library":{"cublas-f16":{"microseconds":1}})"), IsEmpty());
  EXPECT_THAT(with(R"("times_by_library":{"cublas-f16":{"time us":1}})"), Not(IsEmpty()));
}

}  // namespace
}  // namespace esc::cli
