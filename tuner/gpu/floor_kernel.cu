// SPDX-License-Identifier: Apache-2.0
// What a kernel of a given grid must do at least: bring its bytes of A and B into shared memory, waiting once, and
// store its tile of C. No byte is looked at, so that nothing but the moving is timed.

struct FloorWork {
  unsigned int a_bytes;        // of a block: a multiple of 16
  unsigned int a_stride;       // from block to block: a multiple of 128
  unsigned int b_chunks;       // of a block: 16 bytes each
  unsigned int b_row_shift;    // a row of the tile has 1 << b_row_shift chunks
  unsigned int b_row_step;     // bytes from one row of B that is read to the next
  unsigned int b_tile_step;    // bytes from one tile to the next within a row
  unsigned int shared_bytes;   // a multiple of 128, at least 16 for each thread; what does not fit is written over
  unsigned int rows_of_c;
  unsigned int rows_of_block;
  unsigned int columns_of_c;
  unsigned int tile_shift;     // a tile has 1 << tile_shift columns
};

// A place in shared memory `step` bytes further on, which is not more than all of it; after the end, back at the
// beginning.
__device__ __forceinline__ unsigned int next_place(unsigned int place, unsigned int step, unsigned int shared_bytes) {
  const unsigned int next = place + step;
  return next >= shared_bytes ? next - shared_bytes : next;
}

extern "C" __global__ void floor_kernel(const unsigned char* __restrict__ a, const unsigned char* __restrict__ b,
                                        float* __restrict__ c, FloorWork work) {
  extern __shared__ __align__(128) unsigned char stage[];
  const unsigned char* const share = a + static_cast<size_t>(blockIdx.x) * work.a_stride;
  const unsigned int step = 16 * blockDim.x;
  unsigned int to = 16 * threadIdx.x;
  for (unsigned int at = 16 * threadIdx.x; at < work.a_bytes; at += step) {
    __pipeline_memcpy_async(stage + to, share + at, 16);
    to = next_place(to, step, work.shared_bytes);
  }
  const unsigned char* const tile = b + static_cast<size_t>(blockIdx.y) * work.b_tile_step;
  const unsigned int parts = (1u << work.b_row_shift) - 1;
  to = next_place(16 * threadIdx.x, (work.a_bytes + 127) / 128 * 128 % work.shared_bytes, work.shared_bytes);
  for (unsigned int chunk = threadIdx.x; chunk < work.b_chunks; chunk += blockDim.x) {
    const size_t row = chunk >> work.b_row_shift;
    __pipeline_memcpy_async(stage + to, tile + row * work.b_row_step + 16 * (chunk & parts), 16);
    to = next_place(to, step, work.shared_bytes);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();

  const unsigned int width = work.columns_of_c % 4 == 0 && work.tile_shift >= 2 ? 4 : 1;
  const unsigned int first_row = blockIdx.x * work.rows_of_block;
  const unsigned int first_column = blockIdx.y << work.tile_shift;
  for (unsigned int at = width * threadIdx.x; at < work.rows_of_block << work.tile_shift; at += width * blockDim.x) {
    const unsigned int row = first_row + (at >> work.tile_shift);
    const unsigned int column = first_column + (at & ((1u << work.tile_shift) - 1));
    if (row < work.rows_of_c && column < work.columns_of_c) {
      float* const element = c + static_cast<size_t>(row) * work.columns_of_c + column;
      const unsigned char* const from = stage + 16 * threadIdx.x;
      if (width == 4) {
        *reinterpret_cast<float4*>(element) = *reinterpret_cast<const float4*>(from);
      } else {
        *element = *reinterpret_cast<const float*>(from);
      }
    }
  }
}
