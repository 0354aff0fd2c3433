// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/fragment_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "generator/emit/bitmap_text.h"
#include "generator/emit/c_constant.h"
#include "generator/emit/fragment_block.h"
#include "generator/emit/half_text.h"
#include "generator/emit/packed_matrix_holes.h"
#include "generator/emit/patch_text.h"
#include "generator/emit/shared_arrays.h"
#include "generator/emit/warpgroup_text.h"
#include "generator/emit/window_lines.h"
#include "generator/ir/performed_instructions.h"
#include "generator/ir/roles.h"
#include "generator/ir/window_patches.h"
#include "generator/lower/lane_sums.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {

// Embedded by generator/ir/CMakeLists.txt from templates/instructions.
extern const std::string_view read_quarter_text;
extern const std::string_view rows_of_step_text;
extern const std::string_view elements_of_step_text;
extern const std::string_view float_values_text;
extern const std::string_view listed_text;
extern const std::string_view listed_float_values_text;
extern const std::string_view listed_half_values_text;

namespace {

using transformer::FragmentFormat;

/// Bytes of a stage: a unit for each warp, and behind them a window of B for each warp of a panel. Windows that are
/// transposed have stages of their own, behind all units, and boxes in front of them, where they begin as a tensor copy
/// asks for.
bool transposes_windows(const LoopNest& nest) { return nest.find_array("fetched") != nullptr; }
bool windows_have_stages(const LoopNest& nest) { return transposes_windows(nest) || copies_boxes(nest); }
bool has_patches(const LoopNest& nest) { return performs(nest, "stage_patches"); }
std::int64_t window_bytes(const LoopNest& nest) {
  if (has_patches(nest)) {
    return patched_window_bytes(nest, window_patches(nest).value());
  }
  return nest.constant("window_columns") * columns_of_window_row(nest) * bytes_of(nest.element());
}
std::int64_t stage_bytes(const LoopNest& nest, std::int64_t unit_bytes) {
  return nest.constant("turn_windows") *
         (nest.constant("block_panels") * unit_bytes + (windows_have_stages(nest) ? 0 : window_bytes(nest)));
}
/// Of windows that stand apart from the units.
std::int64_t windows_bytes(const LoopNest& nest) {
  return windows_have_stages(nest) ? nest.constant(transposes_windows(nest) ? "window_stages" : "stages") *
                                         nest.constant("turn_windows") * window_bytes(nest)
                                   : 0;
}
/// Of the copies of a block.
std::int64_t copied_bytes(const LoopNest& nest, std::int64_t unit_bytes) {
  return nest.constant("stages") * stage_bytes(nest, unit_bytes) + windows_bytes(nest);
}
std::int64_t up_to_line(std::int64_t bytes) {
  return static_cast<std::int64_t>(transformer::round_up(static_cast<std::uint64_t>(bytes), 128));
}
/// What stands behind them begins at a line.
std::int64_t barrier_bytes(const LoopNest& nest) {
  constexpr std::int64_t barrier = 8;
  return copies_in_bulk(nest) ? up_to_line(nest.constant("stages") * nest.constant("turn_windows") * barrier) : 0;
}
/// What the warps of a team place of A, and where it stands, behind all that is copied.
std::int64_t placed_bytes(const LoopNest& nest) {
  return nest.constant("window_columns") * nest.constant("block_rows") * bytes_of(nest.element());
}
std::int64_t placed_windows(const LoopNest& nest) {
  return nest.constant("turn_windows") * (nest.has_constant("buffers") ? nest.constant("buffers") : 1);
}
std::int64_t placed_at(const LoopNest& nest, std::int64_t unit_bytes) {
  return up_to_line(copied_bytes(nest, unit_bytes));
}
/// Sums take the places of what is copied and placed, as far as they do not stand behind it, but not of barriers: a
/// device may write these even behind all waits for them.
std::int64_t barriers_at(const LoopNest& nest, std::int64_t unit_bytes) {
  const std::int64_t operands = places_values(nest)
                                    ? placed_at(nest, unit_bytes) + placed_windows(nest) * placed_bytes(nest)
                                    : copied_bytes(nest, unit_bytes);
  return sums_stand_behind_windows(nest) ? operands : std::max(operands, declared_shared_bytes(nest));
}

/// Where B has the rows of a column one behind the other, 8 of them are loaded at once. That is decided for a lane's
/// whole window, so that its loads are on their way together.
const char* whole_rows_text(const LoopNest& nest) {
  const std::optional<Layout>& layout = nest.array(ArrayRole::dense).layout;
  return layout && has_contiguous_rows(*layout) ? R"(    // At once where all of them begin at multiples of 16 bytes.
    const uint4* wholes[window_fetches];
    size_t addresses = 0;
#pragma unroll
    for (int f = 0; f < window_fetches; ++f) {
      const LaneRows rows = rows_of_lane(f, first_row, tile, copy, lane, N);
      wholes[f] = rows.there ? reinterpret_cast<const uint4*>(column_of_B(B, rows.column, ldb).first + row_of_B(rows.first, ldb).distance) : nullptr;
      addresses |= reinterpret_cast<size_t>(wholes[f]);
    }
    if (first_row + window_columns <= K && addresses % sizeof(uint4) == 0) {
#pragma unroll
      for (int f = 0; f < window_fetches; ++f) {
        fetched[f] = wholes[f] != nullptr ? *wholes[f] : make_uint4(0, 0, 0, 0);
      }
      return;
    }
)"
                                                : "";
}

/// The same of as many rows as 16 bytes have, which are copied as they are. Rows of B as it is usual lie beside each
/// other where it has one column.
std::string copy_rows_text(const LoopNest& nest) {
  const std::optional<Layout>& layout = nest.array(ArrayRole::dense).layout;
  if (layout && !has_contiguous_rows(*layout)) {
    return "";
  }
  return fmt::format(
      R"(  // Past the registers where all are there, beside each other, and begin at a multiple of 16 bytes.
  const {}* const from = rows < vector_width{} ? nullptr : {};
  if (from != nullptr && reinterpret_cast<size_t>(from) % 16 == 0) {{
    __pipeline_memcpy_async(to, from, 16);
    return;
  }}
)",
      c_name(nest.element()), layout ? "" : " || ldb != 1",
      layout ? "column_of_B(B, j, ldb).first + row_of_B(k, ldb).distance" : "B + k");
}

const char* element_of_column_text(const LoopNest& nest) {
  return nest.array(ArrayRole::dense).layout ? "element_of_B(row_of_B(k + r, ldb), column_of_B(B, j, ldb))"
                                             : "B[(k + r) * ldb + j]";
}

/// How a lane reads what it has of 16 rows in a step of two values a group.
constexpr const char* read_half =
    R"(    values[s] = reinterpret_cast<const uint4*>(unit)[(step * strips + s) * 32 + lane];
    metadata[s] = reinterpret_cast<const unsigned int*>(unit + metadata_at)[(step * strips + s) * 16 + lane / 4 * 2 + lane % 2];)";

/// The same in a unit that has quarter steps.
constexpr const char* read_half_or_quarter = R"(    if (step >= half_steps) {
      read_quarter(unit, step, s, lane, values[s], metadata[s]);
      continue;
    }
)";

bool has_quarter_steps(const FragmentFormat& format) { return format.shape.quarter_steps != 0; }

/// How a lane finds what it has of 16 rows in a step.
std::string load_values_text_of(const FragmentFormat& format) {
  if (!format.is_listed()) {
    return std::string(float_values_text);
  }
  return std::string(listed_text) + "\n" +
         std::string(format.element().bytes == 2 ? listed_half_values_text : listed_float_values_text);
}

/// How an extra is read, and two elements of the row of B that it is for.
std::string read_extra_text(const LoopNest& nest) {
  switch (nest.element()) {
    case ScalarType::f16:
    case ScalarType::bf16:
      return fmt::format(R"(      const unsigned int extra = reinterpret_cast<const unsigned int*>(unit + extras_at)[x];
      const float value = {};
      const unsigned int place = extra >> 16;
)",
                         widened(nest.element(), nest.element() == ScalarType::f16
                                                     ? "__ushort_as_half(static_cast<unsigned short>(extra))"
                                                     : "__ushort_as_bfloat16(static_cast<unsigned short>(extra))"));
    default:
      return R"(      const uint2 extra = reinterpret_cast<const uint2*>(unit + extras_at)[x];
      const float value = __uint_as_float(extra.x);
      const unsigned int place = extra.y;
)";
  }
}
/// How the place of an element is asked for, up to its row.
const char* element_at_text(const LoopNest& nest) { return has_patches(nest) ? "element_at(window, " : "element_at("; }

std::string two_columns_text(const LoopNest& nest) {
  return performs(nest, "stage_columns") || has_patches(nest)
             ? fmt::format(
                   "{{{{*reinterpret_cast<const float*>(window + {0}rows[i], t * 8 + lane % column_pairs * 2)),\n"
                   "                  *reinterpret_cast<const float*>(window + {0}rows[i], t * 8 + lane % column_pairs "
                   "* 2 + 1))}}}}",
                   element_at_text(nest))
             : "reinterpret_cast<const Vector<2>*>(window + piece_at(rows[i], t))[lane % column_pairs]";
}

/// How a lane of placed products reads two columns of a row.
std::string two_of_window_text(const LoopNest& nest) {
  return performs(nest, "stage_columns") || has_patches(nest)
             ? fmt::format(
                   "{{{{*reinterpret_cast<const float*>(window + {0}row, column)), *reinterpret_cast<const "
                   "float*>(window + {0}row, column + 1))}}}}",
                   element_at_text(nest))
             : "*reinterpret_cast<const Vector<2>*>(window + piece_at(row, column / 8) + column % 8 * 4)";
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
        "__device__ __forceinline__ unsigned int window_at({1}, unsigned int round, unsigned int first_round) {{\n"
        "  return round - first_round;\n}}",
        format.windows(), type);
  }
  return fmt::format(
      R"(__device__ __forceinline__ Rounds find_rounds({0} packed, unsigned int block) {{
  const unsigned int* const firsts = reinterpret_cast<const unsigned int*>(packed + {1});
  return {{firsts[block], firsts[block + 1] - firsts[block]}};
}}

__device__ __forceinline__ unsigned int window_at({0} packed, unsigned int round, unsigned int first_round) {{
  static_cast<void>(first_round);
  return reinterpret_cast<const {2}*>(packed + {3})[round];
}})",
      type, transformer::header_bytes, transformer::c_name(format.window),
      nest.packed.is_told ? "packed.windows_at" : fmt::format("{}", format.windows_at));
}

/// The most extras of units of the same bytes, so that layers whose units differ in that alone share a kernel; none
/// where there are none.
std::uint32_t most_extras(FragmentFormat format) {
  const std::uint64_t bytes = format.unit_bytes();
  while (format.shape.extras != 0 && format.shape.extras < transformer::max_extras) {
    ++format.shape.extras;
    if (format.unit_bytes() != bytes) {
      return format.shape.extras - 1;
    }
  }
  return format.shape.extras;
}

/// What a unit has beside the values of its steps.
std::vector<std::string> places_behind_values(const LoopNest& nest, const FragmentFormat& format) {
  return {c_constant("int", "unit_extras", nest.packed.is_told ? most_extras(format) : format.shape.extras,
                     "of a unit at most, what fits in no step"),
          c_constant("int", "metadata_at", format.metadata_at(0, 0, 0, 0),
                     fmt::format("in a unit, behind the values: which of {} columns they belong to",
                                 format.element().bytes == 2 ? "four" : "two")),
          c_constant("int", "columns_at", format.columns_at(), "which column of the window a slot is"),
          c_constant("int", "extra_ends_at", format.extras_end_at(0), "where the extras of each set of rows end"),
          c_constant("int", "extras_at", format.extra_at(0))};
}

/// Where a unit has what, in steps.
std::vector<std::string> places_in_unit(const LoopNest& nest, const FragmentFormat& format) {
  std::vector<std::string> places{c_constant("int", "strips", format.strips(),
                                             "of 16 rows, which the tensor core multiplies at once, that a panel has")};
  if (format.is_listed()) {
    places.push_back(c_constant("int", "begins_at", format.begin_at(0, 0),
                                "in a unit, behind the bits: where the values of four lanes begin"));
    places.push_back(c_constant("int", "listed_at", format.listed_at(0), "and the values"));
  } else if (!format.is_dense()) {
    std::ranges::move(places_behind_values(nest, format), std::back_inserter(places));
  }
  return places;
}

/// The same of one with placed values.
std::vector<std::string> places_of_placed_values(const LoopNest& nest, const FragmentFormat& format) {
  std::vector<std::string> places{c_constant("int", "unit_values", format.placed_room(), "of a unit at most"),
                                  c_constant("int", "listed_at", format.listed_at(0),
                                             "in a unit, behind where each share's values begin: the values"),
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

bool sums_stand_behind_windows(const LoopNest& nest) {
  return nest.find_array("cluster_sums") != nullptr && !places_values(nest) && !has_bitmap(nest);
}

std::int64_t columns_of_window_row(const LoopNest& nest) {
  const std::int64_t columns = nest.constant("tile_columns");
  return performs(nest, "copy_windows") && !is_half(nest.element()) ? columns + StreamSchedule::padding_of_boxes
                                                                    : columns;
}
bool copies_boxes(const LoopNest& nest) {
  return performs(nest, "copy_windows") || performs(nest, "copy_rows") || copies_tile_boxes(nest);
}
bool copies_in_bulk(const LoopNest& nest) { return performs(nest, "copy_unit"); }

Environment fragment_sizes(const FragmentFormat& format) {
  return {{"unit_steps", format.shape.steps},
          {"unit_extras", format.shape.extras},
          {"unit_slots", std::int64_t{format.shape.steps} * format.step_slots()},
          {"unit_bytes", static_cast<std::int64_t>(format.unit_bytes())},
          {"all_rounds", static_cast<std::int64_t>(format.counts.rounds)}};
}

std::map<std::string, std::string> fragment_holes(const LoopNest& nest, const FragmentFormat& format) {
  const bool f16 = nest.element() == ScalarType::f16;
  const bool transposes = transposes_windows(nest);
  const bool boxes = copies_boxes(nest);
  return {
      {"FIND_ROUNDS", find_rounds_text(nest, format)},
      {"UNITS_AT", nest.packed.is_told && !format.regular() ? "packed.units_at" : "units_at"},
      {"COPIES", boxes ? "The copies in shared memory: the windows of B of all stages, each where a tensor copy may "
                         "begin, and behind them of each "
                         "stage the units\n// of the block's warps."
                 : transposes ? "The copies in shared memory: of each stage the units of the block's warps, and behind "
                                "all of them the windows of B."
                              : "The copies of a stage in shared memory: the units of the block's warps, and behind "
                                "them the windows of B."},
      {"UNIT_COPY", boxes ? "memory + stages * turn_windows * window_bytes + stage * stage_bytes + copy * unit_bytes"
                          : "memory + stage * stage_bytes + copy * unit_bytes"},
      {"ARRIVING_THREADS",
       boxes ? fmt::format("{} ? block_panels + 1 : block_panels", boxed_variant(nest)) : "block_panels"},
      {"HAS_BOXES", boxed_variant(nest)},
      {"BOXES_IN_WORDS", has_lines(nest) ? "B as it is `tuned` for" : "`vectors`"},
      {"ROW_OF_BOX", has_lines(nest) ? "row / line_rows" : "row"},
      {"ASKING_THREAD", places_values(nest) ? "team_threads - 32"
                                            : "0"},  // where all wait for the warp, not one that has asked for units
      {"WINDOW_COPY", boxes        ? "memory + (stage * turn_windows + part) * window_bytes"
                      : transposes ? "unit_copy(memory, stages, 0) + (stage * turn_windows + part) * window_bytes"
                                   : "unit_copy(memory, stage, block_copies) + part * window_bytes"},
      {"WHOLE_ROWS", whole_rows_text(nest)},
      {"COPY_ROWS", copy_rows_text(nest)},
      {"ELEMENT_OF_COLUMN", element_of_column_text(nest)},
      {"COLUMN_OF_ELEMENT", has_one_column(nest) ? "" : ", column"},
      {"ELEMENT_AT", element_at_text(nest)},
      {"LOAD_VALUES", load_values_text_of(format)},
      {"READ_QUARTER", has_quarter_steps(format) ? std::string(read_quarter_text) + "\n" : ""},
      {"READ_STEP", has_quarter_steps(format) ? std::string(read_half_or_quarter) + read_half : read_half},
      {"ROWS_OF_STEP", has_one_column(nest) ? std::string(elements_of_step_text) : std::string(rows_of_step_text)},
      {"PRODUCT_IN_WORDS", has_one_column(nest) ? "eight parts of the column and" : "every 8 columns and"},
      {"READ_EXTRA", read_extra_text(nest)},
      {"TWO_COLUMNS", two_columns_text(nest)},
      {"TWO_OF_WINDOW", two_of_window_text(nest)},
      {"COLUMNS_OF_TILE", splits_products(nest) ? "8" : "4"},
      {"PRODUCT_ROWS", fmt::format("{}", rows_of_product(nest))},
      {"WARPGROUP_PRODUCT", warpgroup_product_text(rows_of_product(nest), splits_products(nest))},
      {"PRODUCT_SHAPE", warp_product_shape(splits_products(nest))},
      {"BITS_OF_ELEMENT", f16 ? "__half_as_ushort" : "__bfloat16_as_ushort"},
      {"MMA_TYPES", f16 ? "f16.f16" : "bf16.bf16"}};
}

std::vector<std::string> fragment_constants(const LoopNest& nest, const FragmentFormat& format) {
  const auto bytes = static_cast<std::int64_t>(format.unit_bytes());
  std::vector<std::string> constants{c_constant("unsigned int", "M", format.shape.rows, "rows of C"),
                                     c_constant("unsigned int", "K", format.shape.columns, "rows of B"),
                                     c_constant("unsigned int", "blocks", format.blocks()),
                                     c_constant("size_t", "units_at", format.units_at, "where the first unit begins"),
                                     c_constant("int", "unit_steps", format.shape.steps,
                                                fmt::format("{} columns of a window each", format.step_slots()))};
  std::ranges::move(format.is_placed() ? places_of_placed_values(nest, format) : places_in_unit(nest, format),
                    std::back_inserter(constants));
  constants.push_back(c_constant("int", "unit_bytes", bytes));
  constants.push_back(c_constant("int", "window_bytes", window_bytes(nest), "of B"));
  constants.push_back(c_constant("int", "stage_bytes", stage_bytes(nest, bytes)));
  if (has_quarter_steps(format)) {
    constants.push_back(c_constant("int", "half_steps", format.shape.unit_steps().half(),
                                   "steps that store two values of each four columns; the others store one"));
    constants.push_back(
        c_constant("int", "quarter_steps_at", format.quarter_steps_at(), "in a unit: the values of those"));
    constants.push_back(c_constant("int", "quarter_metadata_at", format.quarter_metadata_at(0, 0, 0),
                                   "and two bits for each, which say of which column it is"));
  }
  if (has_patches(nest)) {
    std::ranges::move(patch_constants(nest, window_patches(nest).value()), std::back_inserter(constants));
  }
  if (copies_in_bulk(nest)) {
    constants.push_back(
        c_constant("int", "barriers_at", barriers_at(nest, bytes), "in shared memory, behind the operands"));
  }
  if (places_values(nest)) {
    constants.push_back(
        c_constant("int", "placed_at", placed_at(nest, bytes), "in shared memory, behind what is copied"));
    constants.push_back(c_constant("int", "placed_bytes", placed_bytes(nest), "of a team"));
  }
  if (sums_stand_behind_windows(nest)) {
    constants.push_back(c_constant("size_t", "staged_bytes", staged_window_bytes(nest, fragment_sizes(format))));
  }
  if (nest.packed.is_told && !format.regular()) {
    std::erase_if(constants, [](const std::string& line) { return line.starts_with("constexpr size_t units_at "); });
  }
  return constants;
}

bool stages_windows(const LoopNest& nest) { return nest.find_array("StagedB") != nullptr; }

std::uint64_t staged_window_bytes(const LoopNest& nest, const Environment& sizes) {
  return static_cast<std::uint64_t>(barriers_at(nest, sizes.at("unit_bytes")) + barrier_bytes(nest));
}

}  // namespace esc
