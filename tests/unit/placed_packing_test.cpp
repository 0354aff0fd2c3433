// SPDX-License-Identifier: Apache-2.0
// Placed values, as words and as two halves each: packed tiles decoded by the definition, packed on any number of
// threads and by the serial text, how values are ordered for the banks of shared memory, how many of them a packed tile
// is given, and what the unpacker refuses.

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "tests/unit/changed_fragments.h"
#include "tests/unit/fragment_matrices.h"
#include "tests/unit/transformer_matrices.h"
#include "transformer/choose_fragments.h"
#include "transformer/pack.h"
#include "transformer/packed_reader.h"
#include "transformer/unpack.h"

namespace esc::transformer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::array orders{placed_words, placed_halves};

/// Who has a packed tile, and who puts its values in their places, and as what.
struct Parts {
  std::uint32_t joined = 1;
  std::uint32_t shares = 1;
  std::uint32_t placed = placed_words;
};

constexpr FragmentCut placed_cut(std::uint32_t height, std::uint32_t row_tiles, std::uint32_t listed,
                                 const Parts& parts = {}) {
  return {.height = height,
          .block_row_tiles = row_tiles,
          .dense = 1,
          .listed = listed,
          .placed = parts.placed,
          .joined = parts.joined,
          .shares = parts.shares};
}

constexpr FragmentBlock placed_row_tiles(std::uint32_t row_tiles, std::uint32_t height = m16_tile_rows,
                                         const Parts& parts = {}) {
  return {.row_tiles = row_tiles,
          .height = height,
          .dense_steps = true,
          .listed_values = true,
          .placed_values = true,
          .splits_values = parts.placed == placed_halves,
          .joined = parts.joined,
          .shares = parts.shares};
}

/// Elements that are non-zero with this probability, each of a drawn value.
template <typename Draw>
CsrMatrix drawn_elements(std::int64_t rows, std::int64_t columns, double density, std::uint64_t seed,
                         const Draw& draw) {
  CsrMatrix matrix = random_elements(rows, columns, density, seed);
  std::mt19937_64 random(seed + 1);
  for (double& value : matrix.values) {
    value = draw(random);
  }
  return matrix;
}

double drawn_normal(std::mt19937_64& random) {
  const auto drawn = static_cast<float>(std::normal_distribution<double>(0, 0.02)(random));
  return drawn == 0 ? 1 : drawn;
}
double drawn_of_many_powers(std::mt19937_64& random) {
  const double fraction = static_cast<double>(random() % 0x800000 + 0x800000) * 0x1p-23;
  return std::ldexp(random() % 2 == 0 ? fraction : -fraction, static_cast<int>(random() % 121) - 60);
}
double drawn_denormal(std::mt19937_64& random) {
  return std::bit_cast<float>(static_cast<std::uint32_t>((random() & 0x80000000U) | (1 + random() % 0x7fffff)));
}
double drawn_of_ends(std::mt19937_64& random) {
  constexpr double greatest = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::denorm_min();
  constexpr std::array values{greatest, -greatest, least, -least, 0x1p-126, -0x1p127, -1.0, 0x1.fffffep0};
  return values.at(random() % values.size());
}

class PlacedOrder : public testing::TestWithParam<std::uint32_t> {
 protected:
  static Parts parts(std::uint32_t joined, std::uint32_t shares) { return {joined, shares, GetParam()}; }
};

INSTANTIATE_TEST_SUITE_P(All, PlacedOrder, testing::ValuesIn(orders),
                         [](const auto& order) { return order.param == placed_halves ? "halves" : "words"; });

TEST_P(PlacedOrder, IsDecoded) {
  std::uint64_t seed = 220;
  for (const std::uint32_t height : {16U, 32U}) {
    for (const double density : {0.0, 0.02, 0.4, 1.0}) {
      for (const std::int64_t columns : {1, 7, 32, 70}) {
        const CsrMatrix matrix = random_elements(45, columns, density, ++seed);
        EXPECT_EQ(problem_of(matrix, placed_cut(height, 2, max_listed, parts(1, 8))), "") << density << ", " << columns;
        EXPECT_EQ(problem_of(matrix, placed_cut(height, 3, 101, parts(1, 2))), "") << density << ", " << columns;
        EXPECT_EQ(problem_of(matrix, placed_cut(height, 4, 301, parts(2, 4))), "") << density << ", " << columns;
        EXPECT_EQ(problem_of(matrix, placed_cut(height, 6, 1000, parts(6, 8))), "") << density << ", " << columns;
      }
    }
    const auto one_full_row = [](std::int64_t row, std::int64_t) { return row == 21; };
    const auto one_full_column = [](std::int64_t, std::int64_t column) { return column == 37; };
    EXPECT_EQ(problem_of(random_elements(5, 3, 0.7, ++seed), placed_cut(height, 1, 2, parts(1, 8))), "")
        << "a round for two non-zeros at most";
    EXPECT_EQ(problem_of(random_elements(5, 3, 0.7, ++seed), placed_cut(height, 1, 3, parts(1, 1))), "")
        << "values go in pairs";
    EXPECT_EQ(problem_of(matrix_where(40, 150, one_full_row), placed_cut(height, 4, 10, parts(2, 2))), "");
    EXPECT_EQ(problem_of(matrix_where(40, 150, one_full_column), placed_cut(height, 4, 10, parts(2, 8))), "");
    EXPECT_EQ(problem_of(matrix_where(1, 1, one_full_row), placed_cut(height, 16, 2, parts(4, 1))), "");
  }
  EXPECT_EQ(problem_of(random_elements(5, 3, 0.7, 1), placed_cut(16, 1, 1, parts(1, 1))), "") << "lists with bits";
  EXPECT_EQ(problem_of(random_elements(3, 70001, 0.002, 3), placed_cut(16, 1, 8, parts(1, 1))), "");
  EXPECT_EQ(problem_of(random_elements(192, 64, 1, 4), placed_cut(32, 6, max_packed_tile_places, parts(6, 8))), "")
      << "every place of the greatest packed tile";
}

RC_GTEST_PROP(PlacedValues, OfAnyMatrixAreDecoded, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 250);
  const auto columns = *rc::gen::inRange<std::int64_t>(1, 100);
  const auto density = *rc::gen::element(0.0, 0.05, 0.3, 0.7, 1.0);
  const auto height = *rc::gen::element<std::uint32_t>(16, 32);
  const auto joined = *rc::gen::inRange<std::uint32_t>(1, 7);
  const auto packed_tiles = *rc::gen::inRange<std::uint32_t>(1, max_fragment_row_tiles / joined + 1);
  const Parts parts{joined, *rc::gen::element<std::uint32_t>(1, 2, 4, 8), *rc::gen::elementOf(orders)};
  const FragmentCut cut = placed_cut(height, joined * packed_tiles, *rc::gen::inRange<std::uint32_t>(20, 2000), parts);
  RC_ASSERT(pack(CsrMatrix{1, 1, {0, 0}, {}, {}}.view(), cut).format.is_placed());
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  RC_ASSERT(problem_of(random_elements(rows, columns, density, seed), cut) == "");
  RC_ASSERT(problem_of(drawn_elements(rows, columns, density, seed, drawn_normal), cut) == "");
}

TEST_P(PlacedOrder, IsDecodedWhateverValuesAre) {
  std::uint64_t seed = 400;
  for (const auto& draw : {drawn_normal, drawn_of_many_powers, drawn_denormal, drawn_of_ends}) {
    for (const std::uint32_t listed : {200U, 3000U}) {
      for (const Parts& of_packed_tile : {parts(1, 1), parts(2, 4), parts(6, 8)}) {
        for (int matrices = 0; matrices < 5; ++matrices) {
          EXPECT_EQ(problem_of(drawn_elements(100, 70, 0.4, ++seed, draw), placed_cut(16, 6, listed, of_packed_tile)),
                    "")
              << seed;
        }
      }
    }
  }
  const auto one_value = [](double value) {
    return drawn_elements(20, 40, 0.3, 5, [&](std::mt19937_64&) { return value; });
  };
  for (const double value : {-1.0, 0x1.ffcp5, -0x1.fffffep5, 0x1.0040002p3, 0x1p-149, -0x1p-126, 0x1.fffffep127}) {
    EXPECT_EQ(problem_of(one_value(static_cast<float>(value)), placed_cut(16, 2, 200, parts(2, 2))), "") << value;
  }
}

/// Beside what is not finite the exponent is that of the greatest of the others.
TEST_P(PlacedOrder, MayBeOfInfiniteValues) {
  const auto draw = [](std::mt19937_64& random) {
    return random() % 20 == 0 ? (random() % 2 == 0 ? INFINITY : -INFINITY) : drawn_normal(random);
  };
  EXPECT_EQ(problem_of(drawn_elements(40, 70, 0.5, 8, draw), placed_cut(16, 4, 300, parts(2, 4))), "");
}

TEST(PlacedValues, ThatHaveNoRoomTakeFurtherRounds) {
  const CsrMatrix matrix =
      matrix_where(64, 80, [](std::int64_t row, std::int64_t column) { return (row + column) % 4 == 0; });
  const auto format_of = [&](std::uint32_t listed, const Parts& parts) {
    return plan(matrix.view(), placed_cut(16, 2, listed, parts));
  };
  for (const std::uint32_t shares : {1U, 2U, 4U, 8U}) {
    const Parts parts{1, shares};
    EXPECT_TRUE(format_of(128, parts).regular()) << "a quarter of 16 rows and 32 columns";
    EXPECT_EQ(format_of(127, parts).counts.rounds, 2U * (2 + 2 + 1)) << "the last K tile has 16 columns";
    EXPECT_EQ(format_of(63, parts).counts.rounds, 2U * (3 + 3 + 2));
    const Parts joined{2, shares};
    EXPECT_TRUE(format_of(256, joined).regular());
    EXPECT_EQ(format_of(255, joined).counts.rounds, 2U * (2 + 2 + 1))
        << "the row tiles of a packed tile have its room together";
    EXPECT_EQ(format_of(254, joined).bytes, format_of(255, joined).bytes) << "values go in pairs";
  }
}

TEST_P(PlacedOrder, TakesRoomForAZeroWhereAShareHasAnOddNumber) {
  const CsrMatrix matrix =
      matrix_where(16, 32, [](std::int64_t row, std::int64_t column) { return row % 8 == 0 && column % 8 == 0; });
  const auto rounds_with = [&](std::uint32_t listed, std::uint32_t shares) {
    return plan(matrix.view(), placed_cut(16, 1, listed, parts(1, shares))).counts.rounds;
  };
  EXPECT_EQ(rounds_with(8, 4), 1U) << "two in each of four shares";
  EXPECT_EQ(rounds_with(16, 8), 1U);
  EXPECT_EQ(rounds_with(15, 8), 2U);
  EXPECT_EQ(rounds_with(2, 8), 8U);
  EXPECT_EQ(problem_of(matrix, placed_cut(16, 1, 15, parts(1, 8))), "");
}

/// What is left for a further round is in later shares, and in later places of the share that is cut.
TEST_P(PlacedOrder, IsThatInWhichValuesAreTaken) {
  const Packed<FragmentFormat> packed =
      pack(random_elements(64, 32, 0.5, 4).view(), placed_cut(32, 2, 200, parts(2, 4)));
  const FragmentFormat& format = packed.format;
  const FragmentReader reader(packed.bytes.span(), format);
  ASSERT_GT(format.counts.rounds, 4U);
  std::int64_t last = -1;
  std::uint64_t nonzeros = 0;
  for (std::uint64_t round = 0; round < format.counts.rounds; ++round) {
    const std::uint64_t packed_tile = format.packed_tile_at(round, 0);
    std::set<std::int64_t> places;
    for (std::uint32_t number = 0; number < reader.placed_values(packed_tile); ++number) {
      const ResidualValue found = reader.placed_value(packed_tile, number);
      if (found.value != 0) {
        places.insert(format.place_order().place_of({found.row, found.column}));
      }
    }
    EXPECT_EQ(reader.placed_values(packed_tile) == 200, round + 1 < format.counts.rounds);
    EXPECT_LT(last, *places.begin());
    last = *places.rbegin();
    nonzeros += places.size();
  }
  EXPECT_EQ(nonzeros, format.counts.nonzeros);
}

/// How many values of a matrix of two row tiles are stored at once with another one of their bank, and how many at
/// least, whoever orders them. A thread has two values that are beside each other; the first ones of 32 threads are
/// stored at once, then the second ones.
struct RepeatedBanks {
  std::uint64_t found = 0;
  std::uint64_t least = 0;
  std::uint64_t values = 0;
};

/// How many values may be stored in iterations of such sizes, of which the greatest ones are in front, without a bank
/// twice in one: at most what some iterations after store together and of each bank as many as there are iterations
/// before these.
std::uint64_t most_without_repetition(const std::array<std::uint64_t, 32>& of_bank,
                                      const std::vector<std::uint64_t>& iterations) {
  std::uint64_t most = ~std::uint64_t{0};
  for (std::size_t in_front = 0; in_front <= iterations.size(); ++in_front) {
    std::uint64_t sum =
        std::accumulate(iterations.begin() + static_cast<std::ptrdiff_t>(in_front), iterations.end(), std::uint64_t{0});
    for (const std::uint64_t count : of_bank) {
      sum += std::min<std::uint64_t>(count, in_front);
    }
    most = std::min(most, sum);
  }
  return most;
}

RepeatedBanks repeated_banks(double density, const Parts& parts) {
  const std::uint32_t shares = parts.shares;
  const Packed<FragmentFormat> packed =
      pack(random_elements(64, 32, density, 6).view(), placed_cut(32, 2, 2048, parts));
  const Bytes bytes(packed.bytes.span());
  const auto number_at = [&](std::uint64_t at, int width) {
    return bytes.number(packed.format.packed_tiles_at + at, width);
  };
  const auto begin = [&](std::uint32_t share) { return number_at(packed.format.share_begin_at(share), 2); };
  RepeatedBanks repeated{.values = packed.format.counts.nonzeros};
  for (std::uint32_t share = 0; share < shares; ++share) {
    std::array<std::uint64_t, 32> of_bank = {};
    std::vector<std::uint64_t> iterations;
    for (std::uint64_t chunk = begin(share); chunk < begin(share + 1); chunk += 64) {
      for (std::uint64_t first = chunk; first < chunk + 2; ++first) {
        std::set<std::uint64_t> different;
        iterations.push_back(0);
        for (std::uint64_t number = first; number < std::min(chunk + 64, begin(share + 1)); number += 2) {
          if (number_at(packed.format.listed_at(number), 4) != 0) {
            const std::uint64_t bank = number_at(packed.format.place_at(number), 2) / 4 % 32;
            different.insert(bank);
            ++of_bank.at(bank);
            ++iterations.back();
          }
        }
        repeated.found += iterations.back() - different.size();
      }
    }
    repeated.least += std::accumulate(iterations.begin(), iterations.end(), std::uint64_t{0}) -
                      most_without_repetition(of_bank, iterations);
  }
  return repeated;
}

TEST_P(PlacedOrder, HasDifferentBanksWhereValuesAreStoredAtOnce) {
  for (const std::uint32_t shares : {1U, 2U, 4U, 8U}) {
    EXPECT_EQ(repeated_banks(1, parts(2, shares)).found, 0U);
    for (const double density : {0.1, 0.3, 0.5, 0.8}) {
      const RepeatedBanks repeated = repeated_banks(density, parts(2, shares));
      EXPECT_LE(repeated.found, repeated.least + shares) << "of " << repeated.values << " in " << shares << " shares";
    }
  }
}

TEST(PlacedValues, HaveTheSameBytesForAnyNumberOfThreads) {
  const CsrMatrix matrix = random_elements(100, 500, 0.42, 4);
  for (const FragmentCut& cut :
       {placed_cut(32, 3, 420), placed_cut(16, 6, 600, {3, 4}), placed_cut(16, 6, 600, {3, 4, placed_halves})}) {
    const Packed<FragmentFormat> packed = pack(matrix.view(), cut);
    ASSERT_FALSE(packed.format.regular());
    const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
    EXPECT_TRUE(std::ranges::equal(pack(matrix.view(), cut).bytes.span(), packed.bytes.span()));
  }
}

TEST(PlacedFormat, FollowsFromItsNumbers) {
  constexpr FragmentShape shape{{.height = 32,
                                 .block_row_tiles = 2,
                                 .steps = 9,
                                 .residuals = 3,
                                 .dense = 1,
                                 .listed = 101,
                                 .placed = 1,
                                 .joined = 2,
                                 .shares = 4},
                                100,
                                1000,
                                ScalarType::f32};
  constexpr FragmentFormat format = describe(shape, {5000, 64});
  static_assert(format.is_dense() && format.is_listed() && format.is_placed());
  static_assert(format.shape.steps == placed_steps && format.shape.residuals == 0);
  static_assert(format.shape.joined == 2 && format.shape.shares == 4);
  static_assert(format.place_order().place_bytes() == 4 && !format.place_order().has_halves());
  static_assert(format.k_tile_columns() == 32 && format.k_tiles() == 32 && format.blocks() == 2 && format.regular());
  static_assert(format.round_packed_tiles() == 1 && format.packed_tile_places() == 64 * 32 &&
                format.share_places() == 16 * 32);
  static_assert(format.placed_room() == 100 && format.share_begin_at(4) == 8, "values go in pairs");
  static_assert(format.listed_at(0) == 32 && format.place_at(0) == 32 + 400 && format.packed_tile_bytes() == 640,
                "32 bytes of begins and of the exponent, and 6 for a value");
  static_assert(format.packed_tile_at(1, 0) == 256 + 640 && format.bytes == 256 + 64 * 640,
                "of two row tiles together");
  static_assert(describe(FragmentShape{shape, 1, 65536 * 32}, {0, 65536}).k_tile == ScalarType::u16);
  static_assert(describe(FragmentShape{shape, 1, 65536 * 32 + 1}, {0, 65537}).k_tile == ScalarType::u32);
  const auto with = [&](std::uint32_t FragmentShape::* number, std::uint32_t value) {
    FragmentShape other = shape;
    other.*number = value;
    return describe(other, {5000, 16});
  };
  EXPECT_EQ(with(&FragmentShape::listed, 0).k_tiles(), 8U) << "all elements are in their places";
  EXPECT_EQ(with(&FragmentShape::dense, 0).shape.steps, 9U);
  EXPECT_EQ(with(&FragmentShape::listed, 2).shape.placed, placed_words);
  const FragmentFormat as_halves = with(&FragmentShape::placed, placed_halves);
  EXPECT_TRUE(as_halves.is_placed() && as_halves.place_order().has_halves());
  EXPECT_EQ(std::tuple(as_halves.packed_tile_bytes(), as_halves.packed_tile_places(), as_halves.shape.joined,
                       as_halves.shape.shares),
            std::tuple(640U, 64U * 32, 2U, 4U));
  FragmentShape too_high = shape;
  too_high.block_row_tiles = too_high.joined = 7;
  for (const FragmentFormat& other :
       {with(&FragmentShape::listed, 0), with(&FragmentShape::dense, 0), with(&FragmentShape::placed, 0),
        with(&FragmentShape::listed, 1), with(&FragmentShape::block_row_tiles, 3), describe(too_high, {5000, 8})}) {
    EXPECT_FALSE(other.is_placed());
    EXPECT_EQ(std::tuple(other.shape.placed, other.shape.joined, other.shape.shares), std::tuple(0U, 1U, 1U));
    EXPECT_EQ(other.round_packed_tiles(), other.shape.block_row_tiles);
  }
  EXPECT_EQ(with(&FragmentShape::listed, 1).k_tiles(), 8U);
  too_high.block_row_tiles = too_high.joined = 6;
  EXPECT_TRUE(describe(too_high, {5000, 32}).is_placed()) << "192 rows";
}

TEST_P(PlacedOrder, HasAPlaceForEachElement) {
  const PlaceOrder order{GetParam()};
  for (std::uint32_t place = 0; place < max_packed_tile_places; ++place) {
    const RowColumn element = order.element_of(place);
    EXPECT_LT(element.column, placed_columns);
    EXPECT_EQ(order.place_of(element), place);
  }
  EXPECT_EQ(std::pair(order.element_of(255).row, order.element_of(255).column), std::pair(7U, 31U));
  EXPECT_EQ(std::pair(order.element_of(256).row, order.element_of(256).column), std::pair(8U, 0U));
  EXPECT_EQ(order.place_of({191, 31}), max_packed_tile_places - 1);
}

TEST(PlacedWords, StandInTilesOfFourColumns) {
  constexpr PlaceOrder order{placed_words};
  static_assert(order.place_bytes() == 4 && order.tile_columns() == 4);
  static_assert(order.place_of({0, 3}) == 3 && order.place_of({0, 4}) == 32 && order.place_of({1, 6}) == 32 + 6);
  static_assert(order.bank_of(31) == 31 && order.bank_of(32) == 0 && order.bank_of(255) == 31);
}

/// Columns 4 from each other are in a bank, so the tensor core takes them as one register.
TEST(PlacedHalves, StandInTilesOfEightColumns) {
  constexpr PlaceOrder order{placed_halves};
  static_assert(order.place_bytes() == 2 && order.tile_columns() == 8);
  static_assert(order.place_of({0, 1}) == 2 && order.place_of({0, 4}) == 1 && order.place_of({0, 7}) == 7 &&
                order.place_of({0, 8}) == 64);
  static_assert(order.place_of({1, 6}) == 8 + 5 && order.place_of({9, 25}) == 256 + 3 * 64 + 8 + 2);
  static_assert(order.bank_of(1) == 0 && order.bank_of(2) == 1 && order.bank_of(63) == 31 && order.bank_of(64) == 0);
}

TEST(ChoosePlaced, GivesRoomForWhatEveryUnitHas) {
  const CsrMatrix matrix =
      matrix_where(64, 256, [](std::int64_t row, std::int64_t column) { return (row + column) % 4 == 0; });
  const FragmentCut cut = choose_fragments(matrix.view(), placed_row_tiles(2), {});
  EXPECT_EQ(cut.placed, placed_words);
  EXPECT_EQ(cut.listed, (832U - 32) / 6 / 2 * 2 + 1)
      << "128 and a zero, as many pairs as fill the last 32 bytes, and one of a pair";
  EXPECT_TRUE(plan(matrix.view(), cut).regular());
  const FragmentCut joined = choose_fragments(matrix.view(), placed_row_tiles(4, 16, {4, 8}), {});
  EXPECT_EQ(std::tuple(joined.placed, joined.joined, joined.shares), std::tuple(placed_words, 4U, 8U));
  EXPECT_EQ(joined.listed, (99U * 32 - 32) / 6 / 2 * 2 + 1) << "512, and a zero for each share";
  EXPECT_TRUE(plan(matrix.view(), joined).regular());
  const FragmentCut halves = choose_fragments(matrix.view(), placed_row_tiles(4, 16, {4, 8, placed_halves}), {});
  EXPECT_EQ(std::tuple(halves.placed, halves.joined, halves.shares, halves.listed),
            std::tuple(placed_halves, 4U, 8U, joined.listed));
  EXPECT_TRUE(plan(matrix.view(), halves).regular());
  const CsrMatrix full = random_elements(32, 64, 1, 1);
  EXPECT_EQ(choose_fragments(full.view(), placed_row_tiles(1, 32), {}).listed, (194U * 32 - 32) / 6 / 2 * 2 + 1);
  const CsrMatrix empty = random_elements(20, 50, 0, 1);
  EXPECT_TRUE(plan(empty.view(), choose_fragments(empty.view(), placed_row_tiles(2), {})).regular());
}

/// Also where every share has a zero besides.
TEST(ChoosePlaced, GivesRoomForAZeroOfEachShare) {
  const CsrMatrix matrix =
      matrix_where(16, 256, [](std::int64_t row, std::int64_t column) { return row % 8 == 0 && column % 8 == 0; });
  const FragmentCut cut = choose_fragments(matrix.view(), placed_row_tiles(1, 16, {1, 8}), {.round = 1e6});
  EXPECT_GE(cut.listed, 16U);
  EXPECT_TRUE(plan(matrix.view(), cut).regular());
}

TEST(ChoosePlaced, GivesTheRoomWithWhichTheBusiestBlockCountsLeast) {
  const CsrMatrix matrix = random_elements(64, 160, 0.3, 4);
  for (const Parts& parts : {Parts{}, Parts{2, 4}, Parts{2, 4, placed_halves}}) {
    for (const FragmentWeights& weights :
         {FragmentWeights{}, FragmentWeights{.round = 500}, FragmentWeights{.rounds_at_once = 2}}) {
      const FragmentCut cut = choose_fragments(matrix.view(), placed_row_tiles(2, 16, parts), weights);
      const auto counted = [&](std::uint32_t listed) {
        const Packed<FragmentFormat> packed = pack(matrix.view(), placed_cut(16, 2, listed, parts));
        const FragmentReader reader(packed.bytes.span(), packed.format);
        const std::uint64_t rounds = std::max(reader.first_round(1), reader.first_round(2) - reader.first_round(1));
        const double iterations = std::ceil(static_cast<double>(rounds) / weights.rounds_at_once);
        return iterations *
               (static_cast<double>(packed.format.packed_tile_bytes()) * packed.format.round_packed_tiles() +
                weights.round);
      };
      for (std::uint32_t listed = 50; listed < 1040; listed += 25) {
        EXPECT_LE(counted(cut.listed), counted(listed)) << listed << " in place of " << cut.listed;
      }
    }
  }
}

TEST(PlacedCut, ThatCannotBeIsRefused) {
  const CsrMatrix matrix = random_elements(4, 4, 1, 1);
  EXPECT_THROW(pack(matrix.view(), FragmentCut{.dense = 1, .listed = 10, .placed = 3}), std::invalid_argument);
  for (const Parts& parts : {Parts{0, 1}, {3, 1}, {1, 0}, {1, 3}, {1, 16}}) {
    EXPECT_THROW(pack(matrix.view(), placed_cut(16, 2, 10, parts)), std::invalid_argument)
        << parts.joined << ", " << parts.shares;
  }
}

TEST(UnpackPlaced, RefusesChangedBytes) {
  for (const FragmentCut& cut : {placed_cut(16, 2, 70), placed_cut(32, 1, 300, {1, 8}), placed_cut(16, 2, 90, {2, 4}),
                                 placed_cut(16, 1, 300, {1, 2}), placed_cut(16, 2, 70, {1, 1, placed_halves}),
                                 placed_cut(16, 2, 90, {2, 4, placed_halves})}) {
    expect_changed_bytes_refused(random_elements(20, 40, 0.4, 7), cut, 3);
    expect_changed_bytes_refused(drawn_elements(20, 40, 0.4, 7, drawn_normal), cut, 7);
  }
}

/// Packed bytes of one packed tile and an empty one, of which others are tried.
struct OtherBytes {
  Packed<FragmentFormat> packed;
  Bytes bytes{packed.bytes.span()};

  const FragmentFormat& format() const { return packed.format; }
  std::uint64_t number(std::uint64_t at, int width) const { return bytes.number(format().packed_tiles_at + at, width); }
  template <typename Number>
  std::vector<std::byte> with(std::uint64_t at, Number value) const {
    ChangeableBytes changed(packed.bytes.span());
    changed.put(format().packed_tiles_at + at, value).seal();
    return changed.bytes();
  }
  template <typename Number>
  void refused(std::uint64_t at, Number value) const {
    if (number(at, sizeof value) != value) {
      EXPECT_THROW(unpack(with(at, value)), FormatError) << "byte " << at << " is " << std::uint64_t{value};
    }
  }
};

/// Whatever begins and places are, values are read of the packed tile alone, and each once.
TEST(UnpackPlaced, RefusesOtherBeginsAndPlaces) {
  for (const Parts& parts : {Parts{1, 4}, Parts{2, 8}, Parts{1, 4, placed_halves}, Parts{2, 8, placed_halves}}) {
    const OtherBytes other{pack(drawn_elements(25, 30, 0.4, 7, drawn_normal).view(), placed_cut(16, 2, 500, parts))};
    const FragmentFormat& format = other.format();
    ASSERT_TRUE(format.is_placed() && format.regular());
    const auto begin_of = [&](std::uint32_t share) { return other.number(format.share_begin_at(share), 2); };
    for (std::uint32_t share = 0; share <= parts.shares; ++share) {
      for (const std::uint16_t begin : {0, 1, 2, 500, 0xffff}) {
        other.refused(format.share_begin_at(share), begin);
      }
    }
    for (std::uint64_t at = format.share_begin_at(parts.shares + 1); at < exponent_at; at += 2) {
      other.refused(at, std::uint16_t{1});
    }
    const std::uint64_t end = begin_of(parts.shares);
    for (std::uint64_t value = 1; value < end; ++value) {
      const auto place = static_cast<std::uint16_t>(other.number(format.place_at(value), 2));
      other.refused(format.place_at(value), static_cast<std::uint16_t>(other.number(format.place_at(value - 1), 2)));
      other.refused(format.place_at(value), static_cast<std::uint16_t>(place + 1));
      other.refused(format.place_at(value), static_cast<std::uint16_t>(place + format.place_order().place_bytes() *
                                                                                   format.packed_tile_places()));
      other.refused(format.place_at(value), std::uint16_t{0xffff});
    }
    other.refused(format.place_at(end), std::uint16_t{4});
    other.refused(format.listed_at(end), std::uint32_t{1});
  }
}

TEST(UnpackPlaced, RefusesOtherExponents) {
  const OtherBytes other{pack(drawn_elements(16, 30, 0.4, 7, drawn_normal).view(), placed_cut(16, 2, 300, {1, 4}))};
  const std::uint64_t of_empty = other.format().packed_tile_bytes() + exponent_at;
  EXPECT_EQ(other.number(of_empty, 4), least_exponent);
  EXPECT_GT(other.number(exponent_at, 4), least_exponent);
  for (const std::uint32_t exponent :
       {0U, 1U, 13U, 14U, 15U, 120U, 121U, 122U, 123U, 254U, 255U, 256U, 0x80000000U, 0xffffffffU}) {
    other.refused(exponent_at, exponent);
    other.refused(of_empty, exponent);
  }
}

/// In which values are ordered for other banks.
TEST(UnpackPlaced, RefusesTheOtherOrder) {
  const CsrMatrix matrix = random_elements(20, 40, 0.4, 7);
  for (const auto& [own, other] : {std::pair{placed_words, placed_halves}, {placed_halves, placed_words}}) {
    const Packed<FragmentFormat> packed = pack(matrix.view(), placed_cut(16, 2, 300, {2, 4, own}));
    ChangeableBytes changed(packed.bytes.span());
    changed.put_number(position_of(packed.format, "placed"), other).seal_header();
    EXPECT_THROW(unpack(changed.bytes()), FormatError) << other << " in place of " << own;
  }
}

TEST(UnpackPlaced, RefusesPlacesOfOtherSteps) {
  const auto refused = [](const CsrMatrix& matrix, const FragmentCut& cut) {
    const Packed<FragmentFormat> packed = pack(matrix.view(), cut);
    for (const auto& [name, number] : {std::pair<const char*, std::uint64_t>{"placed", placed_words},
                                       {"placed", placed_halves},
                                       {"joined", 2},
                                       {"shares", 4}}) {
      ChangeableBytes changed(packed.bytes.span());
      changed.put_number(position_of(packed.format, name), number).seal_header();
      EXPECT_THAT([&] { unpack(changed.bytes()); },
                  ThrowsMessage<FormatError>(HasSubstr(std::string("the header field ") + name + " does not agree")));
    }
  };
  refused(random_elements(20, 40, 0.4, 7), {.block_row_tiles = 2, .steps = 3, .residuals = 200});
  refused(random_elements(20, 40, 0.4, 7), {.block_row_tiles = 2, .dense = 1});
  refused(random_elements(5, 3, 0.7, 7), {.block_row_tiles = 2, .dense = 1, .listed = 1});
}

}  // namespace
}  // namespace esc::transformer
