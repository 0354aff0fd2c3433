// Refusals of the unpacker: every field of the header, every section, every rule of the lists. Bytes are damaged and,
// where the damage is not to be found by a checksum, given matching checksums again.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tests/unit/transformer_matrices.h"
#include "transformer/format_error.h"
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
///     0 0 0 0 7 0      the last panel has one row
class Packed {
 public:
  Packed() {
    const DenseMatrix matrix{3,
                             6,
                             {1, 0, 2, 8, 3, 9,  //
                              4, 0, 0, 0, 6, 0,  //
                              0, 0, 0, 0, 7, 0}};
    const PackedMatrix packed = pack(matrix.view(), {.height = 2, .max_list_columns = 2});
    format_ = packed.format();
    bytes_.assign(packed.bytes().begin(), packed.bytes().end());
  }

  const PackedFormat& format() const { return format_; }
  std::vector<std::byte>& bytes() { return bytes_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  template <typename Element>
  Packed& set(SectionId id, std::uint64_t index, Element element) {
    return set_at(format_.section(id).offset + index * sizeof element, element);
  }
  template <typename Value>
  Packed& set_at(std::uint64_t offset, Value value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }

  Packed& seal_header() {
    return set_at(offsetof(PackedHeader, header_checksum),
                  checksum(bytes_.data(), offsetof(PackedHeader, header_checksum)));
  }
  Packed& seal() {
    set_at(offsetof(PackedHeader, payload_checksum),
           checksum(bytes_.data() + header_bytes, bytes_.size() - header_bytes));
    return seal_header();
  }

 private:
  PackedFormat format_;
  std::vector<std::byte> bytes_;
};

template <typename... Words>
auto refused_with(Words... words) {
  return ThrowsMessage<FormatError>(AllOf(HasSubstr(words)...));
}

auto unpacking(const Packed& packed) {
  return [&packed] { unpack(packed.bytes()); };
}

TEST(Unpack, GivesTheMatrixBack) {
  Packed packed;
  EXPECT_EQ(read_format(packed.bytes()), packed.format());
  const CsrMatrix expected{3, 6, {0, 5, 7, 8}, {0, 2, 3, 4, 5, 0, 4, 4}, {1, 2, 8, 3, 9, 4, 6, 7}};
  EXPECT_EQ(unpack(packed.bytes()), expected);
  EXPECT_EQ(unpack(packed.seal().bytes()), expected) << "what the other tests damage is sound before";
}

TEST(Unpack, ReadsBytesOfAnyAlignment) {
  Packed packed;
  const CsrMatrix expected = unpack(packed.bytes());
  std::vector<std::byte> shifted(1);
  shifted.insert(shifted.end(), packed.bytes().begin(), packed.bytes().end());
  EXPECT_EQ(unpack(std::span(shifted).subspan(1)), expected);
}

TEST(UnpackRefusal, EveryBitOfEveryByteMatters) {
  Packed packed;
  for (std::byte& byte : packed.bytes()) {
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= std::byte{1} << bit;
      EXPECT_THROW(unpack(packed.bytes()), FormatError) << "byte " << &byte - packed.bytes().data();
      byte ^= std::byte{1} << bit;
    }
  }
}

TEST(UnpackRefusal, EveryLengthButTheRightOne) {
  Packed packed;
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

struct FieldCase {
  const char* field;
  std::uint64_t value;
  const char* words;
};

TEST(UnpackRefusal, HeaderFieldsThatDisagree) {
  const FieldCase cases[] = {
      {"magic", 1, "do not begin with ESCPACK"},
      {"version", 2, "format version 2; this program reads version 1"},
      {"header_bytes", 512, "field header_bytes at byte 12"},
      {"total_bytes", 2048, "has 1792 bytes; its header says 2048"},
      {"rows", 0, "field rows is 0; it can be 1 to 2147483647"},
      {"rows", 0x80000000, "field rows is 2147483648"},
      {"columns", 0, "field columns is 0"},
      {"columns", 0x80000000, "field columns is 2147483648"},
      {"columns", 70000, "field section_types at byte 72"},
      {"columns", 4, "has column 5 of a matrix of 4 columns"},
      {"nonzeros", 0xffffffffffffffff, "field nonzeros is"},
      {"nonzeros", 7, "the last list ends at column 6 and value 8 of 6 and 7"},
      {"lists", 0xffffffff, "field lists is"},
      {"lists", 3, "the last list ends at column 5 and value 7 of 6 and 8"},
      {"listed_columns", 9, "field listed_columns is 9"},
      {"listed_columns", 7, "the last list ends at column 6 and value 8 of 7 and 8"},
      {"height", 0, "field height is 0; it can be 1 to 8"},
      {"height", 9, "field height is 9"},
      {"height", 1, "list 2 has pattern 3, which its panel of 1 rows cannot have"},
      {"max_list_columns", 0, "field max_list_columns is 0"},
      {"max_list_columns", 1, "list 0 has the columns 0 up to 2; a list has 1 to 1"},
      {"max_list_columns", 3, "list 1 continues list 0, which is not full"},
      {"section_types", 9, "field section_types at byte 72"},
      {"section_offsets", 512, "field section_offsets at byte 96"},
      {"payload_checksum", 1, "bytes 256 to 1791 do not have the checksum stored at byte 144"},
      {"reserved", 1, "field reserved at byte 152"},
  };
  for (const HeaderField& field : header_fields) {
    const bool is_checksum = field.offset == offsetof(PackedHeader, header_checksum);
    const auto concerns = [&](const FieldCase& c) { return c.field == std::string(field.name); };
    EXPECT_TRUE(is_checksum || std::ranges::any_of(cases, concerns)) << field.name << " has no case";
    for (const FieldCase& c : cases) {
      if (c.field != std::string(field.name)) {
        continue;
      }
      Packed packed;
      std::memcpy(packed.bytes().data() + field.offset, &c.value, std::min<std::size_t>(field.bytes, 8));
      packed.seal_header();
      EXPECT_THAT(unpacking(packed), refused_with(c.words)) << c.field << " = " << c.value;
    }
  }
}

TEST(UnpackRefusal, TheHeaderChecksum) {
  Packed packed;
  packed.bytes()[248] ^= std::byte{1};
  EXPECT_THAT(unpacking(packed), refused_with("bytes 0 to 247 do not have the checksum stored at byte 248"));
}

TEST(UnpackRefusal, RulesOfTheLists) {
  const auto damaged = [](auto damage) {
    Packed packed;
    damage(packed);
    packed.seal();
    return [packed] { unpack(packed.bytes()); };
  };
  using enum SectionId;
  using u8 = std::uint8_t;
  using u16 = std::uint16_t;
  using u32 = std::uint32_t;
  EXPECT_THAT(damaged([](Packed& p) { p.set(panels, 3, u32{2}); }), refused_with("list 3 belongs to panel 2 of 2"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(panels, 0, u32{1}); }),
              refused_with("list 1 (panel 0, pattern 1) does not come after list 0 (panel 1, pattern 1)"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(patterns, 0, u8{0}); }), refused_with("list 0 has pattern 0"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(patterns, 0, u8{4}); }), refused_with("list 0 has pattern 4"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(patterns, 3, u8{2}); }),
              refused_with("list 3 has pattern 2, which its panel of 1 rows cannot have"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(patterns, 0, u8{2}); }),
              refused_with("list 1 (panel 0, pattern 1) does not come after list 0 (panel 0, pattern 2)"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(patterns, 1, u8{3}); }),
              refused_with("list 1 has the values 2 up to 3; its columns and pattern ask for 2"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(rpp, 0, u32{1}); }), refused_with("list 0 does not start at the first"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(rpp, 1, u32{0}); }), refused_with("list 0 has the columns 0 up to 0"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(rpp, 1, u32{3}); }),
              refused_with("list 0 has the columns 0 up to 3; a list has 1 to 2 of the 6 columns"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(rpp, 4, u32{7}); }), refused_with("list 3 has the columns 5 up to 7"));
  EXPECT_THAT(damaged([](Packed& p) {
                p.set(rpp, 1, u32{1}).set(npp, 1, u32{1});
                p.set(rpp, 2, u32{3});
              }),
              refused_with("list 1 continues list 0, which is not full"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(npp, 0, u32{1}); }), refused_with("list 0 does not start at the first"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(npp, 2, u32{4}); }),
              refused_with("list 1 has the values 2 up to 4; its columns and pattern ask for 1"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(cols, 5, u16{6}); }),
              refused_with("list 3 has column 6 of a matrix of 6 columns"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(cols, 1, u16{2}); }),
              refused_with("the columns of list 0 do not ascend: 2 comes after 2"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(cols, 2, u16{1}); }),
              refused_with("the columns of list 1 do not ascend: 1 comes after 3"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(cols, 3, u16{3}); }),
              refused_with("column 3 stands in two lists of panel 0"));
  EXPECT_THAT(damaged([](Packed& p) { p.set(annz, 6, -0.0f); }), refused_with("value 6 is zero"));
  EXPECT_THAT(damaged([](Packed& p) { p.bytes()[511] = std::byte{1}; }),
              refused_with("byte 511, between sections, is not zero"));
}

}  // namespace
}  // namespace esc::transformer
