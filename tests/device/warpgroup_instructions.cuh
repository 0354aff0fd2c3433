// SPDX-License-Identifier: Apache-2.0
// Products of warpgroups as inline PTX that the emulator knows, and a kernel of them: with B in lines of 128 bytes they
// stand in warpgroup_tiles.cuh. Run on the emulated grid by warpgroup_product_test and on a GPU by
// warpgroup_products.cu. Code for other devices than those of sm_90a has none of them.
#pragma once
#include <cuda_runtime.h>

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
__device__ inline void fence_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ inline void wait_for_products() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
/// All but those of the last `pending` groups.
template <int pending>
__device__ inline void wait_for_products_but() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(pending) : "memory");
}
__device__ inline void multiply_async(float* d, const unsigned* a, unsigned long long b, unsigned adds) {
  asm volatile("{\n"
               ".reg .pred adds;\n"
               "setp.ne.b32 adds, %37, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
               "{%32, %33, %34, %35}, %36, adds, 1, 1;\n"
               "}"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
                 "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
                 "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
                 "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}
__device__ inline void multiply_halves_async(float* d, const unsigned* a, unsigned long long b, unsigned adds) {
  asm volatile("{\n"
               ".reg .pred adds;\n"
               "setp.ne.b32 adds, %37, 0;\n"
               "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
               "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
               "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
               "{%32, %33, %34, %35}, %36, adds, 1, 1, 0;\n"
               "}"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
                 "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
                 "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
                 "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds));
}
__device__ inline void fence_stores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Of 8 x 64 words at `tile`, each of one number or of two halves along k: so many bytes from four of k to the next four, and from eight columns to the next.
__device__ inline unsigned long long matrix_at(const float* tile, unsigned leading, unsigned stride) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  return (unsigned long long)(address >> 4) | (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32;
}

/// The same words from rows of 64, by all threads of the block.
__device__ inline void store_matrix(float* tile, unsigned leading, unsigned stride, const float* rows) {
  for (unsigned at = threadIdx.x; at < 512; at += blockDim.x) {
    const unsigned k = at / 64;
    const unsigned column = at % 64;
    tile[k / 4 * (leading / 4) + column / 8 * (stride / 4) + column % 8 * 4 + k % 4] = rows[at];
  }
}
#endif

/// Of each warpgroup g: D (y) = the sum over `steps` of A (64 x 8 words, in x by group and step) times B (8 x 64 words, behind them in x by step). Two
/// steps at a time, whose matrices lie differently. The words are of two `halves` along k, or of numbers.
template <bool halves>
__global__ void multiply_chain(const float* x, float* y, int steps) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  __shared__ alignas(128) float even[512];
  __shared__ alignas(128) float odd[512];
  const int groups = blockDim.x / 128;
  const int group = threadIdx.x / 128;
  const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
  const int t = threadIdx.x % 4;
  float d[32];
  for (int step = 0; step < steps; step += 2) {
    const float* const b = x + groups * steps * 512 + step * 512;
    store_matrix(even, 128, 256, b);
    store_matrix(odd, 1024, 128, b + 512);
    fence_stores();
    __syncthreads();
    unsigned a[2][4];
    for (int which = 0; which < 2; ++which) {
      const float* const rows = x + (group * steps + step + which) * 512;
      for (int i = 0; i < 4; ++i) a[which][i] = __float_as_uint(rows[(row + i % 2 * 8) * 8 + t + i / 2 * 4]);
    }
    fence_products();
    if constexpr (halves) {
      multiply_halves_async(d, a[0], matrix_at(even, 128, 256), step != 0);
      multiply_halves_async(d, a[1], matrix_at(odd, 1024, 128), 1);
    } else {
      multiply_async(d, a[0], matrix_at(even, 128, 256), step != 0);
      multiply_async(d, a[1], matrix_at(odd, 1024, 128), 1);
    }
    commit_products();
    wait_for_products();
    __syncthreads();
  }
  for (int i = 0; i < 32; ++i) {
    y[(group * 64 + row + i % 4 / 2 * 8) * 64 + i / 4 * 8 + 2 * t + i % 2] = d[i];
  }
#endif
}
