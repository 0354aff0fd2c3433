// SPDX-License-Identifier: Apache-2.0
// Elements of 16 bits in the packed formats: where their bits are, and that every format gives them back.

#include <gmock/gmock.h>

#include "tests/unit/transformer_matrices.h"
#include "transformer/list_packing.h"
#include "transformer/pack.h"
#include "transformer/packed_reader.h"
#include "transformer/region_packing.h"
#include "transformer/task_packing.h"

namespace esc::transformer {
namespace {

/// A dense matrix of the type, for the serial text.
template <typename Half>
std::vector<Half> elements_of(const CsrMatrix& matrix) {
  std::vector<Half> elements(static_cast<std::size_t>(matrix.rows * matrix.columns), Half(-0.0));
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (auto at = matrix.offsets[static_cast<std::size_t>(row)];
         at < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++at) {
      const auto entry = static_cast<std::size_t>(at);
      elements[static_cast<std::size_t>(row * matrix.columns + matrix.column_of[entry])] = Half(matrix.values[entry]);
    }
  }
  return elements;
}

template <typename Half, typename Cut>
void expect_packed(const DenseMatrix& dense, const Cut& cut) {
  const CsrMatrix matrix = in_halves(to_csr(dense), half_type<Half>);
  const auto packed = pack(matrix.view(), cut);
  EXPECT_EQ(unpack(packed.bytes.span()), matrix);
  EXPECT_EQ(packed.format, plan(matrix.view(), cut));
  EXPECT_EQ(packed.format.bytes % 8, 0U);
  const std::vector<Half> elements = elements_of<Half>(matrix);
  std::vector<std::uint64_t> serial(packed.format.bytes / 8, ~std::uint64_t{0});
  ASSERT_TRUE(
      pack_serially(DenseRows<Half>{elements.data(), matrix.columns, matrix.columns}, packed.format, serial.data()));
  EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(serial)), packed.bytes.span()));
}

template <typename Half>
class HalfPacking : public testing::Test {};
using BothTypes = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(HalfPacking, BothTypes);

TYPED_TEST(HalfPacking, EveryFormatGivesTheMatrixBack) {
  std::uint64_t seed = 0;
  for (const auto& [rows, columns] : {std::pair{1, 1}, {37, 90}, {64, 333}}) {
    for (const double density : {0.0, 0.05, 0.5, 1.0}) {
      const DenseMatrix dense = random_matrix(rows, columns, density, ++seed);
      for (const std::uint32_t height : {1U, 3U, 8U}) {
        expect_packed<TypeParam>(dense, ListCut{.height = height, .max_list_columns = 7});
        expect_packed<TypeParam>(dense, RegionCut{.height = height, .warp_row_tiles = 2, .block_row_tiles = 4});
      }
      expect_packed<TypeParam>(dense, TaskCut{.longest = 16, .light = 4, .block_heavy = 2, .block_light = 3});
    }
  }
}

TYPED_TEST(HalfPacking, BitsStandWhereTheFormatsSay) {
  const CsrMatrix matrix = in_halves(CsrMatrix{2, 3, {0, 2, 3}, {0, 2, 1}, {1.5, -2, 3}}, half_type<TypeParam>);
  const auto bits_at = [](const auto& packed, std::uint64_t at) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, packed.bytes.span().data() + at, sizeof bits);
    return bits;
  };
  const std::uint16_t expected[] = {TypeParam(1.5).bits, TypeParam(-2.0).bits, TypeParam(3.0).bits};

  const auto lists = pack(matrix.view(), ListCut{.height = 1});
  const auto regions = pack(matrix.view(), RegionCut{.height = 1});
  const auto tasks = pack(matrix.view(), TaskCut{});
  const Section& annz = lists.format.section(SectionId::annz);
  EXPECT_EQ(annz.end() - annz.offset, 3U * 2);
  EXPECT_EQ(tasks.format.bytes, tasks.format.pairs_at + 3 * 8);
  for (std::uint64_t index = 0; index < 3; ++index) {
    EXPECT_EQ(bits_at(lists, annz.at(index)), expected[index]);
    EXPECT_EQ(tasks.format.value_at(index), tasks.format.pair_at(index) + 4);
    EXPECT_EQ(bits_at(tasks, tasks.format.value_at(index)), expected[index]);
    EXPECT_EQ(bits_at(tasks, tasks.format.value_at(index) + 2), 0) << "after the value of a pair";
  }
  EXPECT_EQ(regions.format.values_of(1) - regions.format.values_of(0), 4U * 2);
  EXPECT_EQ(bits_at(regions, regions.format.values_of(0)), expected[0]);
  EXPECT_EQ(bits_at(regions, regions.format.values_of(1) + (regions.format.counts.every_column ? 2 : 0)), expected[2]);
}

TEST(HalfPacking, OtherTypesAreNoElements) {
  CsrMatrix matrix{1, 1, {0, 1}, {0}, {1}};
  for (const ScalarType element : {ScalarType::u8, ScalarType::u64, static_cast<ScalarType>(9)}) {
    matrix.element = element;
    EXPECT_THROW(pack(matrix.view(), ListCut{}), std::invalid_argument);
  }
}

}  // namespace
}  // namespace esc::transformer
