// SPDX-License-Identifier: Apache-2.0
// --layout: B and C transposed, as PyTorch has them.

#include "tests/cli/epilogue_workshop.h"
#include "tests/support/run_size.h"

namespace esc::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class NestLayoutOption : public EpilogueWorkshop {
 protected:
  static constexpr const char* lanes_over_columns =
      "panel:ufi=8,columns=8,vector=8,groups=32,warps=4,panels=1,ufk=4,stage=on";

  static std::vector<std::string> generation(std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", "a.mtx", "--bcol", "40", "-o", "out", "--layout", "nk"});
    return more;
  }
  void generate(std::vector<std::string> more) const {
    const ProcessResult generated = escgen(generation(std::move(more)));
    ASSERT_EQ(generated.status, 0) << generated.errors;
  }
  nlohmann::json manifest(const std::string& bundle = "out/a") const {
    return parse_json(read(bundle + "/manifest.json"));
  }
};

struct NkCase {
  std::string name;
  std::string schedule;
  bool finishes_first = false;  ///< whether the first type has an epilogue
};

class LayoutNk : public NestLayoutOption, public ::testing::WithParamInterface<NkCase> {};

/// Each schedule in each type, with an epilogue or without in turns: all pairs of the three.
TEST_P(LayoutNk, MakesBundlesThatAreVerifiedAndCurrent) {
  bool finishes = GetParam().finishes_first;
  for (const std::string type : {"f32", "f64", "f16", "bf16"}) {
    const std::string epilogue = finishes ? "bias+bias_column+gelu+residual" : "";
    finishes = !finishes;
    SCOPED_TRACE(type + " " + epilogue);
    std::vector<std::string> options{"--dtype", type, "--schedule", GetParam().schedule};
    if (!epilogue.empty()) {
      options.insert(options.end(), {"--epilogue", epilogue});
    }
    std::vector<std::string> writing = options;
    writing.insert(writing.end(), {"--no-verify", "--force"});
    generate(writing);
    EXPECT_EQ(manifest()["layout"], "nk");
    expect_verified();
    options.emplace_back("--check");
    EXPECT_THAT(escgen(generation(options)).output, EndsWith("check      the bundle is current\n"));
  }
}

[[maybe_unused]] const bool layout_nk_is_sampled = tests::sample_suite("NestLayoutOption/LayoutNk", 2);

INSTANTIATE_TEST_SUITE_P(
    NestLayoutOption, LayoutNk,
    ::testing::Values(
        NkCase{"Auto", "auto"},
        NkCase{"LanesOverColumns", "panel:ufi=8,columns=8,vector=8,groups=32,warps=4,panels=1,ufk=4,stage=on", true},
        NkCase{"SixteenColumns", "panel:ufi=4,columns=16,vector=16,groups=32,warps=1,panels=4,ufk=4,stage=on"},
        NkCase{"TwoLanesOfAGroup", "panel:ufi=2,columns=16,vector=8,groups=16,warps=2,panels=1,ufk=8,stage=on", true},
        NkCase{"SeveralPanelsOfAWarp", "panel:ufi=1,columns=8,vector=8,groups=8,warps=2,panels=4,ufk=4,stage=on"},
        NkCase{"NotStaged", "panel:ufi=4,columns=16,vector=16,groups=32,warps=4,panels=1,ufk=4,stage=off", true},
        NkCase{"Rows", "rows:columns=16,vector=16,unroll=4,task=512,light=8"}),
    [](const auto& one) { return one.param.name; });

TEST_F(NestLayoutOption, IsTheShippedNest) {
  generate({"--no-verify", "--schedule", lanes_over_columns});
  ASSERT_EQ(escgen({"generate", "a.mtx", "--bcol", "40", "-o", "own", "--no-verify", "--schedule", lanes_over_columns,
                    "--kernel", ESC_SOURCE_DIR "/templates/linear_nk.c"})
                .status,
            0);
  EXPECT_EQ(snapshot("out/a"), snapshot("own/a"));
}

TEST_F(NestLayoutOption, IsKnWhereNoneIsGiven) {
  make_bundle();
  EXPECT_EQ(manifest()["layout"], "kn");
  ASSERT_EQ(escgen({"generate", "a.mtx", "--bcol", "40", "-o", "named", "--no-verify", "--schedule", "4-7-1-32",
                    "--layout", "kn"})
                .status,
            0);
  EXPECT_EQ(snapshot("out/a"), snapshot("named/a"));
}

TEST_F(NestLayoutOption, OfAnotherNestIsWhatThatSays) {
  write("nest.c", R"(
void batches(int M, int K, int B, const float W[M][K], const float X[B][K][8], float Y[B][M][8]) {
  for (int b = 0; b < B; b++)
    for (int i = 0; i < M; i++)
      for (int t = 0; t < 8; t++)
        for (int k = 0; k < K; k++)
          if (W[i][k] != 0) Y[b][i][t] += W[i][k] * X[b][k][t];
})");
  const ProcessResult generated =
      escgen({"generate", "a.mtx", "--bcol", "4", "-o", "out", "--no-verify", "--kernel", "nest.c"});
  ASSERT_EQ(generated.status, 0) << generated.errors;
  EXPECT_EQ(manifest()["layout"], "nest");
  expect_verified();
}

TEST_F(NestLayoutOption, TransposesTheMatricesOfAnEpilogue) {
  generate({"--no-verify", "--epilogue", "residual", "--schedule", lanes_over_columns});
  const std::string nest = manifest()["loop_nest"];
  EXPECT_THAT(nest, HasSubstr("B[N][K]"));
  EXPECT_THAT(nest, HasSubstr("residual[N][M]"));
  EXPECT_THAT(nest, HasSubstr("residual[j][i]"));
}

TEST_F(NestLayoutOption, ManyColumnsOfALaneAreForItAlone) {
  for (const std::string schedule : {lanes_over_columns, "rows:columns=8,vector=8"}) {
    expect_refusal({"generate", "a.mtx", "--bcol", "40", "-o", "out", "--schedule", schedule},
                   "thread N=8 is not a power of two from 1 to 4; the nearest legal value is thread=");
  }
  expect_refusal(generation({"--schedule", "panel:ufi=8,columns=16,vector=16,groups=32,stage=on"}),
                 "thread = 128 sums of a lane are more than 64, what it has registers for; the nearest legal "
                 "value is thread=8x8");
  expect_refusal(
      generation({"--schedule", "rows:columns=16,vector=16,unroll=8"}),
      "unroll_k * thread N = 128 elements of B at a time are more than 64, what a lane has registers for; the "
      "nearest legal value is unroll_k=4");
  expect_refusal(generation({"--schedule", "panel:columns=32,vector=32"}),
                 "thread N=32 is not a power of two from 1 to 4");
  const std::string tile =
      "unroll(i, 2); enumerate(); merge(); row_tiles(i, block=1, warp=1); tile(j, columns=8, vector=8)";
  expect_refusal({"lower", "--schedule", tile}, "vector=8 is outside 1 to 4");
  EXPECT_EQ(escgen({"lower", "--schedule", tile, "--layout", "nk"}).status, 0);
}

TEST_F(NestLayoutOption, DealsColumnsToTheLaneGroupsOfACopy) {
  const auto lowered = [&](const std::string& layout) {
    return escgen({"lower", "--schedule", "panel:ufi=2,groups=4,stage=on", "--layout", layout}).output;
  };
  EXPECT_THAT(lowered("nk"), HasSubstr("load_cyclic_packet("));
  EXPECT_THAT(lowered("kn"), Not(HasSubstr("load_cyclic_packet(")));
}

TEST_F(NestLayoutOption, HasAScheduleOfItsOwn) {
  const ProcessResult generated = escgen(generation({"--dry-run", "--json"}));
  ASSERT_EQ(generated.status, 0) << generated.errors;
  const nlohmann::json layer = parse_json(generated.output);
  EXPECT_THAT(layer["schedule_source"].get<std::string>(), StartsWith("model: "));
  const nlohmann::json inspected =
      parse_json(escgen({"inspect", "a.mtx", "--bcol", "40", "--layout", "nk", "--json"}).output);
  EXPECT_EQ(inspected["schedule"], layer["schedule"]);
  EXPECT_NE(parse_json(escgen({"inspect", "a.mtx", "--bcol", "40", "--json"}).output)["schedule"], layer["schedule"]);
}

TEST_F(NestLayoutOption, StandsInASpec) {
  write(
      "spec.json",
      R"({"layers": [{"matrix": "a.mtx", "bcol": 8, "layout": "nk", "schedule": "panel:ufi=2,columns=8,vector=8,groups=32"},
                                    {"matrix": "a.mtx", "bcol": 8, "name": "kn"}]})");
  const ProcessResult generated = escgen({"generate", "--spec", "spec.json", "-o", "out", "--no-verify"});
  ASSERT_EQ(generated.status, 0) << generated.errors;
  EXPECT_EQ(manifest()["layout"], "nk");
  EXPECT_EQ(manifest("out/kn")["layout"], "kn");
  write("wrong.json", R"({"layers": [{"matrix": "a.mtx", "bcol": 8, "layout": "rows"}]})");
  expect_refusal({"generate", "--spec", "wrong.json", "-o", "out2"},
                 "wrong.json: layers[0]: --layout rows is neither kn nor nk");
  write("both.json", R"({"layers": [{"matrix": "a.mtx", "bcol": 8, "layout": "nk", "kernel": "nest.c"}]})");
  expect_refusal({"generate", "--spec", "both.json", "-o", "out2"}, "--layout nk: is of no use with --kernel");
}

}  // namespace
}  // namespace esc::cli
