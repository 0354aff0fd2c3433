// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/finish.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace esc {
namespace {

const Expression sum{Name{"sum"}};

Expression operation(Operator op, std::vector<Expression> operands) { return Operation{op, std::move(operands)}; }

LoopNest nest_with(Expression value, std::vector<Define> steps = {}, ScalarType type = ScalarType::f32) {
  LoopNest nest = spmm_nest(type);
  nest.epilogue = Epilogue{{"i", "j"}, "sum", std::move(steps), std::move(value)};
  return nest;
}

Bounded finished(const Expression& value, Bounded given, ScalarType type = ScalarType::f32) {
  return finish(nest_with(value, {}, type), {}, 2, 3, given);
}

constexpr double unit = 0x1p-24;

TEST(Finish, HandsTheSumOn) {
  const Bounded result = finished(sum, {2.5, 0.25});
  EXPECT_EQ(result.value, 2.5);
  EXPECT_EQ(result.error, 0.25);
}

TEST(Finish, AddsTheRoundingOfEachOperation) {
  const Bounded added = finished(operation(Operator::add, {sum, Expression(1.0)}), {3, 0});
  EXPECT_EQ(added.value, 4);
  EXPECT_GE(added.error, 4 * unit);
  EXPECT_LE(added.error, 6 * unit);
  const Bounded exact = finished(operation(Operator::add, {sum, Expression(1.0)}), {3, 0}, ScalarType::f64);
  EXPECT_LT(exact.error, 1e-14);
}

TEST(Finish, ScalesTheErrorOfTheSum) {
  const Bounded product = finished(operation(Operator::multiply, {sum, Expression(-8.0)}), {1, 0.5});
  EXPECT_EQ(product.value, -8);
  EXPECT_NEAR(product.error, 4, 1e-5);
  const Bounded quotient = finished(operation(Operator::divide, {Expression(1.0), sum}), {2, 0.5});
  EXPECT_EQ(quotient.value, 0.5);
  EXPECT_GE(quotient.error, 1 / 1.5 - 0.5) << "the sum may be 1.5";
}

TEST(Finish, KnowsNothingNearAPole) {
  EXPECT_TRUE(std::isinf(finished(operation(Operator::divide, {Expression(1.0), sum}), {0.1, 0.2}).error));
  EXPECT_TRUE(std::isinf(finished(Call{"log", {sum}}, {0.1, 0.2}).error));
  EXPECT_TRUE(std::isinf(finished(Call{"exp", {sum}}, {100, 0}).error)) << "no float is as large";
  EXPECT_TRUE(std::isfinite(finished(Call{"exp", {sum}}, {100, 0}, ScalarType::f64).error));
}

TEST(Finish, CountsBothWaysWhereRoundingTurnsAComparison) {
  const Expression step = operation(Operator::choose, {less(sum, Expression(0.0)), Expression(0.0), Expression(1.0)});
  EXPECT_LT(finished(step, {0.5, 0.1}).error, 1e-6);
  EXPECT_GE(finished(step, {0.05, 0.1}).error, 1);
  EXPECT_LT(finished(step, {0, 0}).error, 1e-6) << "an exact sum turns nothing";
  const Expression kink = operation(Operator::choose, {less(sum, Expression(0.0)), Expression(0.0), sum});
  EXPECT_LE(finished(kink, {0.05, 0.1}).error, 0.16) << "relu hardly jumps";
}

TEST(Finish, DecidesConjunctionsByWhatIsSure) {
  const Expression unsure = less(sum, Expression(0.0));
  const auto choice = [](Expression condition) {
    return operation(Operator::choose, {std::move(condition), Expression(0.0), Expression(1.0)});
  };
  const Bounded near{0.01, 0.1};
  EXPECT_LT(finished(choice(operation(Operator::all, {unsure, less(Expression(2.0), Expression(1.0))})), near).error,
            1e-6);
  EXPECT_GE(finished(choice(operation(Operator::all, {unsure, less(Expression(1.0), Expression(2.0))})), near).error,
            1);
  EXPECT_LT(finished(choice(operation(Operator::any, {unsure, less(Expression(1.0), Expression(2.0))})), near).error,
            1e-6);
}

TEST(Finish, FollowsFunctions) {
  const Bounded tanh = finished(Call{"tanh", {sum}}, {0.5, 0.01});
  EXPECT_EQ(tanh.value, std::tanh(0.5));
  EXPECT_GE(tanh.error, std::tanh(0.51) - std::tanh(0.5));
  EXPECT_LE(tanh.error, 0.05);
  const Bounded larger = finished(Call{"fmax", {sum, Expression(0.0)}}, {-3, 0.5});
  EXPECT_EQ(larger.value, 0);
  EXPECT_LT(larger.error, 1e-6);
}

TEST(Finish, ReadsOperandsAtTheElement) {
  LoopNest nest =
      nest_with(operation(Operator::add, {Expression(Access{"bias", {{"", Affine::of("i")}}}),
                                          Expression(Access{"all", {{"", Affine::of("i")}, {"", Affine::of("j")}}})}));
  const std::vector<Operand> operands{{"bias", ScalarType::f32, 1, false, 3, 1, {10, 20, 30}},
                                      {"all", ScalarType::f32, 2, true, 3, 4, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7}}};
  EXPECT_EQ(finish(nest, operands, 2, 3, {0, 0}).value, 37);
}

TEST(Finish, NamesSteps) {
  const Define twice{ScalarType::f32, "twice", operation(Operator::add, {sum, sum})};
  const Bounded result =
      finish(nest_with(operation(Operator::negate, {Expression(Name{"twice"})}), {twice}), {}, 0, 0, {3, 1});
  EXPECT_EQ(result.value, -6);
  EXPECT_GE(result.error, 2);
}

}  // namespace
}  // namespace esc
