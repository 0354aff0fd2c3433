// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/bitmap_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "generator/emit/c_constant.h"
#include "generator/emit/shared_arrays.h"
#include "generator/emit/warpgroup_text.h"
#include "generator/ir/joined_digits.h"
#include "generator/ir/performed_instructions.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

// What the steps of the lowering and the packed bytes both know.
static_assert(BitmapSchedule::row_tile_rows == transformer::packed_tile_rows);
static_assert(BitmapSchedule::tile_columns_of_a == transformer::packed_tile_columns);
static_assert(BitmapSchedule::block_columns == transformer::packed_block_columns);

constexpr std::uint64_t line_bytes = 128;

std::uint64_t up_to_line(std::uint64_t bytes) { return transformer::round_up(bytes, line_bytes); }

/// Of a packed tile's copy, so that its words begin at a line: word c of a row is in bank c.
std::uint64_t room_in_front() {
  constexpr transformer::BitmapFormat format;
  return up_to_line(format.words_at()) - format.words_at();
}

std::int64_t tile_bytes(const LoopNest& nest) {
  return nest.constant("tile_rows") * nest.constant("tile_columns") * bytes_of(nest.element());
}

/// Sums take the places of tiles in the end, but not those of barriers: a device may write these even after all waits
/// for them.
std::uint64_t barriers_at(const LoopNest& nest) {
  const std::int64_t tiles = nest.constant("tile_stages") * nest.constant("iteration_k_tiles") * tile_bytes(nest);
  return up_to_line(static_cast<std::uint64_t>(std::max(tiles, declared_shared_bytes(nest))));
}

/// Whether a tile of B is column by column, as B is, so that its pieces are eight rows of a column.
bool has_columns(const LoopNest& nest) { return nest.array(ArrayRole::dense).layout.has_value(); }

/// Of a tile of warpgroups: 64 rows of a column, or as many columns of a row where there are so many.
std::int64_t line_bytes_of_tile(const LoopNest& nest) {
  const std::int64_t columns = nest.constant("tile_columns") * bytes_of(nest.element());
  return has_columns(nest) ? line_bytes : std::min<std::int64_t>(columns, line_bytes);
}

/// Where a piece is. Eight rows that ldmatrix reads have pieces that differ modulo 8.
std::string piece_of_tile(const LoopNest& nest) {
  constexpr std::int64_t line_pieces = 8;
  if (has_columns(nest)) {
    return fmt::format("(row * {} + (piece ^ row % {})) * 16", nest.constant("tile_rows") / 8, line_pieces);
  }
  const std::int64_t pieces = nest.constant("n8_tiles");
  if (pieces > line_pieces) {
    return fmt::format("((piece / {0} * tile_rows + row) * {0} + (piece % {0} ^ row % {0})) * 16", line_pieces);
  }
  return pieces == 1 ? "(row + piece) * 16"
                     : fmt::format("(row * {0} + (piece ^ row / {1} % {0})) * 16", pieces, line_pieces / pieces);
}

const char* mma_types(const LoopNest& nest) { return nest.element() == ScalarType::f16 ? "f16.f16" : "bf16.bf16"; }

/// Of such columns as many rows as 16 bytes have are copied at once, where B allows it.
std::string copy_of_whole_pieces(const LoopNest& nest) {
  return fmt::format(R"(  // 16 bytes at once where all columns begin at multiples of that.
  if ((reinterpret_cast<size_t>(B) | static_cast<size_t>(ldb) * sizeof({0})) % 16 == 0) {{
#pragma unroll
    for (int i = thread; i < column_pieces * tile_columns; i += consumer_group_threads) {{
      const int column = i / column_pieces, piece = i % column_pieces;
      const unsigned int k = first_row + piece * vector_width, j = tile * tile_columns + column;
      const unsigned int rows = rows_of_piece(k, j < N);
      copy_piece(to + piece_at(column, piece), B + (j < N ? j : 0) * ldb + (k < K ? k : 0), rows * static_cast<unsigned int>(sizeof({0})));
    }}
    return;
  }}
)",
                     c_name(nest.element()));
}

static_assert(transformer::Sparse24Format::packed_tile_bytes % transformer::bitmap_piece_bytes == 0,
              "the instructions count packed tiles in pieces");

/// The constants of any packed tiles, with those of their encoding in place. Copies of packed tiles have so many bytes
/// in front.
template <typename Format>
std::vector<std::string> constants_around(const LoopNest& nest, const Format& format, std::uint64_t front,
                                          std::vector<std::string> of_encoding) {
  std::vector<std::string> constants{
      c_constant("unsigned int", "M", format.shape.rows, "rows of C"),
      c_constant("unsigned int", "K", format.shape.columns, "rows of B"),
      c_constant("unsigned int", "row_tiles", format.row_tiles(), "of 16 rows"),
      c_constant("unsigned int", "k_tiles", format.tiles(), "of A's columns"),
      c_constant("unsigned int", "iterations",
                 (static_cast<std::int64_t>(format.tiles()) + nest.constant("k_tiles_of_iteration") - 1) /
                     nest.constant("k_tiles_of_iteration"))};
  std::ranges::move(of_encoding, std::back_inserter(constants));
  constants.insert(constants.end(),
                   {c_constant("int", "tile_bytes", tile_bytes(nest), "of B"),
                    c_constant("int", "barriers_at", barriers_at(nest), "in shared memory, after the tiles"),
                    c_constant("int", "copies_at", static_cast<std::uint64_t>(bytes_before_packed_tiles(nest)) + front,
                               "and the copies of packed tiles")});
  return constants;
}

}  // namespace

Environment packed_tile_sizes(const transformer::BitmapFormat& format) {
  return {{"most_words", format.shape.most_words},
          {"packed_tile_begins", static_cast<std::int64_t>(format.packed_tiles()) + 1},
          {"packed_tile_room", room_for_words(format.shape.most_words)}};
}

Environment packed_tile_sizes(const transformer::Sparse24Format&) {
  return {{"packed_tile_room", transformer::Sparse24Format::packed_tile_bytes}};
}

std::int64_t room_for_words(std::uint32_t words) {
  return static_cast<std::int64_t>(up_to_line(room_in_front() + transformer::BitmapFormat().packed_tile_bytes(words)));
}

std::uint32_t words_in_room(std::int64_t packed_tile_room) {
  std::uint32_t words = 0;
  while (words < transformer::max_bitmap_words && room_for_words(words + 1) <= packed_tile_room) {
    ++words;
  }
  return words;
}

std::vector<std::string> packed_tile_constants(const LoopNest& nest, const transformer::BitmapFormat& format) {
  return constants_around(
      nest, format, room_in_front(),
      {c_constant("size_t", "begins_at", transformer::header_bytes, "where packed tiles begin"),
       c_constant("size_t", "packed_tiles_at", format.packed_tiles_at, "and the packed tiles themselves"),
       c_constant("unsigned int", "odd_columns_at", format.odd_column_at(0), "in a packed tile, after the bits"),
       c_constant("unsigned int", "words_at", format.words_at(), "and the words")});
}

std::vector<std::string> packed_tile_constants(const LoopNest& nest, const transformer::Sparse24Format& format) {
  constexpr std::uint64_t bytes = transformer::Sparse24Format::packed_tile_bytes;
  return constants_around(
      nest, format, 0,
      {c_constant("size_t", "packed_tiles_at", format.packed_tiles_at, "where packed tiles are"),
       c_constant("unsigned int", "packed_tile_room", bytes, "of each"),
       c_constant("unsigned int", "packed_tile_pieces", bytes / transformer::bitmap_piece_bytes, "of 32 bytes"),
       c_constant("unsigned int", "values_at", format.register_at(0, 0, 0, 0),
                  "in a packed tile, after the metadata")});
}

std::map<std::string, std::string> bitmap_holes(const LoopNest& nest) {
  const bool columns = has_columns(nest);
  const std::int64_t tile_line_bytes = line_bytes_of_tile(nest);
  return {{"PIECE_OF_TILE", piece_of_tile(nest)},
          {"FRAGMENT_OF_B", columns ? "(piece_at(lane % 8, lane / 8) ^ row / 8 * 16) + piece_at(n8_tile * 8, 0)"
                                    : "piece_at(row + lane, n8_tile)"},
          {"TRANSPOSED", columns ? "" : ".trans"},
          {"COPY_WHOLE_PIECES",
           columns && has_whole_columns(*nest.array(ArrayRole::dense).layout) ? copy_of_whole_pieces(nest) : ""},
          {"MMA_TYPES", mma_types(nest)},
          {"WGMMA", wgmma_text(nest.constant("tile_columns"), mma_types(nest), !columns)},
          {"LINE_BYTES", std::to_string(tile_line_bytes)},
          {"SWIZZLE", tile_line_bytes == line_bytes ? "1" : "2"},
          {"LEADING_BYTES", columns ? "16" : fmt::format("tile_rows * {}", tile_line_bytes)},
          {"STEP_PIECES", columns ? "2" : std::to_string(tile_line_bytes)},
          {"BOXES_OF_TILE", columns ? "1" : fmt::format("n8_tiles / {}", tile_line_bytes / 16)},
          {"X_OF_BOX", columns ? "first_row" : "tile * tile_columns + box * 64"},
          {"Y_OF_BOX", columns ? "tile * tile_columns" : "first_row"}};
}

bool copies_tile_boxes(const LoopNest& nest) { return performs(nest, "copy_tile_box"); }

BoxOfTile box_of_tile(const LoopNest& nest) {
  const auto rows = static_cast<unsigned int>(nest.constant("tile_rows"));
  const auto line = static_cast<unsigned int>(line_bytes_of_tile(nest));
  return has_columns(nest) ? BoxOfTile{true, rows, static_cast<unsigned int>(nest.constant("tile_columns")), line}
                           : BoxOfTile{false, rows, line / static_cast<unsigned int>(bytes_of(nest.element())), line};
}

std::int64_t bytes_before_packed_tiles(const LoopNest& nest) {
  constexpr std::uint64_t barrier = 8;
  const std::int64_t packed_tiles = staged_packed_tiles(nest);
  constexpr std::int64_t of_copy = 2;  // it is there, and it is released
  const std::int64_t barriers =
      performs(nest, "make_stage_barriers")
          ? of_copy * (packed_tiles + nest.constant("tile_stages") * nest.constant("iteration_k_tiles"))
          : packed_tiles;
  return static_cast<std::int64_t>(barriers_at(nest) + up_to_line(static_cast<std::uint64_t>(barriers) * barrier));
}

std::int64_t staged_packed_tiles(const LoopNest& nest) {
  return nest.constant("packed_tile_stages") * nest.constant("block_copies");
}

}  // namespace esc
