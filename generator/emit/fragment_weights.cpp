// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/fragment_weights.h"

#include <cstdint>

#include "generator/emit/fragment_text.h"
#include "generator/emit/print_kernel.h"
#include "generator/lower/mainloop.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

/// What takes the time of so many bytes of fragments for each column of C: an extra, where its row pair has the most.
constexpr double residual_bytes = 40;
/// And one for each 16 rows of a row tile where a step takes the time of three products and of splitting B, and warps
/// that share a K tile a part of the residuals each.
constexpr double split_residual_bytes = 10;

}  // namespace

/// Measured on one NVIDIA H200 and, for split products, one H100.
transformer::FragmentWeights fragment_weights(const LoopNest& nest) {
  const auto columns = static_cast<double>(nest.packed.columns);
  const std::int64_t rounds =
      nest.constant("iteration_k_tiles") * (has_clusters(nest) ? nest.constant("cluster_blocks") : 1);
  transformer::FragmentWeights weights{.residual = residual_bytes * columns,
                                       .rounds_at_once = static_cast<std::uint32_t>(rounds)};
  if (nest.packed.listed_values) {
    weights.round = static_cast<double>(nest.constant("k_tile_columns") * bytes_of(nest.element())) * columns;
  } else if (splits_products(nest)) {
    const std::int64_t share = shares_k_tiles(nest) ? nest.constant("k_tile_warps") : 1;
    const auto m16_tiles = static_cast<double>(nest.packed.height / StreamSchedule::m16_tile_rows);
    weights.residual = split_residual_bytes * columns * m16_tiles / static_cast<double>(share);
    weights.steps_at_once = static_cast<std::uint32_t>(share * nest.constant("unrolled_steps"));
  }
  return weights;
}

}  // namespace esc
