// SPDX-License-Identifier: Apache-2.0
// Placed values: units decoded by the definition, packed on any number of threads and by the serial text, how values
// are ordered for the banks of shared memory, how many of them a unit is given, and what the unpacker refuses.

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
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

constexpr ScalarType single = ScalarType::f32;

constexpr FragmentCut placed_cut(std::uint32_t height, std::uint32_t panels, std::uint32_t listed) {
  return {.height = height, .block_panels = panels, .dense = 1, .listed = listed, .placed = 1};
}

constexpr FragmentBlock placed_panels(std::uint32_t panels, std::uint32_t height = strip_rows) {
  return {.panels = panels, .height = height, .dense_steps = true, .listed_values = true, .placed_values = true};
}

TEST(PlacedValues, AreDecoded) {
  std::uint64_t seed = 220;
  for (const std::uint32_t height : {16U, 32U}) {
    for (const double density : {0.0, 0.02, 0.4, 1.0}) {
      for (const std::int64_t columns : {1, 7, 32, 70}) {
        const CsrMatrix matrix = random_elements(45, columns, density, ++seed, single);
        EXPECT_EQ(problem_of(matrix, placed_cut(height, 2, max_listed)), "") << density << ", " << columns;
        EXPECT_EQ(problem_of(matrix, placed_cut(height, 3, 101)), "") << density << ", " << columns;
      }
    }
    const auto one_full_row = [](std::int64_t row, std::int64_t) { return row == 21; };
    const auto one_full_column = [](std::int64_t, std::int64_t column) { return column == 37; };
    EXPECT_EQ(problem_of(random_elements(5, 3, 0.7, ++seed, single), placed_cut(height, 1, 1)), "")
        << "a round for each non-zero";
    EXPECT_EQ(problem_of(matrix_where(40, 150, single, one_full_row), placed_cut(height, 4, 10)), "");
    EXPECT_EQ(problem_of(matrix_where(40, 150, single, one_full_column), placed_cut(height, 4, 10)), "");
    EXPECT_EQ(problem_of(matrix_where(1, 1, single, one_full_row), placed_cut(height, 16, 1)), "");
  }
  EXPECT_EQ(problem_of(random_elements(3, 70001, 0.002, 3, single), placed_cut(16, 1, 8)), "");
}

RC_GTEST_PROP(PlacedValues, OfAnyMatrixAreDecoded, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 50);
  const auto columns = *rc::gen::inRange<std::int64_t>(1, 150);
  const auto density = *rc::gen::element(0.0, 0.05, 0.3, 1.0);
  const FragmentCut cut = placed_cut(*rc::gen::element<std::uint32_t>(16, 32), *rc::gen::inRange<std::uint32_t>(1, 17),
                                     *rc::gen::inRange<std::uint32_t>(20, 600));
  RC_ASSERT(problem_of(random_elements(rows, columns, density, *rc::gen::arbitrary<std::uint64_t>(), single), cut) ==
            "");
}

TEST(PlacedValues, ThatHaveNoRoomTakeFurtherRounds) {
  const CsrMatrix matrix =
      matrix_where(64, 80, single, [](std::int64_t row, std::int64_t column) { return (row + column) % 4 == 0; });
  const auto format_of = [&](std::uint32_t listed) { return plan(matrix.view(), placed_cut(16, 2, listed)); };
  EXPECT_TRUE(format_of(128).regular()) << "a quarter of 16 rows and 32 columns";
  EXPECT_EQ(format_of(127).counts.rounds, 2U * (2 + 2 + 1)) << "the last window has 16 columns";
  EXPECT_EQ(format_of(63).counts.rounds, 2U * (3 + 3 + 2));
}

/// What is left for a further round stands in later regions, and in later places of the region that is cut.
TEST(PlacedValues, AreTakenInTheOrderOfRegionsAndPlaces) {
  const Packed<FragmentFormat> packed = pack(random_elements(32, 32, 0.5, 4, single).view(), placed_cut(32, 1, 200));
  const FragmentFormat& format = packed.format;
  const FragmentReader reader(packed.bytes.span(), format);
  std::int64_t last = -1;
  for (std::uint64_t round = 0; round < format.counts.rounds; ++round) {
    std::set<std::int64_t> places;
    for (std::uint32_t place = 0; place < format.regions() * region_places; ++place) {
      const RowColumn element = format.element_at(place / region_places, place % region_places);
      if (reader.value(format.unit_at(round, 0), element.column / 8, element.column % 8, element.row, 0).value != 0) {
        places.insert(place);
      }
    }
    EXPECT_LT(last, *places.begin());
    EXPECT_EQ(places.size(), round + 1 < format.counts.rounds ? 200U : format.counts.nonzeros % 200);
    last = *places.rbegin();
  }
}

TEST(PlacedValues, HaveDifferentBanksBesideEachOther) {
  const auto repeated_banks = [](double density) {
    const Packed<FragmentFormat> packed =
        pack(random_elements(32, 32, density, 6, single).view(), placed_cut(32, 1, 1024));
    const auto place = [&](std::uint64_t number) {
      return std::to_integer<std::uint32_t>(
          packed.bytes.span()[packed.format.units_at + packed.format.place_at(number)]);
    };
    const auto begin = [&](std::uint32_t region) {
      const auto at = packed.format.units_at + packed.format.region_begin_at(region);
      return std::to_integer<std::uint64_t>(packed.bytes.span()[at]) + 256 * std::to_integer<std::uint64_t>(packed.bytes.span()[at + 1]);
    };
    std::uint64_t repeated = 0;
    for (std::uint32_t region = 0; region < packed.format.regions(); ++region) {
      for (std::uint64_t first = begin(region); first < begin(region + 1); first += 32) {
        const std::uint64_t behind = std::min(first + 32, begin(region + 1));
        std::set<std::uint32_t> different;
        for (std::uint64_t number = first; number < behind; ++number) {
          different.insert(place(number) % 32);
        }
        repeated += behind - first - different.size();
      }
    }
    return static_cast<double>(repeated) / static_cast<double>(packed.format.counts.nonzeros);
  };
  EXPECT_EQ(repeated_banks(1), 0);
  EXPECT_LT(repeated_banks(0.5), 0.19) << "about 0.23 where they stood in the order of places";
}

TEST(PlacedValues, HaveTheSameBytesForAnyNumberOfThreads) {
  const CsrMatrix matrix = random_elements(100, 500, 0.42, 4, single);
  const FragmentCut cut = placed_cut(32, 3, 420);
  const Packed<FragmentFormat> packed = pack(matrix.view(), cut);
  ASSERT_FALSE(packed.format.regular());
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_TRUE(std::ranges::equal(pack(matrix.view(), cut).bytes.span(), packed.bytes.span()));
}

TEST(PlacedFormat, FollowsFromItsNumbers) {
  constexpr FragmentShape shape{
      {.height = 32, .block_panels = 2, .steps = 9, .extras = 3, .dense = 1, .listed = 100, .placed = 1},
      100,
      1000,
      single};
  constexpr FragmentFormat format = describe(shape, {5000, 64});
  static_assert(format.is_dense() && format.is_listed() && format.is_placed());
  static_assert(format.shape.steps == placed_steps && format.shape.extras == 0);
  static_assert(format.window_columns() == 32 && format.windows() == 32 && format.blocks() == 2 && format.regular());
  static_assert(format.regions() == 8 && format.region_begin_at(8) == 16);
  static_assert(format.listed_at(0) == 32 && format.place_at(0) == 32 + 400 && format.unit_bytes() == 640,
                "32 bytes of begins and 5 for a value");
  static_assert(describe(FragmentShape{shape, 1, 65536 * 32, single}, {0, 65536}).window == ScalarType::u16);
  static_assert(describe(FragmentShape{shape, 1, 65536 * 32 + 1, single}, {0, 65537}).window == ScalarType::u32);
  const auto without = [](FragmentShape other, std::uint32_t FragmentShape::*number) {
    other.*number = 0;
    return describe(other, {5000, 16});
  };
  EXPECT_EQ(without(shape, &FragmentShape::listed).shape.placed, 0U) << "all elements are in their places";
  EXPECT_EQ(without(shape, &FragmentShape::listed).windows(), 8U);
  EXPECT_EQ(without(shape, &FragmentShape::dense).shape.placed, 0U);
  EXPECT_EQ(without(shape, &FragmentShape::dense).shape.steps, 9U);
  constexpr FragmentShape of_halves{{.dense = 1, .listed = 100, .placed = 1}, 100, 1000, ScalarType::f16};
  static_assert(!describe(of_halves, {5000, 28}).is_placed() && describe(of_halves, {5000, 28}).is_listed() &&
                describe(of_halves, {5000, 28}).windows() == 4);
}

TEST(PlacedFormat, HasAPlaceForEachElement) {
  for (std::uint32_t place = 0; place < region_places; ++place) {
    EXPECT_EQ(place_of_element(element_of_place(place)), place);
  }
  constexpr RowColumn last = element_of_place(127);
  static_assert(last.row == 7 && last.column == 15);
  static_assert(place_of_element({1, 6}) == 32 + 6);
}

TEST(ChoosePlaced, GivesRoomForWhatEveryUnitHas) {
  const CsrMatrix matrix =
      matrix_where(64, 256, single, [](std::int64_t row, std::int64_t column) { return (row + column) % 4 == 0; });
  const FragmentCut cut = choose_fragments(matrix.view(), placed_panels(2), {});
  EXPECT_EQ(cut.placed, 1U);
  EXPECT_EQ(cut.listed, (768U - 16) / 5) << "128, and as many as fill the last line";
  EXPECT_TRUE(plan(matrix.view(), cut).regular());
  const CsrMatrix full = random_elements(32, 64, 1, 1, single);
  EXPECT_EQ(choose_fragments(full.view(), placed_panels(1, 32), {}).listed, (41U * 128 - 32) / 5);
  const CsrMatrix empty = random_elements(20, 50, 0, 1, single);
  EXPECT_TRUE(plan(empty.view(), choose_fragments(empty.view(), placed_panels(2), {})).regular());
}

TEST(ChoosePlaced, GivesTheRoomWithWhichTheBusiestBlockCountsLeast) {
  const CsrMatrix matrix = random_elements(64, 160, 0.3, 4, single);
  for (const FragmentWeights& weights :
       {FragmentWeights{}, FragmentWeights{.round = 500}, FragmentWeights{.rounds_at_once = 2}}) {
    const FragmentCut cut = choose_fragments(matrix.view(), placed_panels(2), weights);
    const auto counted = [&](std::uint32_t listed) {
      const Packed<FragmentFormat> packed = pack(matrix.view(), placed_cut(16, 2, listed));
      const FragmentReader reader(packed.bytes.span(), packed.format);
      const std::uint64_t rounds = std::max(reader.first_round(1), reader.first_round(2) - reader.first_round(1));
      const double turns = std::ceil(static_cast<double>(rounds) / weights.rounds_at_once);
      return turns * (static_cast<double>(packed.format.unit_bytes()) * 2 + weights.round);
    };
    for (std::uint32_t listed = 50; listed < 520; listed += 25) {
      EXPECT_LE(counted(cut.listed), counted(listed)) << listed;
    }
  }
}

TEST(PlacedCut, ThatCannotBeIsRefused) {
  const CsrMatrix halves = random_elements(4, 4, 1, 1);
  const auto refusal = ThrowsMessage<std::invalid_argument>(HasSubstr("placed values are of elements of 32 bits"));
  EXPECT_THAT([&] { pack(halves.view(), placed_cut(16, 1, 10)); }, refusal);
  EXPECT_THAT([&] { choose_fragments(halves.view(), placed_panels(1), {}); }, refusal);
  EXPECT_THROW(pack(random_elements(4, 4, 1, 1, single).view(), FragmentCut{.dense = 1, .listed = 10, .placed = 2}),
               std::invalid_argument);
}

TEST(UnpackPlaced, RefusesChangedBytes) {
  for (const FragmentCut& cut : {placed_cut(16, 2, 70), placed_cut(32, 1, 300)}) {
    expect_changed_bytes_refused(random_elements(20, 40, 0.4, 7, single), cut, 3);
  }
}

/// Whatever begins and places are, values are read of the unit alone, and each once.
TEST(UnpackPlaced, RefusesOtherBeginsAndPlaces) {
  const Packed<FragmentFormat> packed = pack(random_elements(16, 30, 0.4, 7, single).view(), placed_cut(16, 1, 300));
  const FragmentFormat& format = packed.format;
  const Bytes bytes(packed.bytes.span());
  const auto begin_of = [&](std::uint32_t region) {
    return bytes.number(format.units_at + format.region_begin_at(region), 2);
  };
  const auto refused = [&](std::uint64_t at, auto value) {
    ChangeableBytes changed(packed.bytes.span());
    changed.put(format.units_at + at, value).seal();
    EXPECT_THROW(unpack(changed.bytes()), FormatError) << "byte " << at << " is " << std::uint32_t{value};
  };
  for (std::uint32_t region = 0; region <= format.regions(); ++region) {
    for (const std::uint16_t begin : {1, 299, 0xffff}) {
      refused(format.region_begin_at(region), begin);
    }
  }
  refused(format.region_begin_at(format.regions() + 1), std::uint16_t{1});
  for (std::uint32_t region = 0; region < format.regions(); ++region) {
    for (std::uint64_t value = begin_of(region) + 1; value < begin_of(region + 1); ++value) {
      refused(format.place_at(value),
              static_cast<std::uint8_t>(bytes.number(format.units_at + format.place_at(value - 1), 1)));
    }
  }
  refused(format.place_at(begin_of(1)), std::uint8_t{0xff});
  refused(format.place_at(begin_of(format.regions())), std::uint8_t{1});
}

TEST(UnpackPlaced, RefusesPlacesOfOtherSteps) {
  const auto refused = [](const CsrMatrix& matrix, const FragmentCut& cut) {
    const Packed<FragmentFormat> packed = pack(matrix.view(), cut);
    ChangeableBytes changed(packed.bytes.span());
    changed.put_number(position_of(packed.format, "placed"), 1).seal_header();
    EXPECT_THAT([&] { unpack(changed.bytes()); },
                ThrowsMessage<FormatError>(HasSubstr("the header field placed does not agree")));
  };
  refused(random_elements(20, 40, 0.4, 7, single), {.steps = 3, .extras = 200});
  refused(random_elements(20, 40, 0.4, 7, single), {.dense = 1});
  refused(random_elements(20, 40, 0.4, 7), {.dense = 1, .listed = 400});
}

}  // namespace
}  // namespace esc::transformer
