// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Deals the iterations of a block to the blocks of a cluster, which run at the same time on several multiprocessors.
/// Each goes through its part of the columns of A; then all but the first leave their sums in the shared memory of that
/// one, which adds them up and stores C:
///
///   grid (block ..) ..                              grid (block ..) .. cluster (rank = 0; rank < cluster_blocks;
/// rank++)
///     ..                                              ..
///     for (iteration < iterations)                              barrier;  // of the cluster: all of its blocks have
///     begun
///       its = iteration * iteration_k_tiles + part; ..          for (iteration < iterations)
///     if (part < 1)                            ->       its = (iteration * cluster_blocks + rank) * iteration_k_tiles
///     + part; ..
///       add the sums of other warps                   if (part < 1)
///       store C                                         add the sums of other warps
///                                                       if (0 < rank) store_to_cluster(&cluster_sums[rank - 1][..],
///                                                       ..)
///                                                     barrier;  // of the cluster
///                                                     if (part < 1 && rank < 1)
///                                                       add cluster_sums
///                                                       store C
///
/// So matrices with few rows have work for all multiprocessors, and C has the same bits from run to run. What is packed
/// stays as it is.
///
/// After pipeline() and copy(tma), before epilogue(). Throws ScheduleError where nothing is copied ahead.
LoopNest cluster_iterations(const LoopNest& nest, const ClusterIterations& directive);

}  // namespace esc
