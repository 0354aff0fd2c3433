// SPDX-License-Identifier: Apache-2.0
// Packing into fragments: every packed tile decoded by the definition of mma.sp and mma, for both forms of the matrix,
// any number of threads and the serial text that generated transformers embed; what the search for slots achieves, the
// choice of steps and residuals, and the unpacker's refusals.

#include "transformer/fragment_packing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>

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

constexpr FragmentWeights extra_weight{.residual = 64};

TEST(FragmentPacking, RandomMatricesOfEverySparsityAreDecoded) {
  std::uint64_t seed = 0;
  for (const double density : {0.0, 0.02, 0.1, 0.3, 0.4, 0.5, 0.7, 0.95, 1.0}) {
    const CsrMatrix matrix = random_elements(40, 300, density, ++seed);
    EXPECT_EQ(problem_of(matrix, {.block_row_tiles = 2, .steps = 8, .residuals = 4}), "") << density;
    EXPECT_EQ(problem_of(matrix, {.block_row_tiles = 3, .steps = 16, .residuals = 0}), "") << density;
    EXPECT_EQ(problem_of(matrix, {.block_row_tiles = 1, .steps = 3, .residuals = 1}), "") << density;
    EXPECT_EQ(problem_of(matrix, {.height = 32, .block_row_tiles = 1, .steps = 7, .residuals = 9}), "") << density;
    EXPECT_EQ(problem_of(matrix, choose_fragments(matrix.view(), {2}, extra_weight)), "") << density;
    EXPECT_EQ(problem_of(matrix, choose_fragments(matrix.view(), {1, 32}, extra_weight)), "") << density;
  }
}

TEST(FragmentPacking, OddShapesAndUnevenRowsAreDecoded) {
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {15, 3}, {17, 127}, {33, 129}, {3, 66000}}) {
    for (const double density : {0.01, 0.5}) {
      for (const std::uint32_t height : {16U, 32U}) {
        EXPECT_EQ(problem_of(random_elements(rows, columns, density, 5),
                             {.height = height, .block_row_tiles = 2, .steps = 7, .residuals = 2}),
                  "")
            << rows << " x " << columns;
      }
    }
  }
  const auto one_full_row = [](std::int64_t row, std::int64_t) { return row == 21; };
  const auto full_k_tile = [](std::int64_t row, std::int64_t column) {
    return row < 16 && column >= 128 && column < 256;
  };
  const auto empty_row_tiles = [](std::int64_t row, std::int64_t column) {
    return row / 16 == 2 && (row + column) % 3 == 0;
  };
  for (const std::uint32_t steps : {1U, 8U, 16U}) {
    const FragmentCut cut{.block_row_tiles = 4, .steps = steps, .residuals = 3};
    const FragmentCut of_two_m16_tiles{.height = 32, .block_row_tiles = 2, .steps = steps, .residuals = 3};
    for (const FragmentCut& any : {cut, of_two_m16_tiles}) {
      EXPECT_EQ(problem_of(matrix_where(40, 700, one_full_row), any), "");
      EXPECT_EQ(problem_of(matrix_where(40, 700, full_k_tile), any), "");
      EXPECT_EQ(problem_of(matrix_where(90, 700, empty_row_tiles), any), "");
    }
  }
}

RC_GTEST_PROP(FragmentPacking, AnyCutOfAnyMatrixIsDecoded, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 50);
  const auto columns = *rc::gen::inRange<std::int64_t>(1, 600);
  const auto density = *rc::gen::element(0.0, 0.05, 0.2, 0.3, 1.0);
  const FragmentCut cut{.height = *rc::gen::element<std::uint32_t>(16, 32),
                        .block_row_tiles = *rc::gen::inRange<std::uint32_t>(1, 17),
                        .steps = *rc::gen::inRange<std::uint32_t>(1, 17),
                        .residuals = *rc::gen::inRange<std::uint32_t>(0, 65)};
  RC_ASSERT(problem_of(random_elements(rows, columns, density, *rc::gen::arbitrary<std::uint64_t>()), cut) == "");
}

TEST(FragmentPacking, DenseStepsHoldEveryElementInItsPlace) {
  std::uint64_t seed = 90;
  for (const double density : {0.0, 0.02, 0.4, 1.0}) {
    for (const std::int64_t columns : {1, 7, 128, 300}) {
      const CsrMatrix matrix = random_elements(45, columns, density, ++seed);
      EXPECT_EQ(problem_of(matrix, {.block_row_tiles = 2, .dense = 1}), "") << density << ", " << columns;
      EXPECT_EQ(problem_of(matrix, {.height = 32, .block_row_tiles = 3, .dense = 1}), "") << density << ", " << columns;
    }
  }
  EXPECT_EQ(problem_of(random_elements(1, 70001, 0.1, 3), {.dense = 1}), "");
}

TEST(FragmentPacking, ListedValuesAreDecoded) {
  std::uint64_t seed = 120;
  const auto one_full_row = [](std::int64_t row, std::int64_t) { return row == 21; };
  for (const std::uint32_t height : {16U, 32U}) {
    for (const double density : {0.0, 0.02, 0.4, 1.0}) {
      for (const std::int64_t columns : {1, 7, 130, 256, 300}) {
        const CsrMatrix matrix = random_elements(45, columns, density, ++seed);
        EXPECT_EQ(problem_of(matrix, {.height = height, .block_row_tiles = 2, .dense = 1, .listed = max_listed}), "")
            << density << ", " << columns;
        EXPECT_EQ(problem_of(matrix, {.height = height, .block_row_tiles = 3, .dense = 1, .listed = 301}), "")
            << density << ", " << columns;
      }
    }
    EXPECT_EQ(problem_of(random_elements(5, 3, 0.7, ++seed), {.height = height, .dense = 1, .listed = 1}), "")
        << "a round for each non-zero";
    EXPECT_EQ(problem_of(matrix_where(40, 700, one_full_row),
                         {.height = height, .block_row_tiles = 4, .dense = 1, .listed = 50}),
              "");
    EXPECT_EQ(problem_of(random_elements(3, 70001, 0.001, 3), {.height = height, .dense = 1, .listed = 16}), "");
  }
}

TEST(FragmentPacking, WhatUnitsDoNotListTakesFurtherRounds) {
  const CsrMatrix matrix =
      matrix_where(64, 300, [](std::int64_t row, std::int64_t column) { return (row + column) % 4 == 0; });
  const auto format_of = [&](std::uint32_t listed) {
    return plan(matrix.view(), FragmentCut{.block_row_tiles = 2, .dense = 1, .listed = listed});
  };
  EXPECT_TRUE(format_of(512).regular()) << "a quarter of 16 rows and 128 columns";
  EXPECT_EQ(format_of(511).counts.rounds, 2U * (2 + 2 + 1)) << "the last K tile has 44 columns";
  EXPECT_EQ(format_of(176).counts.rounds, 2U * (3 + 3 + 1));
  EXPECT_EQ(format_of(175).counts.rounds, 2U * (3 + 3 + 2));
}

RC_GTEST_PROP(FragmentPacking, AnyListsOfAnyMatrixAreDecoded, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 50);
  const auto columns = *rc::gen::inRange<std::int64_t>(1, 600);
  const auto density = *rc::gen::element(0.0, 0.05, 0.3, 1.0);
  const FragmentCut cut{.height = *rc::gen::element<std::uint32_t>(16, 32),
                        .block_row_tiles = *rc::gen::inRange<std::uint32_t>(1, 17),
                        .dense = 1,
                        .listed = *rc::gen::inRange<std::uint32_t>(64, 1500)};
  RC_ASSERT(problem_of(random_elements(rows, columns, density, *rc::gen::arbitrary<std::uint64_t>()), cut) == "");
}

/// Each column is at its own number.
TEST(FragmentPacking, AOneOfTwoMatrixStaysAsItIs) {
  std::mt19937_64 random(3);
  std::uint64_t place = 0;
  const CsrMatrix matrix = matrix_where(64, 512, [&](std::int64_t, std::int64_t column) {
    place = column % 2 == 0 ? random() % 2 : place;
    return static_cast<std::uint64_t>(column % 2) == place;
  });
  const FragmentCut cut = choose_fragments(matrix.view(), {4}, extra_weight);
  EXPECT_EQ(cut.steps, 8U);
  EXPECT_EQ(cut.residuals, 0U);
  const Packed<FragmentFormat> packed = pack(matrix.view(), cut);
  ASSERT_TRUE(packed.format.regular());
  const FragmentReader reader(packed.bytes.span(), packed.format);
  for (std::uint64_t round = 0; round < packed.format.counts.rounds; ++round) {
    for (std::uint32_t slot = 0; slot < 128; ++slot) {
      ASSERT_EQ(reader.column(packed.format.packed_tile_at(round, 1), slot / 16, slot % 16), slot);
    }
  }
}

TEST(FragmentPacking, WhatDoesNotFitTakesFurtherRounds) {
  const CsrMatrix matrix = random_elements(64, 300, 0.5, 9);
  const FragmentCut cut{.block_row_tiles = 2, .steps = 6, .residuals = 4};
  const Packed<FragmentFormat> packed = pack(matrix.view(), cut);
  EXPECT_FALSE(packed.format.regular());
  EXPECT_EQ(packed.format.counts.rounds, 2U * (2 + 2 + 1)) << "the last K tile has 44 columns";
  EXPECT_EQ(problem_of(matrix, cut), "");
}

TEST(FragmentPacking, GivesTheSameBytesForAnyNumberOfThreads) {
  for (const std::uint32_t steps : {7U, 8U}) {
    const CsrMatrix matrix = random_elements(100, 900, 0.42, 4);
    const FragmentCut cut{.block_row_tiles = 3, .steps = steps, .residuals = 1};
    const Packed<FragmentFormat> packed = pack(matrix.view(), cut);
    const FragmentCut choice = choose_fragments(matrix.view(), {3}, extra_weight);
    const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
    EXPECT_TRUE(std::ranges::equal(pack(matrix.view(), cut).bytes.span(), packed.bytes.span()));
    const FragmentCut again = choose_fragments(matrix.view(), {3}, extra_weight);
    EXPECT_EQ(std::pair(again.steps, again.residuals), std::pair(choice.steps, choice.residuals));
  }
}

/// Searches are shared by those who choose and those who pack, for any blocks, steps and residuals.
TEST(FragmentPacking, GivesTheSameBytesWithSearchesThatOthersHaveMade) {
  const CsrMatrix matrix = random_elements(100, 900, 0.5, 5);
  FragmentSearches searches(FragmentShape{{}, matrix.rows, matrix.columns, matrix.element});
  for (const FragmentCut& cut : {FragmentCut{.block_row_tiles = 3, .steps = 9, .residuals = 1},
                                 FragmentCut{.block_row_tiles = 2, .steps = 9, .residuals = 30},
                                 FragmentCut{.block_row_tiles = 3, .steps = 8, .residuals = 1},
                                 FragmentCut{.block_row_tiles = 3, .steps = 9, .residuals = 1}}) {
    EXPECT_TRUE(
        std::ranges::equal(pack(matrix.view(), cut, searches).bytes.span(), pack(matrix.view(), cut).bytes.span()));
    for (const FragmentWeights& weight :
         {extra_weight, FragmentWeights{.residual = 640}, FragmentWeights{.residual = 64, .steps_at_once = 4}}) {
      const FragmentCut choice = choose_fragments(matrix.view(), {cut.block_row_tiles}, weight, searches);
      const FragmentCut alone = choose_fragments(matrix.view(), {cut.block_row_tiles}, weight);
      EXPECT_EQ(std::pair(choice.steps, choice.residuals), std::pair(alone.steps, alone.residuals));
    }
  }
}

TEST(FragmentSearches, AreMadeOnceForEachUnitAndNumberOfSteps) {
  FragmentSearches searches(FragmentShape{{}, 40, 400});
  KTileRows rows = {};
  rows.of_column[7] = 3;
  const PackedTileSlots& found = searches.find(rows, 9, 1, 2);
  EXPECT_EQ(&searches.find(rows, 9, 1, 2), &found);
  EXPECT_NE(&searches.find(rows, 10, 1, 2), &found);
  EXPECT_NE(&searches.find(rows, 9, 2, 1), &found);
}

TEST(FragmentPacking, OfAnotherMatrixStaysInsideItsBytes) {
  const CsrMatrix matrix = random_elements(40, 500, 0.3, 1);
  const FragmentFormat format = plan(matrix.view(), FragmentCut{.block_row_tiles = 2, .steps = 6, .residuals = 0});
  constexpr std::uint64_t canary = 0x5ca1ab1e5ca1ab1e;
  for (const double density : {0.0, 0.3, 1.0}) {
    std::vector<std::uint64_t> room(format.bytes / 8 + 4096, canary);
    EXPECT_FALSE(packed_serially(random_elements(40, 500, density, 2), format, room.data()));
    EXPECT_TRUE(std::all_of(room.end() - 4096, room.end(), [](std::uint64_t word) { return word == canary; }));
  }
}

/// What the search leaves over in K tiles of independent entries.
struct Searched {
  double left = 0;         ///< of the non-zeros
  double repetitions = 0;  ///< reads of B at once for the slots of a set, 1 if all residues differ
};

Searched search_k_tiles(std::uint32_t height, double density, int count) {
  std::mt19937_64 random(11);
  std::bernoulli_distribution nonzero(density);
  std::uint64_t nonzeros = 0;
  std::uint64_t left = 0;
  std::uint64_t reads = 0;
  constexpr std::uint32_t steps = 8;
  constexpr std::uint32_t slots_of_packed_tile = steps * sparse_step_slots;
  for (int number = 0; number < count; ++number) {
    KTileRows k_tile = {};
    for (std::uint32_t& rows : k_tile.of_column) {
      for (std::uint32_t row = 0; row < height; ++row) {
        rows |= nonzero(random) ? 1U << row : 0U;
      }
    }
    PackedTileSlots slots;
    search_slots(height, k_tile, steps, seed_of(number, 0, 0), slots);
    nonzeros += count_nonzeros(k_tile);
    left += count_nonzeros(slots.left);
    for (std::uint32_t set = 0; set < slots_of_packed_tile; set += set_slots) {
      std::array<std::uint64_t, set_slots> of_residue = {};
      for (std::uint32_t slot = set; slot < set + set_slots; ++slot) {
        if (slots.column[slot] != no_column) {
          ++of_residue[slots.column[slot] % set_slots];
        }
      }
      reads += std::ranges::max(of_residue);
    }
  }
  return {static_cast<double>(left) / static_cast<double>(nonzeros),
          static_cast<double>(reads) / (static_cast<double>(slots_of_packed_tile / set_slots) * count)};
}

TEST(FragmentSlots, LeaveLittleOver) {
  struct Wish {
    std::uint32_t height;  ///< of a row tile
    double density;
    int k_tiles;
    double left;
    double reads;
  };
  for (const Wish& wish : {Wish{16, 0.5, 20, 0.12, 1.4},
                           {16, 0.4, 20, 0.05, 1.4},
                           {16, 0.3, 60, 0.005, 1.1},
                           {16, 0.2, 60, 0, 1.01},
                           {16, 0.1, 60, 0, 1.01},
                           {32, 0.3, 20, 0.1, 1.4},
                           {32, 0.2, 60, 0.01, 1.05},
                           {32, 0.1, 60, 0, 1.01}}) {
    const Searched searched = search_k_tiles(wish.height, wish.density, wish.k_tiles);
    fmt::print("{} rows, {:.0f} % zeros: {:.4f} % of the non-zeros left over, {:.2f} reads of B for a set\n",
               wish.height, 100 * (1 - wish.density), 100 * searched.left, searched.repetitions);
    EXPECT_LE(searched.left, wish.left) << wish.density;
    EXPECT_LE(searched.repetitions, wish.reads) << wish.density;
  }
}

TEST(ChooseFragments, TakesFewBytes) {
  struct Wish {
    double density;
    double bytes;  ///< of an element of A
  };
  for (const Wish& wish : {Wish{0.5, 4}, {0.3, 2.5}, {0.2, 2.4}, {0.1, 2.3}, {0.05, 1.8}}) {
    const CsrMatrix matrix = random_elements(256, 1024, wish.density, 8);
    const FragmentCut cut = choose_fragments(matrix.view(), {4}, extra_weight);
    const FragmentFormat format = plan(matrix.view(), cut);
    const double bytes = static_cast<double>(format.bytes) / (256 * 1024);
    fmt::print("{:.0f} % zeros: {} steps, {} residuals, {} rounds of {} K tiles, {:.3f} bytes an element\n",
               100 * (1 - wish.density), cut.steps, cut.residuals, format.counts.rounds,
               format.blocks() * format.k_tiles(), bytes);
    EXPECT_LE(bytes, wish.bytes) << wish.density;
  }
}

constexpr FragmentBlock listed_panels(std::uint32_t row_tiles) {
  return {.row_tiles = row_tiles, .dense_steps = true, .listed_values = true};
}

TEST(ChooseFragments, ListsWhatEveryUnitHas) {
  const CsrMatrix matrix =
      matrix_where(64, 512, [](std::int64_t row, std::int64_t column) { return (row + column) % 4 == 0; });
  const FragmentCut cut = choose_fragments(matrix.view(), listed_panels(2), {});
  EXPECT_EQ(cut.dense, 1U);
  EXPECT_EQ(cut.listed, 512U);
  EXPECT_TRUE(plan(matrix.view(), cut).regular());
  EXPECT_TRUE(plan(random_elements(20, 300, 0, 1).view(),
                   choose_fragments(random_elements(20, 300, 0, 1).view(), listed_panels(2), {}))
                  .regular());
  const CsrMatrix full = random_elements(32, 128, 1, 1);
  EXPECT_EQ(choose_fragments(full.view(), {.height = 32, .dense_steps = true, .listed_values = true}, {}).listed,
            32U * 128);
}

TEST(ChooseFragments, ListsAsManyValuesAsCountLeast) {
  const CsrMatrix matrix = random_elements(64, 256, 0.3, 4);
  for (const FragmentWeights& weights :
       {FragmentWeights{}, FragmentWeights{.round = 500}, FragmentWeights{.rounds_at_once = 2}}) {
    const FragmentCut cut = choose_fragments(matrix.view(), listed_panels(2), weights);
    const auto counted = [&](std::uint32_t listed) {
      FragmentCut other = cut;
      other.listed = listed;
      const Packed<FragmentFormat> packed = pack(matrix.view(), other);
      const FragmentReader reader(packed.bytes.span(), packed.format);
      std::uint64_t most_iterations = 0;
      for (std::uint64_t block = 0; block < packed.format.blocks(); ++block) {
        const std::uint64_t rounds = reader.first_round(block + 1) - reader.first_round(block);
        most_iterations = std::max(most_iterations, (rounds + weights.rounds_at_once - 1) / weights.rounds_at_once);
      }
      return static_cast<double>(most_iterations) *
             (static_cast<double>(packed.format.packed_tile_bytes()) * 2 + weights.round);
    };
    for (std::uint32_t listed = 75; listed < 1000; listed += 25) {
      EXPECT_LE(counted(cut.listed), counted(listed)) << listed;
    }
    const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
    EXPECT_EQ(choose_fragments(matrix.view(), listed_panels(2), weights).listed, cut.listed);
  }
}

TEST(ChooseFragments, TakesFurtherRoundsRatherThanLongListsForAll) {
  std::mt19937_64 random(5);
  std::bernoulli_distribution few(0.05);
  const CsrMatrix matrix = matrix_where(
      160, 2048, [&](std::int64_t row, std::int64_t column) { return (row / 16 == 7 && column < 128) || few(random); });
  const FragmentFormat format = plan(matrix.view(), choose_fragments(matrix.view(), listed_panels(1), {}));
  EXPECT_GT(format.counts.rounds, 160U);
  EXPECT_LT(format.bytes, 300000U) << "with lists that hold the dense row tile it is 1.4 MB";
  EXPECT_TRUE(plan(matrix.view(), choose_fragments(matrix.view(), listed_panels(1), {.round = 1e6})).regular())
      << "where a round takes long";
}

TEST(FragmentFormat, FollowsFromItsNumbers) {
  constexpr FragmentShape shape{{.block_row_tiles = 2, .steps = 9, .residuals = 1}, 100, 500};
  constexpr FragmentFormat regular = describe(shape, {5000, 16});
  static_assert(regular.blocks() == 4 && regular.k_tiles() == 4 && regular.regular());
  static_assert(regular.packed_tile_bytes() == 9 * (512 + 64 + 16) + 16, "8 bytes, and one residual of 8");
  static_assert(regular.packed_tiles_at == 256 && regular.bytes == 256 + 16 * 2 * regular.packed_tile_bytes());
  constexpr FragmentFormat irregular = describe(shape, {5000, 17});
  static_assert(!irregular.regular());
  static_assert(irregular.k_tiles_at == 512 && irregular.packed_tiles_at == 768);
  static_assert(irregular.bytes == 768 + 17 * 2 * regular.packed_tile_bytes());
  constexpr FragmentShape of_two_m16_tiles{{.height = 32, .block_row_tiles = 2, .steps = 9, .residuals = 1}, 100, 500};
  constexpr FragmentFormat higher = describe(of_two_m16_tiles, {5000, 8});
  static_assert(higher.blocks() == 2 && higher.regular());
  static_assert(higher.packed_tile_bytes() == 9 * (1024 + 128 + 16) + 16,
                "the columns and the residuals are of both m16 tiles");
  constexpr FragmentShape of_dense_steps{
      {.height = 32, .block_row_tiles = 2, .steps = 9, .residuals = 1, .dense = 1}, 100, 500};
  static_assert(describe(of_dense_steps, {5000, 8}).packed_tile_bytes() == std::uint64_t{32} * 128 * sizeof(float),
                "all elements, and nothing else");
  static_assert(describe(of_dense_steps, {5000, 8}).shape.steps == 16 &&
                describe(of_dense_steps, {5000, 8}).shape.residuals == 0);
  constexpr FragmentShape of_lists{
      {.height = 32, .block_row_tiles = 2, .steps = 9, .residuals = 1, .dense = 1, .listed = 100}, 100, 500};
  constexpr FragmentFormat listed = describe(of_lists, {5000, 8});
  static_assert(listed.is_dense() && listed.is_listed() && listed.shape.steps == 16 && listed.shape.residuals == 0);
  static_assert(listed.packed_tile_bytes() == 1056, "8 times 64 bytes of bits and 16 of begins, and 100 values");
  constexpr FragmentShape of_sparse_steps{{.block_row_tiles = 2, .steps = 9, .residuals = 1, .listed = 100}, 100, 500};
  static_assert(describe(of_sparse_steps, {5000, 16}) == regular, "only dense steps have lists");
  EXPECT_EQ(describe(FragmentShape{{}, 1, 65536 * 128}, {0, 65536}).k_tile, ScalarType::u16);
  EXPECT_EQ(describe(FragmentShape{{}, 1, 65536 * 128 + 1}, {0, 65537}).k_tile, ScalarType::u32);
}

/// Headers of before have numbers of 16-bit elements there.
TEST(FragmentFormat, KeepsThePlacesOfReservedNumbers) {
  const Numbers numbers =
      numbers_of(describe(FragmentShape{{.block_row_tiles = 2, .steps = 9, .residuals = 3}, 100, 500}, {5000, 16}));
  EXPECT_THAT(std::span(numbers.values).first(17),
              testing::ElementsAre(100, 500, 5, 16, 2, 9, 0, 3, 0, 0, 0, 1, 1, 1, 5000, 16, 0));
}

TEST(FragmentCut, ThatCannotBeIsRefused) {
  CsrMatrix matrix = random_elements(4, 4, 1, 1);
  for (const FragmentCut& cut :
       {FragmentCut{.height = 24}, FragmentCut{.height = 48}, FragmentCut{.block_row_tiles = 0},
        FragmentCut{.block_row_tiles = 17}, FragmentCut{.steps = 0}, FragmentCut{.steps = 17},
        FragmentCut{.residuals = 255}, FragmentCut{.dense = 2}, FragmentCut{.dense = 1, .listed = 8193}}) {
    EXPECT_THROW(pack(matrix.view(), cut), std::invalid_argument);
  }
  EXPECT_NO_THROW(choose_fragments(matrix.view(), listed_panels(1), extra_weight));
  EXPECT_THROW(choose_fragments(matrix.view(), {0}, extra_weight), std::invalid_argument);
  for (const ScalarType element : {ScalarType::f64, ScalarType::f16, ScalarType::bf16}) {
    matrix.element = element;
    EXPECT_THAT([&] { pack(matrix.view(), FragmentCut{}); },
                ThrowsMessage<std::invalid_argument>(
                    HasSubstr(fmt::format("element is {}; it can only be 5", static_cast<int>(element)))));
    EXPECT_THROW(choose_fragments(matrix.view(), {1}, extra_weight), std::invalid_argument);
    EXPECT_THROW(choose_fragments(matrix.view(), listed_panels(1), extra_weight), std::invalid_argument);
  }
}

TEST(UnpackFragments, RefusesChangedBytes) {
  for (const FragmentCut& cut :
       {FragmentCut{.block_row_tiles = 2, .steps = 1, .residuals = 2},
        FragmentCut{.block_row_tiles = 1, .steps = 5, .residuals = 1},
        FragmentCut{.block_row_tiles = 1, .steps = 3, .residuals = 2},
        FragmentCut{.height = 32, .block_row_tiles = 1, .steps = 2, .residuals = 3},
        FragmentCut{.block_row_tiles = 2, .dense = 1}, FragmentCut{.block_row_tiles = 2, .dense = 1, .listed = 100},
        FragmentCut{.height = 32, .dense = 1, .listed = 300}}) {
    // Of the payload few, as each is searched for slots again.
    expect_changed_bytes_refused(random_elements(20, 40, 0.4, 7), cut, 11);
  }
}

/// As files of before have them.
TEST(UnpackFragments, RefusesElementsOf16Bits) {
  const Packed<FragmentFormat> packed =
      pack(random_elements(20, 40, 0.4, 7).view(), FragmentCut{.steps = 3, .residuals = 2});
  for (const std::uint64_t element : {7, 8}) {
    ChangeableBytes changed(packed.bytes.span());
    changed.put_number(position_of(packed.format, "element"), element).seal_header();
    EXPECT_THAT([&] { unpack(changed.bytes()); },
                ThrowsMessage<FormatError>(fmt::format("the header field element is {}, of 16 bits: fragments of such "
                                                       "elements are no longer read, pack the matrix into bitmaps",
                                                       element)));
  }
}

TEST(UnpackFragments, RefusesListsWithoutDenseSteps) {
  const Packed<FragmentFormat> packed =
      pack(random_elements(20, 40, 0.4, 7).view(), FragmentCut{.steps = 3, .residuals = 2});
  ChangeableBytes changed(packed.bytes.span());
  changed.put_number(position_of(packed.format, "listed"), 200).seal_header();
  EXPECT_THAT([&] { unpack(changed.bytes()); },
              ThrowsMessage<FormatError>(HasSubstr("the header field listed does not agree")));
}

/// Whatever bits and begins are, values are read of the packed tile's list alone.
TEST(UnpackFragments, RefusesListsThatBeginElsewhere) {
  const Packed<FragmentFormat> packed =
      pack(random_elements(16, 40, 0.4, 7).view(), FragmentCut{.dense = 1, .listed = 300});
  constexpr std::uint64_t lists = 4;
  const std::uint64_t begins_at = packed.format.packed_tiles_at + lists * 64;
  for (std::uint64_t at = packed.format.packed_tiles_at; at < begins_at + lists * 16; at += 2) {
    for (const std::uint16_t number : {0, 0xffff, at < begins_at ? 0 : 299}) {
      ChangeableBytes changed(packed.bytes.span());
      if (std::uint16_t intact = 0; std::memcpy(&intact, &changed.bytes()[at], 2), intact != number) {
        changed.put(at, number).seal();
        EXPECT_THROW(unpack(changed.bytes()), FormatError) << "byte " << at << " is " << number;
      }
    }
  }
}

TEST(UnpackFragments, SaysWhatIsWrong) {
  const CsrMatrix matrix = random_elements(40, 300, 0.5, 7);
  const Packed<FragmentFormat> packed =
      pack(matrix.view(), FragmentCut{.block_row_tiles = 2, .steps = 6, .residuals = 2});
  const FragmentFormat& format = packed.format;
  ASSERT_FALSE(format.regular());
  const auto refused = [&](auto damage, const char* words) {
    ChangeableBytes damaged(packed.bytes.span());
    damage(damaged);
    EXPECT_THAT([&] { unpack(damaged.bytes()); }, ThrowsMessage<FormatError>(HasSubstr(words)));
  };
  const auto number_refused = [&](const char* name, std::uint64_t value, const char* words) {
    refused([&](ChangeableBytes& p) { p.put_number(position_of(format, name), value).seal_header(); }, words);
  };
  refused([](ChangeableBytes& p) { p.put(offsetof(Header, version), std::uint32_t{99}).seal_header(); },
          "format version 99; this program reads version 12");
  number_refused("element", 6, "the header field element is 6; it can only be 5");
  number_refused("steps", 17, "the header field steps is 17; it can be 1 to 16");
  number_refused("steps", 7, "the header field total_bytes does not agree");
  number_refused("sparse14_steps", 1, "the header field sparse14_steps is 1; it can only be 0");
  number_refused("line_rows", 2, "the header field line_rows is 2; it can only be 1");
  number_refused("rounds", 3, "the header field rounds is 3");
  number_refused("nonzeros", format.counts.nonzeros - 1, "there are more than the");
  refused([&](ChangeableBytes& p) { p.put(format.first_round_at(1), std::uint32_t{0xffffffff}).seal(); },
          "after the end of the packed matrix");
  refused([&](ChangeableBytes& p) { p.put(format.first_round_at(2), std::uint32_t{0xffffffff}).seal(); },
          "after the end of the packed matrix");
  refused([&](ChangeableBytes& p) { p.put(format.k_tile_at(0), std::uint16_t{2}).seal(); }, "of a matrix of 40 x 300");
  refused(
      [&](ChangeableBytes& p) {
        p.bytes()[format.packed_tiles_at - 1] = std::byte{1};
        p.seal();
      },
      "is not what packing the matrix again gives");
}

}  // namespace
}  // namespace esc::transformer
