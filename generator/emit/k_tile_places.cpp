// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/k_tile_places.h"

#include <fmt/format.h>

#include "generator/emit/fragment_text.h"
#include "generator/emit/k_tile_lines.h"
#include "generator/emit/patch_text.h"
#include "generator/ir/performed_instructions.h"
#include "generator/lower/lane_sums.h"

namespace esc {
namespace {

/// Where the rows of a K tile are, with pieces in an order of their own: how that is said, the bytes of a piece, the
/// rows of a line and the place.
constexpr const char* piece_places = R"(// Where 8 columns of a row of a K tile are, a piece{}
constexpr int piece_bytes = {};
constexpr int line_pieces = 128 / piece_bytes;
constexpr int row_pieces = n8_tiles;
constexpr int line_rows = {};
__device__ __forceinline__ int piece_at(int row, int piece) {{
  return ({}) * piece_bytes;
}}
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

/// The same of one column.
constexpr const char* element_of_one_column =
    R"(// Where an element of a K tile is: as in the column of B that it is of.
__device__ __forceinline__ int element_at(int row) {{
  return row * static_cast<int>(sizeof({}));
}}
)";

}  // namespace

std::string k_tile_places_text(const LoopNest& nest) {
  if (has_one_column(nest)) {
    return fmt::format(fmt::runtime(element_of_one_column), c_name(nest.element()));
  }
  if (performs(nest, "stage_columns")) {
    return element_of_column;
  }
  if (performs(nest, "stage_patches")) {
    return places_in_patches();
  }
  if (copies_boxes(nest) && !is_half(nest.element())) {
    return fmt::format(fmt::runtime(padded_row_places), columns_of_k_tile_row(nest));
  }
  const int piece_bytes = 8 * bytes_of(nest.element());
  if (has_lines(nest)) {
    return fmt::format(
        fmt::runtime(piece_places),
        ". Rows are one after the other in lines of 128 bytes, in which pieces change places from line to line.",
        piece_bytes, "line_pieces / row_pieces", "(row * row_pieces + piece) ^ (row / line_rows % line_pieces)");
  }
  const bool reads_elements = !is_half(nest.element()) && (!places_values(nest) || performs(nest, "stage_elements"));
  const std::string order = fmt::format(
      ": in such an order that rows whose numbers differ modulo {} are in different banks.", 128 / piece_bytes);
  return fmt::format(fmt::runtime(piece_places), order, piece_bytes,
                     "row_pieces < line_pieces ? line_pieces / row_pieces : 1",
                     "row * row_pieces + (piece ^ (row / line_rows % (line_pieces / line_rows)))") +
         (reads_elements ? element_of_row : "");
}

}  // namespace esc
