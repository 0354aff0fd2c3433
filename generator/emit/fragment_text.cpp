// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/fragment_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "generator/emit/bitmap_text.h"
#include "generator/emit/c_constant.h"
#include "generator/emit/fragment_block.h"
#include "generator/emit/packed_matrix_holes.h"
#include "generator/emit/patch_text.h"
#include "generator/emit/shared_arrays.h"
#include "generator/emit/warpgroup_text.h"
#include "generator/ir/k_tile_patches.h"
#include "generator/ir/performed_instructions.h"
#include "generator/ir/roles.h"
#include "generator/lower/lane_sums.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {

// Embedded by generator/ir/CMakeLists.txt from templates/instructions.
extern const std::string_view float_values_text;
extern const std::string_view listed_text;
extern const std::string_view listed_float_values_text;

namespace {

using transformer::FragmentFormat;

/// Bytes of a stage: a packed tile for each warp, and after them a K tile of B for each warp of a row tile. Boxes have
/// stages of their own, before all packed tiles, where they begin as a tensor copy asks for.
bool has_patches(const LoopNest& nest) { return performs(nest, "stage_patches"); }
std::int64_t k_tile_bytes(const LoopNest& nest) {
  if (has_patches(nest)) {
    return patched_k_tile_bytes(nest, k_tile_patches(nest).value());
  }
  return nest.constant("k_tile_columns") * columns_of_k_tile_row(nest) * bytes_of(nest.element());
}
std::int64_t stage_bytes(const LoopNest& nest, std::int64_t packed_tile_bytes) {
  return nest.constant("iteration_k_tiles") *
         (nest.constant("block_row_tiles") * packed_tile_bytes + (copies_boxes(nest) ? 0 : k_tile_bytes(nest)));
}
/// Of K tiles that are apart from the packed tiles.
std::int64_t k_tiles_bytes(const LoopNest& nest) {
  return copies_boxes(nest) ? nest.constant("stages") * nest.constant("iteration_k_tiles") * k_tile_bytes(nest) : 0;
}
/// Of the copies of a block.
std::int64_t copied_bytes(const LoopNest& nest, std::int64_t packed_tile_bytes) {
  return nest.constant("stages") * stage_bytes(nest, packed_tile_bytes) + k_tiles_bytes(nest);
}
std::int64_t up_to_line(std::int64_t bytes) {
  return static_cast<std::int64_t>(transformer::round_up(static_cast<std::uint64_t>(bytes), 128));
}
/// What is after them begins at a line.
std::int64_t barrier_bytes(const LoopNest& nest) {
  constexpr std::int64_t barrier = 8;
  return copies_in_bulk(nest) ? up_to_line(nest.constant("stages") * nest.constant("iteration_k_tiles") * barrier) : 0;
}
/// What the warps of a consumer group place of A, and where it is, after all that is copied.
std::int64_t placed_bytes(const LoopNest& nest) {
  return nest.constant("k_tile_columns") * nest.constant("block_rows") * bytes_of(nest.element());
}
std::int64_t placed_k_tiles(const LoopNest& nest) {
  return nest.constant("iteration_k_tiles") * (nest.has_constant("buffers") ? nest.constant("buffers") : 1);
}
std::int64_t placed_at(const LoopNest& nest, std::int64_t packed_tile_bytes) {
  return up_to_line(copied_bytes(nest, packed_tile_bytes));
}
/// Sums take the places of what is copied and placed, as far as they are not after it, but not of barriers: a
/// device may write these even after all waits for them.
std::int64_t barriers_at(const LoopNest& nest, std::int64_t packed_tile_bytes) {
  const std::int64_t operands = places_values(nest)
                                    ? placed_at(nest, packed_tile_bytes) + placed_k_tiles(nest) * placed_bytes(nest)
                                    : copied_bytes(nest, packed_tile_bytes);
  return sums_stand_behind_k_tiles(nest) ? operands : std::max(operands, declared_shared_bytes(nest));
}

/// How a lane finds what it has of 16 rows in a step.
std::string load_values_text_of(const FragmentFormat& format) {
  if (!format.is_listed()) {
    return std::string(float_values_text);
  }
  return std::string(listed_text) + "\n" + std::string(listed_float_values_text);
}

/// How the place of an element is asked for, up to its row.
const char* element_at_text(const LoopNest& nest) { return has_patches(nest) ? "element_at(k_tile, " : "element_at("; }

std::string two_columns_text(const LoopNest& nest) {
  return performs(nest, "stage_columns") || has_patches(nest)
             ? fmt::format(
                   "{{{{*reinterpret_cast<const float*>(k_tile + {0}rows[i], t * 8 + lane % column_pairs * 2)),\n"
                   "                  *reinterpret_cast<const float*>(k_tile + {0}rows[i], t * 8 + lane % column_pairs "
                   "* 2 + 1))}}}}",
                   element_at_text(nest))
             : "reinterpret_cast<const Vector<2>*>(k_tile + piece_at(rows[i], t))[lane % column_pairs]";
}

/// How a lane of placed products reads two columns of a row.
std::string two_of_k_tile_text(const LoopNest& nest) {
  return performs(nest, "stage_columns") || has_patches(nest)
             ? fmt::format(
                   "{{{{*reinterpret_cast<const float*>(k_tile + {0}row, column)), *reinterpret_cast<const "
                   "float*>(k_tile + {0}row, column + 1))}}}}",
                   element_at_text(nest))
             : "*reinterpret_cast<const Vector<2>*>(k_tile + piece_at(row, column / 8) + column % 8 * 4)";
}

/// Where values are placed, the rows of A of a product.
std::int64_t rows_of_product(const LoopNest& nest) {
  return places_values(nest) ? product_rows(nest.constant("block_rows"),
                                            {.splits = splits_products(nest), .has_many_registers = has_roles(nest)})
                             : 0;
}

std::string find_rounds_text(const LoopNest& nest, const FragmentFormat& format) {
  const std::string type = packed_matrix_holes(nest).at("PACKED");
  if (format.regular()) {
    return fmt::format(
        "__device__ __forceinline__ Rounds find_rounds({1}, unsigned int block) {{ return {{block * {0}u, {0}u}}; "
        "}}\n\n"
        "__device__ __forceinline__ unsigned int k_tile_at({1}, unsigned int round, unsigned int first_round) {{\n"
        "  return round - first_round;\n}}",
        format.k_tiles(), type);
  }
  return fmt::format(
      R"(__device__ __forceinline__ Rounds find_rounds({0} packed, unsigned int block) {{
  const unsigned int* const firsts = reinterpret_cast<const unsigned int*>(packed + {1});
  return {{firsts[block], firsts[block + 1] - firsts[block]}};
}}

__device__ __forceinline__ unsigned int k_tile_at({0} packed, unsigned int round, unsigned int first_round) {{
  static_cast<void>(first_round);
  return reinterpret_cast<const {2}*>(packed + {3})[round];
}})",
      type, transformer::header_bytes, transformer::c_name(format.k_tile),
      nest.packed.is_shape_generic ? "packed.k_tiles_at" : fmt::format("{}", format.k_tiles_at));
}

/// The most residuals of packed tiles of the same bytes, so that layers whose packed tiles differ in that alone share a
/// kernel; none where there are none.
std::uint32_t most_residuals(FragmentFormat format) {
  const std::uint64_t bytes = format.packed_tile_bytes();
  while (format.shape.residuals != 0 && format.shape.residuals < transformer::max_residuals) {
    ++format.shape.residuals;
    if (format.packed_tile_bytes() != bytes) {
      return format.shape.residuals - 1;
    }
  }
  return format.shape.residuals;
}

/// What a packed tile has beside the values of its steps.
std::vector<std::string> places_behind_values(const LoopNest& nest, const FragmentFormat& format) {
  return {
      c_constant("int", "packed_tile_residuals",
                 nest.packed.is_shape_generic ? most_residuals(format) : format.shape.residuals,
                 "residuals of a packed tile, at most"),
      c_constant("int", "metadata_at", format.metadata_at(0, 0, 0, 0),
                 "in a packed tile, after the values: the metadata that say which of two columns they belong to"),
      c_constant("int", "columns_at", format.columns_at(),
                 "the column permutation: which column of the K tile is at a position"),
      c_constant("int", "residual_ends_at", format.residuals_end_at(0), "where the residuals of each row group end"),
      c_constant("int", "residuals_at", format.residual_at(0))};
}

/// Where a packed tile has what, in steps.
std::vector<std::string> places_in_packed_tile(const LoopNest& nest, const FragmentFormat& format) {
  std::vector<std::string> places{c_constant("int", "m16_tiles", format.m16_tiles(), "m16 tiles of a row tile")};
  if (format.is_listed()) {
    places.push_back(c_constant("int", "begins_at", format.begin_at(0, 0),
                                "in a packed tile, after the bits: where the values of four lanes begin"));
    places.push_back(c_constant("int", "listed_at", format.listed_at(0), "and the values"));
  } else if (!format.is_dense()) {
    std::ranges::move(places_behind_values(nest, format), std::back_inserter(places));
  }
  return places;
}

/// The same of one with placed values.
std::vector<std::string> places_of_placed_values(const LoopNest& nest, const FragmentFormat& format) {
  std::vector<std::string> places{
      c_constant("int", "packed_tile_values", format.placed_room(), "values of a packed tile, at most"),
      c_constant("int", "listed_at", format.listed_at(0),
                 "in a packed tile, after where each share's values begin: the values"),
      c_constant("int", "places_at", format.place_at(0), "and their places, in bytes")};
  if (splits_products(nest)) {
    places.push_back(c_constant("int", "exponent_at", transformer::exponent_at, "that of the greatest value"));
  }
  return places;
}

}  // namespace

bool splits_products(const LoopNest& nest) {
  return performs(nest, "multiply_split_steps") || performs(nest, "multiply_split_dense_steps") ||
         performs(nest, "multiply_split_placed");
}
bool rounds_factors(const LoopNest& nest) {
  return performs(nest, "multiply_rounded_steps") || performs(nest, "multiply_rounded_dense_steps") ||
         performs(nest, "multiply_rounded_placed");
}
bool places_values(const LoopNest& nest) { return nest.find_array("PlacedA") != nullptr; }

bool sums_stand_behind_k_tiles(const LoopNest& nest) {
  return nest.find_array("cluster_sums") != nullptr && !places_values(nest) && !nest.packed.has_packed_tiles();
}

std::int64_t columns_of_k_tile_row(const LoopNest& nest) {
  const std::int64_t columns = nest.constant("tile_columns");
  return performs(nest, "copy_k_tiles") ? columns + StreamSchedule::padding_of_boxes : columns;
}
bool copies_boxes(const LoopNest& nest) {
  return performs(nest, "copy_k_tiles") || performs(nest, "copy_rows") || copies_tile_boxes(nest);
}
bool copies_in_bulk(const LoopNest& nest) { return performs(nest, "copy_packed_tile"); }

Environment fragment_sizes(const FragmentFormat& format) {
  return {{"packed_tile_steps", format.shape.steps},
          {"packed_tile_residuals", format.shape.residuals},
          {"packed_tile_slots", std::int64_t{format.shape.steps} * format.step_slots()},
          {"packed_tile_bytes", static_cast<std::int64_t>(format.packed_tile_bytes())},
          {"all_rounds", static_cast<std::int64_t>(format.counts.rounds)}};
}

std::map<std::string, std::string> fragment_holes(const LoopNest& nest, const FragmentFormat& format) {
  const bool boxes = copies_boxes(nest);
  return {
      {"FIND_ROUNDS", find_rounds_text(nest, format)},
      {"PACKED_TILES_AT",
       nest.packed.is_shape_generic && !format.regular() ? "packed.packed_tiles_at" : "packed_tiles_at"},
      {"COPIES",
       boxes ? "The copies in shared memory: the K tiles of B of all stages, each where a TMA copy may begin, and "
               "after them of each stage the packed tiles\n// of the block's warps."
             : "The copies of a stage in shared memory: the packed tiles of the block's warps, and after "
               "them the K tiles of B."},
      {"PACKED_TILE_COPY",
       boxes ? "memory + stages * iteration_k_tiles * k_tile_bytes + stage * stage_bytes + copy * packed_tile_bytes"
             : "memory + stage * stage_bytes + copy * packed_tile_bytes"},
      {"ARRIVING_THREADS", boxes ? "vectors ? block_row_tiles + 1 : block_row_tiles" : "block_row_tiles"},
      {"ASKING_THREAD", places_values(nest)
                            ? "consumer_group_threads - 32"
                            : "0"},  // where all wait for the warp, not one that has asked for packed tiles
      {"K_TILE_COPY", boxes ? "memory + (stage * iteration_k_tiles + part) * k_tile_bytes"
                            : "packed_tile_copy(memory, stage, block_copies) + part * k_tile_bytes"},
      {"ELEMENT_AT", element_at_text(nest)},
      {"LOAD_VALUES", load_values_text_of(format)},
      {"TWO_COLUMNS", two_columns_text(nest)},
      {"TWO_OF_K_TILE", two_of_k_tile_text(nest)},
      {"COLUMNS_OF_TILE", splits_products(nest) ? "8" : "4"},
      {"PRODUCT_ROWS", fmt::format("{}", rows_of_product(nest))},
      {"WARPGROUP_PRODUCT", warpgroup_product_text(rows_of_product(nest), splits_products(nest))},
      {"PRODUCT_SHAPE", warp_product_shape(splits_products(nest))},
  };
}

std::vector<std::string> fragment_constants(const LoopNest& nest, const FragmentFormat& format) {
  const auto bytes = static_cast<std::int64_t>(format.packed_tile_bytes());
  std::vector<std::string> constants{
      c_constant("unsigned int", "M", format.shape.rows, "rows of C"),
      c_constant("unsigned int", "K", format.shape.columns, "rows of B"),
      c_constant("unsigned int", "blocks", format.blocks()),
      c_constant("size_t", "packed_tiles_at", format.packed_tiles_at, "where the first packed tile begins"),
      c_constant("int", "packed_tile_steps", format.shape.steps,
                 fmt::format("k-steps of a packed tile, {} columns of a K tile each", format.step_slots()))};
  std::ranges::move(format.is_placed() ? places_of_placed_values(nest, format) : places_in_packed_tile(nest, format),
                    std::back_inserter(constants));
  constants.push_back(c_constant("int", "packed_tile_bytes", bytes));
  constants.push_back(c_constant("int", "k_tile_bytes", k_tile_bytes(nest), "of B"));
  constants.push_back(c_constant("int", "stage_bytes", stage_bytes(nest, bytes)));
  if (has_patches(nest)) {
    std::ranges::move(patch_constants(nest, k_tile_patches(nest).value()), std::back_inserter(constants));
  }
  if (copies_in_bulk(nest)) {
    constants.push_back(
        c_constant("int", "barriers_at", barriers_at(nest, bytes), "in shared memory, after the operands"));
  }
  if (places_values(nest)) {
    constants.push_back(
        c_constant("int", "placed_at", placed_at(nest, bytes), "in shared memory, after what is copied"));
    constants.push_back(
        c_constant("int", "placed_bytes", placed_bytes(nest), "bytes of the decompressed values of a consumer group"));
  }
  if (sums_stand_behind_k_tiles(nest)) {
    constants.push_back(c_constant("size_t", "staged_bytes", staged_k_tile_bytes(nest, fragment_sizes(format))));
  }
  if (nest.packed.is_shape_generic && !format.regular()) {
    std::erase_if(constants,
                  [](const std::string& line) { return line.starts_with("constexpr size_t packed_tiles_at "); });
  }
  return constants;
}

bool stages_k_tiles(const LoopNest& nest) { return nest.find_array("StagedB") != nullptr; }

std::uint64_t staged_k_tile_bytes(const LoopNest& nest, const Environment& sizes) {
  return static_cast<std::uint64_t>(barriers_at(nest, sizes.at("packed_tile_bytes")) + barrier_bytes(nest));
}

}  // namespace esc
