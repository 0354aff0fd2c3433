// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/structured_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/gpu/cusparselt_peer.h"

namespace esc::gpu {
namespace {

/// A matrix with one row after the other, in each of which these columns have a non-zero.
SparseMatrix matrix(const std::vector<std::vector<std::int32_t>>& rows) {
  SparseMatrix result{
      .rows = static_cast<std::int64_t>(rows.size()), .columns = 8, .offsets = {0}, .column_of = {}, .values = {}};
  for (const std::vector<std::int32_t>& row : rows) {
    result.column_of.insert(result.column_of.end(), row.begin(), row.end());
    result.values.resize(result.column_of.size(), 1.0);
    result.offsets.push_back(result.nonzeros());
  }
  return result;
}

TEST(StructuredRows, HaveNoGroupWithTooManyNonZeros) {
  constexpr RowStructure two_of_four{2, 4};
  EXPECT_TRUE(has_structure(matrix({{0, 1, 6, 7}, {}, {3, 4, 5}}), two_of_four));
  EXPECT_TRUE(has_structure(matrix({{2, 3, 4, 5}}), two_of_four)) << "groups begin at multiples of 4";
  EXPECT_FALSE(has_structure(matrix({{0, 1, 3}}), two_of_four));
  EXPECT_FALSE(has_structure(matrix({{0}, {1, 4, 5, 7}}), two_of_four)) << "a row that is not the first";
  EXPECT_TRUE(has_structure(matrix({{0, 1}, {2, 3}}), two_of_four)) << "rows do not count together";
}

TEST(StructuredRows, AreThoseOfTheTensorCores) {
  const SparseMatrix pairs = matrix({{0, 1, 4, 6}});
  EXPECT_TRUE(has_structure(pairs, tensor_core_structure(ScalarType::f16)));
  EXPECT_TRUE(has_structure(pairs, tensor_core_structure(ScalarType::bf16)));
  EXPECT_FALSE(has_structure(pairs, tensor_core_structure(ScalarType::f32)));
  EXPECT_TRUE(has_structure(matrix({{1, 2, 5, 6}}), tensor_core_structure(ScalarType::tf32)));
}

TEST(CusparseLt, SaysWhyItIsAbsent) {
  const CusparseLt library;
  if (library.absence().empty()) {
    EXPECT_THAT(library.version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  } else {
    EXPECT_THAT(library.absence(),
                testing::AnyOf(testing::HasSubstr("libcusparseLt.so.0"), testing::HasSubstr("cusparseLt.h"),
                               testing::HasSubstr("cusparseLtInit")));
  }
}

}  // namespace
}  // namespace esc::gpu
