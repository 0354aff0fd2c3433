// SPDX-License-Identifier: Apache-2.0
// Packing of gathered rows against what the format promises, for both forms of the matrix, any number of threads and
// the serial text that generated transformers embed; and the unpacker's refusals.

#include "transformer/gather_packing.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "tests/unit/transformer_matrices.h"
#include "transformer/pack.h"
#include "transformer/packed_reader.h"
#include "transformer/unpack.h"

namespace esc::transformer {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) { return std::ranges::equal(a, b); }

std::uint64_t length_of(const DenseMatrix& matrix, std::int64_t row) {
  std::uint64_t length = 0;
  for (std::int64_t column = 0; column < matrix.columns; ++column) {
    length += matrix.at(row, column) != 0.0F ? 1 : 0;
  }
  return length;
}

/// What the tile slots promise: each row has one, and no row is before one that is longer by more than a class is
/// wide.
std::string problem_of_tile_slots(const DenseMatrix& matrix, const GatherReader& reader) {
  const GatherFormat& format = reader.format();
  std::vector<std::uint32_t> rows;
  std::uint64_t shortest = UINT64_MAX, longest = 0;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    shortest = std::min(shortest, length_of(matrix, row));
    longest = std::max(longest, length_of(matrix, row));
  }
  const std::uint64_t wide = (longest - shortest) / length_classes + 1;
  std::uint64_t last = UINT64_MAX;
  for (std::uint64_t number = 0; number < static_cast<std::uint64_t>(format.shape.row_tiles()) * format.shape.height;
       ++number) {
    const std::uint32_t row = reader.row(format.tile_slot_of(number));
    if (row == matrix.rows) {
      continue;
    }
    const std::uint64_t length = length_of(matrix, row);
    if (length >= last + wide && last != UINT64_MAX) {
      return "a longer row after a shorter one";
    }
    last = length;
    rows.push_back(row);
  }
  std::ranges::sort(rows);
  std::vector<std::uint32_t> all(static_cast<std::size_t>(matrix.rows));
  std::iota(all.begin(), all.end(), 0);
  return rows == all ? "" : "rows without a tile slot of their own";
}

/// What the packed tiles promise: entries in the order of columns, none of a K tile that has left shared memory or has
/// not come.
std::string problem_of_packed_tiles(const DenseMatrix& matrix, const GatherReader& reader) {
  const GatherFormat& format = reader.format();
  std::uint32_t most = 1;
  for (std::uint64_t block = 0; block < format.blocks(); ++block) {
    for (std::uint32_t row_tile = 0; row_tile < format.shape.block_row_tiles; ++row_tile) {
      for (std::uint32_t r = 0; r < format.shape.height; ++r) {
        std::int64_t last = -1;
        const std::uint32_t row = reader.row(format.first_tile_slot(block, row_tile) + r);
        for (std::uint64_t k_tile = 0; k_tile < format.k_tiles(); ++k_tile) {
          const GatheredPackedTile packed_tile = reader.packed_tile(block, k_tile, row_tile);
          most = std::max(most, packed_tile.steps);
          for (std::uint32_t entry = 0; entry < packed_tile.steps * step_entries; ++entry) {
            const GatheredEntry found =
                reader.entry(packed_tile, k_tile, entry / step_entries, r, entry % step_entries);
            const auto column = static_cast<std::int64_t>(found.column);
            if (found.value == 0) {
              continue;
            }
            if (column >= matrix.columns || column / gather_columns > static_cast<std::int64_t>(k_tile) + 1 ||
                column / gather_columns + 1 < static_cast<std::int64_t>(k_tile)) {
              return "an entry of a K tile that is not there";
            }
            if (row >= matrix.rows || static_cast<float>(found.value) != matrix.at(row, column)) {
              return "a value of another element";
            }
            if (column <= last) {
              return "an entry before an earlier one";
            }
            last = column;
          }
        }
      }
    }
  }
  return most == format.shape.steps ? "" : "steps that no packed tile has";
}

DenseMatrix drawn_matrix() {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 90).as("rows");
  const auto columns = *rc::gen::element<std::int64_t>(1, 3, 255, 256, 257, 700, 1300).as("columns");
  const auto density = *rc::gen::element(0.0, 0.02, 0.1, 0.5, 1.0).as("density");
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed");
  return random_matrix(rows, columns, density, seed);
}

GatherCut drawn_cut() {
  return {.height = 4 * *rc::gen::inRange(1U, 9U).as("sets"),
          .block_row_tiles = *rc::gen::inRange(1U, max_gather_row_tiles + 1).as("row_tiles")};
}

RC_GTEST_PROP(GatherPacking, KeepsItsPromisesAndGivesTheMatrixBack, ()) {
  const DenseMatrix matrix = drawn_matrix();
  const GatherCut cut = drawn_cut();
  const CsrMatrix csr = to_csr(matrix, true);
  const Packed<GatherFormat> packed = pack(csr.view(), cut);
  const GatherReader reader(packed.bytes.span(), packed.format);
  RC_ASSERT(problem_of_tile_slots(matrix, reader) == "");
  RC_ASSERT(problem_of_packed_tiles(matrix, reader) == "");
  RC_ASSERT(packed.format == plan(csr.view(), cut));
  RC_ASSERT(packed.format == std::get<GatherFormat>(read_format(packed.bytes.span())));
  RC_ASSERT(unpack(packed.bytes.span()) == to_csr(matrix));

  std::vector<std::uint64_t> serial(packed.format.bytes / 8, ~std::uint64_t{0});
  RC_ASSERT(pack_serially(matrix.source(), packed.format, serial.data()));
  RC_ASSERT(same_bytes(std::as_bytes(std::span(serial)), packed.bytes.span()));
}

TEST(GatherPacking, GivesTheSameBytesForAnyNumberOfThreads) {
  const CsrMatrix csr = to_csr(random_matrix(700, 900, 0.1, 3));
  const GatherCut cut{.height = 16, .block_row_tiles = 6};
  const Packed<GatherFormat> packed = pack(csr.view(), cut);
  EXPECT_EQ(unpack(packed.bytes.span()), csr);
  const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_TRUE(same_bytes(pack(csr.view(), cut).bytes.span(), packed.bytes.span()));
}

/// A format that another matrix has is refused, and nothing after its bytes is written.
RC_GTEST_PROP(GatherPacking, OfAnotherMatrixStaysInsideItsBytes, ()) {
  const DenseMatrix matrix = drawn_matrix();
  const GatherFormat format = plan(to_csr(matrix).view(), drawn_cut());
  const DenseMatrix other =
      random_matrix(matrix.rows, matrix.columns, 0.3, *rc::gen::arbitrary<std::uint64_t>().as("seed of the other"));
  std::vector<std::uint64_t> packed(format.bytes / 8 + 2, 7);
  const bool same = plan(to_csr(other).view(), format.shape) == format;
  RC_ASSERT(pack_serially(other.source(), format, packed.data()) == same);
  RC_ASSERT(packed[format.bytes / 8] == 7 && packed[format.bytes / 8 + 1] == 7);
}

/// Rows take what crowds in a K tile earlier or later, so that little is filled up where rows are about equally long.
TEST(GatherPacking, FillsUpLittle) {
  CsrMatrix csr{256, 4096, {0}, {}, {}};
  std::mt19937_64 random(5);
  std::bernoulli_distribution nonzero(0.1);
  for (std::int64_t row = 0; row < csr.rows; ++row) {
    for (std::int32_t column = 0; column < csr.columns; ++column) {
      if (nonzero(random)) {
        csr.column_of.push_back(column);
        csr.values.push_back(1.0F);
      }
    }
    csr.offsets.push_back(std::ssize(csr.column_of));
  }
  const Packed<GatherFormat> packed = pack(csr.view(), GatherCut{.height = 16, .block_row_tiles = 4});
  const GatherReader reader(packed.bytes.span(), packed.format);
  std::uint64_t entries = 0;
  for (std::uint64_t block = 0; block < packed.format.blocks(); ++block) {
    for (std::uint64_t k_tile = 0; k_tile < packed.format.k_tiles(); ++k_tile) {
      for (std::uint32_t row_tile = 0; row_tile < 4; ++row_tile) {
        entries += reader.packed_tile(block, k_tile, row_tile).steps * step_entries * 16;
      }
    }
  }
  EXPECT_LT(static_cast<double>(entries), 1.03 * static_cast<double>(packed.format.counts.nonzeros));
}

TEST(GatherFormat, HasTheBytesThatTheDescriptionSays) {
  const GatherFormat format = describe(GatherShape{{.height = 8, .block_row_tiles = 3}, 50, 600, ScalarType::f32},
                                       GatherCounts{.nonzeros = 9, .pieces = 100});
  EXPECT_EQ(format.blocks(), 3);
  EXPECT_EQ(format.k_tiles(), 3);
  EXPECT_EQ(format.begins_at, 256 + 288);   // 72 tile slots of 4 bytes
  EXPECT_EQ(format.lists_at, 768);          // nine lists, and where the last one ends
  EXPECT_EQ(format.fixed_pieces(), 1 + 8);  // where three row tiles begin and the last one ends, and a step
  EXPECT_EQ(format.bytes, 768 + 100 * 16);
  EXPECT_EQ(format.tile_slot_of(0), 0);
  EXPECT_EQ(format.tile_slot_of(8), 24);           // the second row tile is the second block's
  EXPECT_EQ(format.tile_slot_of(24), 2 * 24 + 8);  // and the fourth one the third block's again
  EXPECT_EQ(gathered_place(5, 3), (256 + 3) * 128);
}

TEST(GatherUnpacking, RefusesWhatPackingDoesNotGive) {
  const CsrMatrix csr = to_csr(random_matrix(20, 300, 0.2, 1));
  const Packed<GatherFormat> packed = pack(csr.view(), GatherCut{.height = 4, .block_row_tiles = 2});
  const auto refused = [&](std::uint64_t at, std::uint32_t word, const char* why) {
    Packed<GatherFormat> changed(packed.format);
    std::memcpy(changed.bytes.data(), packed.bytes.span().data(), packed.bytes.span().size());
    std::memcpy(changed.bytes.data() + at, &word, sizeof word);
    write_header(changed.format, reinterpret_cast<unsigned char*>(changed.bytes.data()));
    EXPECT_THAT([&] { unpack(changed.bytes.span()); }, ThrowsMessage<FormatError>(HasSubstr(why))) << "byte " << at;
  };
  const GatherFormat& format = packed.format;
  const std::uint64_t list = format.list_at(0);
  const std::uint64_t entry = list + format.begins_pieces() * piece_bytes;
  refused(packed.format.row_at(0), 25, "is in row 25");
  refused(packed.format.row_at(0), 20, "is in row 20");
  refused(list + format.row_tile_begin_at(2), 0, "is not what packing the matrix again gives");
  refused(list + format.row_tile_begin_at(0), 0x7fffffff, "is not what packing the matrix again gives");
  refused(format.begin_at(0, 1), 0x7fffffff, "after the end of the packed matrix");
  refused(entry + 4, gathered_place(3, 0), "of a matrix of 20 x 300");    // the K tile before the first one
  refused(entry + 4, gathered_place(1, 255), "of a matrix of 20 x 300");  // after the last column
  refused(entry, 0, "is not what packing the matrix again gives");
}

}  // namespace
}  // namespace esc::transformer
