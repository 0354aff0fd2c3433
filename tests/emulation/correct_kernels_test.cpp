// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <numeric>

#include "tests/emulation/emulation_fixture.h"

namespace esc::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

/// Every kernel here must give the same in index order and in shuffled orders of blocks and threads.
class CorrectKernels : public ::testing::TestWithParam<int> {
 protected:
  static EmulationOptions options() {
    EmulationOptions result;
    if (GetParam() != 0) {
      result.shuffle_seed = static_cast<std::uint64_t>(GetParam());
    }
    return result;
  }

  static void expect_clean(Emulation& emulation, int n = 64) {
    EXPECT_EQ(emulation.run(n), 0);
    EXPECT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, CorrectKernels, ::testing::Values(0, 1, 2, 3));

TEST_P(CorrectKernels, AddsVectors) {
  Emulation emulation(R"(
__global__ void add(const float* __restrict__ x, float* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1.f;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(add, (n + 31) / 32, 32, 0, x, y, n); }
)",
                      64, 64, options());
  expect_clean(emulation, 50);
  for (int index = 0; index < 50; ++index) {
    EXPECT_EQ(emulation.y[index], static_cast<float>(index) + 1.f);
  }
  EXPECT_EQ(emulation.device.count_uninitialised("y"), 14u * sizeof(float));
}

TEST_P(CorrectKernels, ReducesInStaticSharedMemory) {
  Emulation emulation(R"(
__global__ void reduce(const float* x, float* y, int n) {
  __shared__ float tile[128];
  tile[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = tile[0];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(reduce, 4, 128, 0, x, y, n); }
)",
                      512, 4, options());
  expect_clean(emulation);
  for (int block = 0; block < 4; ++block) {
    EXPECT_EQ(emulation.y[block], static_cast<float>(128 * 128 * block + 127 * 64));
  }
}

TEST_P(CorrectKernels, ReducesByShuffles) {
  Emulation emulation(R"(
__global__ void reduce(const float* x, float* y, int n) {
  float sum = x[threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  if (threadIdx.x % 32 == 0) y[threadIdx.x / 32] = sum;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(reduce, 1, 96, 0, x, y, n); }
)",
                      96, 3, options());
  expect_clean(emulation);
  EXPECT_THAT(emulation.result(3), ElementsAreArray({496.f, 1520.f, 2544.f}));
}

TEST_P(CorrectKernels, ShufflesInGroupsOfLanes) {
  Emulation emulation(R"(
__global__ void exchange(const float* x, float* y, int n) {
  const int lane = threadIdx.x;
  const unsigned group = 0xffu << (lane & 24);
  float* out = y + lane * 4;
  out[0] = __shfl_down_sync(group, x[lane], 3, 8);
  out[1] = __shfl_up_sync(group, x[lane], 2, 8);
  out[2] = __shfl_sync(group, x[lane], lane / 8, 8);
  out[3] = (float)__popcll(__shfl_xor_sync(0xffffffffu, 1ull << 40 | (unsigned long long)lane, 1) >> 32);
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(exchange, 1, 32, 0, x, y, n); }
)",
                      32, 128, options());
  expect_clean(emulation);
  for (int lane = 0; lane < 32; ++lane) {
    const int first = lane & 24;
    EXPECT_EQ(emulation.y[lane * 4], static_cast<float>(lane % 8 < 5 ? lane + 3 : lane));
    EXPECT_EQ(emulation.y[lane * 4 + 1], static_cast<float>(lane % 8 >= 2 ? lane - 2 : lane));
    EXPECT_EQ(emulation.y[lane * 4 + 2], static_cast<float>(first + lane / 8));
    EXPECT_EQ(emulation.y[lane * 4 + 3], 1.f);
  }
}

TEST_P(CorrectKernels, Votes) {
  Emulation emulation(R"(
__global__ void vote(const float* x, float* y, int n) {
  const unsigned even = __ballot_sync(~0u, threadIdx.x % 2 == 0);
  const int any = __any_sync(~0u, threadIdx.x == 7), none = __any_sync(~0u, threadIdx.x > 40);
  const int all = __all_sync(~0u, threadIdx.x < 32), some = __all_sync(~0u, threadIdx.x < 31);
  const int count = __syncthreads_count(threadIdx.x < 5);
  y[threadIdx.x] = even == 0x55555555u && any && !none && all && !some && count == 5 ? 1.f : 0.f;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(vote, 1, 32, 0, x, y, n); }
)",
                      1, 32, options());
  expect_clean(emulation);
  EXPECT_THAT(emulation.result(32), Each(1.f));
}

TEST_P(CorrectKernels, CountsWithAtomics) {
  Emulation emulation(R"(
__global__ void count(const float* x, float* y, int n) {
  __shared__ int bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[(int)x[blockIdx.x * 64 + threadIdx.x] % 8], 1);
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(y + threadIdx.x, (float)bins[threadIdx.x]);
}
extern "C" cudaError_t run(const float* x, float* y, int n) {
  const cudaError_t error = cudaMemsetAsync(y, 0, 8 * sizeof(float), nullptr);
  return error != cudaSuccess ? error : launch(count, 4, 64, 0, x, y, n);
}
)",
                      256, 8, options());
  expect_clean(emulation);
  EXPECT_THAT(emulation.result(8), Each(32.f));
  EXPECT_EQ(emulation.device.counters().atomics, 256u + 32u);
}

TEST_P(CorrectKernels, AtomicsOfEveryKind) {
  Emulation emulation(R"(
__device__ unsigned long long wide = 5;
__global__ void update(const float* x, float* y, int n) {
  __shared__ int low, high, swapped;
  __shared__ unsigned bits;
  if (threadIdx.x == 0) { low = 100; high = -100; swapped = 0; bits = 0; }
  __syncthreads();
  atomicMin(&low, (int)threadIdx.x - 5);
  atomicMax(&high, (int)threadIdx.x);
  atomicOr(&bits, 1u << threadIdx.x);
  atomicCAS(&swapped, 0, 9);
  atomicAdd(&wide, 1ull << 33);
  __syncthreads();
  if (threadIdx.x == 0) {
    y[0] = (float)low; y[1] = (float)high; y[2] = bits == ~0u ? 1.f : 0.f; y[3] = (float)swapped;
    y[4] = (float)(wide >> 33);
  }
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(update, 1, 32, 0, x, y, n); }
)",
                      1, 5, options());
  expect_clean(emulation);
  EXPECT_THAT(emulation.result(5), ElementsAreArray({-5.f, 31.f, 1.f, 9.f, 32.f}));
}

TEST_P(CorrectKernels, CopiesAsynchronouslyInStages) {
  Emulation emulation(R"(
#include <cuda_pipeline.h>
__global__ void staged(const float* x, float* y, int n) {
  __shared__ alignas(16) float stage[2][128];
  const int lane = threadIdx.x;
  __pipeline_memcpy_async(&stage[0][lane * 4], x + lane * 4, 16);
  __pipeline_commit();
  float sum = 0.f;
  for (int step = 0; step < 4; ++step) {
    if (step < 3) __pipeline_memcpy_async(&stage[(step + 1) % 2][lane * 4], x + (step + 1) * 128 + lane * 4, 16);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncwarp();
    for (int i = 0; i < 4; ++i) sum += stage[step % 2][lane + 32 * i];
    __syncwarp();
  }
  y[lane] = sum;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(staged, 1, 32, 0, x, y, n); }
)",
                      512, 32, options());
  expect_clean(emulation);
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(emulation.y[lane], static_cast<float>(16 * lane + 32 * 120));
  }
}

TEST_P(CorrectKernels, CopiesWithZeroFill) {
  Emulation emulation(R"(
#include <cuda_pipeline.h>
__global__ void copy(const float* x, float* y, int n) {
  extern __shared__ float4 tile[];
  __pipeline_memcpy_async(&tile[0], x, 16, 8);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  *(float4*)y = tile[0];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(copy, 1, 1, 16, x + 4, y, n); }
)",
                      6, 4, options());
  expect_clean(emulation);
  EXPECT_THAT(emulation.result(4), ElementsAreArray({4.f, 5.f, 0.f, 0.f}));
}

TEST_P(CorrectKernels, UsesDynamicSharedMemory) {
  Emulation emulation(R"(
extern __shared__ float4 pool[];
__global__ void reverse(const float* x, float* y, int n) {
  float* values = (float*)pool;
  values[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = values[n - 1 - threadIdx.x];
}
extern "C" cudaError_t run(const float* x, float* y, int n) {
  cudaError_t error = cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024);
  return error != cudaSuccess ? error : launch(reverse, 1, n, 100 * 1024, x, y, n);
}
)",
                      64, 64, options());
  expect_clean(emulation);
  EXPECT_EQ(emulation.y[0], 63.f);
  EXPECT_EQ(emulation.y[63], 0.f);
}

TEST_P(CorrectKernels, InstantiatesTemplates) {
  Emulation emulation(R"(
namespace {
__constant__ const int kFactors[3] = {2, 3, 5};
struct Scale { float by; int offset; };
template <int Columns> struct Accumulators {
  float value[Columns];
  __device__ void fma(float a, const float (&b)[Columns]) {
#pragma unroll
    for (int j = 0; j < Columns; ++j) value[j] = fmaf(a, b[j], value[j]);
  }
};
template <int Columns, class T>
__global__ void __launch_bounds__(32) scale(const T* x, T* y, int n, Scale s) {
  Accumulators<Columns> sums = {};
  for (int step = 0; step < n; ++step) {
    T row[Columns];
    for (int j = 0; j < Columns; ++j) row[j] = x[threadIdx.x * Columns + j];
    sums.fma(s.by * kFactors[step], row);
  }
  for (int j = 0; j < Columns; ++j) y[threadIdx.x * Columns + j] = sums.value[j] + s.offset;
}
}
extern "C" cudaError_t run(const float* x, float* y, int n) {
  return launch(scale<2, float>, 1, 32, 0, x, y, 3, Scale{0.5f, 1});
}
)",
                      64, 64, options());
  expect_clean(emulation);
  for (int index = 0; index < 64; ++index) {
    EXPECT_EQ(emulation.y[index], static_cast<float>(index) * 5.f + 1.f);
  }
}

TEST_P(CorrectKernels, StridesOverTheGrid) {
  Emulation emulation(R"(
__global__ void stride(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2.f * x[i];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(stride, dim3(3), dim3(8), 0, x, y, n); }
)",
                      1000, 1000, options());
  expect_clean(emulation, 1000);
  EXPECT_EQ(emulation.y[999], 1998.f);
  EXPECT_EQ(emulation.device.count_uninitialised("y"), 0u);
}

TEST_P(CorrectKernels, IndexesInThreeDimensions) {
  Emulation emulation(R"(
__global__ void fill(const float* x, float* y, int n) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  y[block * 24 + thread] = (float)(block * 1000 + thread);
}
extern "C" cudaError_t run(const float* x, float* y, int n) {
  return launch(fill, dim3(3, 2, 2), dim3(4, 3, 2), 0, x, y, n);
}
)",
                      1, 288, options());
  expect_clean(emulation);
  EXPECT_EQ(emulation.y[287], 11023.f);
  EXPECT_EQ(emulation.device.count_uninitialised("y"), 0u);
}

TEST_P(CorrectKernels, FillsRowsWithoutTouchingWhatIsBetween) {
  Emulation emulation(R"(
extern "C" cudaError_t run(const float* x, float* y, int n) { return cudaMemset2DAsync(y, 40, 0, 24, 5, nullptr); }
__global__ void unused() {}
)",
                      1, 50, options());
  expect_clean(emulation);
  for (int index = 0; index < 50; ++index) {
    EXPECT_EQ(std::isnan(emulation.y[index]), index % 10 >= 6) << index;
  }
  EXPECT_EQ(emulation.device.count_uninitialised("y"), 5u * 16u);
}

TEST_P(CorrectKernels, NeighboursMayWriteTheBytesOfOneWord) {
  Emulation emulation(R"(
__global__ void bytes(const float* x, float* y, int n) {
  __shared__ unsigned char flags[64];
  unsigned short* halves = (unsigned short*)y;
  flags[threadIdx.x] = (unsigned char)threadIdx.x;
  flags[threadIdx.x] += 1;
  halves[blockIdx.x * 64 + threadIdx.x] = flags[threadIdx.x];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(bytes, 2, 64, 0, x, y, n); }
)",
                      1, 64, options());
  expect_clean(emulation);
  EXPECT_EQ(reinterpret_cast<std::uint16_t*>(emulation.y)[127], 64);
}

TEST_P(CorrectKernels, ReusesSharedMemoryAfterBarriers) {
  Emulation emulation(R"(
__global__ void broadcast(const float* x, float* y, int n) {
  __shared__ float slot[2];
  const int warp = threadIdx.x / 32;
  float sum = 0.f;
  for (int step = 0; step < 10; ++step) {
    if (threadIdx.x % 32 == step) slot[warp] = x[step + 10 * warp];
    __syncwarp();
    sum += slot[warp];
    __syncwarp();
  }
  y[threadIdx.x] = sum;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(broadcast, 1, 64, 0, x, y, n); }
)",
                      64, 64, options());
  expect_clean(emulation);
  EXPECT_EQ(emulation.y[0], 45.f);
  EXPECT_EQ(emulation.y[63], 145.f);
}

TEST_P(CorrectKernels, LaterLaunchesSeeEarlierOnes) {
  Emulation emulation(R"(
__global__ void first(const float* x, float* y) { y[blockIdx.x] = x[blockIdx.x]; }
__global__ void second(float* y, int n) { y[blockIdx.x] += y[n - 1 - blockIdx.x] * 0.f + 1.f; }
extern "C" cudaError_t run(const float* x, float* y, int n) {
  launch(first, n, 1, 0, x, y);
  launch(second, n / 2, 1, 0, y, n / 2 + n / 2);
  return cudaGetLastError();
}
)",
                      8, 8, options());
  EXPECT_EQ(emulation.run(8), 0);
  EXPECT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
  EXPECT_EQ(emulation.y[3], 4.f);
}

TEST_P(CorrectKernels, WarpsMayReturnBeforeABarrier) {
  Emulation emulation(R"(
__global__ void early(const float* x, float* y, int n) {
  if (threadIdx.x >= 64) return;
  __syncthreads();
  y[threadIdx.x] = 1.f;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(early, 1, 128, 0, x, y, n); }
)",
                      1, 64, options());
  expect_clean(emulation);
  EXPECT_THAT(emulation.result(64), Each(1.f));
}

TEST_P(CorrectKernels, PartialWarpsTakeTheFullMask) {
  Emulation emulation(R"(
__global__ void partial(const float* x, float* y, int n) {
  y[threadIdx.x] = __shfl_sync(0xffffffffu, x[threadIdx.x], 0);
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(partial, 1, 20, 0, x + 7, y, n); }
)",
                      32, 20, options());
  expect_clean(emulation);
  EXPECT_THAT(emulation.result(20), Each(7.f));
}

// As GPUs do it: PTX ISA, atom.
TEST(AtomicAdds, OfFloat32HaveNoSubnormalNumbersInGlobalMemory) {
  Emulation emulation(R"(
__global__ void add(const float* x, float* y, int n) {
  __shared__ float kept;
  kept = 0.0f;
  y[0] = 0.0f;
  y[1] = y[2] = x[3];
  atomicAdd(&kept, x[0]);
  atomicAdd(y, x[0]);
  atomicAdd(y + 1, x[1]);
  atomicAdd(y + 2, x[2]);
  y[3] = kept;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(add, dim3(1), dim3(1), 0, x, y, n); }
)");
  emulation.x[0] = 1e-39F;
  emulation.x[1] = -1e-38F;
  emulation.x[2] = -1.2e-38F;
  emulation.x[3] = 1.5e-38F;
  ASSERT_EQ(emulation.run(), 0);
  EXPECT_THAT(emulation.device.faults(), ::testing::IsEmpty()) << emulation.device.describe_faults();
  EXPECT_THAT(emulation.result(4), ::testing::ElementsAre(0.0F, 1.5e-38F, 0.0F, 1e-39F));
}

}  // namespace
}  // namespace esc::testing
