// SPDX-License-Identifier: Apache-2.0
// --max-packed: the packed matrix's bytes over those as CSR as a limit on the schedule.

#include <fmt/format.h>

#include "tests/cli/workshop.h"

namespace esc::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class MaxPacked : public Workshop {
 protected:
  void SetUp() override {
    ASSERT_EQ(
        escgen({"sample", "-o", "b.mtx", "--rows", "256", "--cols", "300", "--sparsity", "0.8", "--seed", "5"}).status,
        0);
  }

  static std::vector<std::string> line(std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", "b.mtx", "--bcol", "64", "-o", "out", "--dry-run", "--json"});
    return more;
  }
  nlohmann::json layer(const std::vector<std::string>& more) const {
    const ProcessResult generated = escgen(line(more));
    EXPECT_EQ(generated.status, 0) << generated.errors;
    return parse_json(generated.output);
  }
  static double ratio(const nlohmann::json& layer) {
    return layer["packed_bytes"].get<double>() / layer["csr_bytes"].get<double>();
  }
  /// The limit that the refusal of a far smaller one says to allow.
  std::string least_allowed() const {
    const std::string errors = escgen(line({"--max-packed", "0.01"})).errors;
    const std::string words = "allow --max-packed ";
    const std::size_t at = errors.find(words);
    EXPECT_NE(at, std::string::npos) << errors;
    const std::string rest = errors.substr(at + words.size());
    return rest.substr(0, rest.find(','));
  }
};

TEST_F(MaxPacked, IsNoLimitWhereTheBestIsWithinIt) {
  const nlohmann::json best = layer({});
  const nlohmann::json within = layer({"--max-packed", "1000"});
  EXPECT_EQ(within["schedule"], best["schedule"]);
  EXPECT_EQ(within["schedule_source"],
            best["schedule_source"].get<std::string>() + ", number 1 in rank, the first within 1000 of CSR");
}

TEST_F(MaxPacked, TakesTheNextInRankThatIsWithinIt) {
  const std::string limit = least_allowed();
  const double best = ratio(layer({}));
  ASSERT_LT(std::stod(limit), best) << "the matrix is not one for this test";
  const nlohmann::json small = layer({"--max-packed", limit});
  EXPECT_LE(ratio(small), std::stod(limit));
  EXPECT_THAT(small["schedule_source"].get<std::string>(),
              HasSubstr(fmt::format("in rank, the first within {} of CSR", std::stod(limit))));
  const nlohmann::json between = layer({"--max-packed", std::to_string((best + std::stod(limit)) / 2)});
  EXPECT_LE(ratio(between), (best + std::stod(limit)) / 2);
}

TEST_F(MaxPacked, IsAShareOfDenseInPercent) {
  ASSERT_EQ(escgen({"sample", "-o", "b.mtx", "--rows", "64", "--cols", "300", "--sparsity", "0.7"}).status, 0);
  constexpr double dense = 64 * 300 * 2;
  ASSERT_GT(layer({"--dtype", "f16"})["packed_bytes"].get<double>(), 0.6 * dense)
      << "the matrix is not one for this test";
  const nlohmann::json small = layer({"--dtype", "f16", "--max-packed", "60%"});
  EXPECT_LE(small["packed_bytes"].get<double>(), 0.6 * dense);
  EXPECT_THAT(small["schedule"].get<std::string>(), StartsWith("bitmap:"));
  EXPECT_THAT(small["schedule_source"].get<std::string>(), HasSubstr("in rank, the first within 60% of dense"));
  const ProcessResult refused = escgen(line({"--dtype", "f16", "--max-packed", "2%"}));
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors,
              AllOf(HasSubstr("--max-packed 2%: no schedule that is known for such layers packs b so small"),
                    HasSubstr(" % of its dense bytes; allow --max-packed "), HasSubstr("%, or try")));
}

/// Eight rows of a row tile share few columns at 90 % zeros: with their explicit zeros they take more than twice the
/// bytes of CSR, and 4 MB.
TEST_F(MaxPacked, IsTwiceCsrWithoutAWordWhereOneInTheRankingIsWithinThat) {
  ASSERT_EQ(escgen({"sample", "-o", "b.mtx", "--rows", "2048", "--cols", "1200", "--sparsity", "0.9"}).status, 0);
  const std::string large = "panel:ufi=8,columns=64,groups=2,warps=8,stage=on";
  ASSERT_GT(ratio(layer({"--schedule", large})), 2);
  write("mine.txt", "device sm90-132sm-60mib My GPU\ndtype f32\nevidence measured\ncandidate 64 0 " + large +
                        "\ncandidate 64 1 panel:ufi=1,columns=64,groups=2,warps=8\n"
                        "class 64 22 20 14 15 3 - - 0.0 7.0\n");
  const nlohmann::json small = layer({"--database", "mine.txt"});
  EXPECT_THAT(small["schedule"].get<std::string>(), StartsWith("panel: tile=1x"));
  EXPECT_LE(ratio(small), 2);
}

TEST_F(MaxPacked, IsRefusedWhereNothingIsWithinIt) {
  expect_refusal(line({"--max-packed", "0.01"}),
                 "--max-packed 0.01: no schedule that is known for such layers packs b so small: the smallest, ");
  EXPECT_THAT(escgen(line({"--max-packed", "0.01"})).errors,
              AllOf(HasSubstr(" of its bytes as CSR; allow --max-packed "), HasSubstr("or try other schedules")));
}

TEST_F(MaxPacked, RefusesANamedScheduleThatExceedsIt) {
  for (const std::string schedule : {"panel:warps=8", "rows:task=64", "4-7-1-32", "published"}) {
    SCOPED_TRACE(schedule);
    const double taken = ratio(layer({"--schedule", schedule}));
    const std::string below = std::to_string(0.99 * taken);
    const ProcessResult refused = escgen(line({"--schedule", schedule, "--max-packed", below}));
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.errors, AllOf(StartsWith("escgen: --max-packed "),
                                      HasSubstr(fmt::format("into {:.2f} of its bytes as CSR", taken)),
                                      HasSubstr("leave the schedule to auto, or allow --max-packed ")));
    EXPECT_EQ(layer({"--schedule", schedule, "--max-packed", std::to_string(1.01 * taken)})["schedule"],
              layer({"--schedule", schedule})["schedule"]);
  }
}

}  // namespace
}  // namespace esc::cli
