// The packer against bytes written by hand and against the definition of the format, for both forms of the matrix, any
// number of threads, and the serial text that generated transformers embed.

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tests/unit/transformer_matrices.h"
#include "transformer/view_sources.h"
#include "transformer/format_text.h"
#include "transformer/pack.h"
#include "transformer/packing.h"

namespace esc::transformer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::byte> bytes_of(const PackedMatrix& packed) { return {packed.bytes().begin(), packed.bytes().end()}; }

PlainLists lists_of(const PackedMatrix& packed) {
  PlainLists lists;
  const PackedCounts& counts = packed.format().counts;
  lists.panels.assign(packed.panels().begin(), packed.panels().end());
  lists.patterns.assign(packed.patterns().begin(), packed.patterns().end());
  for (std::uint64_t list = 0; list <= counts.lists; ++list) {
    lists.rpp.push_back(packed.rpp(list));
    lists.npp.push_back(packed.npp(list));
  }
  for (std::uint64_t index = 0; index < counts.columns; ++index) {
    lists.cols.push_back(packed.column(index));
  }
  lists.annz.assign(packed.annz().begin(), packed.annz().end());
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
  const PackedMatrix packed = pack(matrix.view(), {.height = 2, .max_list_columns = 1024});

  Bytes sections;
  sections.put(4, {0, 0, 0, 1}).pad_to(256);                // Panels
  sections.put(1, {1, 2, 3, 1}).pad_to(512);                // Patterns
  sections.put(4, {0, 1, 2, 4, 5}).pad_to(768);             // RPP
  sections.put(4, {0, 1, 2, 6, 7}).pad_to(1024);            // NPP
  sections.put(2, {2, 3, 0, 4, 4}).pad_to(1280);            // Cols
  sections.put_floats({2, 5, 1, 4, 3, 6, 7}).pad_to(1536);  // ANNZ
  const std::vector<std::byte>& payload = sections.get();
  Bytes expected;
  expected.put(1, {'E', 'S', 'C', 'P', 'A', 'C', 'K', 0x1a})
      .put(4, {1, 256})                           // version, header bytes
      .put(8, {1792, 4, 5, 7, 4, 5})              // total bytes, rows, columns, non-zeros, lists, listed columns
      .put(4, {2, 1024})                          // height, longest list
      .put(4, {3, 1, 3, 3, 2, 5})                 // types of the sections
      .put(8, {256, 512, 768, 1024, 1280, 1536})  // and where they begin
      .put(8, {plain_checksum(payload, 0, payload.size())})
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
  const PackedMatrix packed = pack(matrix.view(), {.height = 2, .max_list_columns = 2});
  EXPECT_THAT(packed.panels(), ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(packed.patterns(), ElementsAre(1, 1, 1, 1, 1));
  EXPECT_THAT(lists_of(packed).rpp, ElementsAre(0, 2, 4, 5, 7, 8));
  EXPECT_THAT(lists_of(packed).cols, ElementsAre(0, 1, 2, 3, 4, 0, 2, 3));
  EXPECT_THAT(packed.annz(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(Packing, AMatrixOfZerosHasNoLists) {
  const DenseMatrix matrix{5, 3, std::vector<double>(15)};
  const PackedMatrix packed = pack(matrix.view(), {.height = 4});
  EXPECT_EQ(packed.format().counts, PackedCounts{});
  EXPECT_EQ(lists_of(packed), (PlainLists{{}, {}, {0}, {0}, {}, {}}));
}

TEST(Packing, ColumnsTakeTwoBytesUpTo65536AndFourBeyond) {
  for (const std::int64_t columns : {65536, 65537}) {
    DenseMatrix matrix{1, columns, std::vector<double>(static_cast<std::size_t>(columns))};
    matrix.at(0, columns - 1) = 5.0f;
    const PackedMatrix packed = pack(matrix.view(), {.height = 1});
    EXPECT_EQ(packed.format().section(SectionId::cols).type, columns == 65536 ? ScalarType::u16 : ScalarType::u32);
    EXPECT_EQ(packed.column(0), columns - 1);
  }
}

TEST(Packing, NotANumberAndInfinityArePackedLikeOtherValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const DenseMatrix matrix{1, 3, {std::nanf(""), 0.0f, -infinity}};
  const PackedMatrix packed = pack(matrix.view(), {.height = 1});
  EXPECT_TRUE(std::isnan(packed.annz()[0]));
  EXPECT_EQ(packed.annz()[1], -infinity);
}

/// A format with 64-bit pointers, which needs 2^32 non-zeros to arise by itself, for a matrix of a few.
TEST(Packing, PointersOf64BitsHoldTheSameNumbers) {
  const DenseMatrix matrix = random_matrix(13, 70, 0.4, 1);
  const PackedMatrix narrow = pack(matrix.view(), {.height = 3});
  PackedFormat format = narrow.format();
  format.bytes = header_bytes;
  for (Section& section : format.sections) {
    const bool pointers = section == format.section(SectionId::rpp) || section == format.section(SectionId::npp);
    section.type = pointers ? ScalarType::u64 : section.type;
    section.offset = format.bytes;
    format.bytes = aligned(section.end());
  }
  PackedMatrix wide(format);
  ASSERT_TRUE(pack_serially(StoredRows<float, DenseRows<double>>{{matrix.values.data(), matrix.lda, matrix.columns}}, format, wide.data()));
  EXPECT_EQ(lists_of(wide), lists_of(narrow));
}

/// Whether `matrix` is packed in the format made for another; nothing may be written behind the buffer.
bool packs(const DenseMatrix& matrix, const DenseMatrix& made_for) {
  const PackedFormat format = plan(made_for.view(), {.height = 4});
  std::vector<std::byte> buffer(format.bytes + 4096, std::byte{0xa5});
  const StoredRows<float, DenseRows<double>> rows{{matrix.values.data(), matrix.lda, matrix.columns}};
  const bool packed = pack_serially(rows, format, buffer.data());
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
  EXPECT_THAT([&] { pack(matrix.view(), {}); },
              ThrowsMessage<std::invalid_argument>(
                  HasSubstr("row " + std::to_string(row_of - matrix.offsets.begin() - 1) + ": a column index lies")));
}

struct Case {
  DenseMatrix matrix;
  PackingOptions options;
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
  RC_ASSERT(lists_of(pack(matrix.view(), options)) == plain_lists(matrix, options.height, options.max_list_columns));
}

RC_GTEST_PROP(PackingProperty, DoesNotDependOnTheFormOfTheMatrix, ()) {
  const auto [matrix, options] = any_case();
  const std::vector<std::byte> expected = bytes_of(pack(matrix.view(), options));
  RC_ASSERT(bytes_of(pack(to_csr(matrix).view(), options)) == expected);
  RC_ASSERT(bytes_of(pack(to_csr(matrix, true).view(), options)) == expected);
  RC_ASSERT(plan(matrix.view(), options) == pack(matrix.view(), options).format());
  RC_ASSERT(plan(to_csr(matrix).view(), options) == plan(matrix.view(), options));
}

RC_GTEST_PROP(PackingProperty, SerialTextWritesEveryByteThatTheLibraryWrites, ()) {
  const auto [matrix, options] = any_case();
  const PackedMatrix expected = pack(matrix.view(), options);
  PackedMatrix dense(expected.format());
  std::ranges::fill_n(dense.data(), static_cast<std::ptrdiff_t>(expected.format().bytes), std::byte{0xa5});
  RC_ASSERT(pack_serially(StoredRows<float, DenseRows<double>>{{matrix.values.data(), matrix.lda, matrix.columns}}, expected.format(),
                          dense.data()));
  RC_ASSERT(bytes_of(dense) == bytes_of(expected));

  const CsrMatrix sparse = to_csr(matrix, true);
  const std::vector<std::int32_t> offsets(sparse.offsets.begin(), sparse.offsets.end());
  PackedMatrix csr(expected.format());
  std::ranges::fill_n(csr.data(), static_cast<std::ptrdiff_t>(expected.format().bytes), std::byte{0x5a});
  RC_ASSERT(pack_serially(StoredRows<float, CsrRows<std::int32_t, double>>{{offsets.data(), sparse.column_of.data(), sparse.values.data()}},
                          expected.format(), csr.data()));
  RC_ASSERT(bytes_of(csr) == bytes_of(expected));
}

RC_GTEST_PROP(PackingProperty, RoundTripGivesTheMatrixBack, ()) {
  const auto [matrix, options] = any_case();
  RC_ASSERT(unpack(pack(matrix.view(), options).bytes()) == to_csr(matrix));
}

TEST(Packing, DoesNotDependOnTheNumberOfThreads) {
  const CsrMatrix matrix = to_csr(random_matrix(1000, 300, 0.3, 3));
  std::vector<std::byte> expected;
  for (const std::size_t threads : {1, 2, 3, 8}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    const std::vector<std::byte> bytes = bytes_of(pack(matrix.view(), {.height = 4}));
    expected = expected.empty() ? bytes : expected;
    EXPECT_EQ(bytes, expected) << threads << " threads";
  }
}

TEST(Packing, FewNonZerosAmongManyColumns) {
  CsrMatrix matrix{3, 2'000'000'000, {0, 2, 2, 4}, {5, 1'999'999'999, 68, 69}, {1, 2, 3, 4}};
  const PackedMatrix packed = pack(matrix.view(), {.height = 3});
  EXPECT_THAT(packed.patterns(), ElementsAre(1, 4));
  EXPECT_THAT(lists_of(packed).cols, ElementsAre(5, 1'999'999'999, 68, 69));
  EXPECT_EQ(unpack(packed.bytes()), matrix);
}

template <typename View>
auto packing(const View& view, PackingOptions options = {}) {
  return [view, options] { pack(view, options); };
}

TEST(PackingRefusal, NamesWhatIsWrong) {
  const CsrMatrix good{3, 4, {0, 2, 2, 3}, {0, 3, 1}, {1, 2, 3}};
  EXPECT_NO_THROW(pack(good.view(), {}));
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
  EXPECT_THAT(packing(CsrView{}), refusal("a matrix of 0 x 0 cannot be packed"));
  const double value = 1;
  EXPECT_THAT(packing(DenseView{1, 2, &value, 1}), refusal("a dense matrix of 2 columns are 1 apart"));
  EXPECT_THAT(packing(good.view(), {.height = 9}), refusal("a panel of 9 rows: it has 1 to 8"));
  EXPECT_THAT(packing(good.view(), {.height = 0}), refusal("a panel of 0 rows"));
  EXPECT_THAT(packing(good.view(), {.height = 1, .max_list_columns = 0}), refusal("a longest list of 0 columns"));
}

TEST(PackedFormat, IsAConstantAndTypesFollowTheCounts) {
  constexpr PackedShape shape{512, 65536, 4, 1024, ScalarType::f32};
  constexpr PackedFormat format = describe(shape, {10, 100, 300});
  static_assert(format.section(SectionId::cols).type == ScalarType::u16);
  static_assert(format.section(SectionId::npp).type == ScalarType::u32);
  static_assert(format.bytes == 256 + 5 * 256 + 1280);
  static_assert(format == describe(shape, {10, 100, 300}));
  EXPECT_FALSE(format == describe(shape, {11, 100, 300}));
  EXPECT_EQ(describe(shape, {1, 1u << 30, 0xffffffffu}).section(SectionId::rpp).type, ScalarType::u32);
  EXPECT_EQ(describe(shape, {1, 1u << 30, 0x100000000u}).section(SectionId::rpp).type, ScalarType::u64);
  constexpr PackedShape tall{512, 65537, 16, 1024, ScalarType::f32};
  EXPECT_EQ(describe(tall, {}).section(SectionId::patterns).type, ScalarType::u16);
  EXPECT_EQ(describe(tall, {}).section(SectionId::cols).type, ScalarType::u32);
}

TEST(PackedFormat, PrintsItsSections) {
  EXPECT_EQ(to_text(describe({4, 5, 2, 1024, ScalarType::f32}, {4, 5, 7})),
            "packed format 1: 4 x 5, 7 non-zeros, panels of 2 rows, 4 lists of at most 1024 columns, 1792 bytes\n"
            "  Panels               4 x unsigned int        at byte 256\n"
            "  Patterns             4 x unsigned char       at byte 512\n"
            "  RPP                  5 x unsigned int        at byte 768\n"
            "  NPP                  5 x unsigned int        at byte 1024\n"
            "  Cols                 5 x unsigned short      at byte 1280\n"
            "  ANNZ                 7 x float               at byte 1536\n");
}

TEST(PackedMatrix, RefusesASectionOfAnotherType) {
  const PackedMatrix packed = pack(random_matrix(4, 5, 0.5, 4).view(), {});
  EXPECT_THROW(packed.section<std::uint32_t>(SectionId::cols), std::logic_error);
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
