// SPDX-License-Identifier: Apache-2.0
// Scripts of directives as users may write them, drawn from the seed of the run: each is refused with a rule and a
// remedy, or every stage of its lowering computes what the input computes and its kernel agrees with the reference.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <vector>

#include "generator/pipeline.h"
#include "generator/support/error.h"
#include "tests/support/drawn_script.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/nest_memory.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

using tests::DrawnScript;
using tests::EmulatedKernel;
using tests::JudgedProduct;
using tests::ScriptDraw;

/// Expects that a refusal says which rule is broken and what to do about it.
void expect_reasons(const UserError& refusal, const DrawnScript& drawn) {
  EXPECT_NE(refusal.place(), "") << print(drawn);
  EXPECT_NE(refusal.rule(), "") << print(drawn);
  EXPECT_NE(refusal.remedy(), "") << print(drawn) << ": " << refusal.what();
}

/// The stages that the script's first directives leave, up to the one that is refused.
std::vector<LoweredStep> legal_stages(const DrawnScript& drawn) {
  std::vector<Directive> directives = drawn.directives;
  for (;; directives.pop_back()) {
    try {
      return lower_by_steps(spmm_nest(drawn.matrix.element), directives);
    } catch (const UserError& refusal) {
      expect_reasons(refusal, drawn);
    }
  }
}

void check_round_trip(const DrawnScript& drawn) {
  EXPECT_EQ(parse_script(print(drawn.directives)), drawn.directives);
  for (const Directive& directive : drawn.directives) {
    EXPECT_EQ(parse_directive(print(directive)), directive) << print(directive);
  }
}

/// The oracle of every stage is the untransformed nest.
void check_stages(const DrawnScript& drawn) {
  constexpr std::int64_t most_columns = 11;
  constexpr std::uint64_t seed = 3;
  const std::vector<LoweredStep> stages = legal_stages(drawn);
  const Memory memory = tests::memory_for(stages.back().nest, drawn.matrix, std::min(drawn.bcol, most_columns), seed);
  const Memory oracle = interpret(stages.front().nest, memory);
  for (const LoweredStep& stage : stages) {
    EXPECT_LT(tests::largest_difference(oracle, interpret(stage.nest, memory)), 1e-12)
        << "after " << stage.name << " of " << print(drawn);
  }
}

/// The layer, or nothing where the script is refused.
std::optional<GeneratedLayer> accepted(const DrawnScript& drawn) {
  try {
    return tests::layer_of(drawn.matrix, drawn.bcol, drawn.directives);
  } catch (const UserError& refusal) {
    expect_reasons(refusal, drawn);
    return std::nullopt;
  }
}

/// The product that the kernel is made for, and another one.
void check_kernel(const DrawnScript& drawn, const GeneratedLayer& layer, std::size_t iteration) {
  const EmulatedKernel kernel(layer);
  const std::vector<KernelCall> calls = kernel.calls(drawn.matrix);
  for (const KernelCall& call : {calls.front(), calls[iteration % calls.size()]}) {
    const JudgedProduct judged = kernel.multiply(drawn.matrix, call, iteration);
    EXPECT_TRUE(judged.passed()) << print(drawn) << ", " << print(call) << ": " << print(judged);
  }
}

/// One of the parts of the run, to be run beside each other.
class DrawnScripts : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DrawnScripts, AreRefusedWithReasonsOrAgreeWithTheReference) {
  const std::size_t scripts = tests::full_sweep() ? 1500 : tests::in_this_build(70);
  ScriptDraw draw(GetParam() + 1000 * tests::seed_of_the_run());
  std::size_t kernels = 0;
  for (std::size_t iteration = 0; iteration < scripts; ++iteration) {
    const DrawnScript drawn = draw.next();
    if (drawn.directives.empty()) {
      continue;
    }
    try {
      check_round_trip(drawn);
      check_stages(drawn);
      if (const auto layer = accepted(drawn)) {
        check_kernel(drawn, *layer, iteration);
        ++kernels;
      }
    } catch (const std::exception& problem) {
      ADD_FAILURE() << print(drawn) << ": " << problem.what();
    }
  }
  std::cout << fmt::format("{} of {} scripts are accepted\n", kernels, scripts);
  EXPECT_GE(kernels, scripts / 8);
  EXPECT_GE(scripts - kernels, scripts / 5);
}

[[maybe_unused]] const bool drawn_scripts_is_sampled = tests::sample_suite("EveryPart/DrawnScripts", 2);

INSTANTIATE_TEST_SUITE_P(EveryPart, DrawnScripts, testing::Range(std::uint64_t{0}, std::uint64_t{4}),
                         [](const testing::TestParamInfo<std::uint64_t>& part) {
                           return fmt::format("{}", part.param);
                         });

TEST(ScriptDraw, IsTheSameFromASeed) {
  ScriptDraw one(7);
  ScriptDraw other(7);
  for (int iteration = 0; iteration < 50; ++iteration) {
    const DrawnScript drawn = one.next();
    EXPECT_EQ(print(other.next()), print(drawn));
  }
}

}  // namespace
}  // namespace esc
