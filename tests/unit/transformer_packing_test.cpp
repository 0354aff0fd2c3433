// SPDX-License-Identifier: Apache-2.0
// The packer against bytes written by hand and against the definition of the format, for both forms of the matrix, any
// number of threads, and the serial text that generated transformers embed.

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#include "tests/unit/transformer_matrices.h"
#include "transformer/list_packing.h"
#include "transformer/pack.h"
#include "transformer/packed_reader.h"
#include "transformer/unpack.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

using PackedLists = Packed<ListFormat>;

std::vector<std::byte> bytes_of(const PackedLists& packed) {
  return {packed.bytes.span().begin(), packed.bytes.span().end()};
}

PlainLists lists_of(const PackedLists& packed) {
  PlainLists lists;
  const ListReader reader(packed.bytes.span(), packed.format);
  const ListCounts& counts = packed.format.counts;
  for (std::uint64_t list = 0; list < counts.lists; ++list) {
    lists.row_tiles.push_back(static_cast<std::uint64_t>(reader.row_tile(list)));
    lists.patterns.push_back(reader.pattern(list));
  }
  for (std::uint64_t list = 0; list <= counts.lists; ++list) {
    lists.rpp.push_back(reader.rpp(list));
    lists.npp.push_back(reader.npp(list));
  }
  for (std::uint64_t index = 0; index < counts.columns; ++index) {
    lists.cols.push_back(static_cast<std::uint64_t>(reader.column(index)));
  }
  for (std::uint64_t index = 0; index < counts.nonzeros; ++index) {
    lists.annz.push_back(reader.value(index));
  }
  return lists;
}

/// Little-endian bytes, written one after the other.
class Bytes {
 public:
  Bytes& put(int width, std::initializer_list<std::uint64_t> values) {
    for (const std::uint64_t value : values) {
      for (int i = 0; i < width; ++i) {
        bytes_.push_back(static_cast<std::byte>(value >> 8 * i));
      }
    }
    return *this;
  }
  Bytes& put_floats(std::initializer_list<float> values) {
    for (const float value : values) {
      put(4, {std::bit_cast<std::uint32_t>(value)});
    }
    return *this;
  }
  Bytes& pad_to(std::size_t size) {
    bytes_.resize(size);
    return *this;
  }
  const std::vector<std::byte>& get() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// The checksum from its definition, a word at a time.
std::uint64_t plain_checksum(const std::vector<std::byte>& bytes, std::size_t begin, std::size_t end) {
  const auto step = [](std::uint64_t hash, std::uint64_t word) {
    return std::rotl(hash + word * 0xc2b2ae3d27d4eb4fu, 31) * 0x9e3779b185ebca87u;
  };
  std::uint64_t lanes[] = {1, 2, 3, 4};
  for (std::size_t at = begin; at < end; at += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      word |= static_cast<std::uint64_t>(bytes[at + i]) << 8 * i;
    }
    std::uint64_t& lane = lanes[(at - begin) / 8 % 4];
    lane = step(lane, word);
  }
  std::uint64_t hash = end - begin;
  for (const std::uint64_t lane : lanes) {
    hash = step(hash, lane);
  }
  return hash ^ (hash >> 32);
}

TEST(Packing, WritesTheBytesOfASmallMatrix) {
  const DenseMatrix matrix{4, 5, {1, 0, 2, 0, 3,  //
                                  4, 0, 0, 5, 6,  //
                                  0, 0, 0, 0, 7,  //
                                  0, 0, 0, 0, 0}};
  const PackedLists packed = pack(to_csr(matrix).view(), ListCut{.height = 2, .max_list_columns = 1024});

  Bytes sections;
  sections.put(4, {0, 0, 0, 1}).pad_to(256);                // Row tiles
  sections.put(1, {1, 2, 3, 1}).pad_to(512);                // Patterns
  sections.put(4, {0, 1, 2, 4, 5}).pad_to(768);             // RPP
  sections.put(4, {0, 1, 2, 6, 7}).pad_to(1024);            // NPP
  sections.put(2, {2, 3, 0, 4, 4}).pad_to(1280);            // Cols
  sections.put_floats({2, 5, 1, 4, 3, 6, 7}).pad_to(1536);  // ANNZ
  const std::vector<std::byte>& payload = sections.get();
  Bytes expected;
  expected.put(1, {'E', 'S', 'C', 'P', 'A', 'C', 'K', 0x1a})
      .put(4, {2, 256})  // version, header bytes
      .put(8, {1792})    // total bytes
      .put(8, {plain_checksum(payload, 0, payload.size())})
      .put(8,
           {4, 5, 5, 2, 1024, 7, 5, 4})  // rows, columns, f32, height, longest list, non-zeros, listed columns, lists
      .pad_to(248);
  expected.put(8, {plain_checksum(expected.get(), 0, 248)});
  std::vector<std::byte> all = expected.get();
  all.insert(all.end(), payload.begin(), payload.end());
  EXPECT_EQ(bytes_of(packed), all);
}

TEST(Packing, CutsALongListAndEndsTheLastPanelWhereTheMatrixEnds) {
  const DenseMatrix matrix{3,
                           5,
                           {1, 2, 3, 4, 5,  //
                            0, 0, 0, 0, 0,  //
                            6, 0, 7, 8, 0}};
  const PackedLists packed = pack(to_csr(matrix).view(), ListCut{.height = 2, .max_list_columns = 2});
  EXPECT_THAT(lists_of(packed).row_tiles, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(lists_of(packed).patterns, ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(lists_of(packed).rpp, ElementsAre(0, 2, 4, 5, 7, 8));
  EXPECT_THAT(lists_of(packed).cols, ElementsAre(0, 1, 2, 3, 4, 0, 2, 3));
  EXPECT_THAT(lists_of(packed).annz, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(Packing, AMatrixOfZerosHasNoLists) {
  const DenseMatrix matrix{5, 3, std::vector<float>(15)};
  const PackedLists packed = pack(to_csr(matrix).view(), ListCut{.height = 4});
  EXPECT_EQ(packed.format, describe(packed.format.shape, {}));
  EXPECT_EQ(lists_of(packed), (PlainLists{{}, {}, {0}, {0}, {}, {}}));
}

TEST(Packing, ColumnsTakeTwoBytesUpTo65536AndFourBeyond) {
  for (const std::int64_t columns : {65536, 65537}) {
    DenseMatrix matrix{1, columns, std::vector<float>(static_cast<std::size_t>(columns))};
    matrix.at(0, columns - 1) = 5.0f;
    const PackedLists packed = pack(to_csr(matrix).view(), ListCut{.height = 1});
    EXPECT_EQ(packed.format.section(SectionId::cols).type, columns == 65536 ? ScalarType::u16 : ScalarType::u32);
    EXPECT_THAT(lists_of(packed).cols, ElementsAre(columns - 1));
  }
}

TEST(Packing, NotANumberAndInfinityArePackedLikeOtherValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const DenseMatrix matrix{1, 3, {std::nanf(""), 0.0f, -infinity}};
  const PackedLists packed = pack(to_csr(matrix).view(), ListCut{.height = 1});
  EXPECT_TRUE(std::isnan(lists_of(packed).annz[0]));
  EXPECT_EQ(lists_of(packed).annz[1], -infinity);
}

/// A format with 64-bit pointers, which needs 2^32 non-zeros to arise by itself, for a matrix of a few.
TEST(Packing, PointersOf64BitsHoldTheSameNumbers) {
  const DenseMatrix matrix = random_matrix(13, 70, 0.4, 1);
  const PackedLists narrow = pack(to_csr(matrix).view(), ListCut{.height = 3});
  ListFormat format = narrow.format;
  format.bytes = header_bytes;
  for (Section& section : format.sections) {
    const bool pointers = std::string_view(section.name) == "RPP" || std::string_view(section.name) == "NPP";
    section.type = pointers ? ScalarType::u64 : section.type;
    section.offset = format.bytes;
    format.bytes = round_up(section.end(), section_alignment);
  }
  PackedLists wide(format);
  ASSERT_TRUE(pack_serially(matrix.source(), format, wide.bytes.data()));
  EXPECT_EQ(lists_of(wide), lists_of(narrow));
}

/// Whether `matrix` is packed in the format made for another; nothing may be written after the buffer.
bool packs(const DenseMatrix& matrix, const DenseMatrix& made_for) {
  const ListFormat format = plan(to_csr(made_for).view(), ListCut{.height = 4});
  std::vector<std::byte> buffer(format.bytes + 4096, std::byte{0xa5});
  const bool packed = pack_serially(matrix.source(), format, buffer.data());
  EXPECT_THAT(std::span(buffer).subspan(format.bytes), testing::Each(std::byte{0xa5}));
  return packed;
}

TEST(Packing, AMatrixWithOtherCountsThanTheFormatIsNotPacked) {
  const DenseMatrix matrix = random_matrix(20, 30, 0.5, 2);
  DenseMatrix fuller = matrix;
  *std::ranges::find(fuller.values, 0.0f) = 1.0f;
  const DenseMatrix full = random_matrix(20, 30, 1.0, 2);
  EXPECT_TRUE(packs(matrix, matrix));
  EXPECT_FALSE(packs(fuller, matrix));
  EXPECT_FALSE(packs(matrix, fuller));
  EXPECT_FALSE(packs(full, matrix));
}

TEST(PackingRefusal, NamesTheFirstOfManyBadRows) {
  CsrMatrix matrix = to_csr(random_matrix(5000, 8, 0.5, 5));
  for (const std::int64_t row : {4900, 3000, 777}) {
    matrix.column_of[static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)])] = 8;
  }
  const auto row_of =
      std::ranges::upper_bound(matrix.offsets, std::ranges::find(matrix.column_of, 8) - matrix.column_of.begin());
  EXPECT_THAT([&] { pack(matrix.view(), ListCut{}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("row " + std::to_string(row_of - matrix.offsets.begin() - 1) + ": a column index lies")));
}

struct Case {
  DenseMatrix matrix;
  ListCut options;
};

Case any_case() {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 40);
  const auto columns = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(1, 12), rc::gen::inRange<std::int64_t>(60, 140),
                                       rc::gen::element<std::int64_t>(64, 128, 66000));
  const auto density = *rc::gen::element(0.0, 0.02, 0.3, 0.7, 1.0);
  const auto height = *rc::gen::inRange<std::uint32_t>(1, max_height + 1);
  const auto longest = *rc::gen::element<std::uint32_t>(1, 2, 7, 64, 1024);
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  return {random_matrix(columns > 1000 ? std::min<std::int64_t>(rows, 5) : rows, columns, density, seed),
          {height, longest}};
}

RC_GTEST_PROP(PackingProperty, HoldsTheListsThatTheFormatDefines, ()) {
  const auto [matrix, options] = any_case();
  RC_PRE(matrix.columns < 1000);
  RC_ASSERT(lists_of(pack(to_csr(matrix).view(), options)) ==
            plain_lists(matrix, options.height, options.max_list_columns));
}

RC_GTEST_PROP(PackingProperty, DoesNotDependOnStoredZeros, ()) {
  const auto [matrix, options] = any_case();
  const std::vector<std::byte> expected = bytes_of(pack(to_csr(matrix).view(), options));
  RC_ASSERT(bytes_of(pack(to_csr(matrix, true).view(), options)) == expected);
  RC_ASSERT(plan(to_csr(matrix).view(), options) == pack(to_csr(matrix).view(), options).format);
}

RC_GTEST_PROP(PackingProperty, SerialTextWritesEveryByteThatTheLibraryWrites, ()) {
  const auto [matrix, options] = any_case();
  const PackedLists expected = pack(to_csr(matrix).view(), options);
  PackedLists dense(expected.format);
  std::ranges::fill_n(dense.bytes.data(), static_cast<std::ptrdiff_t>(expected.format.bytes), std::byte{0xa5});
  RC_ASSERT(pack_serially(matrix.source(), expected.format, dense.bytes.data()));
  RC_ASSERT(bytes_of(dense) == bytes_of(expected));

  const CsrMatrix sparse = to_csr(matrix, true);
  const std::vector<std::int32_t> offsets(sparse.offsets.begin(), sparse.offsets.end());
  PackedLists csr(expected.format);
  std::ranges::fill_n(csr.bytes.data(), static_cast<std::ptrdiff_t>(expected.format.bytes), std::byte{0x5a});
  RC_ASSERT(pack_serially(
      StoredRows<float, CsrRows<std::int32_t, double>>{{offsets.data(), sparse.column_of.data(), sparse.values.data()}},
      expected.format, csr.bytes.data()));
  RC_ASSERT(bytes_of(csr) == bytes_of(expected));
}

RC_GTEST_PROP(PackingProperty, RoundTripGivesTheMatrixBack, ()) {
  const auto [matrix, options] = any_case();
  RC_ASSERT(unpack(pack(to_csr(matrix).view(), options).bytes.span()) == to_csr(matrix));
}

TEST(Packing, DoesNotDependOnTheNumberOfThreads) {
  const CsrMatrix matrix = to_csr(random_matrix(1000, 300, 0.3, 3));
  std::vector<std::byte> expected;
  for (const std::size_t threads : {1, 2, 3, 8}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const std::vector<std::byte> bytes = bytes_of(pack(matrix.view(), ListCut{.height = 4}));
    expected = expected.empty() ? bytes : expected;
    EXPECT_EQ(bytes, expected) << threads << " threads";
  }
}

TEST(Packing, FewNonZerosAmongManyColumns) {
  CsrMatrix matrix{3, 2'000'000'000, {0, 2, 2, 4}, {5, 1'999'999'999, 68, 69}, {1, 2, 3, 4}};
  const PackedLists packed = pack(matrix.view(), ListCut{.height = 3});
  EXPECT_THAT(lists_of(packed).patterns, ElementsAre(1, 4));
  EXPECT_THAT(lists_of(packed).cols, ElementsAre(5, 1'999'999'999, 68, 69));
  EXPECT_EQ(unpack(packed.bytes.span()), matrix);
}

auto packing(const CsrView& view, ListCut cut = {}) {
  return [view, cut] { pack(view, cut); };
}

TEST(PackingRefusal, NamesWhatIsWrong) {
  const CsrMatrix good{3, 4, {0, 2, 2, 3}, {0, 3, 1}, {1, 2, 3}};
  EXPECT_NO_THROW(pack(good.view(), ListCut{}));
  const auto refusal = [](const char* words) { return ThrowsMessage<std::invalid_argument>(HasSubstr(words)); };
  CsrMatrix bad = good;
  bad.offsets = {0, 3, 2, 3};
  EXPECT_THAT(packing(bad.view()), refusal("row 1: it ends before it starts"));
  bad = good;
  bad.column_of = {3, 0, 1};
  EXPECT_THAT(packing(bad.view()), refusal("row 0: the column indices do not increase"));
  bad.column_of = {3, 3, 1};
  EXPECT_THAT(packing(bad.view()), refusal("row 0: the column indices do not increase"));
  bad.column_of = {0, 3, 4};
  EXPECT_THAT(packing(bad.view()), refusal("row 2: a column index lies outside the matrix"));
  bad.column_of = {0, 3, -1};
  EXPECT_THAT(packing(bad.view()), refusal("row 2: a column index lies outside the matrix"));
  bad = good;
  bad.offsets[0] = 1;
  EXPECT_THAT(packing(bad.view()), refusal("do not belong together"));
  bad = good;
  bad.values.pop_back();
  EXPECT_THAT(packing(bad.view()), refusal("do not belong together"));
  bad = good;
  bad.offsets = {0, 2, 3};
  EXPECT_THAT(packing(bad.view()), refusal("do not belong together"));
  EXPECT_THAT(packing(CsrView{}), refusal("rows is 0; it can be 1 to 2147483647"));
  EXPECT_THAT(packing(good.view(), {.height = 9}), refusal("height is 9; it can be 1 to 8"));
  EXPECT_THAT(packing(good.view(), {.height = 0}), refusal("height is 0; it can be"));
  EXPECT_THAT(packing(good.view(), {.height = 1, .max_list_columns = 0}),
              refusal("max_list_columns is 0; it can be 1 to"));
}

TEST(ListFormat, IsAConstantAndTypesFollowTheCounts) {
  constexpr ListShape shape{{}, 512, 65536};
  constexpr ListFormat format = describe(shape, {10, 100, 300});
  static_assert(format.section(SectionId::cols).type == ScalarType::u16);
  static_assert(format.section(SectionId::npp).type == ScalarType::u32);
  static_assert(format.bytes == 256 + 5 * 256 + 1280);
  static_assert(format == describe(shape, {10, 100, 300}));
  EXPECT_FALSE(format == describe(shape, {11, 100, 300}));
  EXPECT_EQ(describe(shape, {1, 1u << 30, 0xffffffffu}).section(SectionId::rpp).type, ScalarType::u32);
  EXPECT_EQ(describe(shape, {1, 1u << 30, 0x100000000u}).section(SectionId::rpp).type, ScalarType::u64);
  constexpr ListShape wide{{}, 512, 65537};
  EXPECT_EQ(describe(wide, {}).section(SectionId::cols).type, ScalarType::u32);
}

TEST(ListFormat, FollowsFromTheNumbersThatAreWritten) {
  constexpr std::uint64_t numbers[] = {512, 65536, 5, 4, 1024, 300, 100, 10};
  constexpr ListFormat format = format_of<ListFormat>(numbers);
  static_assert(format == describe(ListShape{{}, 512, 65536}, {10, 100, 300}));
  static_assert(format.bytes == 256 + 5 * 256 + 1280);
}

TEST(Checksum, ChangesWithEveryWord) {
  std::vector<std::uint64_t> words(31, 7);
  const std::uint64_t before = checksum(words.data(), words.size() * 8);
  for (std::uint64_t& word : words) {
    word ^= std::uint64_t{1} << 63;
    EXPECT_NE(checksum(words.data(), words.size() * 8), before);
    word ^= std::uint64_t{1} << 63;
  }
  EXPECT_NE(checksum(words.data(), 30 * 8), before);
}

}  // namespace
}  // namespace esc::transformer
