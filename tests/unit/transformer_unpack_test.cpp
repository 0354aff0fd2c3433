// SPDX-License-Identifier: Apache-2.0
// Refusals of the unpacker: every field of the header, every section, every rule of the lists. Bytes are damaged and,
// where the damage is not to be found by a checksum, given matching checksums again.

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "tests/unit/transformer_matrices.h"
#include "transformer/pack.h"
#include "transformer/unpack.h"

namespace esc::transformer {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A packed matrix whose bytes can be changed. Height 2, at most 2 columns in a list.
///
///     1 0 2 8 3 9      lists: 0 (0,1) columns 2 3, 1 (0,1) column 5, 2 (0,3) columns 0 4, 3 (1,1) column 4
///     4 0 0 0 6 0
///     0 0 0 0 7 0      the last row tile has one row
class Lists : public ChangeableBytes {
 public:
  Lists()
      : Lists(pack(to_csr(DenseMatrix{3,
                                      6,
                                      {1, 0, 2, 8, 3, 9,  //
                                       4, 0, 0, 0, 6, 0,  //
                                       0, 0, 0, 0, 7, 0}})
                       .view(),
                   ListCut{.height = 2, .max_list_columns = 2})) {}

  const ListFormat& format() const { return format_; }

  template <typename Element>
  Lists& set(SectionId id, std::uint64_t index, Element element) {
    put(format_.section(id).at(index), element);
    return *this;
  }

 private:
  explicit Lists(const Packed<ListFormat>& packed) : ChangeableBytes(packed.bytes.span()), format_(packed.format) {}

  ListFormat format_;
};

template <typename... Words>
auto refused_with(Words... words) {
  return ThrowsMessage<FormatError>(AllOf(HasSubstr(words)...));
}

auto unpacking(const Lists& packed) {
  return [&packed] { unpack(packed.bytes()); };
}

TEST(Unpack, GivesTheMatrixBack) {
  Lists packed;
  EXPECT_EQ(std::get<ListFormat>(read_format(packed.bytes())), packed.format());
  const CsrMatrix expected{3, 6, {0, 5, 7, 8}, {0, 2, 3, 4, 5, 0, 4, 4}, {1, 2, 8, 3, 9, 4, 6, 7}};
  EXPECT_EQ(unpack(packed.bytes()), expected);
  EXPECT_EQ(unpack(packed.seal().bytes()), expected) << "what the other tests damage is sound before";
}

TEST(Unpack, ReadsBytesOfAnyAlignment) {
  Lists packed;
  const CsrMatrix expected = unpack(packed.bytes());
  std::vector<std::byte> shifted(1);
  shifted.insert(shifted.end(), packed.bytes().begin(), packed.bytes().end());
  EXPECT_EQ(unpack(std::span(shifted).subspan(1)), expected);
}

TEST(UnpackRefusal, EveryBitOfEveryByteMatters) {
  Lists packed;
  for (std::byte& byte : packed.bytes()) {
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= std::byte{1} << bit;
      EXPECT_THROW(unpack(packed.bytes()), FormatError) << "byte " << &byte - packed.bytes().data();
      byte ^= std::byte{1} << bit;
    }
  }
}

TEST(UnpackRefusal, EveryLengthButTheRightOne) {
  Lists packed;
  const std::vector<std::byte> whole = packed.bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    packed.bytes() = {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)};
    if (length < header_bytes) {
      EXPECT_THAT(unpacking(packed), refused_with("too few for the header"));
    } else {
      EXPECT_THAT(unpacking(packed), refused_with("has " + std::to_string(length) + " bytes", "header says 1792"));
    }
  }
  packed.bytes() = whole;
  packed.bytes().resize(whole.size() + 256);
  EXPECT_THAT(unpacking(packed), refused_with("has 2048 bytes", "header says 1792"));
}

struct NumberCase {
  const char* number;
  std::uint64_t value;
  const char* words;
};

TEST(UnpackRefusal, NumbersThatDisagree) {
  const char* const other_bytes = "is not what packing the matrix again gives";
  const NumberCase cases[] = {
      {"rows", 0, "field rows is 0; it can be 1 to 2147483647"},
      {"rows", 0x80000000, "field rows is 2147483648"},
      {"rows", 2, "a non-zero is in row 2 and column 4 of a matrix of 2 x 6"},
      {"columns", 0, "field columns is 0"},
      {"columns", 0x80000000, "field columns is 2147483648"},
      {"columns", 70000, "non-zero"},
      {"columns", 4, "a non-zero is in row 0 and column 5 of a matrix of 3 x 4"},
      {"element", 1, "field element is 1"},
      {"nonzeros", 0xffffffffffffffff, "field nonzeros is"},
      {"nonzeros", 7, "there are more than the 7 non-zeros that the header says"},
      {"nonzeros", 9, other_bytes},
      {"lists", 0xffffffff, "field lists is"},
      {"lists", 3, other_bytes},
      {"listed_columns", 9, "field listed_columns is 9"},
      {"listed_columns", 7, other_bytes},
      {"height", 0, "field height is 0; it can be 1 to 8"},
      {"height", 9, "field height is 9"},
      {"height", 1, "row 1 has column 4 twice"},
      {"max_list_columns", 0, "field max_list_columns is 0"},
      {"max_list_columns", 1, other_bytes},
      {"max_list_columns", 3, other_bytes},
  };
  ListFormat format = Lists().format();
  format.visit([&](const char* name, const auto&, const Rule&) {
    const auto concerns = [&](const NumberCase& c) { return c.number == std::string(name); };
    EXPECT_TRUE(std::ranges::any_of(cases, concerns)) << name << " has no case";
  });
  for (const NumberCase& c : cases) {
    Lists packed;
    packed.put_number(position_of(format, c.number), c.value).seal_header();
    EXPECT_THAT(unpacking(packed), refused_with(c.words)) << c.number << " = " << c.value;
  }
}

TEST(UnpackRefusal, HeaderFieldsThatDisagree) {
  const auto refused = [](std::size_t at, std::uint32_t value, const char* words) {
    Lists packed;
    packed.put(at, value).seal_header();
    EXPECT_THAT(unpacking(packed), refused_with(words));
  };
  refused(offsetof(Header, magic), 1,
          "do not begin with ESCPACK, ESCREGN, ESCTASK, ESCFRAG, ESCGATH, ESCBITM or ESCSP24");
  refused(offsetof(Header, version), 1, "format version 1; this program reads version 2");
  refused(offsetof(Header, header_bytes), 512, "field header_bytes does not agree");
  refused(offsetof(Header, total_bytes), 2048, "has 1792 bytes; its header says 2048");
  refused(offsetof(Header, payload_checksum), 1, "bytes 256 to 1791 do not have the checksum stored at byte 24");
  refused(offsetof(Header, header_checksum) - 8, 1, "field reserved does not agree");
}

TEST(UnpackRefusal, TheHeaderChecksum) {
  Lists packed;
  packed.bytes()[248] ^= std::byte{1};
  EXPECT_THAT(unpacking(packed), refused_with("bytes 0 to 247 do not have the checksum stored at byte 248"));
}

TEST(UnpackRefusal, RulesOfTheLists) {
  const auto damaged = [](auto damage) {
    Lists packed;
    damage(packed);
    packed.seal();
    return [packed] { unpack(packed.bytes()); };
  };
  const auto other_byte = [](std::uint64_t at) {
    return refused_with("byte " + std::to_string(at) + " is not what packing the matrix again gives");
  };
  const auto other_matrix = refused_with("is not what packing the matrix again gives");
  const ListFormat format = Lists().format();
  using enum SectionId;
  using u8 = std::uint8_t;
  using u16 = std::uint16_t;
  using u32 = std::uint32_t;
  EXPECT_THAT(damaged([](Lists& p) { p.set(row_tiles, 3, u32{2}); }), refused_with("a non-zero is in row 4"));
  EXPECT_THAT(damaged([](Lists& p) { p.set(row_tiles, 3, ~u32{0}); }), refused_with("a non-zero is in row"));
  EXPECT_THAT(damaged([](Lists& p) { p.set(row_tiles, 0, u32{1}); }), other_matrix);
  EXPECT_THAT(damaged([](Lists& p) { p.set(patterns, 0, u8{0}); }), other_matrix);
  EXPECT_THAT(damaged([](Lists& p) { p.set(patterns, 0, u8{4}); }), other_matrix);
  EXPECT_THAT(damaged([](Lists& p) { p.set(patterns, 3, u8{2}); }), refused_with("a non-zero is in row 3"));
  EXPECT_THAT(damaged([](Lists& p) { p.set(patterns, 0, u8{2}); }), other_matrix);
  EXPECT_THAT(damaged([](Lists& p) { p.set(patterns, 1, u8{3}); }), refused_with("more than the 8 non-zeros"));
  EXPECT_THAT(damaged([](Lists& p) { p.set(rpp, 0, u32{1}); }), other_byte(format.section(rpp).at(0)));
  EXPECT_THAT(damaged([](Lists& p) { p.set(rpp, 1, u32{0}); }), other_byte(format.section(rpp).at(1)));
  EXPECT_THAT(damaged([](Lists& p) { p.set(rpp, 1, u32{3}); }), other_byte(format.section(rpp).at(1)));
  EXPECT_THAT(damaged([](Lists& p) { p.set(rpp, 4, u32{7}); }), refused_with("non-zero"));
  EXPECT_THAT(damaged([](Lists& p) { p.set(rpp, 4, ~u32{0}); }), refused_with("non-zero"));
  EXPECT_THAT(damaged([](Lists& p) { p.set(patterns, 3, u8{0}).set(rpp, 4, ~u32{0}); }),
              refused_with("after the end of the packed matrix"));
  EXPECT_THAT(damaged([](Lists& p) { p.set(npp, 0, u32{1}); }), other_byte(format.section(npp).at(0)));
  EXPECT_THAT(damaged([](Lists& p) { p.set(npp, 2, u32{4}); }), other_byte(format.section(npp).at(2)));
  EXPECT_THAT(damaged([](Lists& p) { p.set(cols, 5, u16{6}); }),
              refused_with("a non-zero is in row 2 and column 6 of a matrix of 3 x 6"));
  EXPECT_THAT(damaged([](Lists& p) { p.set(cols, 1, u16{2}); }), refused_with("row 0 has column 2 twice"));
  EXPECT_THAT(damaged([](Lists& p) { p.set(cols, 2, u16{1}); }), other_byte(format.section(cols).at(0)));
  EXPECT_THAT(damaged([](Lists& p) { p.set(cols, 3, u16{3}); }), refused_with("row 0 has column 3 twice"));
  EXPECT_THAT(damaged([](Lists& p) { p.set(annz, 6, -0.0f); }), other_matrix);
  EXPECT_THAT(damaged([](Lists& p) { p.bytes()[511] = std::byte{1}; }), other_byte(511));
}

}  // namespace
}  // namespace esc::transformer
