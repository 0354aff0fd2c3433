// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/floor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "generator/support/error.h"
#include "tuner/gpu/rtc_build.h"
#include "tuner/gpu/texts.h"

namespace esc::gpu {
namespace {

constexpr double bytes_per_nonzero = 6;
constexpr std::uint64_t most_shared_bytes = 160 * 1024;
constexpr std::uint64_t line_bytes = 128;
constexpr std::uint64_t chunk_bytes = 16;

/// The kernel's last argument, as floor_kernel.cu has it.
struct FloorWork {
  unsigned int a_bytes = 0;
  unsigned int a_stride = 0;
  unsigned int b_chunks = 0;
  unsigned int b_row_shift = 0;
  unsigned int b_row_step = 0;
  unsigned int b_tile_step = 0;
  unsigned int shared_bytes = 0;
  unsigned int rows_of_c = 0;
  unsigned int rows_of_block = 0;
  unsigned int columns_of_c = 0;
  unsigned int tile_shift = 0;
};

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

unsigned int narrow(std::uint64_t value) {
  ESC_CHECK(value <= 0xffffffffU, "a block's share fits into 32 bits");
  return static_cast<unsigned int>(value);
}

unsigned int logarithm(std::uint64_t power_of_two) {
  ESC_CHECK(std::has_single_bit(power_of_two), "tiles have a power of two of columns");
  return static_cast<unsigned int>(std::countr_zero(power_of_two));
}

FloorWork work_of(const SparseMatrix& matrix, std::uint64_t columns_of_c, const LaunchPlan& plan,
                  const BlockTile& tile) {
  const double nonzeros = static_cast<double>(matrix.nonzeros()) / plan.grid_x;
  const auto b_rows = static_cast<std::uint64_t>(std::lround(std::max(1.0, mean_columns_of_block(matrix, tile.rows))));
  const auto columns = static_cast<std::uint64_t>(tile.columns);
  FloorWork work;
  work.a_bytes = narrow(round_up(static_cast<std::uint64_t>(std::ceil(nonzeros * bytes_per_nonzero)), chunk_bytes));
  work.a_stride = narrow(round_up(work.a_bytes, line_bytes));
  const std::uint64_t pitch = columns_of_c * sizeof(float);
  const std::uint64_t row = columns * sizeof(float);
  if (row % line_bytes == 0 && pitch % line_bytes == 0 && columns <= columns_of_c) {
    work.b_chunks = narrow(b_rows * row / chunk_bytes);
    work.b_row_shift = logarithm(row / chunk_bytes);
    work.b_row_step = narrow(static_cast<std::uint64_t>(matrix.columns) / b_rows * pitch);
    work.b_tile_step = narrow(row);
  } else {
    // Rows that are no whole lines: as many bytes from the beginning of B, so that source and destination stay aligned
    // to each other, without which such copies are several times slower.
    constexpr unsigned int one_row = 31;
    const std::uint64_t all_of_b = static_cast<std::uint64_t>(matrix.columns) * pitch;
    work.b_chunks = narrow(std::min(b_rows * row, all_of_b) / chunk_bytes);
    work.b_row_shift = one_row;
  }
  const std::uint64_t least_shared_bytes = round_up(chunk_bytes * plan.threads, line_bytes);
  work.shared_bytes = narrow(std::clamp(round_up(work.a_stride + chunk_bytes * work.b_chunks, line_bytes),
                                        least_shared_bytes, most_shared_bytes));
  work.rows_of_c = narrow(static_cast<std::uint64_t>(matrix.rows));
  work.rows_of_block = narrow(static_cast<std::uint64_t>(tile.rows));
  work.columns_of_c = narrow(columns_of_c);
  work.tile_shift = logarithm(columns);
  return work;
}

}  // namespace

double mean_columns_of_block(const SparseMatrix& matrix, std::int64_t rows_of_block) {
  ESC_CHECK(rows_of_block > 0, "a block has rows");
  std::vector<std::int64_t> last_block(static_cast<std::size_t>(matrix.columns), -1);
  std::int64_t columns = 0;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const std::int64_t block = row / rows_of_block;
    for (std::int64_t entry = matrix.offsets[static_cast<std::size_t>(row)];
         entry < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++entry) {
      std::int64_t& last = last_block[static_cast<std::size_t>(matrix.column_of[static_cast<std::size_t>(entry)])];
      columns += last != block;
      last = block;
    }
  }
  return static_cast<double>(columns) / static_cast<double>((matrix.rows + rows_of_block - 1) / rows_of_block);
}

FloorKernel::FloorKernel(int architecture)
    : kernels_(build({std::string(floor_kernel_text), {"floor_kernel"}, architecture})) {}

Timing FloorKernel::measure(const ProductBench& bench, GraphTimer& timer, const LaunchPlan& plan, const BlockTile& tile,
                            const TimingOptions& options) const {
  FloorWork work = work_of(bench.matrix(), bench.columns(), plan, tile);
  const Geometry geometry{
      .grid_x = plan.grid_x, .grid_y = plan.grid_y, .threads = plan.threads, .shared_bytes = work.shared_bytes};
  const void* const kernel = kernels_.function(0);
  allow_shared_memory(kernel, geometry);
  const Buffer a(static_cast<std::size_t>(work.a_stride) * plan.grid_x);
  check(cudaMemset(a.as<void>(), 1, a.bytes()), "cudaMemset");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return timer.measure(
      [&](cudaStream_t stream, std::size_t copy) {
        const void* packed = a.as<void>();
        const void* b = bench.b(copy);
        void* c = bench.c(copy);
        void* arguments[] = {&packed, &b, &c, &work};
        launch(kernel, geometry, Edge::plain, arguments, stream);
      },
      options);
}

}  // namespace esc::gpu
