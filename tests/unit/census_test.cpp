// SPDX-License-Identifier: Apache-2.0
#include "generator/patterns/census.h"

#include <gtest/gtest.h>

#include "generator/matrix/sample.h"
#include "generator/patterns/csr_view.h"
#include "generator/support/error.h"
#include "transformer/pack.h"

namespace esc {
namespace {

/// 3 x 4: {1, 0, 2, 3; 0, 4, 5, 6; 7, 0, 0, 8}.
const SparseMatrix small{3, 4, {0, 3, 6, 8}, {0, 2, 3, 1, 2, 3, 0, 3}, {1, 2, 3, 4, 5, 6, 7, 8}};

TEST(Pattern, PrintsRowZeroRightmost) {
  EXPECT_EQ(print(Pattern{0b0110, 4}), "0b0110");
  EXPECT_EQ(print(Pattern{1, 1}), "0b1");
}

TEST(Pattern, RanksRowsAmongItsOwn) {
  const Pattern pattern{0b1101, 4};
  EXPECT_EQ(pattern.popcount(), 3);
  EXPECT_TRUE(pattern.has_row(0));
  EXPECT_FALSE(pattern.has_row(1));
  EXPECT_EQ(pattern.rank(0), 0);
  EXPECT_EQ(pattern.rank(2), 1);
  EXPECT_EQ(pattern.rank(3), 2);
}

TEST(Census, CountsTheColumnsOfEachPattern) {
  const PatternCensus census = take_census(small, 2);
  EXPECT_EQ(census.row_tiles, 2);
  // Row tile 0: columns 0 {row 0}, 1 {row 1}, 2 and 3 {both}; row tile 1 has one row: columns 0 and 3.
  const std::map<Pattern, std::int64_t> expected{{{0b01, 2}, 3}, {{0b10, 2}, 1}, {{0b11, 2}, 2}};
  EXPECT_EQ(census.columns, expected);
  EXPECT_EQ(census.enumerated_columns(), 6);
  EXPECT_EQ(census.occupied_pairs, 4);
  EXPECT_DOUBLE_EQ(census.reuse(), 8.0 / 6.0);
  EXPECT_DOUBLE_EQ(census.empty_pairs(), 1.0 - 4.0 / 6.0);
}

TEST(Census, OfOneRowPanelsHasOnePattern) {
  const PatternCensus census = take_census(small, 1);
  EXPECT_EQ(census.patterns(), (std::vector<Pattern>{{1, 1}}));
  EXPECT_DOUBLE_EQ(census.reuse(), 1.0);
}

TEST(Census, OfZerosIsEmpty) {
  const PatternCensus census = take_census({2, 2, {0, 0, 0}, {}, {}}, 4);
  EXPECT_TRUE(census.patterns().empty());
  EXPECT_EQ(census.reuse(), 0.0);
  EXPECT_DOUBLE_EQ(census.empty_pairs(), 1.0);
}

TEST(Census, AgreesWithThePacker) {
  const SparseMatrix matrix = sample_matrix({.rows = 37, .columns = 91, .sparsity = 0.6, .seed = 5});
  for (int height = 1; height <= 8; ++height) {
    const PatternCensus census = take_census(matrix, height);
    const transformer::ListFormat format =
        transformer::plan(csr_view(matrix), transformer::ListCut{.height = static_cast<std::uint32_t>(height)});
    EXPECT_EQ(census.enumerated_columns(), static_cast<std::int64_t>(format.counts.columns));
    EXPECT_EQ(census.occupied_pairs, static_cast<std::int64_t>(format.counts.lists));
  }
}

TEST(Census, RefusesOtherHeights) {
  EXPECT_THROW(take_census(small, 0), Defect);
  EXPECT_THROW(take_census(small, 9), Defect);
}

}  // namespace
}  // namespace esc
