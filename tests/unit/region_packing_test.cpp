// Packing into regions against the definition of the format, for both forms of the matrix, any number of threads and the
// serial text that generated transformers embed; and the unpacker's refusals.

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "tests/unit/transformer_matrices.h"
#include "transformer/format_error.h"
#include "transformer/region_pack.h"
#include "transformer/region_packing.h"
#include "transformer/region_unpack.h"

namespace esc::transformer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// What a region means, computed from the definition of the format alone: for each lane group its columns, and their
/// values in the rows of the panel.
struct PlainGroup {
  std::vector<std::int64_t> columns;
  std::vector<std::vector<float>> values;
};

/// By (set, warp, lane group).
using PlainRegions = std::map<std::tuple<std::int64_t, std::uint32_t, std::uint32_t>, PlainGroup>;

PlainRegions plain_regions(const DenseMatrix& matrix, const RegionOptions& options) {
  PlainRegions regions;
  for (std::int64_t panel = 0; panel * options.height < matrix.rows; ++panel) {
    std::uint32_t index = 0;
    for (std::int64_t k = 0; k < matrix.columns; ++k) {
      std::vector<float> values;
      for (std::int64_t i = panel * options.height; i < (panel + 1) * options.height; ++i) {
        values.push_back(i < matrix.rows && matrix.at(i, k) != 0.0F ? matrix.at(i, k) : 0.0F);
      }
      if (std::ranges::all_of(values, [](float value) { return value == 0.0F; })) {
        continue;
      }
      const std::uint32_t part = index++ % (options.warps * options.groups);
      const auto place = static_cast<std::uint32_t>(panel % options.warp_panels);
      PlainGroup& group = regions[{panel / options.warp_panels, part / options.groups,
                                   place * options.groups + part % options.groups}];
      group.columns.push_back(k);
      group.values.push_back(values);
    }
  }
  return regions;
}

/// The first place in which the packed regions are not those of the definition; empty when there is none.
std::string difference(const PackedRegions& packed, const PlainRegions& expected) {
  const RegionFormat& format = packed.format;
  const RegionShape& shape = format.shape;
  const RegionReader reader(packed.bytes.span(), format);
  const PlainGroup none;
  for (std::int64_t set = 0; set < shape.panel_sets(); ++set) {
    for (std::uint32_t warp = 0; warp < shape.warps; ++warp) {
      std::size_t longest = 0;
      for (std::uint32_t group = 0; group < shape.warp_groups(); ++group) {
        const auto found = expected.find({set, warp, group});
        longest = std::max(longest, found == expected.end() ? 0 : found->second.columns.size());
      }
      const std::uint64_t steps = round_up(longest, shape.multiple);
      if (reader.steps(set, warp) != steps) {
        return "steps of a region";
      }
      for (std::uint32_t group = 0; group < shape.warp_groups(); ++group) {
        const auto found = expected.find({set, warp, group});
        const PlainGroup& plain = found == expected.end() ? none : found->second;
        for (std::uint64_t step = 0; step < steps; ++step) {
          const bool filled_up = step >= plain.columns.size();
          const std::int64_t column = !filled_up                ? plain.columns[step]
                                      : plain.columns.empty() ? 0
                                                                : plain.columns.back();
          if (reader.column(set, warp, group, step) != column) {
            return "a column";
          }
          for (std::uint32_t row = 0; row < shape.height; ++row) {
            if (reader.value(set, warp, group, step, row) != (filled_up ? 0.0F : plain.values[step][row])) {
              return "a value";
            }
          }
        }
      }
    }
  }
  return {};
}

rc::Gen<RegionOptions> region_options() {
  const auto power = [](int most) { return rc::gen::map(rc::gen::inRange(0, most + 1), [](int e) { return 1U << e; }); };
  return rc::gen::map(
      rc::gen::tuple(power(3), power(4), power(2), power(2), power(2), rc::gen::element(4U, 8U)),
      [](const std::tuple<unsigned, unsigned, unsigned, unsigned, unsigned, unsigned>& drawn) {
        const auto& [height, warps, groups, warp_panels, sets, multiple] = drawn;
        return RegionOptions{height, warps, groups, warp_panels, warp_panels * sets, multiple};
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
  const RegionOptions options = *region_options();
  const CsrMatrix csr = to_csr(matrix, true);
  const PackedRegions packed = pack_regions(csr.view(), options);
  RC_ASSERT(difference(packed, plain_regions(matrix, options)) == "");
  RC_ASSERT(packed.format == plan_regions(csr.view(), options));
  RC_ASSERT(packed.format == read_region_format(packed.bytes.span()));
  RC_ASSERT(unpack_regions(packed.bytes.span()) == to_csr(matrix));
  RC_ASSERT(same_bytes(pack_regions(matrix.view(), options).bytes.span(), packed.bytes.span()));

  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  RC_ASSERT(same_bytes(pack_regions(csr.view(), options).bytes.span(), packed.bytes.span()));
  std::vector<std::uint64_t> serial(packed.format.bytes / 8, ~std::uint64_t{0});
  const DenseRows<float> source{matrix.values.data(), matrix.lda, matrix.columns};
  RC_ASSERT(pack_serially(source, packed.format, serial.data()));
  RC_ASSERT(same_bytes(std::as_bytes(std::span(serial)), packed.bytes.span()));
}

/// A format that another matrix has is refused, and nothing behind its bytes is written.
RC_GTEST_PROP(RegionPacking, OfAnotherMatrixStaysInsideItsBytes, ()) {
  const DenseMatrix matrix = drawn_matrix();
  const RegionOptions options = *region_options();
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed of the other");
  const DenseMatrix other = random_matrix(matrix.rows, matrix.columns, 0.4, seed);
  const RegionFormat format = plan_regions(to_csr(matrix).view(), options);
  const bool same_counts = plan_regions(to_csr(other).view(), options) == format;
  constexpr std::uint64_t canary = 0x5ca1ab1e5ca1ab1e;
  std::vector<std::uint64_t> room(format.bytes / 8 + 64, canary);
  const DenseRows<float> source{other.values.data(), other.lda, other.columns};
  RC_ASSERT(pack_serially(source, format, room.data()) == same_counts);
  RC_ASSERT(std::all_of(room.end() - 64, room.end(), [](std::uint64_t word) { return word == canary; }));
}

TEST(RegionFormat, HasTheBytesThatTheDescriptionSays) {
  // 3 x 6, panels of 2 rows, 1 warp of 2 groups, 1 panel in each warp and block.
  const DenseMatrix matrix{3,
                           6,
                           {1, 0, 2, 8, 3, 9,  //
                            4, 0, 0, 0, 6, 0,  //
                            0, 0, 0, 0, 7, 0}};
  const PackedRegions packed = pack_regions(matrix.view(), {.height = 2, .groups = 2});
  // Columns of panel 0: 0 2 3 4 5, so that group 0 has 0 3 5 and group 1 has 2 4.
  EXPECT_EQ(packed.format.column_bytes, 16U);
  EXPECT_EQ(packed.format.quad_bytes, 16U + 2 * 2 * 16);
  EXPECT_EQ(packed.format.region_bytes, 128U);
  EXPECT_EQ(packed.format.bytes, 256U + 2 * 128);
  const std::byte* region = packed.bytes.span().data() + 256;
  std::uint32_t steps = 0;
  std::memcpy(&steps, region, 4);
  EXPECT_EQ(steps, 4U);
  std::vector<std::uint16_t> columns(8);
  std::memcpy(columns.data(), region + 16, 16);
  EXPECT_THAT(columns, testing::ElementsAre(0, 3, 5, 5, 2, 4, 4, 4));
  std::vector<float> values(16);
  std::memcpy(values.data(), region + 32, 64);
  EXPECT_THAT(values, testing::ElementsAre(1, 4, 8, 0,    // group 0: steps 0 and 1, both rows
                                           2, 0, 3, 6,    // group 1
                                           9, 0, 0, 0,    // group 0: steps 2 and 3
                                           0, 0, 0, 0));  // group 1
}

TEST(RegionFormat, CountsColumnsBeyondSixteenBits) {
  DenseMatrix matrix{1, 70000, std::vector<float>(70000, 0.0F)};
  matrix.at(0, 3) = 1.0F;
  matrix.at(0, 69999) = 2.0F;
  const PackedRegions packed = pack_regions(matrix.view(), {.groups = 2});
  EXPECT_EQ(packed.format.column, ScalarType::u32);
  EXPECT_EQ(unpack_regions(packed.bytes.span()), to_csr(matrix));
}

TEST(RegionOptions, ThatCannotBeAreRefused) {
  const DenseMatrix matrix{2, 2, {1, 0, 0, 1}};
  for (const RegionOptions& options :
       {RegionOptions{.height = 0}, RegionOptions{.height = 9}, RegionOptions{.warps = 0}, RegionOptions{.groups = 3},
        RegionOptions{.groups = 16, .warp_panels = 4, .block_panels = 4}, RegionOptions{.warp_panels = 2, .block_panels = 3},
        RegionOptions{.multiple = 6}}) {
    EXPECT_THROW(pack_regions(matrix.view(), options), std::invalid_argument);
  }
}

/// Packed bytes that can be changed, with checksums that match again.
class Packed {
 public:
  Packed() {
    const DenseMatrix matrix = random_matrix(9, 40, 0.4, 7);
    const PackedRegions packed =
        pack_regions(matrix.view(), {.height = 2, .warps = 2, .groups = 2, .warp_panels = 2, .block_panels = 2});
    bytes_.assign(packed.bytes.span().begin(), packed.bytes.span().end());
  }
  std::vector<std::byte>& bytes() { return bytes_; }
  void seal() {
    put(offsetof(RegionHeader, payload_checksum), checksum(bytes_.data() + header_bytes, bytes_.size() - header_bytes));
    seal_header();
  }
  void seal_header() {
    put(offsetof(RegionHeader, header_checksum), checksum(bytes_.data(), offsetof(RegionHeader, header_checksum)));
  }
  template <typename Value>
  void put(std::size_t at, Value value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }

 private:
  std::vector<std::byte> bytes_;
};

TEST(UnpackRegions, RefusesEveryChangedByte) {
  const Packed intact;
  for (std::size_t at = 0; at < Packed(intact).bytes().size(); ++at) {
    Packed damaged(intact);
    damaged.bytes()[at] ^= std::byte{1};
    EXPECT_THROW(unpack_regions(damaged.bytes()), FormatError) << "byte " << at;
    if (at < header_bytes) {
      damaged.seal_header();
    } else {
      damaged.seal();
    }
    // With checksums that match again a changed value of a non-zero is another matrix, and so is another number of columns.
    const bool other_matrix = at >= header_bytes || (at >= offsetof(RegionHeader, columns) && at < offsetof(RegionHeader, nonzeros));
    if (!other_matrix && at < offsetof(RegionHeader, header_checksum)) {
      EXPECT_THROW(unpack_regions(damaged.bytes()), FormatError) << "byte " << at << ", sealed again";
    }
  }
}

TEST(UnpackRegions, SaysWhatIsWrong) {
  const auto refused = [](Packed damaged, const char* words) {
    EXPECT_THAT([&] { unpack_regions(damaged.bytes()); }, ThrowsMessage<FormatError>(HasSubstr(words)));
  };
  Packed shorter;
  shorter.bytes().resize(100);
  refused(shorter, "100 bytes are too few");
  Packed magic;
  magic.put(0, std::uint32_t{0});
  refused(magic, "do not begin with ESCREGN");
  Packed version;
  version.put(offsetof(RegionHeader, version), std::uint32_t{9});
  refused(version, "format version 9; this program reads version 1");
  Packed header;
  header.put(offsetof(RegionHeader, rows), std::uint64_t{8});
  refused(header, "the header is damaged");
  header.seal_header();
  refused(header, "header field total_bytes at byte");
  Packed longer;
  longer.bytes().resize(longer.bytes().size() + 128);
  refused(longer, "its header says");
  Packed height;
  height.put(offsetof(RegionHeader, height), std::uint32_t{0});
  height.seal_header();
  refused(height, "the header field height is 0; it can be 1 to 8");
  Packed regions;
  regions.put(offsetof(RegionHeader, rows), std::uint64_t{0x7fffffff});
  regions.seal_header();
  refused(regions, "header field regions is");
  Packed payload;
  payload.put(header_bytes + 20, std::uint32_t{5});
  refused(payload, "the packed matrix is damaged: bytes 256 to");
  Packed steps;
  steps.put(header_bytes, std::uint32_t{4000});
  steps.seal();
  refused(steps, "is not what packing the matrix again gives");
}

}  // namespace
}  // namespace esc::transformer
