// SPDX-License-Identifier: Apache-2.0
// Schedules that the user writes directive by directive: as a text, as a file, and those that are refused.

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// What a schedule of family panel stands for, and its steps in two lines with remarks.
constexpr const char* family_text =
    "panel: tile=2x64, thread=2x4, split_k=8, lane_groups=2, unroll_k=4, stage_a=off, pdl=on";
constexpr const char* script =
    "unroll(i, 2); enumerate(); merge(); row_tiles(i, block=1, warp=1); tile(j, columns=64, vector=4); split_k(k, "
    "warps=8, lane_groups=2); accumulate(); shuffle(); reduce_warps(); transform(A, regions); vectorize(j); "
    "unroll_k(k, 4); prefetch(A); pdl()";
/// One that no family has: a warp owns a row tile of six rows alone, without registers of its own loads.
constexpr const char* own_script =
    "# a warp a row tile\n"
    "unroll(i, 6)\n"
    "enumerate(); merge()\n"
    "row_tiles(i, block=4, warp=1)  # no sums to share\n"
    "tile(j, columns=32, vector=2)\n"
    "split_k(k, warps=1, lane_groups=2); accumulate(); shuffle()\n"
    "transform(A, regions); vectorize(j); unroll_k(k, 8)\n";

class Script : public Workshop {
 protected:
  void SetUp() override { write_matrix(); }

  std::vector<std::string> generate(std::vector<std::string> more) const {
    more.insert(more.begin(), {"generate", "a.mtx", "--bcol", "40", "-o", "out"});
    return more;
  }
};

TEST_F(Script, IsTheKernelOfTheFamilyItIsEqualTo) {
  const ProcessResult generated = escgen(generate({"--schedule", script, "-v"}));
  ASSERT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(unbroken(generated.output), HasSubstr(std::string("\nschedule   ") + script + "\nfrom       user\n"));
  EXPECT_THAT(generated.output, HasSubstr("verified   by emulation"));
  const std::string of_the_script = read("out/a/a.cu");
  ASSERT_EQ(escgen(generate({"--force", "--schedule", family_text})).status, 0);
  const std::string of_the_family = read("out/a/a.cu");
  const auto body = [](const std::string& text) { return text.substr(text.find("__global__")); };
  EXPECT_EQ(body(of_the_script), body(of_the_family));
}

TEST_F(Script, OfAFileMakesAKernelThatIsVerifiedAndReproducible) {
  write("mine.txt", own_script);
  const ProcessResult generated = escgen(generate({"--schedule-file", "mine.txt"}));
  ASSERT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(generated.output, HasSubstr("verified   by emulation"));
  EXPECT_THAT(parse_json(read("out/a/manifest.json"))["schedule"]["text"].get<std::string>(),
              StartsWith("unroll(i, 6); "));
  EXPECT_EQ(escgen({"verify", "out/a"}).status, 0);
  EXPECT_EQ(escgen(generate({"--schedule-file", "mine.txt", "--check"})).status, 0);
}

/// What the release before wrote for `script`, by directives and in the text of a manifest.
constexpr const char* old_script =
    "unroll(i, 2); enumerate(); merge(); own(i, panels=1, warp=1); tile(j, columns=64, vector=4); "
    "split(k, warps=8, groups=2); accumulate(); shuffle(); share(); transform(A, regions); vectorize(j); "
    "batch(k, 4); prefetch(A); overlap()";

TEST_F(Script, InOldWordsIsReadAndSaidToBeOld) {
  const ProcessResult generated = escgen(generate({"--schedule", old_script, "--no-verify"}));
  ASSERT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(generated.errors,
              HasSubstr("a schedule's 'own' is an old name of 'row_tiles'; the next release does not read it\n"));
  EXPECT_EQ(parse_json(read("out/a/manifest.json"))["schedule"]["text"], script);
  EXPECT_EQ(escgen(generate({"--schedule", old_script, "--no-verify", "-q", "--check"})).errors, "");
  EXPECT_THAT(escgen({"lower", "--schedule", old_script}).errors, HasSubstr("'overlap' is an old name of 'pdl'"));
  EXPECT_EQ(escgen({"lower", "--schedule", script}).errors, "");
}

/// Bundles that the release before has written need not be written again.
TEST_F(Script, OfAManifestMayHaveOldWords) {
  ASSERT_EQ(escgen(generate({"--schedule", script})).status, 0);
  nlohmann::ordered_json manifest = nlohmann::ordered_json::parse(read("out/a/manifest.json"));
  manifest["schedule"]["text"] = old_script;
  manifest["schedule"]["directives"] = nlohmann::json::array();
  const std::string text = std::string(old_script) + "; ";
  for (std::size_t at = 0, end = 0; (end = text.find("; ", at)) != text.npos; at = end + 2) {
    manifest["schedule"]["directives"].push_back(text.substr(at, end - at));
  }
  write("out/a/manifest.json", manifest.dump(2) + "\n");
  EXPECT_EQ(escgen({"verify", "out/a"}).status, 0);
  EXPECT_EQ(escgen(generate({"--schedule", script, "--check"})).status, 0);
  EXPECT_EQ(escgen(generate({"--schedule", script})).status, 0) << "it is what is asked for";
  for (const std::string file : {"out/a/a.h", "out/a/a.cu", "out/a/a_transformer.cpp", "out/a/CMakeLists.txt"}) {
    replace(file, script, old_script);
  }
  EXPECT_EQ(escgen({"verify", "out/a"}).status, 0);
  const ProcessResult check = escgen(generate({"--schedule", script, "--check"}));
  EXPECT_EQ(check.status, 0) << check.output;
  EXPECT_THAT(check.output, HasSubstr("the bundle is current, with its schedule in the words of an earlier release\n"));
  EXPECT_THAT(escgen(generate({"--schedule", script})).output, HasSubstr("bundle     out/a (unchanged)"));
  EXPECT_THAT(escgen(generate({"--schedule", script, "--check", "--json"})).output,
              HasSubstr(R"("has_earlier_words":true)"));
  replace("out/a/manifest.json", "share()", "prefetch(A)", true);
  EXPECT_NE(escgen({"verify", "out/a"}).status, 0) << "another schedule";
}

/// All of C is set to zero for a call of more tiles than a grid has, as its warps add to what is there: hundreds of
/// megabytes with that many rows.
TEST_F(Script, WhoseWarpsAddToCIsVerifiedForManyRows) {
  std::string column = "%%MatrixMarket matrix coordinate real general\n97 1 80\n";
  for (int row = 1; row <= 80; ++row) {
    column += std::to_string(row) + " 1 0.5\n";
  }
  write("column.mtx", column);
  const ProcessResult generated = escgen({"generate", "column.mtx", "--bcol", "64", "-o", "out", "--schedule",
                                          "unroll(i, 4); enumerate(); merge(); row_tiles(i, block=1, warp=1); tile(j, "
                                          "columns=32, vector=4); split_k(k, warps=4, lane_groups=4); accumulate(); "
                                          "shuffle(); transform(A, regions); vectorize(j); unroll_k(k, 4); stage(A)"});
  EXPECT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(generated.output, HasSubstr("verified   by emulation"));
}

/// A body for each of many patterns, with its sums, in one function: a thread of it needs a deep stack.
TEST_F(Script, MayLeaveTheCasesOfTallPanelsUncompacted) {
  ASSERT_EQ(escgen({"sample", "--rows", "64", "--cols", "96", "--sparsity", "0.7", "-o", "tall.mtx"}).status, 0);
  const ProcessResult generated =
      escgen({"generate", "tall.mtx", "--bcol", "40", "-o", "out", "--schedule",
              "unroll(i, 8); enumerate(); map(i, grid); map(j, lanes, columns=96, threads=32); coarsen(k, 3); "
              "transform(A, lists)"});
  EXPECT_EQ(generated.status, 0) << generated.errors;
  EXPECT_THAT(generated.output, HasSubstr("verified   by emulation"));
}

TEST_F(Script, IsShownByLower) {
  write("mine.txt", own_script);
  const ProcessResult shown = escgen({"lower", "--schedule-file", "mine.txt"});
  ASSERT_EQ(shown.status, 0) << shown.errors;
  EXPECT_THAT(shown.output, HasSubstr("directives unroll(i, 6); enumerate(); merge(); row_tiles(i, block=4, warp=1);"));
}

TEST_F(Script, IsRefusedWithTheDirectiveTheRuleAndTheRemedy) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"unroll(i, 9); enumerate()", "unroll(i, 9): UFi=9 is outside 1 to 8; the nearest legal value is 8"},
      {"unroll(i, 2); enumerate()", "leaves the sparse array as it is; transform it: transform(A, ...)"},
      {"unroll(i, 2); frob()", "frob(): there is no directive 'frob'; the directives are unroll, enumerate"},
      {"tile(j, 64)", "tile(j, 64): is not of the form of tile; write tile(LOOP, columns=NUMBER, vector=NUMBER)"},
      {"unroll(j, 2); enumerate()", "unroll(j, 2)"},
      {"unroll(i, 3); enumerate(); merge(); row_tiles(i, block=4, warp=1); tile(j, columns=32, vector=2); "
       "split_k(k, warps=1, lane_groups=2); accumulate(); shuffle()",
       "shuffle(): 2 lane groups cannot halve the sums of 3 rows; split over groups that divide the rows"},
      {"unroll(i, 1); enumerate(); merge(); split_rows(k, 8); transform(A, tasks, 16)",
       "light=16 is no power of two up to 8"},
      {"unroll(i, 1); enumerate(); merge(); split_rows(k, 8); transform(A, tasks, 2); assign(task, warps=4, "
       "lane_groups=2); tile(j, columns=8, vector=1)",
       "16 of a warp's 32 lanes have work; give it groups=4"},
      {"enumerate(", "enumerate("},
  };
  for (const auto& [text, words] : wrong) {
    expect_refusal(generate({"--schedule", text}), words);
  }
  expect_refusal(generate({"--schedule-file", "missing.txt"}), "missing.txt");
  expect_refusal(generate({"--schedule", script, "--no-compaction"}), "has no cases that compaction could leave apart");
}

}  // namespace
}  // namespace esc::cli
