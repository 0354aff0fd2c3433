// SPDX-License-Identifier: Apache-2.0
// C = A * B in float32 for very sparse A: rows of B in shared memory, lists of (row of B, value) for each row of A, sums in registers.
// (float32_on_tensor_cores.md, "lists".) A block has 128 rows, 8 to a warp, and goes through tiles of A's columns; a row of B in a tile serves all 128.
#pragma once
#include "float32_tiles.cuh"

struct ListArguments {
  const uint8_t* packed;    // [row tile][column tile]: starts [128 rows + 1] uint16 in entries of 16 * (128 / N) bytes, then the entries
  const uint32_t* list_at;  // in 16 bytes, [row tile][column tile], one more at the end
  const float* B;
  float* partial;  // [block][segment][row][N]
  int row_tiles, column_tiles, segments, list_bytes;
};
constexpr int list_rows = 128, list_warps = 16, list_head = 272;
template <int N>
__host__ __device__ constexpr int list_columns() {
  return 16384 / N;
}  // of a tile: 64 KiB of B

template <int N>
__global__ __launch_bounds__(544, 1) void multiply_lists(ListArguments a) {
  constexpr int groups = 128 / N, stage_columns = list_columns<N>(), stages = 2, own_rows = list_rows / list_warps;
  extern __shared__ __align__(1024) uint8_t memory[];
  __shared__ __align__(8) uint64_t barriers[2 * stages];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const uint32_t base = shared_address(memory), full = shared_address(barriers), empty = full + 8 * stages;
  const uint32_t stage_bytes = 65536 + a.list_bytes;
  const int64_t units = static_cast<int64_t>(a.row_tiles) * a.column_tiles;
  const int begin = static_cast<int>(first_unit(blockIdx.x, gridDim.x, units)), end = static_cast<int>(first_unit(blockIdx.x + 1, gridDim.x, units));
  if (threadIdx.x < stages) {
    barrier_init(full + 8 * threadIdx.x, 1);
    barrier_init(empty + 8 * threadIdx.x, list_warps);
  }
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
  __syncthreads();
  if (warp == list_warps) {
    if (lane == 0) {
      bool waited = false;
      for (int u = begin; u < end; ++u) {
        const int n = u - begin, stage = n % stages;
        const uint32_t from = __ldg(a.list_at + u), bytes = (__ldg(a.list_at + u + 1) - from) * 16;
        if (n >= stages) barrier_wait(empty + 8 * stage, (n / stages - 1) & 1);
        barrier_expect(full + 8 * stage, 65536 + bytes);
        bulk_copy(base + stage * stage_bytes + 65536, a.packed + static_cast<size_t>(from) * 16, bytes, full + 8 * stage);
        if (!waited) {
          asm volatile("griddepcontrol.wait;" ::: "memory");
          waited = true;
        }
        bulk_copy(base + stage * stage_bytes, a.B + static_cast<size_t>(u % a.column_tiles) * stage_columns * N, 65536, full + 8 * stage);
      }
    }
    return;
  }
  float4 sum[own_rows];
#pragma unroll
  for (int r = 0; r < own_rows; ++r) sum[r] = make_float4(0, 0, 0, 0);
  const int group = lane / (N / 4);
  const uint32_t column = lane % (N / 4) * 16;
  const int first_tile = begin / a.column_tiles;
  for (int u = begin; u < end; ++u) {
    const int n = u - begin, stage = n % stages;
    const uint32_t rows_at = base + stage * stage_bytes, list = rows_at + 65536;
    barrier_wait(full + 8 * stage, (n / stages) & 1);
    const uint4 s = load_shared4(list + warp * own_rows * 2);
    const uint32_t last = load_shared1(list + warp * own_rows * 2 + 16) & 0xffff;
    const uint32_t start[own_rows + 1] = {s.x & 0xffff, s.x >> 16, s.y & 0xffff, s.y >> 16, s.z & 0xffff, s.z >> 16, s.w & 0xffff, s.w >> 16, last};
#pragma unroll
    for (int r = 0; r < own_rows; ++r) {
      const uint32_t until = list + list_head + start[r + 1] * (16 * groups);
#pragma unroll 2
      for (uint32_t at = list + list_head + start[r] * (16 * groups) + group * 16; at < until; at += 16 * groups) {
        const uint4 e = load_shared4(at);
        const uint4 x = load_shared4(rows_at + e.x + column), y = load_shared4(rows_at + e.z + column);
        const float p = __uint_as_float(e.y), q = __uint_as_float(e.w);
        sum[r].x = fmaf(p, __uint_as_float(x.x), sum[r].x), sum[r].y = fmaf(p, __uint_as_float(x.y), sum[r].y),
        sum[r].z = fmaf(p, __uint_as_float(x.z), sum[r].z), sum[r].w = fmaf(p, __uint_as_float(x.w), sum[r].w);
        sum[r].x = fmaf(q, __uint_as_float(y.x), sum[r].x), sum[r].y = fmaf(q, __uint_as_float(y.y), sum[r].y),
        sum[r].z = fmaf(q, __uint_as_float(y.z), sum[r].z), sum[r].w = fmaf(q, __uint_as_float(y.w), sum[r].w);
      }
    }
    __syncwarp();
    if (lane == 0) barrier_arrive(empty + 8 * stage);
    if (u + 1 == end || (u + 1) % a.column_tiles == 0) {
      float* to = a.partial + (static_cast<size_t>(blockIdx.x * a.segments + u / a.column_tiles - first_tile) * list_rows + warp * own_rows) * N;
#pragma unroll
      for (int r = 0; r < own_rows; ++r) {
        float4 t = sum[r];
#pragma unroll
        for (int step = N / 4; step < 32; step *= 2) {
          t.x += __shfl_xor_sync(~0u, t.x, step), t.y += __shfl_xor_sync(~0u, t.y, step), t.z += __shfl_xor_sync(~0u, t.z, step),
              t.w += __shfl_xor_sync(~0u, t.w, step);
        }
        if (group == 0) *reinterpret_cast<float4*>(to + r * N + column / 4) = t;
        sum[r] = make_float4(0, 0, 0, 0);
      }
    }
  }
}

/// Grid: row tiles, 128 * N / 4 / 128; 128 threads.
template <int N>
__global__ __launch_bounds__(128) void add_lists(const float* partial, float* C, const int4* places, int segments) {
  asm volatile("griddepcontrol.launch_dependents;");
  const int4 place = __ldg(places + blockIdx.x);
  constexpr size_t tile = list_rows * N / 4;
  const float4* parts = reinterpret_cast<const float4*>(partial) + blockIdx.y * 128 + threadIdx.x;
  float4 s = make_float4(0, 0, 0, 0);
  asm volatile("griddepcontrol.wait;" ::: "memory");
  for (int i = 0; i < place.z; i += 4) {
    float4 x[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      x[k] = i + k < place.z ? __ldcg(parts + static_cast<size_t>(i + k == 0 ? place.x : (place.y + i + k - 1) * segments) * tile) : make_float4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < 4; ++k) s.x += x[k].x, s.y += x[k].y, s.z += x[k].z, s.w += x[k].w;
  }
  reinterpret_cast<float4*>(C)[blockIdx.x * tile + blockIdx.y * 128 + threadIdx.x] = s;
}
