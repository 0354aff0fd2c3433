// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>

#include "generator/frontend/polynomial.h"

namespace esc::frontend {
namespace {

const Polynomial i = Polynomial::of("i");
const Polynomial k = Polynomial::of("k");
const Polynomial size = Polynomial::of("K");

TEST(Polynomial, FlatSubscriptPrintsAsASumOfProducts) {
  const Polynomial flat = *i.times(size)->plus(k);
  EXPECT_EQ(print(flat), "K*i + k");
  EXPECT_EQ(flat, *k.plus(*size.times(i)));
  EXPECT_EQ(flat.affine(), std::nullopt);
}

TEST(Polynomial, CoefficientIsWhatStandsBeforeTheName) {
  const Polynomial flat = *i.times(*size.plus(3))->plus(k);
  EXPECT_EQ(flat.coefficient("i"), *size.plus(3));
  EXPECT_EQ(flat.coefficient("k"), Polynomial(1));
  EXPECT_EQ(flat.coefficient("j"), Polynomial(0));
}

TEST(Polynomial, TermsThatCancelAreGone) {
  const Polynomial zero = *i.times(size)->minus(*size.times(i));
  EXPECT_EQ(zero, Polynomial(0));
  EXPECT_TRUE(zero.is_constant());
  EXPECT_FALSE(zero.mentions("i"));
  EXPECT_EQ(print(zero), "0");
}

TEST(Polynomial, AffineBothWays) {
  const Affine affine = Affine::of("i", -2) + Affine::of("k") + 5;
  EXPECT_EQ(Polynomial(affine).affine(), affine);
  EXPECT_EQ(print(Polynomial(affine)), "-2*i + k + 5");
}

TEST(Polynomial, SixtyFourBitsAreTheLimit) {
  const Polynomial large = INT64_MAX;
  EXPECT_EQ(large.plus(1), std::nullopt);
  EXPECT_EQ(large.times(2), std::nullopt);
  EXPECT_EQ(Polynomial(INT64_MIN).minus(1), std::nullopt);
  EXPECT_EQ(print(Polynomial(INT64_MIN)), "-9223372036854775808");
}

}  // namespace
}  // namespace esc::frontend
