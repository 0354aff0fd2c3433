// SPDX-License-Identifier: Apache-2.0
// Packing into bitmaps against what the format promises, for both forms of the matrix, any number of threads and the
// serial text that generated transformers embed; how many bytes that takes; and the unpacker's refusals.

#include "transformer/bitmap_packing.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "tests/unit/half_matrices.h"
#include "tests/unit/transformer_matrices.h"
#include "transformer/pack.h"
#include "transformer/packed_reader.h"
#include "transformer/unpack.h"

namespace esc::transformer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// What the serial text makes of a source; nothing where it finds that it needs something else.
template <typename Source>
std::vector<std::uint64_t> packed_serially(const Source& source, const BitmapFormat& format) {
  std::vector<std::uint64_t> packed(format.bytes / 8, ~std::uint64_t{0});
  const bool is_right = measure(source, format.shape).format == format &&
                        pack_serially(source, format.shape, packed.data(), format.bytes).format == format;
  return is_right ? packed : std::vector<std::uint64_t>();
}

template <typename Half>
std::string problem_of_serial_packing(const CsrMatrix& matrix, const Packed<BitmapFormat>& packed) {
  const DenseHalves<Half> dense(matrix);
  std::vector<Half> values;
  std::ranges::transform(matrix.values, std::back_inserter(values), [](double value) { return Half(value); });
  const CsrRows<std::int64_t, Half> stored{matrix.offsets.data(), matrix.column_of.data(), values.data()};
  const auto is_packed = [&](const std::vector<std::uint64_t>& serial) {
    return same_bytes(std::as_bytes(std::span(serial)), packed.bytes.span());
  };
  return !is_packed(packed_serially(dense.source(), packed.format)) ? "dense rows give other bytes"
         : !is_packed(packed_serially(stored, packed.format))       ? "stored rows give other bytes"
                                                                    : "";
}

/// What the packed tiles promise beside their values: they follow each other, the columns of lanes are all different,
/// and the longest one is as long as the words say, where one without words of odd blocks counts one more.
std::string problem_of_packed_tiles(const BitmapReader& reader) {
  const BitmapFormat& format = reader.format();
  std::uint64_t begin = 0;
  std::uint32_t most_words = 0;
  for (std::uint64_t number = 0; number < format.packed_tiles(); ++number) {
    const BitmapPackedTile packed_tile = reader.packed_tile(number / format.tiles(), number % format.tiles());
    if (packed_tile.at != format.packed_tile_at(begin)) {
      return "a packed tile that is not after the one before";
    }
    std::array<std::uint32_t, packed_tile_lanes> even_words{}, odd_words{};
    std::set<std::uint32_t> odd_columns;
    for (std::uint32_t lane = 0; lane < packed_tile_lanes; ++lane) {
      for (std::uint32_t block = 0; block < packed_tile_blocks; ++block) {
        std::uint32_t counts[4] = {};
        for (std::uint32_t p = 0; p < 16; ++p) {
          ++counts[reader.code(packed_tile, block, lane, p)];
        }
        auto& words = block % 2 == 0 ? even_words.at(lane) : odd_words.at(reader.odd_column(packed_tile, lane));
        words += counts[2] + (counts[1] + counts[3] + 1) / 2;
      }
      odd_columns.insert(reader.odd_column(packed_tile, lane));
    }
    if (odd_columns.size() != packed_tile_lanes) {
      return "an odd column of two lanes";
    }
    std::uint32_t longest = 0;
    for (std::uint32_t column = 0; column < packed_tile_lanes; ++column) {
      longest = std::max(longest, even_words.at(column) + std::max(odd_words.at(column), 1U));
    }
    if (longest != packed_tile.words) {
      return "another number of words than the longest column has";
    }
    most_words = std::max(most_words, packed_tile.words);
    begin += format.packed_tile_bytes(packed_tile.words) / 32;
  }
  return reader.begin(format.row_tiles(), 0) != begin || format.counts.pieces != begin
             ? "packed tiles that end elsewhere"
         : format.shape.most_words != most_words ? "words that no packed tile has"
                                                 : "";
}

/// What is wrong with the packed matrix, or nothing.
std::string problem_of(const CsrMatrix& matrix) {
  const Packed<BitmapFormat> packed = pack(matrix.view(), BitmapCut{});
  if (!(packed.format == plan(matrix.view(), BitmapCut{.most_words = 3}))) {
    return "another format than the planned one";
  }
  if (!(packed.format == std::get<BitmapFormat>(read_format(packed.bytes.span())))) {
    return "another format than the header says";
  }
  if (unpack(packed.bytes.span()) != without_zeros(matrix)) {
    return "another matrix";
  }
  const std::string problem = problem_of_packed_tiles(BitmapReader(packed.bytes.span(), packed.format));
  if (!problem.empty()) {
    return problem;
  }
  return matrix.element == ScalarType::f16 ? problem_of_serial_packing<Float16>(matrix, packed)
                                           : problem_of_serial_packing<BFloat16>(matrix, packed);
}

TEST(BitmapPacking, KeepsItsPromisesForAwkwardShapes) {
  std::uint64_t seed = 0;
  for (const auto& [rows, columns] :
       {std::pair{1, 1}, {1, 2}, {16, 255}, {16, 256}, {17, 257}, {33, 512}, {5, 1000}, {100, 63}}) {
    for (const double density : {0.0, 0.1, 0.5, 0.9, 1.0}) {
      for (const ScalarType element : half_types) {
        const CsrMatrix matrix = in_halves(to_csr(random_matrix(rows, columns, density, ++seed), true), element);
        EXPECT_EQ(problem_of(matrix), "") << rows << " x " << columns << ", " << density;
      }
    }
  }
}

RC_GTEST_PROP(BitmapPacking, KeepsItsPromisesForAnyMatrix, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 60);
  const auto columns = *rc::gen::inRange<std::int64_t>(1, 700);
  const auto density = *rc::gen::element(0.0, 0.02, 0.3, 0.5, 0.7, 1.0);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto element = *rc::gen::elementOf(half_types);
  RC_ASSERT(problem_of(in_halves(to_csr(random_matrix(rows, columns, density, seed), true), element)) == "");
}

/// Any bits but those of zeros are a non-zero, and stay as they are.
TEST(BitmapPacking, TakesInfinitiesAndSubnormals) {
  CsrMatrix matrix{1, 6, {0, 6}, {0, 1, 2, 3, 4, 5}, {}, ScalarType::f16};
  matrix.values = {std::numeric_limits<double>::infinity(), -0.0, 0x1p-24, -0x1p-24, 0, -65504};
  EXPECT_EQ(problem_of(matrix), "");
  EXPECT_EQ(pack(matrix.view(), BitmapCut{}).format.counts.nonzeros, 4U);
}

TEST(BitmapPacking, TakesNotANumber) {
  const CsrMatrix matrix{1, 3, {0, 1}, {1}, {std::numeric_limits<double>::quiet_NaN()}, ScalarType::bf16};
  const CsrMatrix found = unpack(pack(matrix.view(), BitmapCut{}).bytes.span());
  EXPECT_EQ(found.column_of, matrix.column_of);
  EXPECT_TRUE(std::isnan(found.values.at(0)));
}

TEST(BitmapPacking, GivesTheSameBytesForAnyNumberOfThreads) {
  const CsrMatrix matrix = in_halves(to_csr(random_matrix(700, 900, 0.4, 3)), ScalarType::f16);
  const Packed<BitmapFormat> packed = pack(matrix.view(), BitmapCut{});
  EXPECT_EQ(unpack(packed.bytes.span()), matrix);
  EXPECT_TRUE(same_bytes(pack(matrix.view(), BitmapCut{}).bytes.span(), packed.bytes.span()));
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_TRUE(same_bytes(pack(matrix.view(), BitmapCut{}).bytes.span(), packed.bytes.span()));
}

/// Any matrix of a shape is packed into whatever there is, with zeros after it, or found not to fit; nothing after
/// the bytes is written.
RC_GTEST_PROP(BitmapPacking, TakesAnyPatternThatFitsAndStaysInsideItsBytes, ()) {
  const auto drawn = [](std::int64_t rows, std::int64_t columns) {
    const auto density = *rc::gen::element(0.0, 0.2, 0.3, 1.0);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    return in_halves(to_csr(random_matrix(rows, columns, density, seed)), ScalarType::f16);
  };
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 40);
  const auto columns = *rc::gen::inRange<std::int64_t>(1, 600);
  const BitmapFormat kernel = plan(drawn(rows, columns).view(), BitmapCut{});
  const CsrMatrix other = drawn(rows, columns);
  const DenseHalves<Float16> dense(other);
  const Packed<BitmapFormat> expected = pack(other.view(), BitmapCut{});
  const std::uint64_t room =
      *rc::gen::element<std::uint64_t>(0, 264, kernel.bytes, expected.format.bytes - 8, expected.format.bytes,
                                       expected.format.bytes + 8, expected.format.bytes + 512);
  std::vector<std::uint64_t> packed(room / 8 + 2, 7);
  const BitmapNeed need = pack_serially(dense.source(), kernel.shape, packed.data(), room);
  RC_ASSERT(need.format == expected.format);
  RC_ASSERT(packed[room / 8] == 7 && packed[room / 8 + 1] == 7);
  const FullestPart part = fullest_part(need, kernel.shape);
  RC_ASSERT(part.needed == expected.format.shape.most_words && part.room == kernel.shape.most_words);
  if (part.needed <= part.room && need.format.bytes <= room) {
    const auto bytes = std::as_bytes(std::span(packed)).first(room);
    RC_ASSERT(same_bytes(bytes.first(expected.format.bytes), expected.bytes.span()));
    RC_ASSERT(std::ranges::count(bytes.subspan(expected.format.bytes), std::byte{0}) ==
              static_cast<std::ptrdiff_t>(room - expected.format.bytes));
  }
}

TEST(BitmapPacking, SaysWhichUnitIsTheFullest) {
  CsrMatrix matrix{40, 600, std::vector<std::int64_t>(34, 0), {}, {}, ScalarType::f16};
  for (std::int32_t column = 520; column < 600; ++column) {  // of row 33, which is in the last row tile
    matrix.column_of.push_back(column);
    matrix.values.push_back(1);
  }
  matrix.offsets.resize(41, 80);
  const BitmapNeed need =
      measure(DenseHalves<Float16>(matrix).source(), BitmapShape{{.most_words = 4}, 40, 600, ScalarType::f16});
  const FullestPart part = fullest_part(need, BitmapShape{{.most_words = 4}, 40, 600, ScalarType::f16});
  EXPECT_EQ(part.first_row, 32);
  EXPECT_EQ(part.behind_row, 40);
  EXPECT_EQ(part.first_column, 512);
  EXPECT_EQ(part.behind_column, 600);
  EXPECT_EQ(part.needed, plan(matrix.view(), BitmapCut{}).shape.most_words);
  EXPECT_EQ(part.room, 4U);
}

/// Though all other numbers of the headers are the same.
TEST(BitmapPacking, KnowsAPatternFromAnother) {
  const auto with_one = [](std::int32_t column, double value) {
    return plan(CsrMatrix{1, 300, {0, 1}, {column}, {value}, ScalarType::f16}.view(), BitmapCut{});
  };
  const BitmapFormat first = with_one(0, 1);
  EXPECT_EQ(first, with_one(0, 2));
  for (const std::int32_t column : {1, 16, 63}) {
    const BitmapFormat other = with_one(column, 1);
    EXPECT_EQ(std::tuple(first.shape.most_words, first.counts.nonzeros, first.bytes),
              std::tuple(other.shape.most_words, other.counts.nonzeros, other.bytes));
    EXPECT_NE(first.counts.pattern, other.counts.pattern) << column;
  }
}

TEST(BitmapPacking, IsForElementsOf16Bits) {
  const CsrMatrix matrix{1, 1, {0, 1}, {0}, {1}, ScalarType::f32};
  EXPECT_THROW(plan(matrix.view(), BitmapCut{}), std::invalid_argument);
  EXPECT_THROW(pack(matrix.view(), BitmapCut{}), std::invalid_argument);
  EXPECT_THROW(pack(in_halves(matrix, ScalarType::f16).view(), BitmapCut{.height = 32}), std::invalid_argument);
}

/// One packed tile of 9 rows and 195 columns. In row 0 are, of block 0 and lane 0, columns 0 and 1 (register 0: both),
/// 8 (register 2: the first) and 17 (register 4: the second); 66 (block 1, lane 1, register 0: the first); 128 (block
/// 2, lane 0, register 0: the first); 194 (block 3, lane 1, register 0: the first). In row 8 is column 33 (block 0,
/// lane 0, register 9: the second).
const CsrMatrix one_packed_tile{
    9, 195, {0, 7, 7, 7, 7, 7, 7, 7, 7, 8}, {0, 1, 8, 17, 66, 128, 194, 33}, {1, 2, 3, 4, 5, 6, 7, 8}, ScalarType::f16};

TEST(BitmapPacking, WritesTheBytesThatTheDescriptionSays) {
  // Lane 0 has four words in even blocks, after which there is a row, and lane 1 two in odd ones. So lane 0 has the
  // fewest in odd ones and meets itself, lanes 2 to 31 meet those before them, and lane 1 has column 31.
  std::vector<std::uint32_t> packed_tile(1184 / 4);
  packed_tile[0] = 2 | 1U << 8 | 3U << 16 | 3U << 6;  // block 0, lane 0
  packed_tile[3] = 1;                                 // block 1, lane 1
  packed_tile[64] = 1;                                // block 2, lane 0
  packed_tile[67] = 1;                                // block 3, lane 1
  auto* const columns = reinterpret_cast<unsigned char*>(&packed_tile[128]);
  for (unsigned char lane = 2; lane < 32; ++lane) {
    columns[lane] = static_cast<unsigned char>(lane - 1);
  }
  columns[1] = 31;
  columns[0] |= 0x20;  // five rows of words
  columns[2] |= 0x20;
  const auto word = [](double low, double high) {
    return std::uint32_t{Float16(low).bits} | std::uint32_t{Float16(high).bits} << 16;
  };
  packed_tile[136] = word(1, 2);  // row 0, column 0
  packed_tile[136 + 32] = word(3, 4);
  packed_tile[136 + 64] = word(8, 0);
  packed_tile[136 + 96] = word(6, 0);
  packed_tile[136 + 128 + 31] = word(5, 0);  // the last row
  packed_tile[136 + 96 + 31] = word(7, 0);
  const Packed<BitmapFormat> packed = pack(one_packed_tile.view(), BitmapCut{});
  std::vector<std::uint32_t> expected(512 / 4);
  std::memcpy(expected.data(), packed.bytes.span().data(), header_bytes);
  expected[256 / 4 + 1] = 1184 / 32;
  expected.insert(expected.end(), packed_tile.begin(), packed_tile.end());
  EXPECT_TRUE(same_bytes(packed.bytes.span(), std::as_bytes(std::span(expected))));
  EXPECT_EQ(problem_of(one_packed_tile), "");
}

TEST(BitmapFormat, HasTheBytesThatTheDescriptionSays) {
  const BitmapFormat format =
      describe(BitmapShape{{.most_words = 30}, 50, 600, ScalarType::bf16}, {.nonzeros = 900, .pieces = 700});
  EXPECT_EQ(format.row_tiles(), 4U);
  EXPECT_EQ(format.tiles(), 3U);
  EXPECT_EQ(format.begin_at(1, 2), 256U + 5 * 4);
  EXPECT_EQ(format.packed_tiles_at, 512U);  // after 13 begins
  EXPECT_EQ(format.packed_tile_at(17), 512U + 17 * 32);
  EXPECT_EQ(format.bytes, 512U + 700 * 32);
  EXPECT_EQ(format.bits_at(1, 3), 28U);
  EXPECT_EQ(format.bits_at(2, 0), 256U);
  EXPECT_EQ(format.odd_column_at(7), 519U);
  EXPECT_EQ(format.words_at(), 544U);
  EXPECT_EQ(format.word_at(2, 5), 544U + 2 * 128 + 5 * 4);
  EXPECT_EQ(format.packed_tile_bytes(64), 544U + 64 * 128);
}

TEST(BitmapFormat, NamesTheRegistersOfTensorCores) {
  const BitmapElement element{2};
  std::set<std::pair<std::uint32_t, std::uint32_t>> places;
  std::uint32_t bits = 0;
  for (std::uint32_t p = 0; p < element.block_registers(); ++p) {
    EXPECT_EQ(bits_in_front(p), bits);
    bits |= 3U << element.bit_of(p);
    for (std::uint32_t lane = 0; lane < packed_tile_lanes; ++lane) {
      const RegisterPlace place = element.place_of(lane, p);
      places.emplace(place.row, place.column);
      EXPECT_EQ(place.row, lane / 4 + p % 2 * 8);
      EXPECT_EQ(place.column, p / 4 * 16 + p / 2 % 2 * 8 + lane % 4 * 2);
    }
  }
  EXPECT_EQ(bits, ~0U);
  EXPECT_EQ(places.size(), 16U * 32);
}

double bytes_per_dense_byte(const CsrMatrix& matrix) {
  return static_cast<double>(plan(matrix.view(), BitmapCut{}).bytes) /
         static_cast<double>(2 * matrix.rows * matrix.columns);
}

/// Magnitudes of weights, rows and columns of which differ by so much.
std::vector<double> drawn_magnitudes(std::size_t size, double spread) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal;
  std::vector<double> magnitudes(size * size), of_column(size);
  std::ranges::generate(of_column, [&] { return std::exp(spread * normal(random)); });
  for (std::size_t row = 0; row < size; ++row) {
    const double of_row = std::exp(spread * normal(random));
    for (std::size_t column = 0; column < size; ++column) {
      magnitudes[row * size + column] = std::abs(normal(random)) * of_row * of_column[column];
    }
  }
  return magnitudes;
}

/// The square matrix that is left when so many of its weights, the least ones, are pruned.
CsrMatrix pruned(const std::vector<double>& magnitudes, double zeros) {
  std::vector<double> order = magnitudes;
  const auto least = order.begin() + static_cast<std::ptrdiff_t>(zeros * static_cast<double>(order.size()));
  std::ranges::nth_element(order, least);
  const auto size = static_cast<std::size_t>(std::lround(std::sqrt(magnitudes.size())));
  const auto side = static_cast<std::int64_t>(size);
  CsrMatrix matrix{side, side, {0}, {}, {}, ScalarType::f16};
  for (std::size_t at = 0; at < magnitudes.size(); ++at) {
    if (magnitudes[at] >= *least) {
      matrix.column_of.push_back(static_cast<std::int32_t>(at % size));
      matrix.values.push_back(1);
    }
    if ((at + 1) % size == 0) {
      matrix.offsets.push_back(std::ssize(matrix.values));
    }
  }
  return matrix;
}

TEST(BitmapPacking, TakesFewBytes) {
  const std::vector<double> even = drawn_magnitudes(1024, 0), uneven = drawn_magnitudes(1024, 0.3);
  for (const auto& [zeros, most] : {std::pair{0.5, 0.62}, {0.6, 0.52}, {0.7, 0.42}}) {
    const double bytes = bytes_per_dense_byte(pruned(even, zeros));
    EXPECT_LT(bytes, most);
    EXPECT_LT(bytes_per_dense_byte(pruned(uneven, zeros)), 1.04 * bytes) << "rows of unequal lengths";
  }
}

const char* const other_bytes = "is not what packing the matrix again gives";
const char* const outside = "after the end of the packed matrix";

/// Packed bytes of which some are others, with checksums that match.
class Damaged {
 public:
  explicit Damaged(const CsrMatrix& matrix) : packed_(pack(matrix.view(), BitmapCut{})), bytes_(packed_.bytes.span()) {}

  const BitmapFormat& format() const { return packed_.format; }
  template <typename Value>
  Damaged& put(std::uint64_t at, Value value) {
    bytes_.put(at, value);
    return *this;
  }
  Damaged& put_number(const char* name, std::uint64_t value) {
    bytes_.put_number(position_of(format(), name), value);
    return *this;
  }
  Damaged& put_bits(std::uint32_t block, std::uint32_t lane, std::uint32_t bits) {
    return put(format().packed_tile_at(0) + format().bits_at(block, lane), bits);
  }
  Damaged& put_column(std::uint32_t lane, std::uint8_t byte) {
    return put(format().packed_tile_at(0) + format().odd_column_at(lane), byte);
  }
  Damaged& put_word(std::uint32_t row, std::uint32_t column, std::uint32_t word) {
    return put(format().packed_tile_at(0) + format().word_at(row, column), word);
  }
  void expect_refused(const char* words) {
    bytes_.seal();
    EXPECT_THAT([&] { unpack(bytes_.bytes()); }, ThrowsMessage<FormatError>(HasSubstr(words)));
  }

 private:
  Packed<BitmapFormat> packed_;
  ChangeableBytes bytes_;
};

TEST(BitmapUnpacking, RefusesBitsThatAreNotThoseOfTheWords) {
  EXPECT_EQ(unpack(pack(one_packed_tile.view(), BitmapCut{}).bytes.span()), one_packed_tile);
  const std::uint32_t bits = 2 | 1U << 8 | 3U << 16 | 3U << 6;
  Damaged(one_packed_tile).put_bits(3, 5, 1).expect_refused(other_bytes);  // a bit without a value
  Damaged(one_packed_tile).put_bits(0, 0, bits | 1U << 4).expect_refused(other_bytes);
  Damaged(one_packed_tile).put_bits(0, 0, bits ^ 3).expect_refused(other_bytes);  // one value in place of two
  Damaged(one_packed_tile).put_bits(0, 0, 0).expect_refused(other_bytes);
  Damaged(one_packed_tile)
      .put_bits(3, 2, 1)
      .put_word(4, 1, 1)
      .expect_refused("a non-zero is in row 0 and column 196 of a matrix of 9 x 195");
  Damaged(one_packed_tile).put_bits(1, 4, 1).put_word(4, 3, 1).expect_refused("more than the 8 non-zeros");
  Damaged(one_packed_tile).put_word(0, 0, 0).expect_refused(other_bytes);
  Damaged(one_packed_tile).put_word(0, 7, 1).expect_refused(other_bytes);  // a word that nobody has
  Damaged(one_packed_tile)
      .put_word(2, 0, 0x80000000U | Float16(8).bits)
      .expect_refused(other_bytes);  // a half that is left
}

TEST(BitmapUnpacking, RefusesColumnsThatAreNotPaired) {
  Damaged(one_packed_tile).put_column(5, 3).expect_refused(other_bytes);                   // that of lane 4, too
  Damaged(one_packed_tile).put_column(5, 3).put_column(4, 4).expect_refused(other_bytes);  // exchanged
  Damaged(one_packed_tile).put_column(1, 30).expect_refused(other_bytes);                  // where no words are
  Damaged(one_packed_tile).put_column(1, 0).expect_refused(other_bytes);                   // where others are
  Damaged(one_packed_tile).put_column(9, 8 | 0x20).expect_refused(other_bytes);            // bits that mean nothing
  Damaged(one_packed_tile).put_column(9, 8 | 0x80).expect_refused(other_bytes);
  Damaged(one_packed_tile).put_column(1, 31 | 0x20).expect_refused(outside);  // seven rows
  Damaged(one_packed_tile).put_column(7, 6 | 0x20).expect_refused(outside);   // more than there may be
  Damaged(one_packed_tile)
      .put_column(2, 1)
      .expect_refused("word 1 of lane 0 is asked for, of a packed tile with 1 rows");
  Damaged(one_packed_tile)
      .put_column(2, 1)
      .put_column(1, 31 | 0x20)
      .expect_refused("word 3 of lane 0 is asked for, of a packed tile with 3 rows");
}

TEST(BitmapUnpacking, RefusesUnitsThatDoNotFollowEachOther) {
  const CsrMatrix matrix = in_halves(to_csr(random_matrix(40, 300, 0.5, 1)), ScalarType::f16);
  const Packed<BitmapFormat> packed = pack(matrix.view(), BitmapCut{});
  const BitmapFormat& format = packed.format;
  const BitmapReader reader(packed.bytes.span(), format);
  Damaged(matrix)
      .put(format.begin_at(0, 1), reader.begin(0, 0))
      .expect_refused("of a matrix of 40 x 300");  // not ascending
  Damaged(matrix)
      .put(format.begin_at(0, 0), reader.begin(1, 0))
      .put(format.begin_at(1, 0), reader.begin(0, 0))
      .expect_refused(other_bytes);
  Damaged(matrix).put(format.begin_at(0, 1), ~std::uint32_t{0}).expect_refused(outside);
  Damaged(matrix).put(format.begin_at(3, 0), reader.begin(2, 1)).expect_refused(other_bytes);    // after the last one
  Damaged(matrix).put(format.begin_at(3, 0) + 4, std::uint32_t{1}).expect_refused(other_bytes);  // between the sections
}

TEST(BitmapUnpacking, RefusesNumbersThatDisagree) {
  Damaged(one_packed_tile).put_number("height", 32).expect_refused("field height is 32; it can only be 16");
  Damaged(one_packed_tile)
      .put_number("element", static_cast<std::uint64_t>(ScalarType::f32))
      .expect_refused("field element is 5; it can be 7 to 8");
  Damaged(one_packed_tile).put_number("most_words", 65).expect_refused("field most_words is 65; it can be 0 to 64");
  Damaged(one_packed_tile)
      .put_number("most_words", 6)
      .expect_refused("field most_words is not what packing the matrix again gives");
  Damaged(one_packed_tile)
      .put_number("nonzeros", 9)
      .expect_refused("field nonzeros is not what packing the matrix again gives");
  Damaged(one_packed_tile).put_number("pieces", 32).expect_refused("field total_bytes does not agree");
  Damaged(one_packed_tile)
      .put_number("columns", 194)
      .expect_refused("a non-zero is in row 0 and column 194 of a matrix of 9 x 194");
  Damaged(one_packed_tile).put_number("columns", 257).expect_refused("");
}

TEST(BitmapUnpacking, RefusesWhatIsDamagedAnywhere) {
  const Packed<BitmapFormat> packed = pack(one_packed_tile.view(), BitmapCut{});
  std::vector<std::byte> bytes(packed.bytes.span().begin(), packed.bytes.span().end());
  for (std::byte& byte : bytes) {
    byte ^= std::byte{0x10};
    EXPECT_THROW(unpack(bytes), FormatError) << "byte " << &byte - bytes.data();
    byte ^= std::byte{0x10};
  }
}

}  // namespace
}  // namespace esc::transformer
