// SPDX-License-Identifier: Apache-2.0
// --size, and the key "sizes" of a spec.

#include "generator/commands/sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "generator/commands/layer_request.h"
#include "tests/support/refusals.h"

namespace esc {
namespace {

using testing::HasSubstr;

void expect_refusal(const std::function<void()>& act, const std::string& words) {
  const std::optional<UserError> error = test::error_of(act);
  ASSERT_TRUE(error) << "accepted; expected: " << words;
  EXPECT_THAT(error->what(), HasSubstr(words));
  EXPECT_EQ(error->status(), ExitStatus::bad_input);
}

TEST(Sizes, AreNamesWithNumbers) {
  EXPECT_EQ(parse_sizes({}), Environment());
  EXPECT_EQ(parse_sizes({"stride=2"}), (Environment{{"stride", 2}}));
  EXPECT_EQ(parse_sizes({"stride=2,pad=0", "H=2147483647"}),
            (Environment{{"H", 2147483647}, {"pad", 0}, {"stride", 2}}));
}

TEST(Sizes, AreRefusedWithTheOption) {
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"stride",
            "--size stride: has 'stride' where a name with a whole number is needed; write it as in stride=2, or "
            "several as in"},
           {"", "--size : has ''"},
           {"stride=", "has 'stride='"},
           {"stride=two", "has 'stride=two'"},
           {"stride=2.5", "has 'stride=2.5'"},
           {"stride=2,", "has ''"},
           {"stride=0x2", "has 'stride=0x2'"},
           {"stride=2=3", "has 'stride=2=3'"},
           {"stride=+2", "has 'stride=+2'"},
           {"=2", "'' is no name of a parameter"},
           {"a b=2", "'a b' is no name of a parameter"},
           {"pad=-1",
            "--size pad=-1: is outside 0 to 2147483647; give the number that the parameter has in every call"},
           {"H=2147483648", "--size H=2147483648: is outside"},
           {"H=99999999999999999999", "is outside"},
           {"H=4,W=4,H=4", "--size H=4: gives H a second number; give each parameter once"}}) {
    expect_refusal([&, &text = text] { parse_sizes({text}); }, words);
  }
  expect_refusal([] { parse_sizes({"H=4", "H=5"}); }, "--size H=5: gives H a second number");
}

std::string spec_with(const std::string& sizes) {
  return R"({"layers": [{"matrix": "a.npy", "bcol": 64, "kernel": "conv.c", "sizes": )" + sizes + "}]}";
}

TEST(Sizes, StandInASpec) {
  const std::vector<LayerRequest> requests = parse_spec(spec_with(R"({"stride": 2, "pad": 0})"), "layers.json");
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].nest.sizes.named, (Environment{{"pad", 0}, {"stride", 2}}));
  EXPECT_TRUE(requests[0].nest.sizes.weights.empty());
}

TEST(Sizes, OfASpecAreRefusedAtTheirPlace) {
  for (const auto& [sizes, words] : std::vector<std::pair<std::string, std::string>>{
           {"[2]", "layers.json: layers[0]: \"sizes\" is not an object of names and numbers; its keys are"},
           {R"({"stride": "2"})", "layers.json: layers[0]: \"sizes\" has no whole number for \"stride\""},
           {R"({"stride": 1.5})", "has no whole number for \"stride\""},
           {R"({"stride": -1})", "layers.json: layers[0]: --size stride=-1 is outside 0 to 2147483647"},
           {R"({"stride": 18446744073709551615})", "is outside 0 to 2147483647"},
           {R"({"a-b": 1})", "'a-b' is no name of a parameter"}}) {
    expect_refusal([&, &sizes = sizes] { parse_spec(spec_with(sizes), "layers.json"); }, words);
  }
}

}  // namespace
}  // namespace esc
