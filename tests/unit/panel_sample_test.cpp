// SPDX-License-Identifier: Apache-2.0
// The sample that an emulation of a large matrix covers: which blocks run and which rows are then compared.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "generator/emit/region_text.h"
#include "generator/matrix/sample.h"
#include "generator/patterns/csr_view.h"
#include "generator/verify/row_tile_sample.h"
#include "transformer/pack.h"
#include "transformer/packed_reader.h"

namespace esc {
namespace {

SparseMatrix power_law() {
  return sample_matrix(
      {.rows = 2000, .columns = 3000, .sparsity = 0.997, .structure = SampleStructure::powerlaw, .seed = 3});
}

std::int64_t count(const std::vector<bool>& rows) { return std::ranges::count(rows, true); }

TEST(RowTileSample, CoversEverythingWhereThatIsLittleWork) {
  const auto packed = transformer::pack(csr_view(power_law()), transformer::TaskCut{.longest = 32, .light = 4});
  const RowTileSample sample(packed.bytes.span(), 1000, 1000);
  EXPECT_TRUE(sample.covers_all());
  EXPECT_EQ(count(sample.rows()), 2000);
  EXPECT_EQ(sample.blocks(packed.format.blocks(), 2).size(), 2 * packed.format.blocks());
}

TEST(RowTileSample, TakesEveryThirdPanelOfListsWithAllItsBlocks) {
  const auto packed = transformer::pack(csr_view(power_law()), transformer::ListCut{.height = 4});
  const RowTileSample sample(packed.bytes.span(), 3000, 1000);
  EXPECT_FALSE(sample.covers_all());
  EXPECT_EQ(count(sample.rows()), 4 * 167);
  std::uint64_t expected = 0;
  const transformer::ListReader lists(packed.bytes.span(), packed.format);
  for (std::uint64_t list = 0; list < packed.format.counts.lists; ++list) {
    expected += lists.row_tile(list) % 3 == 0 ? 1 : 0;
  }
  EXPECT_EQ(sample.blocks(packed.format.counts.lists, 1).size(), expected);
}

TEST(RowTileSample, TakesEveryFourthBlockOfRegionsWithItsRows) {
  const auto packed =
      transformer::pack(csr_view(power_law()), transformer::RegionCut{.height = 2, .block_row_tiles = 4});
  const RowTileSample sample(packed.bytes.span(), 4000, 1000);
  EXPECT_EQ(count(sample.rows()), 8 * 63);
  const std::vector<std::uint64_t> blocks = sample.blocks(250, 2);
  EXPECT_EQ(blocks.size(), 2U * 63);
  for (const std::uint64_t iteration : blocks) {
    EXPECT_EQ(iteration % 250 * block_stride(250) % 250 % 4, 0U) << "the grid takes its blocks in steps";
  }
  EXPECT_LT(blocks[62], 250U);
  EXPECT_EQ(blocks[63], 250 + blocks[0]);
}

/// All blocks of a covered row run, those of a row that is split included, and what runs is little of the whole.
TEST(RowTileSample, TakesAllBlocksOfTheRowsOfTasksThatItCovers) {
  const auto packed = transformer::pack(
      csr_view(power_law()), transformer::TaskCut{.longest = 32, .light = 4, .block_heavy = 4, .block_light = 16});
  const transformer::TaskFormat& format = packed.format;
  const transformer::TaskReader reader(packed.bytes.span(), format);
  const RowTileSample sample(packed.bytes.span(), 10000, 1000);
  const std::vector<std::uint64_t> chosen = sample.blocks(format.blocks(), 1);
  const std::set<std::uint64_t> blocks(chosen.begin(), chosen.end());
  std::vector<bool> complete(2000, true);
  for (std::uint64_t number = 0; number < format.counts.tasks; ++number) {
    if (!blocks.contains(format.block_of(number))) {
      complete[reader.task(number).row] = false;
    }
  }
  EXPECT_EQ(sample.rows(), complete);
  EXPECT_GT(count(sample.rows()), 100);
  EXPECT_LT(blocks.size(), format.blocks() / 3);
  std::uint64_t split_rows = 0;
  for (std::uint64_t number = 0; number < format.counts.split_rows; ++number) {
    split_rows += complete[reader.split_row(number)] ? 1 : 0;
  }
  EXPECT_GT(split_rows, 0U);
}

/// The first block has tasks of the long row alone, and that row is too long for the sample.
TEST(RowTileSample, CoversSomeRowWhereOneIsLongerThanItAll) {
  SparseMatrix matrix;
  matrix.rows = 30;
  matrix.columns = 4000;
  matrix.offsets = {0};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int32_t column = 0; column < (row == 0 ? 4000 : 1); ++column) {
      matrix.column_of.push_back(column);
      matrix.values.push_back(1);
    }
    matrix.offsets.push_back(static_cast<std::int64_t>(matrix.values.size()));
  }
  const auto packed = transformer::pack(
      csr_view(matrix), transformer::TaskCut{.longest = 32, .light = 4, .block_heavy = 4, .block_light = 16});
  const RowTileSample sample(packed.bytes.span(), 1000000, 1000);
  EXPECT_FALSE(sample.rows()[0]);
  EXPECT_GT(count(sample.rows()), 0);
  EXPECT_LT(sample.blocks(packed.format.blocks(), 1).size(), 4U);
}

}  // namespace
}  // namespace esc
