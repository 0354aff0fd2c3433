// SPDX-License-Identifier: Apache-2.0
// --bcol, and the key "bcol" of a spec of a model.

#include "generator/commands/token_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "generator/commands/model_spec.h"
#include "tests/support/refusals.h"

namespace esc {
namespace {

using testing::HasSubstr;

using Counts = std::vector<TokenCount>;

void expect_refused(const std::function<void()>& act, const std::string& words) {
  const std::optional<UserError> error = test::error_of(act);
  ASSERT_TRUE(error) << "accepted; expected: " << words;
  EXPECT_THAT(error->what(), HasSubstr(words));
  EXPECT_EQ(error->status(), ExitStatus::bad_input);
}

TEST(TokenCounts, AreNumbersOfColumnsWithWeights) {
  EXPECT_EQ(parse_token_counts("64"), (Counts{{64, 1}}));
  EXPECT_EQ(parse_token_counts("16,1"), (Counts{{16, 1}, {1, 1}})) << "in the order in which they are named";
  EXPECT_EQ(parse_token_counts("1:10,16:1"), (Counts{{1, 10}, {16, 1}}));
  EXPECT_EQ(parse_token_counts("1:0.25,16"), (Counts{{1, 0.25}, {16, 1}}));
  EXPECT_EQ(parse_token_counts("1:1000000000"), (Counts{{1, 1e9}}));
}

TEST(TokenCounts, AreRefusedWithPlaceRuleAndRemedy) {
  const std::string remedy = "; write it as in 1:10,16:1, ten products of one column for each of 16";
  for (const char* const weight :
       {"", "0", "-1", "+1", "nan", "inf", "1e3", "0x1", "1000000001", "2:3", " 2", "many"}) {
    const std::string text = std::string("16,1:") + weight;
    expect_refused([&] { parse_token_counts(text); },
                   "--bcol " + text + ": has '" + weight +
                       "' where a weight is needed, a number above 0 and at most 1000000000" + remedy);
  }
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"1:2,1:3", "--bcol 1:2,1:3: has 1 twice; give each number of columns once"},
           {"1:2,1", "--bcol 1:2,1: has 1 twice"},
           {":2", "--bcol :2: has '' where a whole number is needed; write it as in 64"},
           {"1.5:2", "has '1.5' where a whole number is needed"},
           {"0:2", "--bcol 0: is outside 1 to "},
           {"99999999999999999999:2", "is outside 1 to "},
           {"1,", "--bcol 1,: has '' where a whole number is needed"}}) {
    expect_refused([&, &text = text] { parse_token_counts(text); }, words);
  }
}

TEST(TokenCounts, AreWeightedWhereOneWeightIsNotOne) {
  EXPECT_FALSE(is_weighted(parse_token_counts("1,16")));
  EXPECT_FALSE(is_weighted(parse_token_counts("1:1,16:1.0")));
  EXPECT_TRUE(is_weighted(parse_token_counts("1,16:2")));
  EXPECT_EQ(weights_text(parse_token_counts("1:0.5,16")), "0.5 x N = 1, 1 x N = 16");
}

TEST(TokenCounts, AreRefusedWhereNothingIsWeighed) {
  EXPECT_NO_THROW(refuse_weights(parse_token_counts("1,16"), "--bcol 1,16", "why"));
  expect_refused([] { refuse_weights(parse_token_counts("1:2,16"), "--bcol 1:2,16", "why"); },
                 "--bcol 1:2,16: has weights, which have nothing to weigh here: why; leave them out: --bcol 1,16");
}

Counts counts_of_spec(const std::string& bcol) {
  return parse_model_spec(R"({"model": "a.safetensors", "bcol": )" + bcol + "}", "spec.json")->request.token_counts;
}

TEST(TokenCounts, AreTextsInASpecOfAModel) {
  EXPECT_EQ(counts_of_spec("8"), (Counts{{8, 1}}));
  EXPECT_EQ(counts_of_spec(R"("8:2")"), (Counts{{8, 2}}));
  EXPECT_EQ(counts_of_spec(R"([16, "1:10"])"), (Counts{{1, 10}, {16, 1}}));
  for (const auto& [bcol, words] : std::vector<std::pair<std::string, std::string>>{
           {R"([16, "1:0"])", "spec.json: --bcol 1:0 has '0' where a weight is needed"},
           {R"([1, "1:10"])", "spec.json: \"bcol\" has 1 twice"},
           {R"("1,16")", "spec.json: --bcol 1,16 has '1,16' where a whole number is needed"},
           {"[true]", "is neither a whole number nor a text with its weight, as in \"1:10\", nor a list of them"}}) {
    expect_refused([&, &bcol = bcol] { counts_of_spec(bcol); }, words);
  }
}

TEST(TokenCounts, HaveNoWeightsInASpecOfLayers) {
  expect_refused([] { parse_spec(R"({"layers": [{"matrix": "a.npy", "bcol": ["1:10", 16]}]})", "spec.json"); },
                 "\"bcol\" is neither a whole number nor a list of them");
}

}  // namespace
}  // namespace esc
