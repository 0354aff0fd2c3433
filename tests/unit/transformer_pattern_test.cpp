// SPDX-License-Identifier: Apache-2.0
// The digests by which a generated transformer knows its pattern again.

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/transformer_matrices.h"
#include "transformer/pack.h"

namespace esc::transformer {
namespace {

RC_GTEST_PROP(PatternDigestProperty, IgnoresValuesAndStoredZeros, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 60);
  const auto columns = *rc::gen::inRange<std::int64_t>(1, 150);
  const auto height = *rc::gen::inRange<std::uint32_t>(1, max_height + 1);
  const DenseMatrix matrix = random_matrix(rows, columns, 0.3, *rc::gen::arbitrary<std::uint64_t>());
  const std::vector<PatternDigest> digests = pattern_digests(to_csr(matrix).view(), height);
  DenseMatrix other_values = matrix;
  for (float& value : other_values.values) {
    value *= -3.5f;
  }
  RC_ASSERT(pattern_digests(to_csr(other_values).view(), height) == digests);
  RC_ASSERT(pattern_digests(to_csr(matrix, true).view(), height) == digests);
}

RC_GTEST_PROP(PatternDigestProperty, SeesANonZeroThatMoves, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 60);
  const auto columns = *rc::gen::inRange<std::int64_t>(2, 150);
  const auto height = *rc::gen::inRange<std::uint32_t>(1, max_height + 1);
  DenseMatrix matrix = random_matrix(rows, columns, 0.3, *rc::gen::arbitrary<std::uint64_t>());
  const auto row = *rc::gen::inRange<std::int64_t>(0, rows);
  const auto from = *rc::gen::inRange<std::int64_t>(0, columns);
  const auto other = *rc::gen::inRange<std::int64_t>(0, columns - 1);
  const std::int64_t to = other < from ? other : other + 1;
  matrix.at(row, from) = 1.0f;
  matrix.at(row, to) = 0.0f;
  const std::vector<PatternDigest> before = pattern_digests(to_csr(matrix).view(), height);
  std::swap(matrix.at(row, from), matrix.at(row, to));
  const std::vector<PatternDigest> after = pattern_digests(to_csr(matrix).view(), height);
  for (std::size_t group = 0; group < before.size(); ++group) {
    RC_ASSERT(after[group].nonzeros == before[group].nonzeros);
    RC_ASSERT((after[group].hash == before[group].hash) == (static_cast<std::int64_t>(group) != row / height));
  }
}

TEST(PatternDigest, SeesARowThatMovesToTheNextPanelOfItsGroup) {
  DenseMatrix matrix{4100, 1, std::vector<float>(4100)};  // 2,050 row tiles of 2 rows, three to a group
  matrix.at(0, 0) = 1.0f;
  const std::vector<PatternDigest> first = pattern_digests(to_csr(matrix).view(), 2);
  std::swap(matrix.at(0, 0), matrix.at(2, 0));
  const std::vector<PatternDigest> second = pattern_digests(to_csr(matrix).view(), 2);
  EXPECT_EQ(first.size(), 684u);
  EXPECT_EQ(first[0].nonzeros, second[0].nonzeros);
  EXPECT_NE(first[0].hash, second[0].hash);
}

TEST(PatternDigest, ThereAreAtMost1024Groups) {
  for (const std::int64_t rows : {1, 3, 4096, 4097, 8192, 8200, 33288, 2'147'483'647}) {
    const ListShape shape{{}, rows, 1};
    EXPECT_LE(pattern_groups(shape), max_pattern_groups);
    EXPECT_GE(pattern_groups(shape) * row_tiles_per_group(shape), shape.row_tiles());
    EXPECT_LT((pattern_groups(shape) - 1) * row_tiles_per_group(shape), shape.row_tiles());
  }
}

}  // namespace
}  // namespace esc::transformer
