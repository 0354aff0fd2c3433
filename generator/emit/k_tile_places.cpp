// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/k_tile_places.h"

#include <fmt/format.h>

#include "generator/emit/fragment_text.h"
#include "generator/emit/patch_text.h"
#include "generator/ir/performed_instructions.h"
#include "generator/lower/lane_sums.h"

namespace esc {
namespace {

/// Where the rows of a K tile are, with pieces in an order of their own.
constexpr const char* piece_places =
    R"(// Where 8 columns of a row of a K tile are, a piece: in such an order that rows whose numbers differ modulo 4 are in different banks.
constexpr int piece_bytes = 32;
constexpr int line_pieces = 128 / piece_bytes;
constexpr int row_pieces = n8_tiles;
constexpr int line_rows = row_pieces < line_pieces ? line_pieces / row_pieces : 1;
__device__ __forceinline__ int piece_at(int row, int piece) {
  return (row * row_pieces + (piece ^ (row / line_rows % (line_pieces / line_rows)))) * piece_bytes;
}
)";

/// And one of its elements, where these are read by themselves. What is added to a piece's place has bits of its own,
/// so that the compiler needs one operation for each further piece.
constexpr const char* element_of_row = R"(__device__ __forceinline__ int element_at(int row, int column) {
  return piece_at(row, 0) + column % 8 * 4 ^ column / 8 * piece_bytes;
}
)";

/// The same of boxes of float32: the place of a further piece is a constant more.
constexpr const char* padded_row_places =
    R"(// Where 8 columns of a row of a K tile are, a piece, and where an element: rows are so long that those whose numbers differ modulo 4 are in different banks.
constexpr int row_columns = {};
__device__ __forceinline__ int element_at(int row, int column) {{
  return (row * row_columns + column) * 4;
}}
__device__ __forceinline__ int piece_at(int row, int piece) {{
  return element_at(row, piece * 8);
}}
)";

/// The same where columns are one after the other.
constexpr const char* element_of_column =
    R"(// Where an element of a K tile is, four rows beside each other: in such an order that 8 columns of rows that differ modulo 4 are in different banks.
__device__ __forceinline__ int element_at(int row, int column) {
  return (column * k_tile_columns + (row / 4 ^ column % 8) * 4 + row % 4) * 4;
}
)";

}  // namespace

std::string k_tile_places_text(const LoopNest& nest) {
  if (performs(nest, "stage_columns")) {
    return element_of_column;
  }
  if (performs(nest, "stage_patches")) {
    return places_in_patches();
  }
  if (copies_boxes(nest)) {
    return fmt::format(fmt::runtime(padded_row_places), columns_of_k_tile_row(nest));
  }
  const bool reads_elements = !places_values(nest) || performs(nest, "stage_elements");
  return std::string(piece_places) + (reads_elements ? element_of_row : "");
}

}  // namespace esc
