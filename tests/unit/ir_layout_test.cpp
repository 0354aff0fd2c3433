// SPDX-License-Identifier: Apache-2.0
// Where the elements of a matrix are in an array of any dimensions.

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "generator/ir/joined_digits.h"
#include "generator/ir/layout.h"
#include "generator/ir/placed_layout.h"

namespace esc {
namespace {

Digit digit(const std::string& name, const Affine& extent) { return {name, extent}; }

StoredDimension dimension(const Affine& extent, const Affine& index, bool padded = false) {
  return {extent, index, padded};
}

/// X[b][c][2p + r - 1][q + s]: images of 4 channels of 5 x 6 pixels, 3 x 2 output pixels, a kernel of 3 x 2.
Layout image() {
  const Affine items = Affine::of("items");
  return {
      {digit("c", 4), digit("r", 3), digit("s", 2)},
      {digit("b", items), digit("p", 3), digit("q", 5)},
      {dimension(items, Affine::of("b")), dimension(4, Affine::of("c")),
       dimension(5, Affine::of("p", 2) + Affine::of("r") - 1, true), dimension(6, Affine::of("q") + Affine::of("s"))}};
}

TEST(Layout, KnowsRowsOneBehindTheOther) {
  const Layout plain = row_major("k", Affine::of("K"), "j", Affine::of("N"));
  EXPECT_TRUE(is_row_major(plain));
  Layout transposed = plain;
  std::swap(transposed.dimensions[0], transposed.dimensions[1]);
  EXPECT_FALSE(is_row_major(transposed));
  EXPECT_FALSE(is_row_major(image()));
  Layout shifted = plain;
  shifted.dimensions[1].index = Affine::of("j") + 1;
  EXPECT_FALSE(is_row_major(shifted));
}

TEST(Layout, KnowsWhetherColumnsFollowEachOtherInMemory) {
  const Layout plain = row_major("k", Affine::of("K"), "j", Affine::of("N"));
  Layout transposed = plain;
  std::swap(transposed.dimensions[0], transposed.dimensions[1]);
  EXPECT_TRUE(has_contiguous_columns(plain));
  EXPECT_TRUE(has_contiguous_columns(image()));
  EXPECT_FALSE(has_contiguous_columns(transposed));
  EXPECT_TRUE(is_column_major(transposed));
  EXPECT_FALSE(is_column_major(plain));
  EXPECT_FALSE(is_column_major(image()));
}

TEST(Layout, KnowsWhetherTheRowsOfAColumnFollowEachOtherInMemory) {
  const Layout plain = row_major("k", Affine::of("K"), "j", Affine::of("N"));
  Layout transposed = plain;
  std::swap(transposed.dimensions[0], transposed.dimensions[1]);
  EXPECT_TRUE(has_contiguous_rows(transposed));
  EXPECT_FALSE(has_contiguous_rows(plain));
  EXPECT_FALSE(has_contiguous_rows(image()));
  Layout shifted = transposed;
  shifted.dimensions[1].index = Affine::of("k") + Affine::of("j");
  EXPECT_FALSE(has_contiguous_rows(shifted));
  Layout padded = transposed;
  padded.dimensions[1].padded = true;
  EXPECT_FALSE(has_contiguous_rows(padded));
  Layout padded_columns = transposed;
  padded_columns.dimensions.front().padded = true;
  EXPECT_FALSE(has_contiguous_rows(padded_columns));
}

TEST(Layout, PlacesAMatrixRowAfterRow) {
  const PlacedLayout placed(row_major("k", Affine::of("K"), "j", Affine::of("N")), {{"K", 3}});
  EXPECT_EQ(placed.columns_of_item(), 1);
  EXPECT_EQ(placed.outermost_extent(3, 7), 3);
  EXPECT_EQ(placed.least_leading_dimension(7), 7);
  EXPECT_EQ(placed.offset(2, 4, 7), 18);
  EXPECT_EQ(placed.offset(2, 4, 10), 24);
}

TEST(Layout, PlacesATransposedMatrixColumnAfterColumn) {
  Layout layout = row_major("k", Affine::of("K"), "j", Affine::of("N"));
  std::swap(layout.dimensions[0], layout.dimensions[1]);
  const PlacedLayout placed(layout, {{"K", 3}});
  EXPECT_EQ(placed.outermost_extent(3, 7), 7);
  EXPECT_EQ(placed.least_leading_dimension(7), 3);
  EXPECT_EQ(placed.offset(2, 4, 3), 14);
  EXPECT_EQ(placed.offset(2, 4, 5), 22);
}

TEST(Layout, PlacesBatchesInEitherOrder) {
  const Affine items = Affine::of("items");
  const Affine b = Affine::of("b");
  const Affine k = Affine::of("k");
  const Affine t = Affine::of("t");
  const std::vector<Digit> columns{digit("b", items), digit("t", 4)};
  const PlacedLayout images_outside(
      {{digit("k", Affine::of("K"))}, columns, {dimension(items, b), dimension(Affine::of("K"), k), dimension(4, t)}},
      {{"K", 3}});
  EXPECT_EQ(images_outside.columns_of_item(), 4);
  EXPECT_EQ(images_outside.outermost_extent(9, 2), 2);
  EXPECT_EQ(images_outside.least_leading_dimension(2), 12);
  EXPECT_EQ(images_outside.offset(2, 1 * 4 + 3, 12), 12 + 2 * 4 + 3);
  EXPECT_EQ(images_outside.offset(2, 1 * 4 + 3, 20), 20 + 2 * 4 + 3);
  const PlacedLayout rows_outside(
      {{digit("k", Affine::of("K"))}, columns, {dimension(Affine::of("K"), k), dimension(items, b), dimension(4, t)}},
      {{"K", 3}});
  EXPECT_EQ(rows_outside.outermost_extent(3, 2), 3);
  EXPECT_EQ(rows_outside.least_leading_dimension(2), 8);
  EXPECT_EQ(rows_outside.offset(2, 1 * 4 + 3, 8), 2 * 8 + 4 + 3);
}

TEST(Layout, PlacesImagesAndLeavesOutTheirPadding) {
  const PlacedLayout placed(image(), {});
  EXPECT_EQ(placed.columns_of_item(), 15);
  EXPECT_EQ(placed.outermost_extent(9, 2), 2);
  EXPECT_EQ(placed.least_leading_dimension(2), 4 * 5 * 6);
  const auto offset = [&](std::int64_t c, std::int64_t r, std::int64_t s, std::int64_t b, std::int64_t p,
                          std::int64_t q) { return placed.offset((c * 3 + r) * 2 + s, (b * 3 + p) * 5 + q, 150); };
  EXPECT_EQ(offset(3, 1, 1, 1, 2, 4), 150 + 3 * 30 + 4 * 6 + 5);
  EXPECT_EQ(offset(0, 1, 0, 0, 0, 0), 0);
  EXPECT_EQ(offset(0, 0, 0, 0, 0, 0), std::nullopt) << "before the first line";
  EXPECT_EQ(offset(0, 2, 0, 1, 2, 0), std::nullopt) << "after the last line";
}

TEST(Layout, PlacesTheElementsOfALineInOneRun) {
  Layout padded = image();
  padded.dimensions.back() = dimension(4, Affine::of("q") + Affine::of("s") - 1, true);
  const PlacedLayout placed(padded, {});
  constexpr std::int64_t leading_dimension = 150;
  for (std::int64_t row = 0; row < 24; ++row) {
    for (const std::int64_t first : {0, 7}) {
      std::map<std::int64_t, std::int64_t> found;
      for (const PlacedLayout::Run& run : placed.runs(row, first, 40 - first, leading_dimension)) {
        EXPECT_EQ(run.column / 5, (run.column + run.count - 1) / 5) << "a line of the output has five points";
        for (std::int64_t at = 0; at < run.count; ++at) {
          EXPECT_TRUE(found.emplace(run.column + at, run.offset + at * run.step).second);
        }
      }
      for (std::int64_t column = first; column < 40; ++column) {
        const auto one = found.find(column);
        const std::optional<std::int64_t> offset = placed.offset(row, column, leading_dimension);
        ASSERT_EQ(one != found.end(), offset.has_value()) << row << ' ' << column;
        EXPECT_TRUE(!offset || one->second == *offset) << row << ' ' << column;
      }
    }
  }
}

TEST(Layout, PlacesARowOfAMatrixInOneRun) {
  const PlacedLayout placed(row_major("k", Affine::of("K"), "j", Affine::of("N")), {{"K", 3}});
  const std::vector<PlacedLayout::Run> runs = placed.runs(2, 4, 6, 10);
  ASSERT_EQ(runs.size(), 1);
  EXPECT_EQ(runs.front().column, 4);
  EXPECT_EQ(runs.front().count, 6);
  EXPECT_EQ(runs.front().offset, 24);
  EXPECT_EQ(runs.front().step, 1);
}

/// X[b][c][p][q] of `lines` x `points` pixels, which filters of one pixel read.
Layout points_of_images(int lines, int points) {
  const Affine items = Affine::of("items");
  return {{digit("k", Affine::of("K"))},
          {digit("b", items), digit("p", lines), digit("q", points)},
          {dimension(items, Affine::of("b")), dimension(Affine::of("K"), Affine::of("k")),
           dimension(lines, Affine::of("p")), dimension(points, Affine::of("q"))}};
}

TEST(Layout, JoinsTheLinesOfAnImage) {
  const Layout joined = join_columns(points_of_images(14, 14));
  EXPECT_EQ(joined.column, (std::vector<Digit>{digit("b", Affine::of("items")), digit("q", 196)}));
  ASSERT_EQ(joined.dimensions.size(), 3);
  EXPECT_EQ(joined.dimensions.back(), dimension(196, Affine::of("q")));
  EXPECT_TRUE(PlacedLayout(points_of_images(14, 14), {{"K", 3}}).moves_vectors(4)) << "a line has 14, an image 196";
  EXPECT_FALSE(PlacedLayout(points_of_images(7, 7), {{"K", 3}}).moves_vectors(4));
}

TEST(Layout, JoinsNoColumnsThatDoNotGoOn) {
  Layout steps = points_of_images(14, 14);
  steps.dimensions[2].index = Affine::of("p", 2);
  EXPECT_EQ(join_columns(steps), steps);
  Layout wider = points_of_images(14, 14);
  wider.dimensions[3].extent = 16;
  EXPECT_EQ(join_columns(wider), wider) << "between the lines there is something else";
  Layout between = points_of_images(14, 14);
  std::swap(between.dimensions[2], between.dimensions[1]);
  EXPECT_EQ(join_columns(between), between);
  Layout outermost = points_of_images(14, 14);
  outermost.dimensions.erase(outermost.dimensions.begin(), outermost.dimensions.begin() + 2);
  EXPECT_EQ(join_columns(outermost), outermost) << "whose lines are a leading dimension apart";
}

}  // namespace
}  // namespace esc
