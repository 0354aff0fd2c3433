// SPDX-License-Identifier: Apache-2.0
// Packing into regions against the definition of the format, for both forms of the matrix, any number of threads and
// the serial text that generated transformers embed; and the unpacker's refusals.

#include "transformer/region_packing.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tests/unit/transformer_matrices.h"
#include "transformer/pack.h"
#include "transformer/packed_reader.h"
#include "transformer/unpack.h"

namespace esc::transformer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// What a row tile means, computed from the definition of the format alone: its columns, and their values in its rows.
struct PlainPanel {
  std::vector<std::int64_t> columns;
  std::vector<std::vector<float>> values;
};

std::vector<PlainPanel> plain_row_tiles(const DenseMatrix& matrix, std::int64_t height) {
  std::vector<PlainPanel> row_tiles;
  for (std::int64_t first = 0; first < matrix.rows; first += height) {
    PlainPanel& row_tile = row_tiles.emplace_back();
    for (std::int64_t k = 0; k < matrix.columns; ++k) {
      std::vector<float> values;
      for (std::int64_t i = first; i < first + height; ++i) {
        values.push_back(i < matrix.rows && matrix.at(i, k) != 0.0F ? matrix.at(i, k) : 0.0F);
      }
      if (std::ranges::any_of(values, [](float value) { return value != 0.0F; })) {
        row_tile.columns.push_back(k);
        row_tile.values.push_back(values);
      }
    }
  }
  return row_tiles;
}

/// What is wrong with the place of a row tile; empty when nothing is. With every column stored, the steps are the
/// columns.
std::string difference(const RegionReader& reader, const RegionFormat& format, std::uint64_t place,
                       const PlainPanel& row_tile) {
  const bool every_column = format.counts.every_column;
  std::size_t index = 0;
  for (std::uint64_t step = 0; step < reader.steps(place); ++step) {
    const bool there = index < row_tile.columns.size() &&
                       (!every_column || row_tile.columns[index] == static_cast<std::int64_t>(step));
    const std::int64_t column = there                      ? row_tile.columns[index]
                                : every_column             ? static_cast<std::int64_t>(step)
                                : row_tile.columns.empty() ? 0
                                                           : row_tile.columns.back();
    if (reader.column(place, step) != column) {
      return "a column";
    }
    for (std::uint32_t row = 0; row < format.shape.height; ++row) {
      if (reader.value(place, step, row) != (there ? row_tile.values[index][row] : 0.0F)) {
        return "a value";
      }
    }
    index += there ? 1 : 0;
  }
  return index == row_tile.columns.size() ? "" : "a row tile's length";
}

/// The first place that is not what the definition says; empty when there is none. Row tiles of a class ascend, row
/// tiles are of the shortest class that is long enough, and each has one place.
std::string difference(const Packed<RegionFormat>& packed, const std::vector<PlainPanel>& row_tiles) {
  const RegionFormat& format = packed.format;
  const RegionReader reader(packed.bytes.span(), format);
  const auto count = static_cast<std::int64_t>(row_tiles.size());
  std::size_t seen = 0;
  std::int64_t previous = -1;
  for (std::uint64_t place = 0; place < format.block_places(); ++place) {
    const std::int64_t row_tile = reader.row_tile(place);
    if (place >= format.first_place(format.counts.class_count) || row_tile >= count) {
      if (row_tile < count || (format.has_numbers() && row_tile != count)) {
        return "a place without a row tile";
      }
      continue;
    }
    const std::uint32_t own = format.class_of_place(place);
    if (place == format.first_place(own)) {
      previous = -1;
    }
    const PlainPanel& plain = row_tiles[static_cast<std::size_t>(row_tile)];
    if (row_tile <= previous || (!format.counts.every_column && own != format.class_of_columns(plain.columns.size()))) {
      return "a row tile's place";
    }
    previous = row_tile;
    ++seen;
    if (const std::string problem = difference(reader, format, place, plain); !problem.empty()) {
      return problem;
    }
  }
  return seen == row_tiles.size() ? "" : "the number of row tiles";
}

rc::Gen<RegionCut> region_cuts() {
  const auto power = [](int most) {
    return rc::gen::map(rc::gen::inRange(0, most + 1), [](int e) { return 1U << e; });
  };
  return rc::gen::map(rc::gen::tuple(power(3), power(4), power(2)),
                      [](const std::tuple<unsigned, unsigned, unsigned>& drawn) {
                        const auto& [height, warp_row_tiles, sets] = drawn;
                        return RegionCut{height, warp_row_tiles, warp_row_tiles * sets};
                      });
}

DenseMatrix drawn_matrix() {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 40).as("rows");
  const auto columns = *rc::gen::inRange<std::int64_t>(1, 70).as("columns");
  const auto density = *rc::gen::element(0.0, 0.1, 0.5, 1.0).as("density");
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed");
  return random_matrix(rows, columns, density, seed);
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) { return std::ranges::equal(a, b); }

RC_GTEST_PROP(RegionPacking, FollowsTheDefinitionAndGivesTheMatrixBack, ()) {
  const DenseMatrix matrix = drawn_matrix();
  const RegionCut cut = *region_cuts();
  const CsrMatrix csr = to_csr(matrix, true);
  const Packed<RegionFormat> packed = pack(csr.view(), cut);
  RC_ASSERT(difference(packed, plain_row_tiles(matrix, cut.height)) == "");
  RC_ASSERT(packed.format == plan(csr.view(), cut));
  RC_ASSERT(packed.format == std::get<RegionFormat>(read_format(packed.bytes.span())));
  RC_ASSERT(unpack(packed.bytes.span()) == to_csr(matrix));

  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  RC_ASSERT(same_bytes(pack(csr.view(), cut).bytes.span(), packed.bytes.span()));
  std::vector<std::uint64_t> serial(packed.format.bytes / 8, ~std::uint64_t{0});
  RC_ASSERT(pack_serially(matrix.source(), packed.format, serial.data()));
  RC_ASSERT(same_bytes(std::as_bytes(std::span(serial)), packed.bytes.span()));
}

/// A format that another matrix has is refused, and nothing after its bytes is written.
RC_GTEST_PROP(RegionPacking, OfAnotherMatrixStaysInsideItsBytes, ()) {
  const DenseMatrix matrix = drawn_matrix();
  const RegionCut cut = *region_cuts();
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed of the other");
  const DenseMatrix other = random_matrix(matrix.rows, matrix.columns, 0.4, seed);
  const RegionFormat format = plan(to_csr(matrix).view(), cut);
  const bool same_counts = plan(to_csr(other).view(), cut) == format;
  constexpr std::uint64_t canary = 0x5ca1ab1e5ca1ab1e;
  std::vector<std::uint64_t> room(format.bytes / 8 + 64, canary);
  RC_ASSERT(pack_serially(other.source(), format, room.data()) == same_counts);
  RC_ASSERT(std::all_of(room.end() - 64, room.end(), [](std::uint64_t word) { return word == canary; }));
}

TEST(RegionFormat, HasTheBytesThatTheDescriptionSays) {
  // 3 x 24, row tiles of 1 row: 6 columns, none, and 1.
  DenseMatrix matrix{3, 24, std::vector<float>(72, 0.0F)};
  for (std::int64_t column = 0; column < 6; ++column) {
    matrix.at(0, 2 * column) = static_cast<float>(column + 1);
  }
  matrix.at(2, 23) = 9;
  const Packed<RegionFormat> packed = pack(to_csr(matrix).view(), RegionCut{.block_row_tiles = 2});
  // A class of 2 packets, one of 1 and one of none; 4 places in 2 blocks.
  ASSERT_EQ(packed.format.counts.class_count, 3U);
  EXPECT_EQ(packed.format.blocks(), 2U);
  EXPECT_EQ(packed.format.values_at, 256U + 128);
  EXPECT_EQ(packed.format.numbers_at, 384U + 3 * 16);
  EXPECT_EQ(packed.format.bytes, 432U + 4 * 2);
  std::vector<std::uint16_t> columns(12);
  std::memcpy(columns.data(), packed.bytes.span().data() + 256, 24);
  EXPECT_THAT(columns, testing::ElementsAre(0, 2, 4, 6, 8, 10, 10, 10, 23, 23, 23, 23));
  std::vector<float> values(12);
  std::memcpy(values.data(), packed.bytes.span().data() + 384, 48);
  EXPECT_THAT(values, testing::ElementsAre(1, 2, 3, 4, 5, 6, 0, 0, 9, 0, 0, 0));
  std::vector<std::uint16_t> numbers(4);
  std::memcpy(numbers.data(), packed.bytes.span().data() + 432, 8);
  EXPECT_THAT(numbers, testing::ElementsAre(0, 2, 1, 3));
}

TEST(RegionFormat, LeavesOutColumnsWherePanelsHaveNearlyAll) {
  DenseMatrix matrix = random_matrix(6, 41, 1.0, 3);
  matrix.at(0, 7) = 0;
  matrix.at(1, 7) = 0;
  const Packed<RegionFormat> packed = pack(to_csr(matrix).view(), RegionCut{.height = 2});
  EXPECT_TRUE(packed.format.counts.every_column);
  EXPECT_EQ(packed.format.values_at, 256U);
  EXPECT_EQ(packed.format.bytes, 256U + 3 * 11 * 32);
  EXPECT_EQ(unpack(packed.bytes.span()), to_csr(matrix));
}

TEST(RegionFormat, StoresUnevenRowsInAboutTheirOwnBytes) {
  DenseMatrix matrix{1000, 1000, std::vector<float>(1'000'000, 0.0F)};
  for (std::int64_t row = 0; row < 1000; ++row) {
    for (std::int64_t column = 0; column < 1000 / (row + 1); ++column) {
      matrix.at(row, column) = 1.0F;
    }
  }
  const CsrMatrix csr = to_csr(matrix);
  EXPECT_LT(plan(csr.view(), RegionCut{.block_row_tiles = 4}).bytes, 8 * csr.values.size() * 3 / 2);
}

TEST(RegionFormat, CountsColumnsBeyondSixteenBits) {
  DenseMatrix matrix{1, 70000, std::vector<float>(70000, 0.0F)};
  matrix.at(0, 3) = 1.0F;
  matrix.at(0, 69999) = 2.0F;
  const Packed<RegionFormat> packed = pack(to_csr(matrix).view(), RegionCut{});
  EXPECT_EQ(packed.format.column, ScalarType::u32);
  EXPECT_EQ(unpack(packed.bytes.span()), to_csr(matrix));
}

TEST(RegionCut, ThatCannotBeAreRefused) {
  const DenseMatrix matrix{2, 2, {1, 0, 0, 1}};
  for (const RegionCut& cut :
       {RegionCut{.height = 0}, RegionCut{.height = 9}, RegionCut{.warp_row_tiles = 0},
        RegionCut{.warp_row_tiles = 3, .block_row_tiles = 3}, RegionCut{.warp_row_tiles = 64, .block_row_tiles = 64},
        RegionCut{.warp_row_tiles = 2, .block_row_tiles = 3}}) {
    EXPECT_THROW(pack(to_csr(matrix).view(), cut), std::invalid_argument);
  }
}

/// Row tiles of two rows in two classes, so that places have numbers.
struct Regions {
  Packed<RegionFormat> packed = [] {
    DenseMatrix matrix = random_matrix(9, 40, 0.4, 7);
    for (std::int64_t column = 8; column < 40; ++column) {
      matrix.at(8, column) = 0;
    }
    return pack(to_csr(matrix).view(), RegionCut{.height = 2, .warp_row_tiles = 2, .block_row_tiles = 2});
  }();
  ChangeableBytes intact{packed.bytes.span()};

  std::size_t position(std::string_view name) const { return position_of(packed.format, name); }
};

TEST(UnpackRegions, RefusesEveryChangedByte) {
  const Regions regions;
  const std::size_t columns = offsetof(Header, numbers) + 8 * regions.position("columns");
  for (std::size_t at = 0; at < regions.intact.bytes().size(); ++at) {
    ChangeableBytes damaged = regions.intact;
    damaged.bytes()[at] ^= std::byte{1};
    EXPECT_THROW(unpack(damaged.bytes()), FormatError) << "byte " << at;
    if (at < header_bytes) {
      damaged.seal_header();
    } else {
      damaged.seal();
    }
    // With checksums that match again a changed value of a non-zero is another matrix, and so is another number of
    // columns.
    const bool other_matrix = at >= header_bytes || (at >= columns && at < columns + 8);
    if (!other_matrix && at < offsetof(Header, header_checksum)) {
      EXPECT_THROW(unpack(damaged.bytes()), FormatError) << "byte " << at << ", sealed again";
    }
  }
}

TEST(UnpackRegions, SaysWhatIsWrong) {
  const Regions regions;
  const auto refused = [&](auto damage, const char* words) {
    ChangeableBytes damaged = regions.intact;
    damage(damaged);
    EXPECT_THAT([&] { unpack(damaged.bytes()); }, ThrowsMessage<FormatError>(HasSubstr(words)));
  };
  const auto number_refused = [&](const char* name, std::uint64_t value, const char* words) {
    refused([&](ChangeableBytes& p) { p.put_number(regions.position(name), value).seal_header(); }, words);
  };
  refused([](ChangeableBytes& p) { p.bytes().resize(100); }, "100 bytes are too few");
  refused([](ChangeableBytes& p) { p.put(0, std::uint32_t{0}); },
          "do not begin with ESCPACK, ESCREGN, ESCTASK, ESCFRAG, ESCGATH, ESCBITM or ESCSP24");
  refused([](ChangeableBytes& p) { p.put(offsetof(Header, version), std::uint32_t{9}).seal_header(); },
          "format version 9; this program reads version 3");
  refused([](ChangeableBytes& p) { p.put_number(0, 8); }, "the header is damaged");
  refused([](ChangeableBytes& p) { p.bytes().resize(p.bytes().size() + 128); }, "its header says");
  number_refused("rows", 8, "the header field row tiles of a class is");
  number_refused("every_column", 1, "the header field total_bytes does not agree");
  number_refused("height", 0, "the header field height is 0; it can be 1 to 8");
  number_refused("warp_row_tiles", 3, "the header field warp_row_tiles is 3; it can be a power of two from 1 to 32");
  number_refused("block_row_tiles", 3,
                 "the header field block_row_tiles is 3; it can be a multiple of 2 from 2 to 65536");
  number_refused("class_count", 9, "the header field class_count is 9; it can be 1 to 8");
  number_refused("packets of a class", 0x7fffffff, "the header field packets of a class is");
  number_refused("row tiles of a class", 0x7fffffff, "the header field row tiles of a class is");
  refused([](ChangeableBytes& p) { p.put(header_bytes + 20, std::uint32_t{5}); },
          "the packed matrix is damaged: bytes 256 to");
  const std::size_t last_place = regions.intact.bytes().size() - 8;
  refused([&](ChangeableBytes& p) { p.put(last_place, std::uint16_t{77}).seal(); },
          "is not what packing the matrix again gives");
  refused([](ChangeableBytes& p) { p.put(header_bytes + 2, std::uint16_t{0}).seal(); },
          "is not what packing the matrix again gives");
}

}  // namespace
}  // namespace esc::transformer
