// SPDX-License-Identifier: Apache-2.0
// C = A * B with A's tiles decoded into the registers of wgmma: float32 by three products of TF32 terms, or one (float32_on_tensor_cores.md).
//
// A block is three warp groups. Two multiply: 64 rows of a tile each, or the same 64 rows and every second unit (RowGroups 1). The third stages B: it
// reads rows of B, splits them into their two terms and writes them transposed, K behind each other in lines of 128 bytes (swizzled), as wgmma wants
// TF32. Blocks share all tiles times units evenly; what a block has of a tile is a part, and add_parts adds the parts of a tile in order.
//
// A unit is 16 rows (a panel) times UnitChunks chunks of 32 columns. Its bytes, with R = 16 registers of values that a lane has for a chunk (sparse: 8):
//   masks   [chunk][R] uint32: which lanes have a non-zero in the register
//   starts  [chunk][R] uint16: where the first of them is, in bytes from the unit's beginning
//   sparse: metadata [chunk][lane] uint32, of both steps of the chunk: lane 4 g + 2 step + half has pairs 4 half to 4 half + 3 of rows g and g + 8
//   values  float32, those of a register in the order of the lanes; padded to 16 bytes
// Sparse: columns are paired over all of K so that no row of the tile has a non-zero in both (1 of 2), and `order` says which column stands where.
//
// Wgmma<N>::tf32(sums, a, b, keep) is wgmma.mma_async.sync.aligned.m64nNk8.f32.tf32.tf32 with A in registers, B by descriptor and `keep` as its scale-d;
// tf32_sparse<select> is .sp, m64nNk16 with metadata; f16 is m64nNk16.f32.f16.f16. The _two forms have 2 N columns, of which the sums of the second half
// are an array of their own. Wgmma<N>::wait waits for all groups, and names the sums so that nobody reads them earlier.
#pragma once
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

enum class Kind { tf32, tf32_sparse, f16 };

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
__device__ __forceinline__ uint4 load_shared4(uint32_t a) {
  uint4 r;
  asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "r"(a));
  return r;
}
__device__ __forceinline__ uint2 load_shared2(uint32_t a) {
  uint2 r;
  asm volatile("ld.shared.v2.b32 {%0,%1}, [%2];" : "=r"(r.x), "=r"(r.y) : "r"(a));
  return r;
}
__device__ __forceinline__ uint32_t load_shared1(uint32_t a) {
  uint32_t r;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(r) : "r"(a));
  return r;
}
__device__ __forceinline__ void store_shared4(uint32_t a, uint4 v) {
  asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(a), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
__device__ __forceinline__ void store_shared2(uint32_t a, uint2 v) { asm volatile("st.shared.v2.b32 [%0], {%1,%2};" ::"r"(a), "r"(v.x), "r"(v.y) : "memory"); }

/// The tensor core ignores the 13 low bits of an element, so that adding half of what they can say rounds it.
__device__ __forceinline__ void split(uint32_t v, uint32_t& high, uint32_t& low) {
  high = v + 0x1000u;
  low = __float_as_uint(__uint_as_float(v) - __uint_as_float(high & 0xffffe000u));
}

struct Arguments {
  const uint8_t* packed;    // units: [row tile][panel][unit], each a multiple of 16 bytes
  const uint32_t* unit_at;  // in 16 bytes, [row tile][panel][unit], one more at the end
  const uint16_t* order;    // sparse form: [row tile][position] which column of A
  const float* B;
  float* partial;  // [block][segment][warp group][column group of 8][thread] float4
  int row_tiles, row_units, segments, slot_bytes, depth;
};

__host__ __device__ inline int64_t first_unit(int64_t block, int64_t blocks, int64_t units) { return block * units / blocks; }

constexpr int chunk_columns = 32;
constexpr int max_depth = 16;
constexpr float half_scale = 8192;  // brings values below 1 to where float16 has most bits below them

template <int N, int Products, Kind K>
__host__ __device__ constexpr int stage_bytes() {
  return N * (K == Kind::f16 ? 64 : 128) * (Products == 3 ? 2 : 1);
}

template <int N, int Products, Kind K, int RowGroups, int UnitChunks, int Stages>
__global__ __launch_bounds__(384, 1) void multiply_tiles(Arguments a) {
  constexpr bool sparse = K == Kind::tf32_sparse, half = K == Kind::f16;
  constexpr int registers = sparse ? 8 : 16;  // of A's values in a chunk, one lane
  constexpr int groups = 2 / RowGroups;       // warp groups that share rows
  constexpr int term_bytes = N * (half ? 64 : 128), bytes_of_stage = stage_bytes<N, Products, K>();
  constexpr int mask_bytes = registers * 4, start_bytes = registers * 2;
  constexpr int consumer_registers = N < 128 ? 168 : Products == 3 && K == Kind::tf32 ? 208 : 184;
  constexpr bool ahead = consumer_registers < 208;  // a chunk of B is loaded while the one in front is stored
  static_assert(RowGroups == 2 || Stages % (2 * UnitChunks) == 0, "a stage must always serve the same warps");
  extern __shared__ __align__(1024) uint8_t memory[];
  __shared__ __align__(8) uint64_t barriers[2 * Stages + 8 * max_depth];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, group = warp >> 2;
  const uint32_t base = (shared_address(memory) + 1023) & ~1023u, full = shared_address(barriers), empty = full + 8 * Stages, arrived = empty + 8 * Stages;
  const int64_t units = static_cast<int64_t>(a.row_tiles) * a.row_units;
  const int begin = static_cast<int>(first_unit(blockIdx.x, gridDim.x, units)), end = static_cast<int>(first_unit(blockIdx.x + 1, gridDim.x, units));
  if (threadIdx.x < 8 * max_depth)
    barrier_init(arrived + 8 * threadIdx.x, 1);
  else if (threadIdx.x < 8 * max_depth + Stages)
    barrier_init(full + 8 * (threadIdx.x - 8 * max_depth), N / 32);
  else if (threadIdx.x < 8 * max_depth + 2 * Stages)
    barrier_init(empty + 8 * (threadIdx.x - 8 * max_depth - Stages), 4 * RowGroups);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
  __syncthreads();

  if (group == 2) {
    if constexpr (consumer_registers == 208)
      asm volatile("setmaxnreg.dec.sync.aligned.u32 88;");
    else if constexpr (consumer_registers == 184)
      asm volatile("setmaxnreg.dec.sync.aligned.u32 136;");
    constexpr int batch = 128 / N;  // chunks at once
    const int thread = threadIdx.x - 256, column = thread % N, sub = thread / N;
    const int chunks = (end - begin) * UnitChunks, row_chunks = a.row_units * UnitChunks;
    float value[32], other[32];
    int mine = 0;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    const auto order_of = [&](int c) {  // which columns the chunk has, one for each lane
      if (!sparse || c >= chunks) return 0;
      const int unit_chunk = begin * UnitChunks + c, tile = unit_chunk / row_chunks, k = unit_chunk % row_chunks * chunk_columns;
      return static_cast<int>(__ldg(a.order + static_cast<size_t>(tile) * row_chunks * chunk_columns + k + lane));
    };
    const auto load = [&](float(&value)[32], int c) {
      if (c >= chunks) return;
      if (sparse) {
        const float* p = a.B + column;
#pragma unroll
        for (int i = 0; i < 32; ++i) value[i] = __ldg(p + __shfl_sync(~0u, mine, i) * N);
        mine = order_of(c + batch);
      } else {
        const float* p = a.B + static_cast<size_t>((begin * UnitChunks + c) % row_chunks * chunk_columns) * N + column;
#pragma unroll
        for (int i = 0; i < 32; ++i) value[i] = __ldg(p + i * N);
      }
    };
    const auto store = [&](const float(&value)[32], int c) {
      if (c >= chunks) return;
      const int stage = c % Stages;
      if (c >= Stages) barrier_wait(empty + 8 * stage, (c / Stages - 1) & 1);
      const uint32_t to = base + stage * bytes_of_stage;
      if (half) {
#pragma unroll
        for (int q = 0; q < 4; ++q) {
          uint32_t high[4], low[4];
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const float x = value[8 * q + 2 * i] * half_scale, y = value[8 * q + 2 * i + 1] * half_scale;
            const __half2 h = __floats2half2_rn(x, y);
            const __half2 l = __floats2half2_rn(x - __low2float(h), y - __high2float(h));
            high[i] = *reinterpret_cast<const uint32_t*>(&h), low[i] = *reinterpret_cast<const uint32_t*>(&l);
          }
          const uint32_t at = to + column * 64 + ((q ^ ((column >> 1) & 3)) << 4);
          store_shared4(at, make_uint4(high[0], high[1], high[2], high[3]));
          if (Products == 3) store_shared4(at + term_bytes, make_uint4(low[0], low[1], low[2], low[3]));
        }
      } else {
#pragma unroll
        for (int q = 0; q < 8; ++q) {
          uint32_t high[4], low[4];
#pragma unroll
          for (int i = 0; i < 4; ++i) split(__float_as_uint(value[4 * q + i]), high[i], low[i]);
          const uint32_t at = to + column * 128 + ((q ^ (column & 7)) << 4);
          store_shared4(at, make_uint4(high[0], high[1], high[2], high[3]));
          if (Products == 3) store_shared4(at + term_bytes, make_uint4(low[0], low[1], low[2], low[3]));
        }
      }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      __syncwarp();
      if (lane == 0) barrier_arrive(full + 8 * stage);
    };
    mine = order_of(sub);
    load(value, sub);
    if (ahead) {
      for (int c = sub; c < chunks; c += 2 * batch) {
        load(other, c + batch);
        store(value, c);
        load(value, c + 2 * batch);
        store(other, c + batch);
      }
    } else {
      for (int c = sub; c < chunks; c += batch) {
        store(value, c);
        load(value, c + batch);
      }
    }
    return;
  }

  if constexpr (consumer_registers == 208)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 208;");
  else if constexpr (consumer_registers == 184)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 184;");
  const int row_group = RowGroups == 2 ? group : 0, share = RowGroups == 2 ? 0 : group;
  const int panel = row_group * 4 + (warp & 3);
  const uint32_t ring = base + Stages * bytes_of_stage + warp * a.depth * a.slot_bytes, ready = arrived + warp * max_depth * 8;
  const uint32_t below = (1u << lane) - 1, own = 1u << lane;
  const int own_units = (end - begin - share + groups - 1) / groups;

  const auto place = [&](int number) {  // of this warp's unit in the table
    const int unit = begin + share + number * groups, tile = unit / a.row_units;
    return (tile * (4 * RowGroups) + panel) * a.row_units + unit % a.row_units;
  };
  uint32_t from = 0, bytes = 0;  // of 32 units, one for each lane
  const auto issue = [&](int number) {
    if (number % 32 == 0 && number + lane < own_units) {
      const int at = place(number + lane);
      from = __ldg(a.unit_at + at), bytes = (__ldg(a.unit_at + at + 1) - from) * 16;
    }
    const uint32_t start = __shfl_sync(~0u, from, number % 32), size = __shfl_sync(~0u, bytes, number % 32);
    if (lane == 0) {
      const int slot = number % a.depth;
      barrier_expect(ready + 8 * slot, size);
      bulk_copy(ring + slot * a.slot_bytes, a.packed + static_cast<size_t>(start) * 16, size, ready + 8 * slot);
    }
  };
  for (int i = 0; i < a.depth && i < own_units; ++i) issue(i);
  __syncwarp();

  uint32_t raw[registers], meta = 0;
  int decoded_unit = 0, decoded_chunk = 0, slot = 0, slot_phase = 0;
  const auto decode = [&]() {  // the next chunk of this warp
    if (decoded_unit >= own_units) return;
    if (decoded_chunk == 0) barrier_wait(ready + 8 * slot, slot_phase);
    const uint32_t unit = ring + slot * a.slot_bytes;
    const uint32_t masks = unit + decoded_chunk * mask_bytes, starts = unit + UnitChunks * mask_bytes + decoded_chunk * start_bytes;
    if (sparse) meta = load_shared1(unit + UnitChunks * (mask_bytes + start_bytes) + decoded_chunk * 128 + lane * 4);
#pragma unroll
    for (int q = 0; q < registers / 4; ++q) {
      const uint4 m = load_shared4(masks + q * 16);
      const uint2 s = load_shared2(starts + q * 8);
      const uint32_t mask[4] = {m.x, m.y, m.z, m.w}, start[4] = {s.x & 0xffff, s.x >> 16, s.y & 0xffff, s.y >> 16};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        asm volatile("{\n.reg .pred p;\n.reg .b32 x;\nand.b32 x, %2, %3;\nsetp.ne.u32 p, x, 0;\nmov.b32 %0, 0;\n@p ld.shared.b32 %0, [%1];\n}"
                     : "=r"(raw[q * 4 + i])
                     : "r"(unit + start[i] + 4 * __popc(mask[i] & below)), "r"(mask[i]), "r"(own));
      }
    }
    if (++decoded_chunk == UnitChunks) {
      decoded_chunk = 0;
      __syncwarp();
      if (decoded_unit + a.depth < own_units) issue(decoded_unit + a.depth);
      ++decoded_unit;
      if (++slot == a.depth) {
        slot = 0;
        slot_phase ^= 1;
      }
    }
  };

  constexpr int sums = N / 2;
  constexpr bool two = N == 32 && Products == 3;  // both terms of B in one instruction
  float sum[sums], part[sums], cross[sums];
#pragma unroll
  for (int i = 0; i < sums; ++i) sum[i] = 0;
  constexpr uint64_t descriptor =
      (half ? (uint64_t{2} << 62) | (uint64_t{512 >> 4} << 32) : (uint64_t{1} << 62) | (uint64_t{1024 >> 4} << 32)) | (uint64_t{1} << 16);
  decode();
  const int first_tile = begin / a.row_units;
  int own_unit = 0;
  for (int tile = first_tile; tile * a.row_units < end; ++tile) {
    const int tile_end = min((tile + 1) * a.row_units, end);
    for (; own_unit < own_units && begin + share + own_unit * groups < tile_end; ++own_unit) {
#pragma unroll 1
      for (int chunk = 0; chunk < UnitChunks; ++chunk) {
        constexpr int operands = half ? 8 : registers;
        uint32_t high[operands], low[operands];
        const uint32_t kept_meta = meta;
        if (half) {
#pragma unroll
          for (int i = 0; i < operands; ++i) {
            const float x = __uint_as_float(raw[2 * i % registers]), y = __uint_as_float(raw[(2 * i + 1) % registers]);
            const __half2 h = __floats2half2_rn(x, y);
            const __half2 l = __floats2half2_rn(x - __low2float(h), y - __high2float(h));
            high[i] = *reinterpret_cast<const uint32_t*>(&h), low[i] = *reinterpret_cast<const uint32_t*>(&l);
          }
        } else {
#pragma unroll
          for (int i = 0; i < operands; ++i) split(raw[i], high[i], low[i]);
        }
        const int number = (share + own_unit * groups) * UnitChunks + chunk, stage = number % Stages;
        barrier_wait(full + 8 * stage, (number / Stages) & 1);
        const uint64_t b = descriptor | ((base + stage * bytes_of_stage) >> 4);
        constexpr int steps = operands / 4, step_bytes = sparse ? 64 : 32;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        const auto product = [&](const uint32_t* x, uint64_t y, int step, int keep) {
          const uint64_t z = y + (step * step_bytes >> 4);
          if constexpr (sparse) {
            if (step == 0)
              Wgmma<N>::template tf32_sparse<0>(part, x, z, kept_meta, keep);
            else
              Wgmma<N>::template tf32_sparse<1>(part, x, z, kept_meta, keep);
          } else if constexpr (half)
            Wgmma<N>::f16(part, x, z, keep);
          else
            Wgmma<N>::tf32(part, x, z, keep);
        };
        if constexpr (two) {
#pragma unroll
          for (int s = 0; s < steps; ++s) {
            const uint64_t z = b + (s * step_bytes >> 4);
            if constexpr (sparse) {
              if (s == 0)
                Wgmma<32>::tf32_sparse_two<0>(part, cross, high + 4 * s, z, kept_meta, 0);
              else
                Wgmma<32>::tf32_sparse_two<1>(part, cross, high + 4 * s, z, kept_meta, 1);
            } else if constexpr (half)
              Wgmma<32>::f16_two(part, cross, high + 4 * s, z, s > 0);
            else
              Wgmma<32>::tf32_two(part, cross, high + 4 * s, z, s > 0);
          }
#pragma unroll
          for (int s = 0; s < steps; ++s) product(low + 4 * s, b, s, 1);
        } else {
          if (Products == 3) {
#pragma unroll
            for (int s = 0; s < steps; ++s) {
              product(low + 4 * s, b, s, s > 0);
              product(high + 4 * s, b + (term_bytes >> 4), s, 1);
            }
          }
#pragma unroll
          for (int s = 0; s < steps; ++s) product(high + 4 * s, b, s, Products == 3 || s > 0);
        }
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        decode();
        if constexpr (two)
          Wgmma<N>::wait(part, cross);
        else
          Wgmma<N>::wait(part);
#pragma unroll
        for (int i = 0; i < operands; ++i) asm volatile("" ::"r"(high[i]), "r"(low[i]), "r"(kept_meta));  // in use until here
        if (lane == 0) barrier_arrive(empty + 8 * stage);
#pragma unroll
        for (int i = 0; i < sums; ++i) sum[i] += two ? part[i] + cross[i] : part[i];
      }
    }
    float4* to = reinterpret_cast<float4*>(a.partial) + (static_cast<size_t>(blockIdx.x * a.segments + tile - first_tile) * 2 + group) * (N / 8) * 128 +
                 (threadIdx.x & 127);
#pragma unroll
    for (int j = 0; j < N / 8; ++j) to[j * 128] = make_float4(sum[4 * j], sum[4 * j + 1], sum[4 * j + 2], sum[4 * j + 3]);
#pragma unroll
    for (int i = 0; i < sums; ++i) sum[i] = 0;
  }
}

/// Adds the parts of each tile in the order of the blocks. Grid: tiles of 64 rows, N / 8; 128 threads. Where the parts of a tile are: the first one's
/// place, the next block, and how many blocks.
template <int N, int RowGroups>
__global__ __launch_bounds__(128) void add_parts(const float* partial, float* C, const int4* places, int segments, float scale) {
  constexpr int groups = 2 / RowGroups;
  asm volatile("griddepcontrol.launch_dependents;");
  const int tile = blockIdx.x / RowGroups, group = RowGroups == 2 ? blockIdx.x % 2 : 0, j = blockIdx.y;
  const int4 place = __ldg(places + tile);
  const float4* parts = reinterpret_cast<const float4*>(partial) + (static_cast<size_t>(group) * (N / 8) + j) * 128 + threadIdx.x;
  float4 s = make_float4(0, 0, 0, 0);
  asm volatile("griddepcontrol.wait;" ::: "memory");
  for (int i = 0; i < place.z; i += 4) {
    float4 x[4 * groups];
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int g = 0; g < groups; ++g)
        x[k * groups + g] = i + k < place.z
                                ? __ldcg(parts + (static_cast<size_t>(i + k == 0 ? place.x : (place.y + i + k - 1) * segments) * 2 + g) * (N / 8) * 128)
                                : make_float4(0, 0, 0, 0);
#pragma unroll
    for (int k = 0; k < 4 * groups; ++k) s.x += x[k].x, s.y += x[k].y, s.z += x[k].z, s.w += x[k].w;
  }
  const int row = blockIdx.x * 64 + (threadIdx.x >> 5) * 16 + ((threadIdx.x & 31) >> 2), column = j * 8 + (threadIdx.x & 3) * 2;
  *reinterpret_cast<float2*>(C + static_cast<size_t>(row) * N + column) = make_float2(s.x * scale, s.y * scale);
  *reinterpret_cast<float2*>(C + static_cast<size_t>(row + 8) * N + column) = make_float2(s.z * scale, s.w * scale);
}
