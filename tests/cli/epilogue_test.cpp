// SPDX-License-Identifier: Apache-2.0
// --epilogue: what is made of it, and what is refused.

#include "generator/verify/nvcc.h"
#include "tests/cli/epilogue_workshop.h"
#include "tests/support/run_size.h"

namespace esc::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Shipped parts, and what a caller hands over for them.
struct ShippedEpilogue {
  std::string parts;
  std::string operands;
};

void PrintTo(const ShippedEpilogue& shipped, std::ostream* stream) { *stream << shipped.parts; }

std::string in_double(std::string text) {
  for (std::size_t at = text.find("float"); at != text.npos; at = text.find("float", at)) {
    text.replace(at, 5, "double");
  }
  return text;
}

class ShippedParts : public EpilogueWorkshop, public ::testing::WithParamInterface<ShippedEpilogue> {};

/// All schedules in float, and one of them, in turns, in double: what the parts are in double is the same in all.
TEST_P(ShippedParts, MakeBundlesThatAreVerifiedAndCurrent) {
  const std::vector<std::string> schedules{"auto", panel_schedule, rows_schedule};
  for (const std::string type : {"f32", "f64"}) {
    for (const std::string& schedule :
         type == "f32" ? schedules : std::vector{schedules[GetParam().parts.size() % schedules.size()]}) {
      SCOPED_TRACE(type + " " + schedule);
      const std::vector<std::string> choice{"--dtype", type, "--schedule", schedule};
      std::vector<std::string> writing = choice;
      writing.insert(writing.end(), {"--no-verify", "--force"});
      generate(GetParam().parts, writing);
      EXPECT_EQ(operands(), type == "f32" ? GetParam().operands : in_double(GetParam().operands));
      expect_verified();
      std::vector<std::string> checking = choice;
      checking.emplace_back("--check");
      EXPECT_THAT(escgen(line(GetParam().parts, checking)).output, EndsWith("check      the bundle is current\n"));
    }
  }
}

[[maybe_unused]] const bool shipped_parts_is_sampled = tests::sample_suite("Epilogue/ShippedParts", 3);

INSTANTIATE_TEST_SUITE_P(
    Epilogue, ShippedParts,
    ::testing::Values(ShippedEpilogue{"bias", "const float* bias_, "},
                      ShippedEpilogue{"bias_column", "const float* bias_column_, "}, ShippedEpilogue{"relu", ""},
                      ShippedEpilogue{"gelu", ""}, ShippedEpilogue{"gelu_tanh", ""}, ShippedEpilogue{"silu", ""},
                      ShippedEpilogue{"clamp", "float low_, float high_, "},
                      ShippedEpilogue{"residual", "const float* residual_, int64_t residual_ld, "},
                      ShippedEpilogue{"scale", "float scale_, "}, ShippedEpilogue{"zero_point", "float zero_point_, "},
                      ShippedEpilogue{
                          "scale+bias+residual+relu",
                          "float scale_, const float* bias_, const float* residual_, int64_t residual_ld, "},
                      ShippedEpilogue{"clamp+zero_point+gelu", "float low_, float high_, float zero_point_, "},
                      ShippedEpilogue{"bias_column+residual+silu",
                                      "const float* bias_column_, const float* residual_, int64_t residual_ld, "}),
    [](const auto& shipped) {
      std::string name = shipped.param.parts;
      std::replace(name.begin(), name.end(), '+', '_');
      return name;
    });

class EpilogueOption : public EpilogueWorkshop {};

TEST_F(EpilogueOption, IsExplainedInTheHeader) {
  generate("scale+bias+bias_column+residual");
  const std::string header = read("out/a/a.h");
  for (const std::string words :
       {"what the epilogue makes of the elements of A x B", "x1_ = scale_ * sum_", "x2_ = x1_ + bias_[i]",
        "scale_: a number;", "bias_: a number for each row of C;", "bias_column_: a number for each column of C;",
        "residual_: a matrix like C, row i at residual_ + i * residual_ld, residual_ld >= n"}) {
    EXPECT_THAT(header, HasSubstr(words));
  }
}

TEST_F(EpilogueOption, IsVerifiedWithMatricesBeyond32Bits) {
  generate("residual");
  EXPECT_THAT(unbroken(escgen({"verify", "out/a", "-v"}).output),
              AllOf(HasSubstr("elements of B and C beyond 2^32"), Not(HasSubstr("skipped"))));
}

TEST_F(EpilogueOption, TakesThePartsInTheirOrder) {
  generate("bias+relu");
  const std::string bias_first = read("out/a/a.cu");
  generate("relu+bias", {"--no-verify", "--force"});
  EXPECT_THAT(bias_first, ContainsRegex("x1_ = sum_ [+] (early_)?bias_"));
  EXPECT_THAT(read("out/a/a.cu"), ContainsRegex("x2_ = x1_ [+] (early_)?bias_"));
}

TEST_F(EpilogueOption, HasConstantsOfTheElementsPrecision) {
  generate("gelu");
  EXPECT_THAT(read("out/a/a.cu"), HasSubstr("erff(0.70710677f * sum_)"));
  generate("gelu", {"--no-verify", "--force", "--dtype", "f64"});
  EXPECT_THAT(read("out/a/a.cu"), HasSubstr("erf(0.7071067811865476 * sum_)"));
}

TEST_F(EpilogueOption, RefusesWhatIsNoListOfParts) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"tanh", "--epilogue tanh: there is no 'tanh'; put together with + what there is: bias, bias_column, relu"},
      {"Bias", "there is no 'Bias'"},
      {"bias+", "there is no ''"},
      {"bias++relu", "there is no ''"},
      {"bias, relu", "there is no 'bias, relu'"},
      {"bias+relu+bias", "--epilogue bias+relu+bias: has 'bias' twice; name each part once"},
  };
  for (const auto& [epilogue, words] : wrong) {
    expect_refusal(line(epilogue), words);
    expect_refusal({"lower", "--schedule", rows_schedule, "--epilogue", epilogue}, words);
  }
}

TEST_F(EpilogueOption, IsOfNoUseBesideANest) {
  write("nest.c", "");
  expect_refusal(line("bias", {"--kernel", "nest.c"}), "excludes");
  expect_refusal({"lower", "--schedule", rows_schedule, "--epilogue", "bias", "--kernel", "nest.c"}, "excludes");
}

TEST_F(EpilogueOption, NeedsASumInOneHand) {
  for (const std::string schedule : {"4-7-1-32", "published"}) {
    expect_refusal(line("bias", {"--schedule", schedule}),
                   "epilogue(): parts of a sum are added up in C: nobody has the whole of it; choose a schedule whose "
                   "threads own their rows, of family panel or rows");
  }
  expect_refusal(
      line("bias", {"--schedule", "rows:columns=8,task=8,light=8"}),
      "a row of 10 non-zeros is cut into tasks of 8, whose sums are added up in C: nobody has the whole of it "
      "for the epilogue; choose a larger task, or a schedule of family panel");
  expect_refusal(line("bias", {"--no-compaction"}), "parts of a sum are added up in C");
}

TEST_F(EpilogueOption, LeavesAutoTheSchedulesThatCan) {
  const auto database = [&](const std::vector<std::string>& candidates) {
    std::string text = "device sm90-132sm-60mib My GPU\ndtype f32\nevidence measured\n";
    std::string losses;
    for (std::size_t at = 0; at < candidates.size(); ++at) {
      text += "candidate 40 " + std::to_string(at) + " " + candidates[at] + "\n";
      losses += " " + std::to_string(at) + ".0";
    }
    write("mine.txt", text + "class 40 8 8 6 7 3 - -" + losses + "\n");
  };
  const std::string atomic = "atomic:thread=4x1,unroll_k=7,threads=32";
  const std::string cut = "rows:columns=8,task=8,light=8";
  database({atomic, cut, "panel:ufi=2,columns=8,vector=2,groups=4,warps=2,panels=4"});
  generate("bias", {"--database", "mine.txt", "--no-verify"});
  EXPECT_THAT(parse_json(read("out/a/manifest.json"))["schedule"]["text"].get<std::string>(),
              StartsWith("panel: tile=8x8, thread=2x2, "));
  database({atomic, cut});
  generate("bias", {"--database", "mine.txt", "--force"});
  EXPECT_EQ(parse_json(read("out/a/manifest.json"))["verification"]["passed"], true);
  database({atomic});
  generate("bias", {"--database", "mine.txt", "--force"});
  EXPECT_EQ(parse_json(read("out/a/manifest.json"))["verification"]["passed"], true);
}

/// One row has a hundred times the non-zeros of the others.
TEST_F(EpilogueOption, TakesRowsOfVeryDifferentLengths) {
  std::string entries;
  for (int column = 1; column <= 3000; ++column) {
    entries += "3 " + std::to_string(column) + " 0.5\n";
  }
  write("a.mtx", "%%MatrixMarket matrix coordinate real general\n40 3000 3003\n1 7 1\n2 9 1\n40 3000 2\n" + entries);
  generate("bias+silu");
  EXPECT_THAT(parse_json(read("out/a/manifest.json"))["schedule"]["text"].get<std::string>(), StartsWith("panel:"));
  expect_verified();
}

class EpilogueScripts : public EpilogueWorkshop {
 protected:
  static constexpr const char* without =
      "unroll(i, 2); enumerate(); merge(); row_tiles(i, block=1, warp=1); tile(j, columns=64, vector=4); "
      "split_k(k, warps=8, lane_groups=2); accumulate(); shuffle(); reduce_warps(); transform(A, regions)";

  static std::vector<std::string> script(const std::string& further) {
    return {"--schedule", std::string(without) + further};
  }
};

TEST_F(EpilogueScripts, SayWhereTheEpilogueStands) {
  generate("bias+relu", script("; vectorize(j); unroll_k(k, 4); prefetch(A); epilogue(); pdl()"));
  expect_verified();
  const std::string of_the_script = read("out/a/a.cu");
  generate("bias+relu", {"--no-verify", "--force", "--schedule",
                         "panel: tile=2x64, thread=2x4, split_k=8, lane_groups=2, unroll_k=4, stage_a=off, pdl=on"});
  const auto kernel = [](const std::string& text) { return text.substr(text.find("__global__")); };
  EXPECT_EQ(kernel(of_the_script), kernel(read("out/a/a.cu"))) << "is what the family does";
}

TEST_F(EpilogueScripts, AreRefusedWithoutItOrInTheWrongPlace) {
  expect_refusal(
      line("bias", script("; vectorize(j); unroll_k(k, 4)")),
      "stores the sums as they are, and the nest has more to do with them; add epilogue() after vectorize(j)");
  expect_refusal(line("bias", script("; epilogue(); vectorize(j); unroll_k(k, 4)")),
                 "epilogue(): the sums are not stored in vectors yet; vectorize the columns of C first: vectorize(j)");
  const std::string needless =
      "epilogue(): the nest does nothing with its sums but store them, or it is placed already";
  expect_refusal(line("bias", script("; vectorize(j); unroll_k(k, 4); epilogue(); epilogue()")), needless);
  std::vector<std::string> product = script("; vectorize(j); unroll_k(k, 4); epilogue()");
  product.insert(product.begin(), {"generate", "a.mtx", "--bcol", "40", "-o", "out"});
  expect_refusal(product, needless);
  expect_refusal(line("bias", {"--schedule",
                               "unroll(i, 4); enumerate(); map(i, grid); map(j, lanes, columns=32, threads=32); "
                               "coarsen(k, 3); transform(A, lists); epilogue()"}),
                 "epilogue(): parts of a sum are added up in C");
}

TEST_F(EpilogueScripts, AreShownByLower) {
  const ProcessResult shown =
      escgen({"lower", "--schedule", rows_schedule, "--epilogue", "residual+relu", "--dump-steps"});
  ASSERT_EQ(shown.status, 0) << shown.errors;
  EXPECT_THAT(shown.output, AllOf(HasSubstr("; epilogue()"), HasSubstr("x1 = sum + residual[i][j];"),
                                  HasSubstr("x2_ = x1_ < 0 ? 0 : x1_;")));
}

class EpilogueMatrices : public EpilogueWorkshop {
 protected:
  /// All schedules with all epilogues in a whole run. Else each epilogue with one of the schedules, the `turn` of the
  /// matrix on, so that all pairs come up among the matrices.
  void expect_right(std::size_t turn, const std::string& matrix, const std::vector<std::string>& more = {}) const {
    const std::vector<std::string> schedules{"auto", panel_schedule, rows_schedule};
    write("a.mtx", "%%MatrixMarket matrix coordinate real general\n" + matrix);
    for (const std::string epilogue : {"scale+bias+residual+relu", "clamp", "gelu", "silu"}) {
      ++turn;
      for (const std::string& schedule :
           tests::full_sweep() ? schedules : std::vector{schedules[turn % schedules.size()]}) {
        SCOPED_TRACE(schedule + " " + epilogue);
        std::vector<std::string> options{"--force", "--schedule", schedule};
        options.insert(options.end(), more.begin(), more.end());
        generate(epilogue, options);
        EXPECT_EQ(parse_json(read("out/a/manifest.json"))["verification"]["passed"], true);
      }
    }
    expect_verified();
  }
};

/// C is what the epilogue makes of 0, which needs a kernel.
TEST_F(EpilogueMatrices, WithoutAnyNonZero) {
  expect_right(0, "5 7 0\n");
  EXPECT_THAT(read("out/a/a.cu"), HasSubstr("__global__"));
}

TEST_F(EpilogueMatrices, OfOneElement) { expect_right(1, "1 1 1\n1 1 -2.5\n"); }

TEST_F(EpilogueMatrices, WithRowsOfNothing) { expect_right(2, "9 4 2\n3 1 0.5\n8 4 -1\n"); }

TEST_F(EpilogueMatrices, WithWeightsThatAreNotFinite) {
  expect_right(3, "4 6 4\n1 2 nan\n2 3 inf\n3 1 1.5\n4 4 -inf\n", {"--allow-nonfinite"});
}

class EpilogueSpec : public EpilogueWorkshop {};

TEST_F(EpilogueSpec, NamesTheEpilogue) {
  write("spec.json", R"({"layers": [{"matrix": "a.mtx", "bcol": 40, "epilogue": "bias+relu"},
                                    {"matrix": "a.mtx", "bcol": 40, "name": "plain"}]})");
  const ProcessResult generated = escgen({"generate", "--spec", "spec.json", "-o", "of_spec", "--no-verify"});
  ASSERT_EQ(generated.status, 0) << generated.errors;
  generate("bias+relu");
  EXPECT_TRUE(snapshot("of_spec/a") == snapshot("out/a")) << "the flags are a spec of one";
  EXPECT_THAT(read("of_spec/plain/plain.h"), Not(HasSubstr("epilogue")));
  EXPECT_EQ(escgen({"generate", "--spec", "spec.json", "-o", "of_spec", "--check"}).status, 0);
}

TEST_F(EpilogueSpec, IsRefusedWithItsPlace) {
  const auto expect_refused = [&](const std::string& keys, const std::string& words) {
    write("spec.json", R"({"layers": [{"matrix": "a.mtx", "bcol": 40, )" + keys + "}]}");
    expect_refusal({"generate", "--spec", "spec.json", "-o", "out", "--no-verify"}, words);
  };
  expect_refused(R"("epilogue": 3)", "spec.json: layers[0]: \"epilogue\" is not a text");
  expect_refused(R"("epilogue": "tanh")", "there is no 'tanh'");
  write("nest.c", "");
  expect_refused(R"("epilogue": "relu", "kernel": "nest.c")", "is of no use with --kernel");
  expect_refusal({"generate", "--spec", "spec.json", "-o", "out", "--epilogue=bias"}, "excludes");
}

class EpilogueByNvcc : public EpilogueWorkshop {};

TEST_F(EpilogueByNvcc, CompilesWithoutWarnings) {
  const std::string nvcc = find_nvcc();
  if (nvcc.empty()) {
    GTEST_SKIP() << "nvcc is not on this machine";
  }
  for (const std::string type : {"f32", "f64"}) {
    generate(everything, {"--force", "--dtype", type, "--schedule", type == "f32" ? panel_schedule : rows_schedule});
    const ProcessResult compiled =
        run_process({nvcc, "-std=c++17", "-O3", "-Werror", "all-warnings", "-gencode", "arch=compute_80,code=sm_80",
                     "-gencode", "arch=compute_90,code=sm_90", "-c", "-o", path("kernel.o"), path("out/a/a.cu")});
    EXPECT_EQ(compiled.status, 0) << compiled.output;
    EXPECT_THAT(compiled.output, Not(HasSubstr("warning")));
  }
}

}  // namespace
}  // namespace esc::cli
