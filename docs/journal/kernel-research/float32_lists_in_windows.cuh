// SPDX-License-Identifier: Apache-2.0
// C = A * B in float32 for very sparse A: rows of B in shared memory, lists of (value, row of B) for four rows of A at once, sums in registers.
// (float32_on_tensor_cores.md, "lists, a third time".) B is N wide, N a multiple of 32; a warp has 4 * sets rows of A and 32 columns, a lane one of the rows and four columns.
//
// A block goes through A's columns in windows of 256, four of which it has: in phase p a list may name rows of the windows p - 1, p and p + 1, so that rows whose non-zeros crowd
// in one window take them earlier or later, and all rows of a warp have equally many entries in every phase. Rows are dealt to warps in the order of their lengths.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>


constexpr int window_rows = 256, windows = 4, phases_of_lists = 2, slack = 1, row_bytes = 128;

struct WindowedLists {
  const uint4* lists;        // two entries of a row (value, place in the ring of windows, twice): [block][phase][warp][step][set][4 rows]
  const uint32_t* list_at;   // in 16 bytes, [block][phase * warps + warp], one more at the end
  const uint16_t* steps;     // [block][phase][warp]
  const int* rows;           // [block][warp][set][4], -1 where there is none
  float* C;
  int N, phases, list_bytes;  // list_bytes: most of a phase, a multiple of 128
};

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void barrier_init(uint32_t b, uint32_t n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(n)); }
__device__ __forceinline__ void barrier_expect(uint32_t b, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_arrive(uint32_t b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory"); }
__device__ __forceinline__ void barrier_wait(uint32_t b, uint32_t phase) {
  asm volatile("{\n.reg .pred p;\nL1:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra L2;\nbra L1;\nL2:\n}" ::"r"(b), "r"(phase) : "memory");
}
__device__ __forceinline__ void bulk_copy(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
__device__ inline void copy_box(uint32_t to, const CUtensorMap* boxes, int column, int row, uint32_t barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to), "l"(boxes), "r"(column), "r"(row), "r"(barrier)
               : "memory");
}
__device__ inline float4 shared_row(uint32_t at) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(at));
  return v;
}
__device__ inline uint4 shared_entries(uint32_t at) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at));
  return v;
}
__device__ inline void add_row(float4& sum, uint32_t value, float4 row) {
  const float a = __uint_as_float(value);
  sum.x += a * row.x, sum.y += a * row.y, sum.z += a * row.z, sum.w += a * row.w;
}

// Grid (blocks, N / 32), (warps + 1) * 32 threads. Shared memory: windows, a row of zeros, lists, barriers. `boxes` is B in boxes of 32 columns and 256 rows.
template <int warps, int sets>
__global__ __launch_bounds__((warps + 1) * 32, 1) void multiply_windowed_lists(const __grid_constant__ CUtensorMap boxes, WindowedLists a) {
  extern __shared__ __align__(1024) uint8_t memory[];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const uint32_t ring = shared_address(memory), zeros = ring + windows * window_rows * row_bytes, lists = zeros + row_bytes;
  const uint32_t window_full = lists + phases_of_lists * a.list_bytes, window_empty = window_full + 8 * windows;
  const uint32_t list_full = window_empty + 8 * windows, list_empty = list_full + 8 * phases_of_lists;
  if (threadIdx.x == 0) {
    for (int i = 0; i < windows; ++i) barrier_init(window_full + 8 * i, 1), barrier_init(window_empty + 8 * i, warps);
    for (int i = 0; i < phases_of_lists; ++i) barrier_init(list_full + 8 * i, 1), barrier_init(list_empty + 8 * i, warps);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (threadIdx.x < 32) reinterpret_cast<float*>(memory + windows * window_rows * row_bytes)[lane] = 0;  // what an entry names that is none
  __syncthreads();
  const uint32_t* at = a.list_at + static_cast<size_t>(blockIdx.x) * (a.phases * warps + 1);
  if (warp == warps) {
    if (lane != 0) return;
    for (int t = 0; t < a.phases + slack; ++t) {
      if (t < a.phases) {
        const int i = t % windows;
        if (t >= windows) barrier_wait(window_empty + 8 * i, (t / windows - 1) & 1);
        barrier_expect(window_full + 8 * i, window_rows * row_bytes);
        copy_box(ring + i * window_rows * row_bytes, &boxes, blockIdx.y * 32, t * window_rows, window_full + 8 * i);
      }
      if (const int p = t - slack; p >= 0) {
        const int i = p % phases_of_lists;
        if (p >= phases_of_lists) barrier_wait(list_empty + 8 * i, (p / phases_of_lists - 1) & 1);
        const uint32_t first = at[p * warps], bytes = (at[(p + 1) * warps] - first) * 16;
        barrier_expect(list_full + 8 * i, bytes);
        if (bytes != 0) bulk_copy(lists + i * a.list_bytes, a.lists + first, bytes, list_full + 8 * i);
      }
    }
    return;
  }
  float4 sums[sets] = {};
  const uint32_t mine = ring + lane % 8 * 16;
  for (int p = 0; p < a.phases; ++p) {
    const int steps = a.steps[(static_cast<size_t>(blockIdx.x) * a.phases + p) * warps + warp];
    const int newest = min(p + slack, a.phases - 1);
    barrier_wait(window_full + 8 * (newest % windows), newest / windows & 1);
    barrier_wait(list_full + 8 * (p % phases_of_lists), p / phases_of_lists & 1);
    uint32_t entry = lists + p % phases_of_lists * a.list_bytes + (at[p * warps + warp] - at[p * warps]) * 16 + lane / 8 * 16;
    uint4 next[sets];
#pragma unroll
    for (int s = 0; s < sets; ++s) next[s] = shared_entries(entry + 64 * s);
#pragma unroll 1
    for (int i = 0; i < steps; ++i) {
      entry += 64 * sets;
#pragma unroll
      for (int s = 0; s < sets; ++s) {
        const float4 first = shared_row(mine + next[s].y), second = shared_row(mine + next[s].w);
        const uint4 now = next[s];
        next[s] = shared_entries(entry + 64 * s);  // behind the last one there is room
        add_row(sums[s], now.x, first);
        add_row(sums[s], now.z, second);
      }
    }
    __syncwarp();
    if (lane == 0) {
      barrier_arrive(list_empty + 8 * (p % phases_of_lists));
      if (p >= slack) barrier_arrive(window_empty + 8 * ((p - slack) % windows));
    }
  }
  const int* rows = a.rows + static_cast<size_t>(blockIdx.x) * warps * sets * 4;
#pragma unroll
  for (int s = 0; s < sets; ++s) {
    const int row = rows[(warp * sets + s) * 4 + lane / 8];
    if (row >= 0) *reinterpret_cast<float4*>(a.C + static_cast<size_t>(row) * a.N + blockIdx.y * 32 + lane % 8 * 4) = sums[s];
  }
}

// How many entries each row of a warp has in each phase, in twos. columns_of[r] are a row's columns, ascending. A row must have taken what stands in window p - 1 when phase p ends, and
// can take what stands in window p + 1 at most; beyond that all rows keep the pace of the longest one.
inline std::vector<int> steps_of_phases(const std::vector<std::vector<int>>& columns_of, int phases) {
  size_t longest = 0;
  for (const std::vector<int>& columns : columns_of) longest = std::max(longest, columns.size());
  std::vector<size_t> taken(columns_of.size());
  std::vector<int> result;
  int64_t before = 0;
  for (int p = 0; p < phases; ++p) {
    int64_t needed = 0, possible = 0;
    for (size_t r = 0; r < columns_of.size(); ++r) {
      const auto in_front = [&](int window) {
        return std::lower_bound(columns_of[r].begin(), columns_of[r].end(), window * window_rows) - columns_of[r].begin() - static_cast<int64_t>(taken[r]);
      };
      needed = std::max(needed, p == phases - 1 ? in_front(phases) : in_front(p - slack + 1));
      possible = std::max(possible, in_front(p + slack + 1));
    }
    const int64_t pace = std::llround(static_cast<double>(longest) * (p + 1) / phases) - before;
    const int64_t entries = (std::min(std::max(needed, pace), possible) + 1) / 2 * 2;
    for (size_t r = 0; r < columns_of.size(); ++r) {
      const auto there = std::lower_bound(columns_of[r].begin(), columns_of[r].end(), (p + slack + 1) * window_rows) - columns_of[r].begin();
      taken[r] = std::min<size_t>(there, taken[r] + entries);
    }
    result.push_back(static_cast<int>(entries / 2));
    before += entries;
  }
  return result;
}
