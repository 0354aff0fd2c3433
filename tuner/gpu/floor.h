// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "generator/emit/launch_plan.h"
#include "generator/matrix/sparse_matrix.h"
#include "tuner/gpu/graph_timer.h"
#include "tuner/gpu/launch.h"
#include "tuner/gpu/product_bench.h"

namespace esc::gpu {

/// The part of C that a block of a kernel computes.
struct BlockTile {
  std::int64_t rows = 1;
  std::int64_t columns = 1;  ///< a power of two
};

/// How many columns of the matrix have a non-zero in a block's rows, averaged over the blocks: the rows of B that a
/// block needs.
double mean_columns_of_block(const SparseMatrix& matrix, std::int64_t rows_of_block);

/// A kernel that moves what a product must move at least, and computes nothing: each block brings its share of A, at 6
/// bytes per non-zero, and the rows of B that it needs into shared memory, waiting once, and stores its tile of C.
/// Shares are those of an average block.
class FloorKernel {
 public:
  explicit FloorKernel(int architecture);

  /// Time of a launch with the grid and the threads of `plan`, warm, plain edges. C holds nothing of use afterwards.
  /// Throws DeviceError.
  Timing measure(const ProductBench& bench, GraphTimer& timer, const LaunchPlan& plan, const BlockTile& tile,
                 const TimingOptions& options) const;

 private:
  LoadedKernels kernels_;
};

}  // namespace esc::gpu
