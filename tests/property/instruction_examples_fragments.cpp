// SPDX-License-Identifier: Apache-2.0
// Fragments: the rounds of a block, the copies of packed tiles and K tiles in shared memory, and their products on the
// sparse tensor core.

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "generator/emit/templates.h"
#include "generator/frontend/parse_loop_nest.h"
#include "generator/ir/build.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/ir/nest_in_type.h"
#include "generator/pipeline.h"
#include "generator/schedule/schedule_choice.h"
#include "tests/property/instruction_example.h"
#include "tests/support/full_row_tile.h"

namespace esc::tests {
namespace {

struct FragmentCase {
  std::string name;
  SparseMatrix matrix;
  StreamSchedule schedule;
  bool vectors = false;
  LoopNest (*product)(ScalarType) = spmm_nest;
  double factor_of_b = 1;
};

/// Makes some of up to 100 need 12 bits, one more than the tensor core takes of a float32.
constexpr double odd_factor = 33;

constexpr std::int64_t rows_of_row_tile = StreamSchedule::m16_tile_rows;

/// A matrix of few non-zeros, one row tile of which has all columns of its first K tile but every `free_column`th.
SparseMatrix with_full_row_tile(std::int64_t row_tiles, std::int64_t columns, std::int64_t free_column,
                                ScalarType element, std::uint32_t seed) {
  return tests::with_full_row_tile(small_matrix(row_tiles * rows_of_row_tile - 5, columns, 0.02, element, seed),
                                   [=](std::int64_t column) { return column % free_column != 0; });
}

SparseMatrix times(double factor, SparseMatrix matrix) {
  for (double& value : matrix.values) {
    value *= factor;
  }
  return matrix;
}

/// From a row on multiplied by a factor.
SparseMatrix with_smaller_rows(SparseMatrix matrix, std::int64_t first_row, double factor) {
  for (auto at = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(first_row)]);
       at < matrix.values.size(); ++at) {
    matrix.values[at] *= factor;
  }
  return matrix;
}

/// The K tiles of a block's rounds, one for each lane.
InstructionExample finds_rounds(const FragmentCase& one) {
  const std::int64_t row_tiles = one.schedule.row_tiles;
  LoopNest nest;
  nest.packed = {
      .kind = PackedForm::Kind::fragments, .height = rows_of_row_tile, .warps = 1, .block_row_tiles = row_tiles};
  nest.vectors = true;
  nest.constants = {{"row_tile_height", rows_of_row_tile, ""},
                    {"block_row_tiles", row_tiles, ""},
                    {"iteration_k_tiles", 1, ""},
                    {"k_tile_columns", StreamSchedule::k_tile_columns, ""},
                    {"tile_columns", 8, ""},
                    {"n8_tiles", 1, ""},
                    {"vector_width", 16 / bytes_of(one.matrix.element), ""},
                    {"stages", 2, ""},
                    {"block_copies", row_tiles, ""},
                    {"threads_per_block", warp_lanes, ""},
                    {"consumer_group_threads", warp_lanes, ""}};
  nest.derived_sizes = {{"blocks", Affine::of("M"), rows_of_row_tile * row_tiles}};
  nest.arrays = {{"FirstRounds", {Affine::of("blocks") + 1}, ArrayRole::packed_index, ScalarType::u32},
                 {"KTiles", {Affine::of("all_rounds")}, ArrayRole::packed_index, ScalarType::u32},
                 {"B", {Affine::of("K"), Affine::of("N")}, ArrayRole::dense, one.matrix.element},
                 {"C", {Affine::of("blocks", warp_lanes), Affine::of("N")}, ArrayRole::output, one.matrix.element}};
  const Affine row = Affine::of("block", warp_lanes) + Affine::of("lane");
  const Block body{perform("find_rounds", {element("FirstRounds"), index("block")}, {"first", "rounds"}),
                   define("round", index("first") + remainder(index("lane"), index("rounds")), ScalarType::u32),
                   perform("k_tile_at", {element("KTiles"), index("round"), index("first")}, {"k_tile"}),
                   store(element("C", {row, 0}), index("first")),
                   store(element("C", {row, 1}), index("rounds")),
                   store(element("C", {row, 2}), index("k_tile"))};
  nest.body = {Node{mapped_loop(Mapping::grid, "block", Affine::of("blocks"), Role::none,
                                {Node{mapped_loop(Mapping::lanes, "lane", warp_lanes, Role::none, body)}})}};
  return {"find_rounds_and_k_tile_at_" + one.name, std::move(nest), one.matrix};
}

/// A convolution of padded images of 5 x 7 pixels of three by three, and the same of every second pixel by one of one;
/// a channel for each nine columns, or for each. And one of images of 2 x 3 pixels.
GivenSizes image_sizes(std::int64_t filters, std::int64_t channels, std::int64_t edge, std::int64_t stride,
                       std::int64_t height = 5, std::int64_t width = 7) {
  return {{{"C", channels},
           {"F", filters},
           {"R", edge},
           {"S", edge},
           {"H", height},
           {"W", width},
           {"stride", stride},
           {"pad", 1},
           {"dilation", 1}},
          {}};
}
LoopNest convolution_nest(ScalarType element, const GivenSizes& sizes) {
  return in_type(parse_loop_nest(conv2d_template, "images.c", NestHeaders::of_system, sizes), element);
}
LoopNest filter_nest(ScalarType element) { return convolution_nest(element, image_sizes(37, 29, 3, 1)); }
LoopNest pixel_nest(ScalarType element) { return convolution_nest(element, image_sizes(37, 150, 1, 2)); }
LoopNest few_filters_nest(ScalarType element) { return convolution_nest(element, image_sizes(37, 3, 3, 1, 2, 3)); }

/// A whole kernel: what is copied ahead is waited for, and multiplied, in turns.
InstructionExample multiplies_packed_tiles(const FragmentCase& one) {
  const LoopNest product = one.product(one.matrix.element);
  return {"stage_and_multiply_" + one.name,
          lower(product, directives_of({one.schedule, "user"}, product.finishes_sums())), one.matrix, one.vectors};
}

}  // namespace

std::vector<InstructionExample> fragment_examples() {
  using enum ScalarType;
  using enum StreamSchedule::Dense;
  const std::vector<FragmentCase> cases{
      {.name = "tf32_shared_k_tiles_in_boxes",
       .matrix = small_matrix(90, 300, 0.5, tf32, 38),
       .schedule = {.columns = 16,
                    .row_tiles = 2,
                    .warps = 4,
                    .stages = 2,
                    .pdl = true,
                    .share = 2,
                    .copies = StreamSchedule::Copies::tma},
       .vectors = true},
      {.name = "tf32_two_m16_tiles_residuals_transposed",
       .matrix = small_matrix(70, 151, 0.5, tf32, 34),
       .schedule = {.columns = 8, .row_tiles = 1, .warps = 2, .stages = 3, .pdl = true, .rows = 32},
       .product = linear_nk_nest},
      {.name = "tf32_several_rounds",
       .matrix = with_full_row_tile(15, 350, 1000, tf32, 4),
       .schedule = {.columns = 32, .row_tiles = 2, .warps = 2, .stages = 3, .pdl = true}},
      {.name = "tf32_bulk_packed_tiles",
       .matrix = with_full_row_tile(7, 300, 2, tf32, 8),
       .schedule =
           {.columns = 8, .row_tiles = 2, .warps = 2, .stages = 2, .pdl = true, .copies = StreamSchedule::Copies::tma},
       .vectors = true},
      {.name = "tf32_bulk_boxes",
       .matrix = with_full_row_tile(7, 350, 2, tf32, 9),
       .schedule =
           {.columns = 16, .row_tiles = 2, .warps = 3, .stages = 2, .pdl = true, .copies = StreamSchedule::Copies::tma},
       .vectors = true},
      {.name = "f32_bulk_boxes_of_32_columns",
       .matrix = small_matrix(40, 550, 0.4, f32, 10),
       .schedule = {.columns = 32,
                    .row_tiles = 1,
                    .warps = 2,
                    .stages = 3,
                    .pdl = false,
                    .copies = StreamSchedule::Copies::tma},
       .vectors = true},
      {.name = "tf32_bulk_rows",
       .matrix = small_matrix(33, 265, 0.4, tf32, 11),
       .schedule = {.columns = 16,
                    .row_tiles = 2,
                    .warps = 1,
                    .stages = 2,
                    .pdl = false,
                    .copies = StreamSchedule::Copies::tma}},
      {.name = "tf32_bulk_transposed",
       .matrix = small_matrix(33, 300, 0.3, tf32, 12),
       .schedule =
           {.columns = 16, .row_tiles = 2, .warps = 2, .stages = 2, .pdl = true, .copies = StreamSchedule::Copies::tma},
       .product = linear_nk_nest},
      {.name = "f32",
       .matrix = times(odd_factor, small_matrix(37, 150, 0.3, f32, 21)),
       .schedule = {.row_tiles = 2, .warps = 2, .stages = 2, .pdl = false}},
      {.name = "f32_dense",
       .matrix = small_matrix(20, 135, 0.95, f32, 22),
       .schedule = {.columns = 16, .row_tiles = 1, .warps = 1, .stages = 3, .pdl = false},
       .vectors = true,
       .factor_of_b = odd_factor},
      {.name = "f32_several_rounds",
       .matrix = with_full_row_tile(7, 400, 2, f32, 23),
       .schedule = {.columns = 32, .row_tiles = 2, .warps = 2, .stages = 3, .pdl = true},
       .vectors = true},
      {.name = "f32_residuals",
       .matrix = small_matrix(40, 300, 0.5, f32, 24),
       .schedule = {.columns = 64, .row_tiles = 3, .warps = 1, .stages = 2, .pdl = true},
       .vectors = true},
      {.name = "f32_two_m16_tiles",
       .matrix = times(odd_factor, small_matrix(37, 300, 0.2, f32, 35)),
       .schedule = {.columns = 32, .row_tiles = 2, .warps = 2, .stages = 2, .pdl = false, .rows = 32},
       .vectors = true},
      {.name = "f32_two_m16_tiles_residuals",
       .matrix = small_matrix(90, 270, 0.45, f32, 36),
       .schedule = {.columns = 64,
                    .row_tiles = 1,
                    .warps = 2,
                    .stages = 2,
                    .pdl = true,
                    .rows = 32,
                    .copies = StreamSchedule::Copies::tma},
       .factor_of_b = odd_factor},
      {.name = "tf32_two_m16_tiles_residuals",
       .matrix = small_matrix(65, 150, 0.45, tf32, 37),
       .schedule = {.columns = 16, .row_tiles = 3, .warps = 1, .stages = 2, .pdl = false, .rows = 32},
       .vectors = true},
      {.name = "tf32_shared_k_tiles_transposed",
       .matrix = small_matrix(50, 265, 0.4, tf32, 39),
       .schedule = {.columns = 16, .row_tiles = 1, .warps = 4, .stages = 3, .pdl = false, .share = 4},
       .product = linear_nk_nest},
      {.name = "f32_shared_k_tiles",
       .matrix = times(odd_factor, small_matrix(70, 300, 0.45, f32, 40)),
       .schedule = {.columns = 32, .row_tiles = 2, .warps = 4, .stages = 3, .pdl = false, .share = 4, .rows = 32},
       .vectors = true},
      {.name = "f32_steps_left",
       .matrix = times(odd_factor, small_matrix(70, 104, 0.7, f32, 58)),
       .schedule = {.columns = 32, .row_tiles = 2, .warps = 4, .stages = 2, .pdl = false, .share = 4, .rows = 32},
       .vectors = true},
      {.name = "tf32_steps_left_of_few_columns",
       .matrix = small_matrix(70, 300, 0.5, tf32, 59),
       .schedule = {.columns = 16, .row_tiles = 1, .warps = 4, .stages = 2, .pdl = true, .share = 4, .rows = 32},
       .vectors = true},
      {.name = "f32_dense_steps",
       .matrix = times(odd_factor, small_matrix(70, 300, 0.6, f32, 64)),
       .schedule =
           {.columns = 16, .row_tiles = 1, .warps = 4, .stages = 2, .pdl = true, .share = 4, .rows = 32, .dense = on},
       .vectors = true},
      {.name = "f32_dense_steps_left_transposed",
       .matrix = times(odd_factor, small_matrix(37, 151, 0.6, f32, 65)),
       .schedule = {.columns = 16, .row_tiles = 2, .warps = 8, .stages = 3, .pdl = false, .share = 8, .dense = on},
       .product = linear_nk_nest},
      {.name = "tf32_dense_steps",
       .matrix = small_matrix(33, 400, 0.7, tf32, 66),
       .schedule = {.columns = 16,
                    .row_tiles = 2,
                    .warps = 2,
                    .stages = 2,
                    .pdl = false,
                    .rows = 32,
                    .copies = StreamSchedule::Copies::tma,
                    .dense = on},
       .vectors = true},
      {.name = "f32_listed_values_in_shared_k_tiles",
       .matrix = small_matrix(30, 140, 0.4, f32, 68),
       .schedule = {.columns = 16,
                    .row_tiles = 1,
                    .warps = 3,
                    .stages = 2,
                    .pdl = true,
                    .share = 3,
                    .rows = 32,
                    .copies = StreamSchedule::Copies::tma,
                    .dense = listed},
       .vectors = true},
      {.name = "tf32_listed_values_transposed",
       .matrix = small_matrix(30, 140, 0.5, tf32, 69),
       .schedule = {.columns = 8, .row_tiles = 2, .warps = 1, .stages = 2, .pdl = false, .dense = listed},
       .product = linear_nk_nest},
      {.name = "f32_listed_values_in_several_rounds",
       .matrix = times(odd_factor, with_full_row_tile(3, 140, 2, f32, 70)),
       .schedule = {.columns = 8, .row_tiles = 1, .warps = 2, .stages = 2, .pdl = true, .share = 2, .dense = listed},
       .vectors = true},
      {.name = "tf32_listed_values",
       .matrix = small_matrix(30, 140, 0.4, tf32, 71),
       .schedule = {.columns = 8,
                    .row_tiles = 1,
                    .warps = 1,
                    .stages = 2,
                    .pdl = false,
                    .rows = 32,
                    .copies = StreamSchedule::Copies::tma,
                    .dense = listed},
       .vectors = true},
      {.name = "f32_placed",
       .matrix = times(odd_factor, small_matrix(37, 41, 0.4, f32, 72)),
       .schedule = {.columns = 64, .row_tiles = 4, .warps = 1, .stages = 2, .pdl = false, .dense = placed}},
      {.name = "f32_placed_of_many_by_hardly_any",
       .matrix = times(odd_factor * 0x1p60, small_matrix(37, 41, 0.4, f32, 80)),
       .schedule = {.columns = 64,
                    .row_tiles = 2,
                    .warps = 2,
                    .stages = 2,
                    .pdl = false,
                    .share = 2,
                    .rows = 32,
                    .copies = StreamSchedule::Copies::tma,
                    .dense = placed},
       .vectors = true,
       .factor_of_b = 0x1p-127},
      {.name = "f32_placed_of_hardly_any_by_many",
       .matrix = times(odd_factor * 0x1p-127, small_matrix(37, 41, 0.4, f32, 81)),
       .schedule = {.columns = 64, .row_tiles = 4, .warps = 1, .stages = 2, .pdl = false, .dense = placed},
       .factor_of_b = 0x1p100},
      {.name = "f32_placed_by_hardly_any",
       .matrix = times(odd_factor, small_matrix(37, 41, 0.4, f32, 83)),
       .schedule = {.columns = 64,
                    .row_tiles = 1,
                    .warps = 4,
                    .stages = 2,
                    .pdl = false,
                    .share = 4,
                    .rows = 48,
                    .dense = placed},
       .factor_of_b = 0x1p-127},
      {.name = "f32_placed_of_row_tiles_far_apart",
       .matrix = with_smaller_rows(times(odd_factor * 0x1p60, small_matrix(60, 41, 0.4, f32, 82)), 32, 0x1p-80),
       .schedule = {.columns = 64,
                    .row_tiles = 2,
                    .warps = 2,
                    .stages = 2,
                    .pdl = false,
                    .share = 2,
                    .rows = 32,
                    .dense = placed},
       .factor_of_b = 0x1p-113},
      {.name = "tf32_placed_for_two_consumer_groups",
       .matrix = small_matrix(37, 41, 0.5, tf32, 73),
       .schedule = {.columns = 64,
                    .row_tiles = 2,
                    .warps = 4,
                    .stages = 2,
                    .pdl = true,
                    .share = 2,
                    .rows = 32,
                    .copies = StreamSchedule::Copies::tma,
                    .dense = placed},
       .vectors = true},
      {.name = "f32_placed_in_128_rows_transposed",
       .matrix = small_matrix(70, 19, 0.5, f32, 74),
       .schedule = {.columns = 64, .row_tiles = 4, .warps = 1, .stages = 2, .pdl = false, .rows = 32, .dense = placed},
       .product = linear_nk_nest,
       .factor_of_b = odd_factor},
      {.name = "f32_placed_in_several_rounds",
       .matrix = times(odd_factor, tests::with_full_row_tile(small_matrix(37, 41, 0.02, f32, 75),
                                                             [](std::int64_t column) { return column < 3; })),
       .schedule = {.columns = 128,
                    .row_tiles = 2,
                    .warps = 4,
                    .stages = 2,
                    .pdl = false,
                    .share = 4,
                    .rows = 32,
                    .dense = placed},
       .vectors = true},
      {.name = "tf32_placed_in_clusters_transposed",
       .matrix = small_matrix(37, 41, 0.5, tf32, 76),
       .schedule =
           {.columns = 64, .row_tiles = 4, .warps = 2, .stages = 2, .pdl = false, .cluster = 2, .dense = placed},
       .product = linear_nk_nest},
      {.name = "f32_placed_in_row_tiles_of_several_packed_tiles",
       .matrix = times(odd_factor, small_matrix(187, 35, 0.4, f32, 78)),
       .schedule = {.columns = 128,
                    .row_tiles = 1,
                    .warps = 8,
                    .stages = 2,
                    .pdl = false,
                    .share = 8,
                    .rows = 176,
                    .dense = placed}},
      {.name = "tf32_placed_in_96_rows",
       .matrix = small_matrix(70, 41, 0.95, tf32, 79),
       .schedule = {.columns = 64,
                    .row_tiles = 1,
                    .warps = 8,
                    .stages = 2,
                    .pdl = false,
                    .share = 4,
                    .rows = 96,
                    .copies = StreamSchedule::Copies::tma,
                    .dense = placed},
       .vectors = true},
      {.name = "tf32_placed_ahead_for_two_consumer_groups",
       .matrix = small_matrix(50, 330, 0.3, tf32, 84),
       .schedule = {.columns = 64,
                    .row_tiles = 1,
                    .warps = 8,
                    .stages = 3,
                    .pdl = true,
                    .share = 4,
                    .rows = 48,
                    .copies = StreamSchedule::Copies::tma,
                    .ahead = true,
                    .dense = placed},
       .vectors = true},
      {.name = "f32_placed_ahead_in_clusters",
       .matrix = times(odd_factor, small_matrix(40, 300, 0.3, f32, 85)),
       .schedule = {.columns = 128,
                    .row_tiles = 1,
                    .warps = 8,
                    .stages = 3,
                    .pdl = false,
                    .share = 8,
                    .rows = 176,
                    .copies = StreamSchedule::Copies::tma,
                    .cluster = 2,
                    .ahead = true,
                    .dense = placed},
       .vectors = true},
      {.name = "f32_placed_ahead_in_several_rounds",
       .matrix = times(odd_factor, tests::with_full_row_tile(small_matrix(37, 141, 0.02, f32, 86),
                                                             [](std::int64_t column) { return column < 3; })),
       .schedule = {.columns = 64,
                    .row_tiles = 2,
                    .warps = 2,
                    .stages = 4,
                    .pdl = false,
                    .share = 2,
                    .rows = 32,
                    .copies = StreamSchedule::Copies::bulk_a,
                    .ahead = true,
                    .dense = placed}},
      {.name = "f32_placed_filters",
       .matrix = small_matrix(37, 27, 0.3, f32, 77),
       .schedule = {.columns = 64, .row_tiles = 4, .warps = 1, .stages = 2, .pdl = false, .dense = placed},
       .product = few_filters_nest},
      {.name = "tf32_clusters",
       .matrix = with_full_row_tile(7, 750, 2, tf32, 60),
       .schedule = {.columns = 16,
                    .row_tiles = 2,
                    .warps = 2,
                    .stages = 2,
                    .pdl = true,
                    .copies = StreamSchedule::Copies::tma,
                    .cluster = 2},
       .vectors = true},
      {.name = "f32_clusters_of_single_warps",
       .matrix = times(odd_factor, small_matrix(37, 700, 0.3, f32, 61)),
       .schedule = {.columns = 8, .row_tiles = 2, .warps = 1, .stages = 3, .pdl = false, .cluster = 4}},
      {.name = "f32_clusters_transposed",
       .matrix = small_matrix(50, 515, 0.4, f32, 62),
       .schedule = {.columns = 16, .row_tiles = 1, .warps = 4, .stages = 3, .pdl = false, .share = 2, .cluster = 2},
       .product = linear_nk_nest},
      {.name = "f32_bulk_boxes",
       .matrix = small_matrix(40, 300, 0.3, f32, 25),
       .schedule =
           {.columns = 16, .row_tiles = 2, .warps = 2, .stages = 2, .pdl = true, .copies = StreamSchedule::Copies::tma},
       .vectors = true},
      {.name = "f32_transposed",
       .matrix = small_matrix(40, 264, 0.4, f32, 26),
       .schedule = {.columns = 16, .row_tiles = 3, .warps = 2, .stages = 2, .pdl = false},
       .product = linear_nk_nest,
       .factor_of_b = odd_factor},
      {.name = "f32_residuals_transposed",
       .matrix = small_matrix(33, 151, 0.55, f32, 27),
       .schedule = {.columns = 8, .row_tiles = 2, .warps = 1, .stages = 3, .pdl = true},
       .product = linear_nk_nest},
      {.name = "f32_filters",
       .matrix = times(odd_factor, small_matrix(37, 261, 0.3, f32, 28)),
       .schedule = {.columns = 32, .row_tiles = 2, .warps = 2, .stages = 2, .pdl = false},
       .product = filter_nest},
      {.name = "f32_filters_residuals",
       .matrix = small_matrix(37, 261, 0.55, f32, 29),
       .schedule =
           {.columns = 64, .row_tiles = 3, .warps = 1, .stages = 3, .pdl = true, .copies = StreamSchedule::Copies::tma},
       .product = filter_nest,
       .factor_of_b = odd_factor},
      {.name = "f32_pixels",
       .matrix = small_matrix(37, 150, 0.4, f32, 30),
       .schedule = {.columns = 16, .row_tiles = 1, .warps = 2, .stages = 2, .pdl = true},
       .product = pixel_nest,
       .factor_of_b = odd_factor},
      {.name = "tf32",
       .matrix = small_matrix(37, 150, 0.3, tf32, 31),
       .schedule = {.columns = 16, .row_tiles = 2, .warps = 2, .stages = 2, .pdl = false},
       .vectors = true},
      {.name = "tf32_residuals_transposed",
       .matrix = small_matrix(33, 264, 0.55, tf32, 32),
       .schedule = {.columns = 8, .row_tiles = 2, .warps = 1, .stages = 3, .pdl = true},
       .product = linear_nk_nest}};
  std::vector<InstructionExample> examples;
  for (const FragmentCase& one : cases) {
    if (one.product == spmm_nest && !one.schedule.is_placed()) {
      examples.push_back(finds_rounds(one));
    }
    examples.push_back(multiplies_packed_tiles(one));
    examples.back().factor_of_b = one.factor_of_b;
    if (one.schedule.is_placed()) {
      examples.back().products = 2;  // all rows of a block and all columns of a tile take a while to interpret
    }
  }
  for (InstructionExample& example : examples) {
    const std::optional<Layout>& layout = example.nest.array(ArrayRole::output).layout;
    example.least_columns = layout && layout->column.size() > 1 ? columns_of_item(*layout) : example.vectors ? 16 : 5;
  }
  return examples;
}

}  // namespace esc::tests
