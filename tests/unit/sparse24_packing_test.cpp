// SPDX-License-Identifier: Apache-2.0
// Packing of matrices with the 2:4 pattern against what the format promises, for both forms of the matrix, any number
// of threads and the serial text that generated transformers embed; what is said of other matrices; and the unpacker's
// refusals.

#include "transformer/sparse24_packing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>

#include "tests/unit/half_matrices.h"
#include "tests/unit/transformer_matrices.h"
#include "transformer/pack.h"
#include "transformer/packed_reader.h"
#include "transformer/unpack.h"

namespace esc::transformer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// The matrix with zeros of either sign in place of the non-zeros that four neighbours have too many.
CsrMatrix two_of_four(CsrMatrix matrix, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t row = 0; row + 1 < matrix.offsets.size(); ++row) {
    const auto end = static_cast<std::size_t>(matrix.offsets[row + 1]);
    for (auto at = static_cast<std::size_t>(matrix.offsets[row]); at < end;) {
      std::vector<double*> nonzeros;
      for (const std::int32_t group = matrix.column_of[at] / 4; at < end && matrix.column_of[at] / 4 == group; ++at) {
        if (matrix.values[at] != 0) {
          nonzeros.push_back(&matrix.values[at]);
        }
      }
      std::ranges::shuffle(nonzeros, random);
      for (std::size_t i = 2; i < nonzeros.size(); ++i) {
        *nonzeros[i] = random() % 2 == 0 ? 0.0 : -0.0;
      }
    }
  }
  return matrix;
}

CsrMatrix random_two_of_four(std::int64_t rows, std::int64_t columns, double density, std::uint64_t seed,
                             ScalarType element) {
  return two_of_four(in_halves(to_csr(random_matrix(rows, columns, density, seed), true), element), seed);
}

/// The two stored columns of a group with such bits, from the description alone.
std::pair<std::uint32_t, std::uint32_t> stored_columns(const std::array<std::uint32_t, 4>& bits) {
  std::vector<std::uint32_t> stored;
  for (std::uint32_t column = 0; column < 4; ++column) {
    if (bits.at(column) != 0) {
      stored.push_back(column);
    }
  }
  for (std::uint32_t column = 3; stored.size() < 2; --column) {
    if (bits.at(column) == 0) {
      stored.push_back(column);
    }
  }
  std::ranges::sort(stored);
  return {stored.at(0), stored.at(1)};
}

/// Every packed tile, word for word as the description has it.
template <typename Half>
std::vector<std::uint32_t> described_words(const CsrMatrix& matrix) {
  const DenseHalves<Half> dense(matrix);
  const std::int64_t row_tiles = (matrix.rows + 15) / 16, tiles = (matrix.columns + 255) / 256;
  std::vector<std::uint32_t> words;
  for (std::int64_t number = 0; number < row_tiles * tiles; ++number) {
    const std::int64_t first_row = number / tiles * 16, first_column = number % tiles * 256;
    const auto group_bits = [&](std::uint32_t row, std::uint32_t column) {
      std::array<std::uint32_t, 4> bits{};
      for (std::uint32_t i = 0; i < 4; ++i) {
        bits.at(i) = dense.bits(first_row + row, first_column + column + i);
      }
      return bits;
    };
    for (std::uint32_t at = 0; at < 128; ++at) {  // [K block / 2][lane][K block % 2]
      const std::uint32_t block = at / 64 * 2 + at % 2, lane = at / 2 % 32;
      const std::uint32_t g = lane / 4, h = lane % 4 / 2, q = lane % 2;
      std::uint32_t word = 0;
      for (std::uint32_t nibble = 0; nibble < 8; ++nibble) {
        const std::uint32_t row = nibble < 4 ? g : g + 8, i = nibble % 4;
        const auto [first, second] = stored_columns(group_bits(row, block * 64 + h * 32 + (q * 4 + i) * 4));
        word |= (first | second << 2) << 4 * nibble;
      }
      words.push_back(word);
    }
    for (std::uint32_t at = 0; at < 1024; ++at) {  // [K block][half][lane][register]
      const std::uint32_t block = at / 256, h = at / 128 % 2, lane = at / 4 % 32, r = at % 4;
      const auto bits = group_bits(lane / 4 + r % 2 * 8, block * 64 + h * 32 + (lane % 4 + r / 2 * 4) * 4);
      const auto [first, second] = stored_columns(bits);
      words.push_back(bits.at(first) | bits.at(second) << 16);
    }
  }
  return words;
}

/// What the serial text makes of a source; nothing where it finds that it needs something else.
template <typename Source>
std::vector<std::uint64_t> packed_serially(const Source& source, const Sparse24Format& format) {
  std::vector<std::uint64_t> packed(format.bytes / 8, ~std::uint64_t{0});
  const bool is_right = measure(source, format.shape).format == format && pack_serially(source, format, packed.data());
  return is_right ? packed : std::vector<std::uint64_t>();
}

template <typename Half>
std::string problem_of_bytes(const CsrMatrix& matrix, const Packed<Sparse24Format>& packed) {
  const auto is_packed = [&](const std::vector<std::uint64_t>& serial) {
    return same_bytes(std::as_bytes(std::span(serial)), packed.bytes.span());
  };
  const DenseHalves<Half> dense(matrix);
  std::vector<Half> values;
  std::ranges::transform(matrix.values, std::back_inserter(values), [](double value) { return Half(value); });
  const CsrRows<std::int64_t, Half> stored{matrix.offsets.data(), matrix.column_of.data(), values.data()};
  const std::vector<std::uint32_t> words = described_words<Half>(matrix);
  return !same_bytes(std::as_bytes(std::span(words)), packed.bytes.span().subspan(256))
             ? "other packed tiles than the description says"
         : !is_packed(packed_serially(dense.source(), packed.format)) ? "dense rows give other bytes"
         : !is_packed(packed_serially(stored, packed.format))         ? "stored rows give other bytes"
                                                                      : "";
}

/// What is wrong with the packed matrix, or nothing.
std::string problem_of(const CsrMatrix& matrix) {
  const Packed<Sparse24Format> packed = pack(matrix.view(), Sparse24Cut{});
  if (!(packed.format == plan(matrix.view(), Sparse24Cut{}))) {
    return "another format than the planned one";
  }
  if (!(packed.format == std::get<Sparse24Format>(read_format(packed.bytes.span())))) {
    return "another format than the header says";
  }
  const CsrMatrix nonzeros = without_zeros(matrix);
  if (packed.format.counts.nonzeros != nonzeros.values.size()) {
    return "another number of non-zeros";
  }
  if (unpack(packed.bytes.span()) != nonzeros) {
    return "another matrix";
  }
  if (first_group_of_more_than_two(matrix.view())) {
    return "a group of more than two non-zeros";
  }
  return matrix.element == ScalarType::f16 ? problem_of_bytes<Float16>(matrix, packed)
                                           : problem_of_bytes<BFloat16>(matrix, packed);
}

TEST(Sparse24Packing, KeepsItsPromisesForAwkwardShapes) {
  std::uint64_t seed = 0;
  for (const auto& [rows, columns] :
       {std::pair{1, 1}, {1, 2}, {2, 3}, {16, 255}, {16, 256}, {17, 257}, {33, 512}, {5, 1001}, {100, 63}, {9, 194}}) {
    for (const double density : {0.0, 0.1, 0.5, 1.0}) {
      for (const ScalarType element : half_types) {
        EXPECT_EQ(problem_of(random_two_of_four(rows, columns, density, ++seed, element)), "")
            << rows << " x " << columns << ", " << density;
      }
    }
  }
}

RC_GTEST_PROP(Sparse24Packing, KeepsItsPromisesForAnyMatrix, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 60);
  const auto columns = *rc::gen::inRange<std::int64_t>(1, 700);
  const auto density = *rc::gen::element(0.0, 0.02, 0.3, 0.5, 0.7, 1.0);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto element = *rc::gen::elementOf(half_types);
  RC_ASSERT(problem_of(random_two_of_four(rows, columns, density, seed, element)) == "");
}

/// A row for each choice of at most two of four columns, in each group of two K blocks.
TEST(Sparse24Packing, TakesEachChoiceOfTwoOfFourInEachGroup) {
  constexpr std::array<std::uint32_t, 11> choices{0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 12};
  for (const std::int32_t columns : {128, 126, 125}) {
    CsrMatrix matrix{11, columns, {0}, {}, {}, ScalarType::f16};
    for (std::uint32_t row = 0; row < choices.size(); ++row) {
      for (std::int32_t column = 0; column < columns; ++column) {
        const std::uint32_t choice = choices.at((row + static_cast<std::uint32_t>(column) / 4) % choices.size());
        if ((choice >> column % 4 & 1) != 0) {
          matrix.column_of.push_back(column);
          matrix.values.push_back(column + 1);
        }
      }
      matrix.offsets.push_back(std::ssize(matrix.values));
    }
    EXPECT_EQ(problem_of(matrix), "") << columns;
  }
}

TEST(Sparse24Packing, TakesAMatrixWithoutNonzeros) {
  const CsrMatrix matrix{20, 300, std::vector<std::int64_t>(21), {}, {}, ScalarType::bf16};
  const Packed<Sparse24Format> packed = pack(matrix.view(), Sparse24Cut{});
  EXPECT_EQ(problem_of(matrix), "");
  EXPECT_EQ(packed.format.bytes, 256U + 4 * 4608);
  EXPECT_EQ(packed.bytes.span()[256], std::byte{0xee});
  EXPECT_EQ(packed.bytes.span()[256 + 512], std::byte{0});
}

/// Any bits but those of zeros are a non-zero, and stay as they are; zeros of either sign do not count.
TEST(Sparse24Packing, TakesInfinitiesAndSubnormals) {
  CsrMatrix matrix{1, 8, {0, 8}, {0, 1, 2, 3, 4, 5, 6, 7}, {}, ScalarType::f16};
  matrix.values = {std::numeric_limits<double>::infinity(), -0.0, 0x1p-24, -0.0, -0x1p-24, 0, -0.0, -65504};
  EXPECT_EQ(problem_of(matrix), "");
  EXPECT_EQ(pack(matrix.view(), Sparse24Cut{}).format.counts.nonzeros, 4U);
}

TEST(Sparse24Packing, TakesNotANumber) {
  const CsrMatrix matrix{1, 3, {0, 1}, {1}, {std::numeric_limits<double>::quiet_NaN()}, ScalarType::bf16};
  const CsrMatrix found = unpack(pack(matrix.view(), Sparse24Cut{}).bytes.span());
  EXPECT_EQ(found.column_of, matrix.column_of);
  EXPECT_TRUE(std::isnan(found.values.at(0)));
}

TEST(Sparse24Packing, GivesTheSameBytesForAnyNumberOfThreads) {
  const CsrMatrix matrix = random_two_of_four(700, 900, 0.4, 3, ScalarType::f16);
  const Packed<Sparse24Format> packed = pack(matrix.view(), Sparse24Cut{});
  EXPECT_EQ(unpack(packed.bytes.span()), without_zeros(matrix));
  EXPECT_TRUE(same_bytes(pack(matrix.view(), Sparse24Cut{}).bytes.span(), packed.bytes.span()));
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_TRUE(same_bytes(pack(matrix.view(), Sparse24Cut{}).bytes.span(), packed.bytes.span()));
}

/// Any matrix of a shape is packed into whatever there is, with zeros after it, or found not to fit; nothing after
/// the bytes is written.
RC_GTEST_PROP(Sparse24Packing, TakesAnyPatternThatFitsAndStaysInsideItsBytes, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 40);
  const auto columns = *rc::gen::inRange<std::int64_t>(1, 600);
  const auto density = *rc::gen::element(0.0, 0.05, 0.3, 1.0);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const bool has_pattern = *rc::gen::arbitrary<bool>();
  const CsrMatrix drawn = in_halves(to_csr(random_matrix(rows, columns, density, seed)), ScalarType::f16);
  const CsrMatrix matrix = has_pattern ? two_of_four(drawn, seed) : drawn;
  const Sparse24Shape shape{{}, rows, columns, ScalarType::f16};
  const std::uint64_t all = most_bytes(shape);
  const std::uint64_t room = *rc::gen::element<std::uint64_t>(0, 256, 264, all - 8, all, all + 8, all + 512);
  std::vector<std::uint64_t> packed(room / 8 + 2, 7);
  const DenseHalves<Float16> dense(matrix);
  const Sparse24Need need = pack_serially(dense.source(), shape, packed.data(), room);
  RC_ASSERT(packed[room / 8] == 7 && packed[room / 8 + 1] == 7);
  const FullestPart part = fullest_part(need, shape);
  RC_ASSERT(part.room == 2U && need.format.bytes == all);
  RC_ASSERT((part.needed > 2) == first_group_of_more_than_two(matrix.view()).has_value());
  if (part.needed <= 2) {
    RC_ASSERT(need.format == plan(matrix.view(), Sparse24Cut{}));
  }
  if (part.needed <= 2 && all <= room) {
    const auto bytes = std::as_bytes(std::span(packed)).first(room);
    RC_ASSERT(same_bytes(bytes.first(all), pack(matrix.view(), Sparse24Cut{}).bytes.span()));
    RC_ASSERT(std::ranges::count(bytes.subspan(all), std::byte{0}) == static_cast<std::ptrdiff_t>(room - all));
  }
}

/// 40 rows of 598 columns with a non-zero in each of these places, which are in order.
CsrMatrix with_nonzeros(const std::vector<std::pair<std::int64_t, std::int32_t>>& places) {
  CsrMatrix matrix{40, 598, std::vector<std::int64_t>(41), {}, {}, ScalarType::f16};
  for (const auto& [row, column] : places) {
    matrix.column_of.push_back(column);
    matrix.values.push_back(1);
    for (std::int64_t behind = row + 1; behind <= matrix.rows; ++behind) {
      ++matrix.offsets[static_cast<std::size_t>(behind)];
    }
  }
  return matrix;
}

FullestPart fullest_part_of(const CsrMatrix& matrix) {
  const Sparse24Shape shape{{}, matrix.rows, matrix.columns, matrix.element};
  return fullest_part(measure(DenseHalves<Float16>(matrix).source(), shape), shape);
}

std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::uint64_t> numbers_of(const FullestPart& part) {
  return {part.first_row, part.behind_row, part.first_column, part.behind_column, part.needed};
}

TEST(Sparse24Packing, SaysWhichGroupIsTheFullest) {
  EXPECT_EQ(numbers_of(fullest_part_of(with_nonzeros({}))), std::tuple(0, 1, 0, 4, 0U));
  EXPECT_EQ(numbers_of(fullest_part_of(with_nonzeros({{7, 9}, {8, 4}}))), std::tuple(7, 8, 8, 12, 1U));
  EXPECT_EQ(numbers_of(fullest_part_of(with_nonzeros({{33, 596}, {33, 597}}))), std::tuple(33, 34, 596, 598, 2U));
  // The first row of a row tile in a later K tile is before the second one in an earlier K tile.
  const CsrMatrix three = with_nonzeros({{20, 300}, {20, 301}, {20, 303}, {21, 0}, {21, 1}, {21, 2}});
  const FullestPart part = fullest_part_of(three);
  EXPECT_EQ(numbers_of(part), std::tuple(20, 21, 300, 304, 3U));
  EXPECT_EQ(part.room, 2U);
  EXPECT_STREQ(part.what, "non-zeros of four neighbours");
  EXPECT_EQ(numbers_of(fullest_part_of(
                with_nonzeros({{20, 300}, {20, 301}, {20, 303}, {39, 64}, {39, 65}, {39, 66}, {39, 67}}))),
            std::tuple(39, 40, 64, 68, 4U));
}

TEST(Sparse24Packing, RefusesThreeOfFourNeighbours) {
  const CsrMatrix matrix = with_nonzeros({{20, 300}, {20, 301}, {20, 303}, {39, 64}, {39, 65}, {39, 66}, {39, 67}});
  const auto refused = [](const CsrMatrix& of, const char* words) {
    EXPECT_THAT([&] { pack(of.view(), Sparse24Cut{}); }, ThrowsMessage<std::invalid_argument>(HasSubstr(words)));
    EXPECT_THAT([&] { plan(of.view(), Sparse24Cut{}); }, ThrowsMessage<std::invalid_argument>(HasSubstr(words)));
  };
  refused(matrix, "row 39 has 4 non-zeros in columns 64 to 67; the 2:4 pattern allows 2");
  const std::optional<Sparse24Group> first = first_group_of_more_than_two(matrix.view());
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(std::tuple(first->row, first->first_column, first->nonzeros), std::tuple(20, 300, 3U));
  std::vector<std::uint64_t> packed(most_bytes({{}, 40, 598, ScalarType::f16}) / 8);
  const Sparse24Need need =
      pack_serially(DenseHalves<Float16>(matrix).source(), Sparse24Shape{{}, 40, 598, ScalarType::f16}, packed.data(),
                    packed.size() * 8);
  EXPECT_FALSE(need.is_met());
  EXPECT_EQ(need.format.bytes, packed.size() * 8);
  EXPECT_EQ(need.format.counts.nonzeros, 7U);
  EXPECT_FALSE(pack_serially(DenseHalves<Float16>(matrix).source(), need.format, packed.data()));
  // Neighbours of different groups may all be non-zeros, and stored zeros do not count.
  CsrMatrix neighbours = with_nonzeros({{3, 2}, {3, 3}, {3, 4}, {3, 5}, {4, 0}, {4, 1}, {4, 2}});
  refused(neighbours, "row 4 has 3 non-zeros in columns 0 to 3; the 2:4 pattern allows 2");
  neighbours.values.back() = -0.0;
  EXPECT_EQ(problem_of(neighbours), "");
}

/// Of elements of any type; stored zeros do not count.
TEST(Sparse24Packing, FindsTheFirstGroupOfMoreThanTwo) {
  CsrMatrix matrix =
      with_nonzeros({{2, 0}, {2, 1}, {2, 2}, {30, 596}, {30, 597}, {35, 8}, {35, 9}, {35, 10}, {35, 11}});
  matrix.element = ScalarType::f32;
  matrix.values[1] = 0;
  const std::optional<Sparse24Group> first = first_group_of_more_than_two(matrix.view());
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(std::tuple(first->row, first->first_column, first->nonzeros), std::tuple(35, 8, 4U));
  matrix.values[7] = matrix.values[8] = 0;
  EXPECT_FALSE(first_group_of_more_than_two(matrix.view()).has_value());
  matrix.column_of[0] = 598;
  EXPECT_THROW(first_group_of_more_than_two(matrix.view()), std::invalid_argument);
}

/// Though all other numbers of the headers are the same.
TEST(Sparse24Packing, KnowsAPatternFromAnother) {
  const auto with_one = [](std::int32_t column, double value) {
    return plan(CsrMatrix{1, 300, {0, 1}, {column}, {value}, ScalarType::f16}.view(), Sparse24Cut{});
  };
  const Sparse24Format first = with_one(0, 1);
  EXPECT_EQ(first, with_one(0, 2));
  for (const std::int32_t column : {1, 16, 63, 299}) {
    const Sparse24Format other = with_one(column, 1);
    EXPECT_EQ(std::tuple(first.counts.nonzeros, first.bytes), std::tuple(other.counts.nonzeros, other.bytes));
    EXPECT_NE(first.counts.pattern, other.counts.pattern) << column;
  }
}

TEST(Sparse24Packing, IsForElementsOf16Bits) {
  const CsrMatrix matrix{1, 1, {0, 1}, {0}, {1}, ScalarType::f32};
  EXPECT_THROW(plan(matrix.view(), Sparse24Cut{}), std::invalid_argument);
  EXPECT_THROW(pack(matrix.view(), Sparse24Cut{}), std::invalid_argument);
  EXPECT_THROW(pack(in_halves(matrix, ScalarType::f16).view(), Sparse24Cut{.height = 32}), std::invalid_argument);
}

/// One packed tile of 10 rows and 195 columns. In row 0 are columns 0 and 2 (block 0, half 0, group 0) and 33 (half 1,
/// group 0), in row 9 are column 67 (block 1, half 0, group 0) and columns 184 and 185 (block 2, half 1, group 6).
const CsrMatrix one_packed_tile{
    10, 195, {0, 3, 3, 3, 3, 3, 3, 3, 3, 3, 6}, {0, 2, 33, 67, 184, 185}, {1, 2, 3, 4, 5, 6}, ScalarType::f16};

TEST(Sparse24Packing, WritesTheBytesThatTheDescriptionSays) {
  std::vector<std::uint32_t> packed_tile(4608 / 4);
  std::fill_n(packed_tile.begin(), 512 / 4, 0xeeeeeeeeU);
  packed_tile[0] = 0xeeeeeee8U;           // block 0, lane 0: columns 0 and 2 of four
  packed_tile[2 * 2] = 0xeeeeeeedU;       // lane 2, of half 1: columns 1 and 3
  packed_tile[4 * 2 + 1] = 0xeeeeeeeeU;   // block 1, lane 4: columns 2 and 3
  packed_tile[64 + 7 * 2] = 0xe4eeeeeeU;  // block 2, lane 4 + 2 + 1: columns 0 and 1
  const auto word = [](double low, double high) {
    return std::uint32_t{Float16(low).bits} | std::uint32_t{Float16(high).bits} << 16;
  };
  packed_tile[128] = word(1, 2);                          // block 0, half 0, lane 0, register 0
  packed_tile[128 + 128] = word(3, 0);                    // half 1
  packed_tile[128 + 256 + 4 * 4 + 1] = word(0, 4);        // block 1, half 0, lane 4, register 1
  packed_tile[128 + 512 + 128 + 6 * 4 + 3] = word(5, 6);  // block 2, half 1, lane 4 + 2, register 3
  const Packed<Sparse24Format> packed = pack(one_packed_tile.view(), Sparse24Cut{});
  EXPECT_TRUE(same_bytes(packed.bytes.span().subspan(256), std::as_bytes(std::span(packed_tile))));
  EXPECT_EQ(std::memcmp(packed.bytes.span().data(), "ESCSP24\x1a", 8), 0);
  EXPECT_EQ(problem_of(one_packed_tile), "");
}

TEST(Sparse24Format, HasTheBytesThatTheDescriptionSays) {
  const Sparse24Format format = describe(Sparse24Shape{{}, 50, 600, ScalarType::bf16}, {.nonzeros = 900});
  EXPECT_EQ(format.row_tiles(), 4U);
  EXPECT_EQ(format.tiles(), 3U);
  EXPECT_EQ(format.packed_tiles(), 12U);
  EXPECT_EQ(Sparse24Format::packed_tile_bytes, 4608U);
  EXPECT_EQ(Sparse24Format::packed_tiles_at, 256U);
  EXPECT_EQ(format.packed_tile_at(5), 256U + 5 * 4608);
  EXPECT_EQ(format.bytes, 256U + 12 * 4608);
  EXPECT_EQ(most_bytes(format.shape), format.bytes);
  EXPECT_EQ(format.metadata_at(1, 3), 28U);
  EXPECT_EQ(format.metadata_at(2, 0), 256U);
  EXPECT_EQ(format.codes_at(1, 8, 3), 30U);
  EXPECT_EQ(format.register_at(0, 0, 0, 0), 512U);
  EXPECT_EQ(format.register_at(3, 1, 31, 3), 4604U);
  EXPECT_EQ(format.register_at(1, 0, 2, 1), 512U + 1024 + 36);
}

const char* const other_bytes = "is not what packing the matrix again gives";

/// Packed bytes of which some are others, with checksums that match.
class Damaged {
 public:
  Damaged() : packed_(pack(one_packed_tile.view(), Sparse24Cut{})), bytes_(packed_.bytes.span()) {}

  Damaged& put_metadata(std::uint32_t block, std::uint32_t lane, std::uint32_t word) {
    bytes_.put(packed_.format.packed_tile_at(0) + packed_.format.metadata_at(block, lane), word);
    return *this;
  }
  Damaged& put_register(std::uint32_t block, std::uint32_t half, std::uint32_t lane, std::uint32_t number,
                        std::uint32_t word) {
    bytes_.put(packed_.format.packed_tile_at(0) + packed_.format.register_at(block, half, lane, number), word);
    return *this;
  }
  Damaged& put_number(const char* name, std::uint64_t value) {
    bytes_.put_number(position_of(packed_.format, name), value);
    return *this;
  }
  void expect_refused(const std::string& words) {
    bytes_.seal();
    EXPECT_THAT([&] { unpack(bytes_.bytes()); }, ThrowsMessage<FormatError>(HasSubstr(words)));
  }

 private:
  Packed<Sparse24Format> packed_;
  ChangeableBytes bytes_;
};

TEST(Sparse24Unpacking, RefusesMetadataThatIsNotThatOfTheValues) {
  EXPECT_EQ(unpack(pack(one_packed_tile.view(), Sparse24Cut{}).bytes.span()), one_packed_tile);
  for (const std::uint32_t code : {0U, 1U, 2U, 3U, 5U, 6U, 7U, 10U, 11U, 15U}) {  // the second one not behind the first
    Damaged()
        .put_metadata(0, 0, 0xeeeeeee0U | code)
        .expect_refused(
            fmt::format("names column {} of four before column {}, in row 0 of K block 0", code % 4, code / 4));
    Damaged().put_metadata(3, 31, 0x0eeeeeeeU | code << 28).expect_refused("in row 15 of K block 3");
  }
  for (const std::uint32_t code : {4U, 9U, 12U, 13U, 14U}) {  // other columns
    Damaged().put_metadata(0, 0, 0xeeeeeee0U | code).expect_refused(other_bytes);
  }
}

TEST(Sparse24Unpacking, RefusesValuesThatAreNotThoseOfTheMetadata) {
  Damaged().put_register(0, 0, 0, 0, 0).expect_refused(other_bytes);
  Damaged().put_register(0, 0, 0, 0, 0x3c00U).expect_refused(other_bytes);      // one value in place of two
  Damaged().put_register(0, 0, 4, 0, 0x80000000U).expect_refused(other_bytes);  // a zero with a sign
  Damaged().put_register(0, 0, 4, 0, 0x3c00U).expect_refused("more than the 6 non-zeros");
  Damaged()
      .put_register(3, 0, 0, 0, 0x3c000000U)
      .expect_refused("a non-zero is in row 0 and column 195 of a matrix of");
  Damaged().put_register(0, 0, 8, 1, 0x3c000000U).expect_refused("a non-zero is in row 10 and column 3 of a matrix of");
}

TEST(Sparse24Unpacking, RefusesNumbersThatDisagree) {
  Damaged().put_number("height", 32).expect_refused("field height is 32; it can only be 16");
  Damaged()
      .put_number("element", static_cast<std::uint64_t>(ScalarType::f32))
      .expect_refused("field element is 5; it can be 7 to 8");
  Damaged().put_number("nonzeros", 7).expect_refused("field nonzeros is not what packing the matrix again gives");
  Damaged().put_number("pattern", 7).expect_refused("field pattern is not what packing the matrix again gives");
  Damaged().put_number("rows", 17).expect_refused("field total_bytes does not agree");
  Damaged().put_number("columns", 257).expect_refused("field total_bytes does not agree");
  Damaged().put_number("columns", 185).expect_refused("in row 9 and column 185 of a matrix of 10 x 185");
}

TEST(Sparse24Unpacking, RefusesWhatIsDamagedAnywhere) {
  const Packed<Sparse24Format> packed = pack(one_packed_tile.view(), Sparse24Cut{});
  std::vector<std::byte> bytes(packed.bytes.span().begin(), packed.bytes.span().end());
  for (std::byte& byte : bytes) {
    byte ^= std::byte{0x10};
    EXPECT_THROW(unpack(bytes), FormatError) << "byte " << &byte - bytes.data();
    byte ^= std::byte{0x10};
  }
  for (const std::size_t missing : {std::size_t{1}, std::size_t{4608}}) {
    EXPECT_THROW(unpack(std::span(bytes).first(bytes.size() - missing)), FormatError);
  }
}

}  // namespace
}  // namespace esc::transformer
