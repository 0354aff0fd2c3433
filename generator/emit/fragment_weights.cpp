// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/fragment_weights.h"

#include <cstdint>

#include "generator/emit/fragment_text.h"
#include "generator/emit/print_kernel.h"
#include "generator/lower/lane_sums.h"
#include "generator/lower/mainloop.h"
#include "generator/schedule/element_types.h"
#include "generator/schedule/layer_class.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

/// What takes the time of so many bytes of fragments for each column of C: an extra, where its row pair has the most,
/// in half steps of 16 bits and in others, and the products of a step.
constexpr double half_step_extra_bytes = 80;
constexpr double residual_bytes = 40;
constexpr double step_bytes = 7.6;
/// And of a step of either kind whatever the columns. Not measured: with it random matrices have as many steps as when
/// a 1:4 steps had the metadata of a half one, for which the others were.
constexpr double read_step_bytes = 50;
/// And an extra where a block waits for memory.
constexpr double hidden_extra_bytes = 100;
/// Lanes that deal residuals to each other where C has one column.
constexpr double dealing_lanes = 4;
/// And one for each 16 rows of a row tile where a step takes the time of three products and of splitting B, and warps
/// that share a K tile a part of the residuals each.
constexpr double split_extra_bytes = 10;

/// Whether a layer is of 16 bits and so large that its elements do not stay in the cache.
bool exceeds_cache(const LoopNest& nest, const SparseMatrix& matrix) {
  constexpr double cached_elements = 32.0 * 1024 * 1024;  ///< of 2 bytes, in 50 to 60 MiB of L2
  return is_half_type(name_of(nest.element())) &&
         static_cast<double>(matrix.rows) * static_cast<double>(matrix.columns) >= cached_elements;
}

/// Whether columns of C are so few that the products are done before the next weights are there. With 16 of them and
/// half steps an H100 waits for its memory and an H200 for the residuals.
bool waits_for_memory(const LoopNest& nest, const SparseMatrix& matrix) {
  const std::int64_t few_columns = nest.packed.sparse14_steps ? 16 : 8;
  return nest.packed.columns <= few_columns && exceeds_cache(nest, matrix);
}

}  // namespace

/// Measured on one NVIDIA H200 and, with 1:4 steps, for split products and of layers larger than a cache, one H100.
/// Without 1:4 steps all steps have the same bytes, which count for their products too.
transformer::FragmentWeights fragment_weights(const LoopNest& nest, const SparseMatrix& matrix) {
  const auto columns = static_cast<double>(nest.constant("n8_tiles") * 8);  // that the tensor core multiplies
  const std::int64_t rounds =
      nest.constant("iteration_k_tiles") * (has_clusters(nest) ? nest.constant("cluster_blocks") : 1);
  transformer::FragmentWeights weights{.residual = residual_bytes * columns,
                                       .rounds_at_once = static_cast<std::uint32_t>(rounds)};
  if (nest.packed.listed_values) {
    weights.round = static_cast<double>(nest.constant("k_tile_columns") * bytes_of(nest.element())) * columns;
  } else if (splits_products(nest)) {
    const std::int64_t share = shares_k_tiles(nest) ? nest.constant("k_tile_warps") : 1;
    const auto m16_tiles = static_cast<double>(nest.packed.height / StreamSchedule::m16_tile_rows);
    weights.residual = split_extra_bytes * columns * m16_tiles / static_cast<double>(share);
    weights.steps_at_once = static_cast<std::uint32_t>(share * nest.constant("unrolled_steps"));
  } else {
    const double of_column =
        is_half(nest.element()) && !nest.packed.sparse14_steps ? half_step_extra_bytes : residual_bytes;
    weights.residual = (waits_for_memory(nest, matrix) ? hidden_extra_bytes : of_column * columns) /
                       (has_one_column(nest) ? dealing_lanes : 1);
    weights.step = nest.packed.sparse14_steps ? read_step_bytes + step_bytes * columns : 0;
  }
  return weights;
}

}  // namespace esc
