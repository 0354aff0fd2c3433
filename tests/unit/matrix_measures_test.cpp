// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <string>

#include "generator/matrix/fingerprint.h"
#include "generator/matrix/pattern_svg.h"
#include "generator/matrix/sample.h"
#include "generator/matrix/scatter.h"
#include "generator/matrix/statistics.h"
#include "tests/unit/matrix_fixtures.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Fingerprint, SumsBytes) {
  // FIPS 180-2: the message "abc", and no message at all.
  const std::string message = "abc";
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(message))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Fingerprint, IsOfTheStreamThatIsDocumented) {
  const Fingerprint sums = fingerprint(matrix_of(2, 3, {0, 1, 0, 2, 0, -3}));
  const std::string pattern = raw_bytes<std::int64_t>({2, 3, 3, 0, 1, 3}) + raw_bytes<std::int32_t>({1, 0, 2});
  EXPECT_EQ(sums.pattern, sha256_hex(std::as_bytes(std::span(pattern))));
  const std::string values = raw_bytes<float>({1, 2, -3});
  EXPECT_EQ(sums.values, sha256_hex(std::as_bytes(std::span(values))));
}

TEST(Fingerprint, TellsPatternsAndValuesApart) {
  const Fingerprint sums = fingerprint(matrix_of(2, 2, {0, 1, 2, 0}));
  const Fingerprint other_values = fingerprint(matrix_of(2, 2, {0, 1, 3, 0}));
  EXPECT_EQ(other_values.pattern, sums.pattern);
  EXPECT_NE(other_values.values, sums.values);
  const Fingerprint other_pattern = fingerprint(matrix_of(2, 2, {1, 0, 2, 0}));
  EXPECT_NE(other_pattern.pattern, sums.pattern);
  EXPECT_EQ(other_pattern.values, sums.values);
  EXPECT_NE(fingerprint(matrix_of(1, 4, {0, 0, 0, 0})).pattern, fingerprint(matrix_of(1, 5, {0, 0, 0, 0, 0})).pattern);
}

TEST(Statistics, MeasuresRowsColumnsAndBytes) {
  const MatrixStatistics measured = statistics(matrix_of(4, 3,
                                                         {1, 1, 1,  //
                                                          0, 0, 0,  //
                                                          1, 1, 0,  //
                                                          1, 0, 0}));
  EXPECT_EQ(measured.rows, 4);
  EXPECT_EQ(measured.columns, 3);
  EXPECT_EQ(measured.nonzeros, 6);
  EXPECT_DOUBLE_EQ(measured.sparsity, 0.5);
  EXPECT_EQ(measured.dense_bytes, 48U);
  EXPECT_EQ(measured.csr_bytes, 5U * 4 + 6 * 8);
  EXPECT_EQ(measured.row_lengths.shortest, 0);
  EXPECT_EQ(measured.row_lengths.longest, 3);
  EXPECT_DOUBLE_EQ(measured.row_lengths.mean, 1.5);
  EXPECT_DOUBLE_EQ(measured.row_lengths.standard_deviation, std::sqrt(1.25));
  EXPECT_DOUBLE_EQ(measured.row_lengths.coefficient_of_variation, std::sqrt(1.25) / 1.5);
  EXPECT_EQ(measured.row_lengths.empty, 1);
  EXPECT_EQ(measured.row_lengths.full, 1);
  EXPECT_EQ(measured.column_lengths.shortest, 1);
  EXPECT_EQ(measured.column_lengths.longest, 3);
  EXPECT_EQ(measured.column_lengths.empty, 0);
  EXPECT_EQ(measured.column_lengths.full, 0);
}

TEST(Statistics, FindsPercentilesByNearestRank) {
  SparseMatrix matrix{25, 25, {0}, {}, {}};  // rows of 25, 24, ... 1 non-zeros
  for (std::int32_t row = 0; row < 25; ++row) {
    for (std::int32_t column = row; column < 25; ++column) {
      matrix.column_of.push_back(column);
      matrix.values.push_back(1);
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  const MatrixStatistics measured = statistics(matrix);
  for (const LengthStatistics& lengths : {measured.row_lengths, measured.column_lengths}) {
    EXPECT_EQ(lengths.percentile_10, 3);
    EXPECT_EQ(lengths.percentile_50, 13);
    EXPECT_EQ(lengths.percentile_90, 23);
  }
}

TEST(Statistics, TakesAMatrixOfZeros) {
  const MatrixStatistics measured = statistics(matrix_of(2, 3, {0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(measured.row_lengths.coefficient_of_variation, 0.0);
  EXPECT_EQ(measured.row_lengths.empty, 2);
  EXPECT_EQ(measured.column_lengths.empty, 3);
}

// More columns than a number for each could be kept of.
TEST(Statistics, CountsColumnsThatHaveNonzerosAlone) {
  const MatrixStatistics measured =
      statistics({3, largest_dimension, {0, 2, 4, 5}, {0, 7, 7, 2147483646, 7}, {1, 1, 1, 1, 1}});
  const LengthStatistics& lengths = measured.column_lengths;
  EXPECT_EQ(lengths.shortest, 0);
  EXPECT_EQ(lengths.longest, 3);
  EXPECT_EQ(lengths.empty, largest_dimension - 3);
  EXPECT_EQ(lengths.full, 1);
  EXPECT_EQ(lengths.percentile_90, 0);
  EXPECT_NEAR(lengths.mean * static_cast<double>(largest_dimension), 5, 1e-9);
  EXPECT_NEAR(lengths.standard_deviation * lengths.standard_deviation * static_cast<double>(largest_dimension), 11,
              1e-6);
  EXPECT_EQ(row_statistics({3, largest_dimension, {0, 2, 4, 5}, {0, 7, 7, 2147483646, 7}, {1, 1, 1, 1, 1}}),
            measured.row_lengths);
}

/// Blocks of so many rows and columns, of which each is zero or not as a whole.
SparseMatrix blocks_of(int height, int width, double sparsity, std::uint64_t seed) {
  const SparseMatrix blocks = sample_matrix({.rows = 96, .columns = 96, .sparsity = sparsity, .seed = seed});
  SparseMatrix matrix{.rows = 96L * height, .columns = 96L * width, .offsets = {0}, .column_of = {}, .values = {}};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const auto block = static_cast<std::size_t>(row / height);
    for (auto at = blocks.offsets[block]; at < blocks.offsets[block + 1]; ++at) {
      for (int column = 0; column < width; ++column) {
        matrix.column_of.push_back(blocks.column_of[static_cast<std::size_t>(at)] * width + column);
        matrix.values.push_back(1);
      }
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

TEST(Scatter, TellsBlocksFromZerosAtRandom) {
  for (const double sparsity : {0.5, 0.7, 0.9, 0.95}) {
    for (const auto& [height, width] : std::vector<std::pair<int, int>>{{2, 2},
                                                                        {1, 2},
                                                                        {2, 1},
                                                                        {1, 4},
                                                                        {4, 1},
                                                                        {3, 3},
                                                                        {4, 4},
                                                                        {1, 8},
                                                                        {8, 1},
                                                                        {8, 8},
                                                                        {16, 16},
                                                                        {32, 1},
                                                                        {1, 32}}) {
      EXPECT_FALSE(is_scattered(blocks_of(height, width, sparsity, 7))) << height << " x " << width << ", " << sparsity;
    }
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      EXPECT_TRUE(is_scattered(sample_matrix({.rows = 96, .columns = 96, .sparsity = sparsity, .seed = seed})))
          << sparsity << ", " << seed;
    }
  }
}

TEST(Scatter, IsMeasuredByNeighbours) {
  const NeighbourExcess blocks = neighbour_excess(blocks_of(2, 4, 0.7, 3));
  EXPECT_DOUBLE_EQ(blocks.of_columns, 1);
  EXPECT_DOUBLE_EQ(blocks.of_rows, 1);
  const NeighbourExcess whole_columns = neighbour_excess(blocks_of(96, 1, 0.7, 3));
  EXPECT_NEAR(whole_columns.of_columns, 0, 0.1);
  EXPECT_DOUBLE_EQ(whole_columns.of_rows, 1);
  EXPECT_LT(neighbour_excess(matrix_of(2, 4, {1, 0, 0, 1, 0, 1, 1, 0})).of_columns, -0.3) << "one of each two";
  for (const std::vector<double>& elements : {std::vector<double>(8, 0), std::vector<double>(8, 1)}) {
    EXPECT_TRUE(is_scattered(matrix_of(2, 4, elements))) << "none or all of them";
  }
}

TEST(PatternSvg, DrawsSmallMatricesElementByElement) {
  const std::string svg = pattern_svg(matrix_of(2, 4, {1, 1, 0, 1, 0, 0, 0, 0}), "a <b> & c");
  EXPECT_THAT(svg, HasSubstr("d=\"M0 0h2M3 0h1\""));
  EXPECT_THAT(svg, HasSubstr(">M = 2<"));
  EXPECT_THAT(svg, HasSubstr(">K = 4<"));
  EXPECT_THAT(svg, HasSubstr("62.50 % zeros"));
  EXPECT_THAT(svg, HasSubstr(">a &lt;b&gt; &amp; c<"));
}

TEST(PatternSvg, ShadesCellsByTheirDensity) {
  // 768 columns are gathered into 128 cells of six: the first is full, the second has a sixth, more than one step of 8.
  SparseMatrix matrix{1, 768, {0, 7}, {0, 1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1, 1}};
  const std::string svg = pattern_svg(matrix, "");
  EXPECT_THAT(svg, HasSubstr("<path stroke=\"#08306b\" d=\"M0 0h1\"/>"));
  EXPECT_THAT(svg, HasSubstr("<path stroke=\"#bad6eb\" d=\"M1 0h1\"/>"));
}

TEST(PatternSvg, StaysSmallAndTheSame) {
  const SparseMatrix matrix = sample_matrix({.rows = 3000, .columns = 2000, .sparsity = 0.9});
  const std::string svg = pattern_svg(matrix, "sample");
  EXPECT_LT(svg.size(), 200000U);
  EXPECT_EQ(svg, pattern_svg(matrix, "sample"));
  EXPECT_THAT(pattern_svg(matrix_of(1, 1, {0}), "zeros"), Not(HasSubstr("<path")));
}

}  // namespace
}  // namespace esc
