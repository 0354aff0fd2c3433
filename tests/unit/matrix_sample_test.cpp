// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "generator/matrix/drawn_value.h"
#include "generator/matrix/fingerprint.h"
#include "generator/matrix/sample.h"
#include "generator/matrix/statistics.h"

namespace esc {
namespace {

constexpr SampleStructure every_structure[] = {
    SampleStructure::uniform,  SampleStructure::rows,  SampleStructure::columns,   SampleStructure::blocks,
    SampleStructure::powerlaw, SampleStructure::wanda, SampleStructure::sparsegpt, SampleStructure::magnitude};

MatrixStatistics measure(SampleStructure structure) {
  return statistics(sample_matrix({.rows = 400, .columns = 600, .sparsity = 0.8, .structure = structure, .seed = 1}));
}

RC_GTEST_PROP(Sample, HasTheSizeAndSparsityThatWereAskedFor, ()) {
  const SampleOptions options{.rows = *rc::gen::inRange(1, 60),
                              .columns = *rc::gen::inRange(1, 60),
                              .sparsity = *rc::gen::inRange(0, 101) / 100.0,
                              .structure = *rc::gen::elementOf(
                                  std::vector<SampleStructure>(std::begin(every_structure), std::end(every_structure))),
                              .seed = *rc::gen::arbitrary<std::uint64_t>()};
  const SparseMatrix matrix = sample_matrix(options);
  validate(matrix);
  RC_ASSERT(matrix.rows == options.rows);
  RC_ASSERT(matrix.columns == options.columns);
  const double wanted = (1 - options.sparsity) * static_cast<double>(options.rows * options.columns);
  if (options.structure != SampleStructure::blocks) {
    RC_ASSERT(std::fabs(static_cast<double>(matrix.nonzeros()) - wanted) <= 0.5 + 1e-9);
  }
  RC_ASSERT(matrix == sample_matrix(options));
}

TEST(Sample, IsTheSameEverywhere) {
  // Recorded once: a change of these sums makes published samples unrepeatable.
  const std::pair<SampleStructure, const char*> recorded[] = {
      {SampleStructure::uniform, "6b52a791c0fc9a49"},   {SampleStructure::rows, "eb376b2f7523dbbd"},
      {SampleStructure::columns, "200e533cc1ee5f30"},   {SampleStructure::blocks, "81c63a15eec30170"},
      {SampleStructure::powerlaw, "d90d6a17a62158b6"},  {SampleStructure::wanda, "1b143323a432d411"},
      {SampleStructure::sparsegpt, "32c6ab17758c1a4a"}, {SampleStructure::magnitude, "8781d1d065527f57"},
  };
  for (const auto& [structure, sum] : recorded) {
    const SparseMatrix matrix =
        sample_matrix({.rows = 50, .columns = 70, .sparsity = 0.9, .structure = structure, .seed = 5});
    EXPECT_EQ(fingerprint(matrix).pattern.substr(0, 16), sum);
  }
}

TEST(Sample, DependsOnTheSeed) {
  for (const SampleStructure structure : every_structure) {
    SampleOptions options{.rows = 40, .columns = 40, .sparsity = 0.7, .structure = structure, .seed = 1};
    const Fingerprint first = fingerprint(sample_matrix(options));
    options.seed = 2;
    EXPECT_NE(fingerprint(sample_matrix(options)).pattern, first.pattern);
  }
}

TEST(Sample, DrawsValuesAsAPatternOnlyFileDoes) {
  const SparseMatrix matrix = sample_matrix({.rows = 1, .columns = 3, .sparsity = 0, .seed = 9});
  EXPECT_THAT(matrix.values, testing::ElementsAre(drawn_value(9, 0, 0), drawn_value(9, 0, 1), drawn_value(9, 0, 2)));
}

TEST(Sample, UniformRowsVaryAsChanceHasIt) {
  const MatrixStatistics measured = measure(SampleStructure::uniform);
  // Binomial: sqrt(0.8 / (0.2 * 600)) for rows of 600, sqrt(0.8 / (0.2 * 400)) for columns of 400.
  EXPECT_NEAR(measured.row_lengths.coefficient_of_variation, 0.0816, 0.015);
  EXPECT_NEAR(measured.column_lengths.coefficient_of_variation, 0.1, 0.015);
}

TEST(Sample, UniformChoosesEveryPositionEquallyOften) {
  for (const double sparsity : {0.9, 0.3}) {  // few positions are drawn, many are decided one after another
    std::vector<int> hits(6 * 20, 0);
    constexpr int samples = 4000;
    for (int seed = 0; seed < samples; ++seed) {
      const SparseMatrix matrix =
          sample_matrix({.rows = 6, .columns = 20, .sparsity = sparsity, .seed = static_cast<std::uint64_t>(seed)});
      for (std::size_t row = 0; row < 6; ++row) {
        for (auto at = matrix.offsets[row]; at < matrix.offsets[row + 1]; ++at) {
          ++hits[row * 20 + static_cast<std::size_t>(matrix.column_of[static_cast<std::size_t>(at)])];
        }
      }
    }
    const double expected = samples * (1 - sparsity);
    const double deviation = std::sqrt(expected * sparsity);
    for (const int count : hits) {
      EXPECT_NEAR(count, expected, 4.5 * deviation);
    }
  }
}

TEST(Sample, RowsAndColumnsVaryStronglyInOneDirection) {
  const MatrixStatistics rows = measure(SampleStructure::rows);
  EXPECT_GT(rows.row_lengths.coefficient_of_variation, 0.8);
  EXPECT_LT(rows.column_lengths.coefficient_of_variation, 0.2);
  const MatrixStatistics columns = measure(SampleStructure::columns);
  EXPECT_GT(columns.column_lengths.coefficient_of_variation, 0.8);
  EXPECT_LT(columns.row_lengths.coefficient_of_variation, 0.2);
}

TEST(Sample, BlocksAreWholeBlocks) {
  const SparseMatrix matrix =
      sample_matrix({.rows = 64, .columns = 96, .sparsity = 0.75, .structure = SampleStructure::blocks, .seed = 3});
  EXPECT_EQ(matrix.nonzeros(), 64 * 96 / 4);
  for (std::int64_t row = 0; row < 64; ++row) {
    const auto begin = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)]);
    const auto end = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]);
    const auto first_of_block = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row / 4 * 4)]);
    ASSERT_EQ((end - begin) % 4, 0U);
    for (std::size_t at = begin; at < end; ++at) {
      ASSERT_EQ(matrix.column_of[at], matrix.column_of[first_of_block + (at - begin)]) << "rows of a block are alike";
      ASSERT_EQ(matrix.column_of[at] % 4, static_cast<std::int32_t>((at - begin) % 4));
    }
  }
}

TEST(Sample, MethodsOfPruningSpreadRowsAndColumnsAsTheyDoInModels) {
  struct Expected {
    SampleStructure structure;
    double rows, columns;  // coefficients of variation, of masks that a second implementation draws
  };
  for (const auto& [structure, rows, columns] :
       {Expected{SampleStructure::wanda, 0, 0.445}, Expected{SampleStructure::sparsegpt, 0.117, 0.38},
        Expected{SampleStructure::magnitude, 0.27, 0.27}}) {
    const MatrixStatistics measured =
        statistics(sample_matrix({.rows = 1000, .columns = 1024, .sparsity = 0.5, .structure = structure, .seed = 1}));
    EXPECT_NEAR(measured.row_lengths.coefficient_of_variation, rows, 0.02);
    EXPECT_NEAR(measured.column_lengths.coefficient_of_variation, columns, 0.04);
  }
}

TEST(Sample, EachThresholdOfSparseGptKeepsItsShare) {
  const SparseMatrix matrix =
      sample_matrix({.rows = 64, .columns = 300, .sparsity = 0.6, .structure = SampleStructure::sparsegpt, .seed = 2});
  std::vector<std::int64_t> kept(3, 0);
  for (const std::int32_t column : matrix.column_of) {
    ++kept[static_cast<std::size_t>(column / 128)];
  }
  EXPECT_NEAR(static_cast<double>(kept[0]), 0.4 * 64 * 128, 1);
  EXPECT_NEAR(static_cast<double>(kept[1]), 0.4 * 64 * 128, 1);
  EXPECT_NEAR(static_cast<double>(kept[2]), 0.4 * 64 * 44, 1);
}

TEST(Sample, PowerLawRowsGoWithTheInverseOfTheirRank) {
  const SparseMatrix matrix = sample_matrix(
      {.rows = 1000, .columns = 20000, .sparsity = 0.999, .structure = SampleStructure::powerlaw, .seed = 3});
  std::vector<std::int64_t> lengths;
  for (std::size_t row = 0; row < 1000; ++row) {
    lengths.push_back(matrix.offsets[row + 1] - matrix.offsets[row]);
  }
  EXPECT_FALSE(std::is_sorted(lengths.rbegin(), lengths.rend())) << "long rows are not first";
  std::sort(lengths.rbegin(), lengths.rend());
  // 20,000 non-zeros over the harmonic sum of 1,000 ranks, 7.485.
  for (const std::int64_t rank : {1, 2, 10, 100}) {
    EXPECT_NEAR(static_cast<double>(lengths[static_cast<std::size_t>(rank - 1)]),
                20000 / 7.485 / static_cast<double>(rank), 1.5);
  }
}

TEST(Sample, IsQuickForManyRows) {
  const SparseMatrix matrix = sample_matrix({.rows = 100000, .columns = 1000000, .sparsity = 0.999999, .seed = 1});
  EXPECT_EQ(matrix.nonzeros(), 100000);  // out of 10^11 positions, which nothing may visit one by one
}

}  // namespace
}  // namespace esc
