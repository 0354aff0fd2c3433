// SPDX-License-Identifier: Apache-2.0
// C[M][N] = A[M][K] * B[K][N], A sparse and packed with bit masks, float32 accurate (3 x TF32),
// on Hopper's wgmma, transposed: D[n][row] = B^T (registers) * A^T (decoded weights in shared memory).
//
// Block: ROWS rows of the weights x all N columns x K / SPLIT columns of the weights; a cluster of SPLIT blocks
// shares ROWS rows and reduces through distributed shared memory in fixed order.
// Warps: 2 consumer warpgroups (wgmma), PW producer warps (decode; they refill the raw stages in turn).
// A chunk is 32 columns of K: one packed unit (one bulk copy), one decoded stage, one chain of wgmma from zero.
#pragma once
#include <cuda_runtime.h>
#include <cstdint>
#include "wgmma_gen.h"

// ---- PTX wrappers -------------------------------------------------------------------------------------------
__device__ __forceinline__ uint32_t smem_u32(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void mbar_init(uint32_t bar, uint32_t count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory"); }
__device__ __forceinline__ void mbar_arrive(uint32_t bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory"); }
__device__ __forceinline__ void mbar_expect(uint32_t bar, uint32_t bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory"); }
__device__ __forceinline__ void mbar_wait(uint32_t bar, uint32_t parity) {
  asm volatile("{.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra D;\nbra W;\nD:\n}" ::"r"(bar), "r"(parity) : "memory");
}
__device__ __forceinline__ void bulk_copy(uint32_t dst, const void* src, uint32_t bytes, uint32_t bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(dst), "l"(src), "r"(bytes), "r"(bar) : "memory");
}
__device__ __forceinline__ uint4 lds128(uint32_t a) { uint4 v; asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(a)); return v; }
__device__ __forceinline__ uint2 lds64(uint32_t a) { uint2 v; asm volatile("ld.shared.v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(a)); return v; }
__device__ __forceinline__ uint32_t lds32(uint32_t a) { uint32_t v; asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(a)); return v; }
// stored value of this lane, or 0 where the mask has no bit for it
__device__ __forceinline__ float masked_value(uint32_t mask, uint32_t bit, uint32_t addr) {
  float v; asm volatile("{.reg .pred p; .reg .b32 t; and.b32 t, %1, %2; setp.ne.u32 p, t, 0; mov.f32 %0, 0f00000000; @p ld.shared.f32 %0, [%3];}" : "=f"(v) : "r"(mask), "r"(bit), "r"(addr)); return v;
}
// volatile: or the compiler sinks the prefetch of B below the wait for wgmma
__device__ __forceinline__ float2 ldg64(const float* p) { float2 v; asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p)); return v; }
__device__ __forceinline__ uint32_t clock32() { uint32_t c; asm volatile("mov.u32 %0, %%clock;" : "=r"(c)); return c; }
__device__ __forceinline__ void sts32(uint32_t a, uint32_t v) { asm volatile("st.shared.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory"); }
__device__ __forceinline__ void sts128(uint32_t a, const uint32_t (&v)[4]) { asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(a), "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]) : "memory"); }
__device__ __forceinline__ void wg_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wg_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int P> __device__ __forceinline__ void wg_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(P) : "memory"); }
template <int R> __device__ __forceinline__ void reg_inc() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(R)); }
template <int R> __device__ __forceinline__ void reg_dec() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(R)); }
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ __forceinline__ uint32_t map_rank(uint32_t a, uint32_t rank) { uint32_t r; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(rank)); return r; }
__device__ __forceinline__ float4 ld_cluster(uint32_t a) { float4 v; asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(a)); return v; }

// No-swizzle K-major descriptor: core matrices of 8 rows x 16 bytes (128 contiguous bytes).
// "leading" offset: next core matrix along K (128 bytes here); "stride" offset: next 8 rows (256 bytes here).
__device__ __forceinline__ uint64_t descriptor(uint32_t addr) {
  return (uint64_t)((addr & 0x3ffff) >> 4) | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
}

enum Mode { FULL = 0, NO_DECODE = 1, ONE_PRODUCT = 2, COPIES = 3, DECODE_ONLY = 4, RAW_HIGH = 5 };

// N columns of C; NT = wgmma's N (weight rows of one instruction), NSUB of these per block; SPLIT blocks of a cluster share K,
// PARTS clusters share K (combined through a workspace by the last to arrive); RS raw stages of UC chunks; DS decoded stages; PW producer warps in groups of PG (a group decodes one chunk); CR/PR registers of a consumer/producer thread.
template <int N_, int NT_, int NSUB_, int SPLIT_, int PARTS_, int RS_, int UC_, int DS_, int PW_, int PG_, int CR_, int PR_, int MODE_, bool ROUND_, int BATCH_ = 4, bool TRACE_ = false>

struct Config {
  static constexpr bool TRACE = TRACE_;
  static constexpr int BATCH = BATCH_;  // tiles that a producer warp decodes together
  static constexpr int N = N_, NT = NT_, NSUB = NSUB_, SPLIT = SPLIT_, PARTS = PARTS_, UC = UC_, RS = RS_, DS = DS_, PW = PW_, PG = PG_, CR = CR_, PR = PR_, MODE = MODE_;
  static constexpr bool ROUND = ROUND_;
  static constexpr int ROWS = NT * NSUB, STRIPS = ROWS / 16, TILES = 4 * STRIPS;  // 16 x 8 tiles of a chunk
  static constexpr bool SEQ = NSUB == 2;  // one set of temporary sums used twice
  static constexpr int THREADS = 256 + PW * 32;
  static constexpr int LAUNCH_REGS = 65536 / THREADS / 8 * 8;
  static_assert(PW % 4 == 0 && 256 * CR + PW * 32 * PR <= THREADS * LAUNCH_REGS, "setmaxnreg would wait for ever");
  static constexpr bool ALTERNATE = N <= 64;    // the two consumer warpgroups take alternate chunks (else: column halves)
  static constexpr int STEP_BYTES = ROWS * 32, HALF_STAGE = 4 * STEP_BYTES, STAGE = 2 * HALF_STAGE;
  static constexpr int BUFFERS = 1;  // partial sums of one block
  static constexpr int CSTRIDE = N + 4;                           // floats; row stride of partial sums
  static constexpr int HEAD = 2048;                               // barriers, offsets
  static constexpr int PARTIAL = BUFFERS * ROWS * CSTRIDE * 4;
  static constexpr int TILE_AREA = DS * STAGE > PARTIAL ? DS * STAGE : PARTIAL;
  static_assert(DS % (PW / PG) == 0, "a decoded stage must belong to one group of producers (mbarrier parity)");
  static_assert(!ALTERNATE || DS % 2 == 0, "a decoded stage must belong to one warpgroup (mbarrier parity)");
  static int smem(int raw) { return HEAD + TILE_AREA + RS * raw + (TRACE ? 8192 : 0); }
};

// Packed unit (ROWS x 32 * UC columns), tiles of 16 rows x 8 columns: lane l holds row l & 15 and columns 4 * (l >> 4) + r, r = 0..3
// (so that a lane stores 16 bytes of one row of a core matrix): masks uint4[4 * UC steps][strips], starts uint16[4 * UC][strips][4 registers] (bytes in the values), values; offsets in 16 bytes.
template <class F>
__global__ void __launch_bounds__(F::THREADS, 1)
spmm(const uint8_t* __restrict__ units, const uint32_t* __restrict__ offsets, int raw_bytes, const float* __restrict__ B, float* __restrict__ C, int M, int K, float* workspace, uint32_t* arrived, uint32_t* trace) {
  constexpr int N = F::N, NT = F::NT, NSUB = F::NSUB, SPLIT = F::SPLIT, PARTS = F::PARTS, UC = F::UC, RS = F::RS, DS = F::DS, PW = F::PW, PG = F::PG, MODE = F::MODE;
  extern __shared__ __align__(1024) uint8_t smem[];
  const uint32_t base = smem_u32(smem);
  const uint32_t raw_full = base, raw_empty = base + 128, full = base + 256, empty = base + 320, table = base + 512;
  const uint32_t tiles = base + F::HEAD, raws = tiles + F::TILE_AREA, traces = raws + RS * raw_bytes;
  // trace: 64 words of 8 per role (0, 1: consumer warpgroups, 2, 3: two producer warps); word 0 of role 0's slot 63: ends
#define STAMP(role, chunk, i) do { if (F::TRACE && lane == 0) sts32(traces + (((role) * 64 + (chunk)) * 8 + (i)) * 4, clock32()); } while (0)
  const int tid = threadIdx.x, warp = __shfl_sync(0xffffffffu, tid >> 5, 0), lane = tid & 31;
  const int rank = blockIdx.x % SPLIT, part = blockIdx.x / SPLIT % PARTS, panel = blockIdx.x / (SPLIT * PARTS);
  const int chunks = K / 32 / (SPLIT * PARTS), unitCount = chunks / UC;  // of this block
  const int first = (part * SPLIT + rank) * chunks;                      // first chunk along K

  if (warp == 0) STAMP(0, 63, 0);
  // Consumers: the columns n of B. A warp of the warpgroup holds 16 rows of D. The A fragment's rows g and g + 8 are
  // taken as columns 2g and 2g + 1 (any order is good as long as the result is stored alike): 8-byte loads from B.
  const int wg = warp >> 2, g = lane >> 2, t = lane & 3;
  constexpr bool STACKED = N == 32;  // D's rows 0-31: B's high parts, 32-63: B's low parts: two products are enough
  constexpr int stepc = F::ALTERNATE ? 2 : 1;
  const int n0 = (N == 128 ? 64 * wg : 0) + 16 * (STACKED ? warp & 1 : warp & 3) + 2 * g;
  const float* b = B + (size_t)((first + (F::ALTERNATE ? wg : 0)) * 32 + t) * N + n0;
  float2 raw[4][2];  // window of B: [step][k half]
  auto loadB = [&]() {
#pragma unroll
    for (int s = 0; s < 4; ++s) raw[s][0] = ldg64(b + (8 * s) * N), raw[s][1] = ldg64(b + (8 * s + 4) * N);
    b += (size_t)stepc * 32 * N;
  };
  if (warp < 8) loadB();  // in front of everything: behind the first copies it takes 3 us

  const uint32_t* row = offsets + (size_t)panel * (K / 32 / UC) + first / UC;
  uint32_t o0 = 0, o1 = 0;
  if (warp == 0) {
    if (lane < RS && lane < unitCount) o0 = row[lane], o1 = row[lane + 1];
    if (lane == 0) {
      for (int i = 0; i < RS; ++i) mbar_init(raw_full + 8 * i, 1), mbar_init(raw_empty + 8 * i, UC * PG);
      for (int i = 0; i < DS; ++i) mbar_init(full + 8 * i, PG), mbar_init(empty + 8 * i, F::ALTERNATE ? 4 : 8);
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncwarp();
    for (int i = lane; i <= unitCount; i += 32) sts32(table + 4 * i, row[i]);
  }
  __syncthreads();
  if (warp == 0 && lane < RS && lane < unitCount) {  // the first units
    mbar_expect(raw_full + 8 * lane, (o1 - o0) * 16);
    bulk_copy(raws + lane * raw_bytes, units + (size_t)o0 * 16, (o1 - o0) * 16, raw_full + 8 * lane);
  }
  __syncwarp();
  if (warp == 0) STAMP(0, 63, 1);
  if (warp < 8) {
    // =============================== consumers ===============================
    reg_inc<F::CR>();
    const bool low = STACKED && (warp & 2);
    float acc[NSUB][NT / 2], tmp[F::SEQ ? 1 : NSUB][NT / 2];
#pragma unroll
    for (int q = 0; q < NSUB; ++q)
#pragma unroll
      for (int i = 0; i < NT / 2; ++i) acc[q][i] = 0;
    int c = F::ALTERNATE ? wg : 0, stage = c % DS, phase = 0;
    for (; c < chunks; c += stepc) {
      uint32_t bh[4][4], bl[4][4];  // A fragments (B^T) of the four steps
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float v[4] = {raw[s][0].x, raw[s][0].y, raw[s][1].x, raw[s][1].y};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const uint32_t h = (__float_as_uint(v[i]) + 0x1000) & 0xffffe000u;
          const uint32_t l = __float_as_uint(v[i] - __uint_as_float(h));
          if (STACKED) bh[s][i] = low ? l : h; else bh[s][i] = h, bl[s][i] = l;
        }
      }
      if (c + stepc < chunks) loadB();  // the next window: in front of the wgmmas, whose issue blocks
      if ((warp & 3) == 0) STAMP(wg, c, 0);
      mbar_wait(full + 8 * stage, phase);
      if ((warp & 3) == 0) STAMP(wg, c, 1);
      const uint32_t ah = tiles + stage * F::STAGE, al = ah + F::HALF_STAGE;
      auto chain = [&](int q, float (&d)[NT / 2]) {
        const uint64_t dh = descriptor(ah + q * NT * 32), dl = descriptor(al + q * NT * 32);
        wg_fence();
        if (MODE != ONE_PRODUCT) {  // small products first
#pragma unroll
          for (int s = 0; s < 4; ++s) Wgmma<NT>::run(d, bh[s], dl + s * (F::STEP_BYTES >> 4), s > 0);
          if (!STACKED)
#pragma unroll
            for (int s = 0; s < 4; ++s) Wgmma<NT>::run(d, bl[s], dh + s * (F::STEP_BYTES >> 4), 1);
        }
#pragma unroll
        for (int s = 0; s < 4; ++s) Wgmma<NT>::run(d, bh[s], dh + s * (F::STEP_BYTES >> 4), MODE != ONE_PRODUCT || s > 0);
        wg_commit();
      };
      auto promote = [&](int q, float (&d)[NT / 2]) {
#pragma unroll
        for (int i = 0; i < NT / 2; ++i) acc[q][i] += d[i];
      };
      auto pin = [&](float (&d)[NT / 2]) {  // keeps the sums behind the wait
#pragma unroll
        for (int i = 0; i < NT / 2; ++i) asm volatile("" : "+f"(d[i])::"memory");
      };
      constexpr bool MMA = MODE != COPIES && MODE != DECODE_ONLY;
      if (MMA) {
        chain(0, tmp[0]);
        if (NSUB == 2 && !F::SEQ) chain(1, tmp[NSUB - 1 - F::SEQ]);
      } else {
#pragma unroll
        for (int s = 0; s < 4; ++s)
#pragma unroll
          for (int i = 0; i < 4; ++i) acc[0][i] += __uint_as_float(bh[s][i]);
      }
      if ((warp & 3) == 0) STAMP(wg, c, 2);
      if (MMA) {
        if (NSUB == 2) {
          if (F::SEQ) wg_wait<0>(); else wg_wait<1>();
          pin(tmp[0]);
          promote(0, tmp[0]);
          if (F::SEQ) chain(1, tmp[0]);
        }
        wg_wait<0>();
        pin(tmp[F::SEQ ? 0 : NSUB - 1]);
        if ((warp & 3) == 0) STAMP(wg, c, 3);
      }
      if (lane == 0) mbar_arrive(empty + 8 * stage);  // each warp vouches for its own quarter of the wgmma
      if (MMA) promote(NSUB - 1, tmp[F::SEQ ? 0 : NSUB - 1]);
      if ((warp & 3) == 0) STAMP(wg, c, 4);
      stage += stepc;
      if (stage >= DS) stage -= DS, phase ^= 1;
    }
    asm volatile("bar.sync 1, 256;" ::: "memory");  // every wgmma of the block has read its tiles: reuse them for partial sums
    // partial sums of the block into one buffer, in fixed order: warpgroup 0's high, low (N = 32), then warpgroup 1's
    float* out = (float*)(smem + F::HEAD);
    constexpr int TURNS = N == 128 ? 1 : N == 64 ? 2 : 4;
    const int turn = N == 128 ? 0 : N == 64 ? wg : wg * 2 + (warp >> 1 & 1);
#pragma unroll
    for (int u = 0; u < TURNS; ++u) {
      if (u == turn) {
#pragma unroll
        for (int q = 0; q < NSUB; ++q)
#pragma unroll
          for (int j = 0; j < NT / 8; ++j) {
            float2* a = (float2*)(out + (q * NT + 8 * j + 2 * t) * F::CSTRIDE + n0);
            float2* b = (float2*)(out + (q * NT + 8 * j + 2 * t + 1) * F::CSTRIDE + n0);
            float2 x = make_float2(acc[q][4 * j], acc[q][4 * j + 2]), y = make_float2(acc[q][4 * j + 1], acc[q][4 * j + 3]);
            if (u > 0) { const float2 p = *a, r = *b; x.x += p.x, x.y += p.y, y.x += r.x, y.y += r.y; }
            *a = x, *b = y;
          }
      }
      if (u + 1 < TURNS) asm volatile("bar.sync 1, 256;" ::: "memory");
    }
  } else {
    // =============================== producers ===============================
    reg_dec<F::PR>();
    const int pw = warp - 8;
    const uint32_t lt = (1u << lane) - 1, bit = 1u << lane;
    constexpr int G = PW / PG, J = (F::TILES + PG - 1) / PG, BATCH = F::BATCH;
    const int group = pw / PG, pi = pw % PG;
    int ds = group % DS, dphase = 1;
    for (int c = group; c < chunks; c += G) {
      const int u = c / UC, k = c % UC, rs = u % RS, rphase = (u / RS) & 1;  // chunk k of unit u
      const uint32_t raw = raws + rs * raw_bytes;
      if (pw < 2 * PG && pi == 0) STAMP(2 + group, c, 0);
      mbar_wait(raw_full + 8 * rs, rphase);
      if (pw < 2 * PG && pi == 0) STAMP(2 + group, c, 1);
      if (MODE == NO_DECODE || MODE == COPIES) {
        mbar_wait(empty + 8 * ds, dphase);
      } else {
        uint4 m[BATCH];
        uint2 st[BATCH];
        float v[BATCH][4];
        auto loadMasks = [&](int j0) {  // of a batch of tiles, all in flight together
#pragma unroll
          for (int j = 0; j < BATCH; ++j) {
            const int i = pi + (j0 + j) * PG;
            if (j0 + j < J && (J * PG == F::TILES || i < F::TILES)) {
              m[j] = lds128(raw + 16 * (k * F::TILES + i));
              st[j] = lds64(raw + UC * F::TILES * 16 + 8 * (k * F::TILES + i));
            }
          }
        };
        auto loadValues = [&](int j0) {
          const uint32_t values = raw + UC * F::TILES * 24;
#pragma unroll
          for (int j = 0; j < BATCH; ++j) {
            const int i = pi + (j0 + j) * PG;
            if (j0 + j < J && (J * PG == F::TILES || i < F::TILES)) {
              v[j][0] = masked_value(m[j].x, bit, values + (st[j].x & 0xffff) + 4 * __popc(m[j].x & lt));
              v[j][1] = masked_value(m[j].y, bit, values + (st[j].x >> 16) + 4 * __popc(m[j].y & lt));
              v[j][2] = masked_value(m[j].z, bit, values + (st[j].y & 0xffff) + 4 * __popc(m[j].z & lt));
              v[j][3] = masked_value(m[j].w, bit, values + (st[j].y >> 16) + 4 * __popc(m[j].w & lt));
            }
          }
        };
        // row l & 15: core matrix (l >> 3 & 1) along the rows, (l >> 4) along k; 8 lanes store 128 contiguous bytes
        const uint32_t dst = tiles + ds * F::STAGE + (lane >> 3 & 1) * 256 + (lane >> 4) * 128 + (lane & 7) * 16;
        auto store = [&](int j0) {
#pragma unroll
          for (int j = 0; j < BATCH; ++j) {
            const int i = pi + (j0 + j) * PG;
            if (j0 + j < J && (J * PG == F::TILES || i < F::TILES)) {
              uint32_t h[4], l[4];
#pragma unroll
              for (int r = 0; r < 4; ++r) {
                const uint32_t x = __float_as_uint(v[j][r]);
                h[r] = (F::ROUND ? x + 0x1000 : x) & 0xffffe000u;
                l[r] = __float_as_uint(v[j][r] - __uint_as_float(h[r]));
                if (MODE == RAW_HIGH) h[r] = x;
              }
              sts128(dst + i * 512, h);
              sts128(dst + i * 512 + F::HALF_STAGE, l);
            }
          }
        };
        loadMasks(0);
#pragma unroll
        for (int j = 0; j < J; j += BATCH) {
          loadValues(j);
          if (j + BATCH < J) loadMasks(j + BATCH);  // behind the stores of this batch
          if (j == 0) {
            if (pw < 2 * PG && pi == 0) STAMP(2 + group, c, 2);
            mbar_wait(empty + 8 * ds, dphase);
            if (pw < 2 * PG && pi == 0) STAMP(2 + group, c, 3);
          }
          store(j);
        }
        if (pw < 2 * PG && pi == 0) STAMP(2 + group, c, 4);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // generic stores, read next by wgmma (async proxy)
      }
      if (pw < 2 * PG && pi == 0) STAMP(2 + group, c, 5);
      __syncwarp();
      if (lane == 0) {
        mbar_arrive(full + 8 * ds), mbar_arrive(raw_empty + 8 * rs);
        // refill the stage of the unit before; the warps take turns, as it takes one about 500 cycles
        if (k == u % UC && pi == (u / 2) % PG && u >= 1 && u - 1 + RS < unitCount) {
          const int n = u - 1 + RS, q = (u - 1) % RS;
          const uint32_t o = lds32(table + 4 * n), bytes = (lds32(table + 4 * n + 4) - o) * 16;
          mbar_wait(raw_empty + 8 * q, ((u - 1) / RS) & 1);
          mbar_expect(raw_full + 8 * q, bytes);
          bulk_copy(raws + q * raw_bytes, units + (size_t)o * 16, bytes, raw_full + 8 * q);
        }
      }
      ds += G; if (ds >= DS) ds -= DS, dphase ^= 1;
    }
  }
  // ---- sum over the cluster in fixed order; rank r writes rows [r, r + 1) * ROWS / SPLIT of the panel ----
  __syncwarp();
  if (warp == 0) STAMP(0, 63, 2);
  cluster_arrive(); cluster_wait();
  if (warp == 0) STAMP(0, 63, 3);
  constexpr int OWN = F::ROWS / SPLIT, Q = N / 4, ITEMS = (OWN * Q + F::THREADS - 1) / F::THREADS;
  float4 own[ITEMS];
#pragma unroll
  for (int k = 0; k < ITEMS; ++k) {
    const int i = tid + k * F::THREADS, row = rank * OWN + i / Q, col = i % Q * 4, grow = panel * F::ROWS + row;
    if (OWN * Q % F::THREADS != 0 && i >= OWN * Q) continue;
    float4 s = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int p = 0; p < SPLIT; ++p) {
      const float4 x = ld_cluster(map_rank(tiles + (row * F::CSTRIDE + col) * 4, p));
      s.x += x.x, s.y += x.y, s.z += x.z, s.w += x.w;
    }
    own[k] = s;
    if (grow < M) *(float4*)((PARTS == 1 ? C : workspace + (size_t)part * M * N) + (size_t)grow * N + col) = s;
  }
  cluster_arrive_relaxed();
  if (PARTS == 2) {  // the later of the two parts adds the other's sums (two terms: the order does not matter)
    __syncthreads();
    if (tid == 0) {
      uint32_t old;
      asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(arrived + panel * SPLIT + rank) : "memory");
      sts32(base + 500, old);
    }
    __syncthreads();
    if (lds32(base + 500) == 1) {
#pragma unroll
      for (int k = 0; k < ITEMS; ++k) {
        const int i = tid + k * F::THREADS, row = rank * OWN + i / Q, col = i % Q * 4, grow = panel * F::ROWS + row;
        if ((OWN * Q % F::THREADS != 0 && i >= OWN * Q) || grow >= M) continue;
        const float4 x = __ldcg((const float4*)(workspace + (size_t)(part ^ 1) * M * N + (size_t)grow * N + col));
        *(float4*)(C + (size_t)grow * N + col) = make_float4(own[k].x + x.x, own[k].y + x.y, own[k].z + x.z, own[k].w + x.w);
      }
      if (tid == 0) arrived[panel * SPLIT + rank] = 0;
    }
  }
  if (warp == 0) STAMP(0, 63, 4);
  cluster_wait();  // no block leaves while a peer reads its shared memory
  if (warp == 0) STAMP(0, 63, 5);
  if (F::TRACE && blockIdx.x == 8 && trace) { __syncthreads(); for (int i = tid; i < 2048; i += F::THREADS) trace[i] = lds32(traces + 4 * i); }
}
