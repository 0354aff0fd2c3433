// SPDX-License-Identifier: Apache-2.0
// Nests as JSON: what programs that do not read C get of every program that is accepted.

#include "generator/ir/nest_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/commands/epilogue_nest.h"
#include "generator/emit/layout_class.h"
#include "generator/emit/templates.h"
#include "generator/frontend/parse_loop_nest.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/support/error.h"
#include "tests/unit/accepted_epilogues.h"
#include "tests/unit/accepted_nests.h"
#include "tests/unit/any_nests.h"

namespace esc {
namespace {

void expect_kept(const LoopNest& nest) {
  const std::string text = nest_json(nest);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(parse_nest_json(text, "nest.json"), nest);
  EXPECT_EQ(nest_json(parse_nest_json(text, "nest.json")), text);
}

TEST(NestJson, KeepsEveryAcceptedProduct) {
  for (const Variant& variant : accepted_nests()) {
    SCOPED_TRACE(variant.name);
    expect_kept(parse_loop_nest(variant.source, variant.file));
  }
}

TEST(NestJson, KeepsEveryAcceptedEpilogue) {
  for (const EpilogueVariant& variant : accepted_epilogues()) {
    SCOPED_TRACE(variant.name);
    expect_kept(parse_loop_nest(variant.source, variant.file));
  }
}

TEST(NestJson, KeepsNestsOfAnyLoops) {
  int kept = 0;
  for (const AnyNest& nest : any_nests()) {
    SCOPED_TRACE(nest.name);
    try {
      expect_kept(parse_loop_nest(nest.source, "nest.c", NestHeaders::of_system, nest.sizes));
      ++kept;
    } catch (const UserError&) {
      continue;  // read as it is written, but no product
    }
  }
  EXPECT_GT(kept, 0);
}

TEST(NestJson, KeepsTheShippedConvolutions) {
  for (const std::string_view text : {conv2d_template, conv2d_nhwc_template, conv2d_groups_template}) {
    SCOPED_TRACE(text);
    GivenSizes sizes{{{"H", 14}, {"W", 14}, {"stride", 2}, {"pad", 1}, {"dilation", 1}}, {8, 4, 3, 3}};
    if (text == conv2d_groups_template) {
      sizes.named.emplace("groups", 2);
    }
    expect_kept(parse_loop_nest(std::string(text), "conv.c", NestHeaders::of_system, sizes));
  }
}

TEST(NestJson, HasTheShippedProductsWithoutReadingC) {
  EXPECT_EQ(linear_nk_nest(), parse_loop_nest(std::string(linear_nk_template), "linear_nk.c"));
  EXPECT_EQ(spmm_nest(), parse_loop_nest(std::string(spmm_template), "spmm.c"));
}

TEST(NestJson, RefusesOtherTexts) {
  const std::string text = nest_json(spmm_nest());
  const auto expect_refused = [](const std::string& wrong) {
    EXPECT_THROW(static_cast<void>(parse_nest_json(wrong, "nest.json")), UserError) << wrong;
  };
  for (const char* const wrong :
       {"", "{", "[]", "7", "{}", "null", R"({"nest":1})", R"({"nest":2,"arrays":[],"body":[]})"}) {
    expect_refused(wrong);
  }
  for (const auto& [from, to] :
       {std::pair("sparse", "spare"), std::pair("reduction", "x"), std::pair("multiply", "x"), std::pair("f32", "f8"),
        std::pair("differs", "affine"), std::pair("\"guard\"", "\"gard\"")}) {
    std::string wrong = text;
    const std::size_t at = wrong.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    expect_refused(wrong.replace(at, std::string(from).size(), to));
  }
}

TEST(LayoutClass, IsKnOrNkOrSaysWhatRunsOverEachDimension) {
  EXPECT_EQ(layout_class(spmm_nest()), "kn");
  EXPECT_EQ(layout_class(linear_nk_nest()), "nk");
  EXPECT_EQ(layout_class(parse_loop_nest(nest_with_epilogue("bias+relu"), "spmm.c")), "kn");
  EXPECT_EQ(layout_class(parse_loop_nest(nest_with_epilogue("bias+residual", NestLayout::nk), "spmm.c")), "nk");
  const auto convolution = [](std::string_view text, int edge, int stride, int image) {
    return layout_class(parse_loop_nest(
        std::string(text), "conv.c", NestHeaders::of_system,
        {{{"H", image}, {"W", image}, {"stride", stride}, {"pad", edge / 2}, {"dilation", 1}}, {8, 4, edge, edge}}));
  };
  EXPECT_EQ(convolution(conv2d_template, 3, 1, 14), "n_k_nk_nk.n_m_n_n");
  EXPECT_EQ(convolution(conv2d_template, 3, 1, 28), "n_k_nk_nk.n_m_n_n") << "sizes do not matter";
  EXPECT_EQ(convolution(conv2d_template, 3, 2, 14), "n_k_2nk_2nk.n_m_n_n");
  EXPECT_EQ(convolution(conv2d_template, 1, 1, 14), "n_k_n_n.n_m_n_n");
  EXPECT_EQ(convolution(conv2d_nhwc_template, 3, 1, 14), "n_nk_nk_k.n_n_n_m");
}

}  // namespace
}  // namespace esc
