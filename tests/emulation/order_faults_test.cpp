// SPDX-License-Identifier: Apache-2.0
#include "tests/emulation/emulation_fixture.h"

namespace esc::testing {
namespace {

using ::testing::AllOf;

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(OrderFaults, BlocksAddWithoutAtomics) {
  Emulation emulation(R"(
__global__ void sum(const float* x, float* y, int n) { y[threadIdx.x] = y[threadIdx.x] + x[threadIdx.x]; }
extern "C" cudaError_t run(const float* x, float* y, int n) {
  cudaMemsetAsync(y, 0, 32 * sizeof(float), nullptr);
  return launch(sum, 2, 32, 0, x, y, n);
}
)");
  emulation.run();
  ASSERT_EQ(emulation.device.faults().size(), 2u) << emulation.device.describe_faults();
  EXPECT_THAT(emulation.device.faults()[0].message,
              AllOf(HasSubstr("race: kernel 'sum'"), HasSubstr("block (1,0,0), thread (0,0,0): read of 4 bytes"),
                    HasSubstr("offset 0 of buffer 'y'; block (0,0,0), thread (0,0,0) wrote")));
  EXPECT_THAT(emulation.device.faults()[1].message, HasSubstr("write of 4 bytes"));
}

TEST(OrderFaults, AtomicAndPlainWritesOfDifferentBlocks) {
  Emulation emulation(R"(
__global__ void mixed(const float* x, float* y, int n) {
  if (blockIdx.x == n) y[0] = 1.f;
  else atomicAdd(y, 1.f);
}
extern "C" cudaError_t run(const float* x, float* y, int n) {
  cudaMemsetAsync(y, 0, 4, nullptr);
  return launch(mixed, 3, 1, 0, x, y, n);
}
)");
  EXPECT_EQ(emulation.only_fault(1).kind, FaultKind::race);
}

TEST(OrderFaults, MissingBarrierBetweenWarps) {
  const std::string text = R"(
__global__ void swap(const float* x, float* y, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  BARRIER;
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(swap, 1, 64, 0, x, y, n); }
)";
  Emulation right("#define BARRIER __syncthreads()\n" + text);
  right.run();
  EXPECT_THAT(right.device.faults(), IsEmpty()) << right.device.describe_faults();

  Emulation wrong("#define BARRIER __syncwarp()\n" + text);
  wrong.run();
  ASSERT_FALSE(wrong.device.faults().empty());
  const EmulationFault& last = wrong.device.faults().back();
  EXPECT_EQ(last.kind, FaultKind::race);
  EXPECT_THAT(last.message, AllOf(HasSubstr("shared memory 'tile'"), HasSubstr("and no barrier orders the two")));
}

TEST(OrderFaults, MissingWarpSyncAfterAWrite) {
  const std::string text = R"(
__global__ void share(const float* x, float* y, int n) {
  __shared__ float slot;
  if (threadIdx.x == 0) slot = x[1];
  SYNC;
  y[threadIdx.x] = slot;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(share, 1, 32, 0, x, y, n); }
)";
  Emulation right("#define SYNC __syncwarp()\n" + text);
  right.run();
  EXPECT_THAT(right.device.faults(), IsEmpty()) << right.device.describe_faults();

  Emulation wrong("#define SYNC\n" + text);
  const EmulationFault fault = wrong.only_fault();
  EXPECT_EQ(fault.kind, FaultKind::race);
  EXPECT_THAT(fault.message, HasSubstr("thread (1,0,0): read of 4 bytes at offset 0 of shared memory 'slot'; block "
                                       "(0,0,0), thread (0,0,0) wrote"));
}

TEST(OrderFaults, MissingWarpSyncBeforeTheNextWrite) {
  const std::string text = R"(
__global__ void reuse(const float* x, float* y, int n) {
  __shared__ float slot;
  float sum = 0.f;
  for (int step = 0; step < 4; ++step) {
    if (threadIdx.x == 0) slot = x[step];
    __syncwarp();
    sum += slot;
    SYNC;
  }
  y[threadIdx.x] = sum;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(reuse, 1, 32, 0, x, y, n); }
)";
  Emulation right("#define SYNC __syncwarp()\n" + text);
  right.run();
  EXPECT_THAT(right.device.faults(), IsEmpty()) << right.device.describe_faults();

  Emulation wrong("#define SYNC\n" + text);
  wrong.run();
  ASSERT_FALSE(wrong.device.faults().empty());
  EXPECT_EQ(wrong.device.faults()[0].kind, FaultKind::race);
  EXPECT_THAT(wrong.device.faults()[0].message,
              AllOf(HasSubstr("thread (0,0,0): write of 4 bytes"), HasSubstr("thread (31,0,0) read the same bytes")));
}

TEST(OrderFaults, SeveralWarpsReadWhatOneWrites) {
  Emulation emulation(R"(
__global__ void reuse(const float* x, float* y, int n) {
  __shared__ float slot;
  if (threadIdx.x == 0) slot = x[0];
  __syncthreads();
  y[threadIdx.x] = slot;
  __syncwarp();
  if (threadIdx.x == 40) slot = x[1];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(reuse, 1, 64, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault();
  EXPECT_EQ(fault.kind, FaultKind::race);
  EXPECT_EQ(fault.thread.x, 40u);
}

TEST(OrderFaults, GroupsOfLanesMayRunAhead) {
  Emulation emulation(R"(
__global__ void groups(const float* x, float* y, int n) {
  const unsigned group = 0xffu << (threadIdx.x & 24);
  float v = __shfl_xor_sync(group, x[threadIdx.x], 1);
  v = __shfl_xor_sync(0xffffffffu, v, 1);
  y[threadIdx.x] = v;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(groups, 1, 32, 0, x, y, n); }
)");
  EXPECT_EQ(emulation.run(), 0);
  EXPECT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
  EXPECT_EQ(emulation.y[13], 13.f);
}

TEST(OrderFaults, SyncOfOtherLanesOrdersNothing) {
  Emulation emulation(R"(
__global__ void groups(const float* x, float* y, int n) {
  __shared__ float slots[32];
  slots[threadIdx.x] = x[threadIdx.x];
  __syncwarp(0xffu << (threadIdx.x & 24));
  y[threadIdx.x] = slots[threadIdx.x ^ n];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(groups, 1, 32, 0, x, y, n); }
)");
  emulation.run(7);
  EXPECT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
  emulation.run(8);
  ASSERT_FALSE(emulation.device.faults().empty());
  EXPECT_EQ(emulation.device.faults().back().kind, FaultKind::race);
}

TEST(OrderFaults, ShufflesOrderMemoryOnlyWhereAsked) {
  const std::string text = R"(
__global__ void share(const float* x, float* y, int n) {
  __shared__ float slot;
  if (threadIdx.x == 0) slot = x[1];
  const float mine = __shfl_sync(~0u, x[threadIdx.x], 0);
  y[threadIdx.x] = slot + mine;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(share, 1, 32, 0, x, y, n); }
)";
  Emulation lenient(text);
  lenient.run();
  EXPECT_THAT(lenient.device.faults(), IsEmpty()) << lenient.device.describe_faults();
  EmulationOptions options;
  options.shuffles_order_memory = false;
  Emulation strict(text, 64, 64, options);
  EXPECT_EQ(strict.only_fault().kind, FaultKind::race);
}

TEST(OrderFaults, AsynchronousCopyIntoWhatOthersStillRead) {
  const std::string text = R"(
#include <cuda_pipeline.h>
__global__ void staged(const float* x, float* y, int n) {
  __shared__ float stage[32];
  float sum = 0.f;
  for (int step = 0; step < 2; ++step) {
    __pipeline_memcpy_async(&stage[threadIdx.x], x + 32 * step + threadIdx.x, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    sum += stage[31 - threadIdx.x];
    SYNC;
  }
  y[threadIdx.x] = sum;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(staged, 1, 32, 0, x, y, n); }
)";
  Emulation right("#define SYNC __syncwarp()\n" + text);
  right.run();
  EXPECT_THAT(right.device.faults(), IsEmpty()) << right.device.describe_faults();
  Emulation wrong("#define SYNC\n" + text);
  wrong.run();
  ASSERT_FALSE(wrong.device.faults().empty());
  EXPECT_EQ(wrong.device.faults().front().kind, FaultKind::race);
}

TEST(OrderFaults, BarrierThatSomeThreadsMiss) {
  Emulation emulation(R"(
__global__ void diverge(const float* x, float* y, int n) {
  if (threadIdx.x < 16) __syncthreads();
  y[threadIdx.x] = 1.f;
  __syncthreads();
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(diverge, 1, 32, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault();
  EXPECT_EQ(fault.kind, FaultKind::divergent_barrier);
  EXPECT_THAT(fault.message, AllOf(HasSubstr("thread (16,0,0) waits at __syncthreads at kernel.cu:5:3"),
                                   HasSubstr("thread (0,0,0) waits at __syncthreads at kernel.cu:3:25")));
}

TEST(OrderFaults, BarrierAfterSomeThreadsHaveReturned) {
  EmulationOptions options;
  options.returned_threads_may_miss_barriers = false;
  Emulation emulation(R"(
__global__ void early(const float* x, float* y, int n) {
  if (threadIdx.x >= 16) return;
  __syncthreads();
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(early, 1, 32, 0, x, y, n); }
)",
                      64, 64, options);
  const EmulationFault fault = emulation.only_fault();
  EXPECT_EQ(fault.kind, FaultKind::divergent_barrier);
  EXPECT_THAT(fault.message, HasSubstr("16 threads of the block have returned"));
}

TEST(OrderFaults, ShuffleThatNamedLanesDoNotReach) {
  Emulation emulation(R"(
__global__ void half(const float* x, float* y, int n) {
  float v = x[threadIdx.x];
  if (threadIdx.x < 16) v += __shfl_down_sync(0xffffffffu, v, 8);
  __syncthreads();
  y[threadIdx.x] = v;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(half, 1, 32, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault();
  EXPECT_EQ(fault.kind, FaultKind::missing_lanes);
  EXPECT_THAT(fault.message,
              AllOf(HasSubstr("deadlock: thread (0,0,0) waits in __shfl_down_sync with mask 0xffffffff at kernel.cu:4"),
                    HasSubstr("lanes 0xffff0000"), HasSubstr("thread (16,0,0) waits at __syncthreads at kernel.cu:5")));
}

TEST(OrderFaults, ShuffleFromALaneThatHasReturned) {
  Emulation emulation(R"(
__global__ void half(const float* x, float* y, int n) {
  if (threadIdx.x >= 16) return;
  y[threadIdx.x] = __shfl_down_sync(0xffffffffu, x[threadIdx.x], 8);
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(half, 1, 32, 0, x, y, n); }
)");
  EXPECT_THAT(emulation.only_fault().message, HasSubstr("lane 8 reads lane 16, which has returned"));
}

TEST(OrderFaults, ShuffleByALaneThatTheMaskDoesNotName) {
  Emulation emulation(R"(
__global__ void outside(const float* x, float* y, int n) {
  y[threadIdx.x] = __shfl_sync(0x0000ffffu, x[threadIdx.x], 0);
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(outside, 1, 32, 0, x, y, n); }
)");
  EXPECT_THAT(emulation.only_fault().message, HasSubstr("called by lane 16, which the mask does not name"));
}

TEST(OrderFaults, LanesMeetInDifferentOperations) {
  Emulation emulation(R"(
__global__ void split(const float* x, float* y, int n) {
  float v = x[threadIdx.x];
  if (threadIdx.x < 16) v = __shfl_xor_sync(0xffffffffu, v, 1);
  else v = __shfl_xor_sync(0xffffffffu, v, 2);
  y[threadIdx.x] = v;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(split, 1, 32, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault();
  EXPECT_EQ(fault.kind, FaultKind::missing_lanes);
  EXPECT_THAT(fault.message, HasSubstr("but lanes 0x0000ffff of the mask wait in __shfl_xor_sync"));
}

TEST(OrderFaults, EndlessLoopWithAccesses) {
  EmulationOptions options;
  options.steps_per_thread = 10000;
  Emulation emulation(R"(
__global__ void spin(const float* x, float* y, int n) {
  y[0] = 0.f;
  while (*(volatile float*)y == 0.f) {
  }
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(spin, 1000, 1, 0, x, y, n); }
)",
                      64, 64, options);
  const EmulationFault fault = emulation.only_fault();
  EXPECT_EQ(fault.kind, FaultKind::step_limit);
  EXPECT_THAT(fault.message, HasSubstr("has gone round loops 10000 times"));
  EXPECT_EQ(emulation.device.counters().blocks, 1u);
}

TEST(OrderFaults, EndlessLoopWithoutAccesses) {
  EmulationOptions options;
  options.steps_per_thread = 10000;
  Emulation emulation(R"(
__global__ void spin(const float* x, float* y, int n) {
  for (;;) {
  }
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(spin, 1, 32, 0, x, y, n); }
)",
                      64, 64, options);
  EXPECT_EQ(emulation.only_fault().kind, FaultKind::step_limit);
}

TEST(OrderFaults, EndlessLoopOfBarriers) {
  EmulationOptions options;
  options.steps_per_thread = 1000;
  Emulation emulation(R"(
__global__ void spin(const float* x, float* y, int n) {
again:
  __syncthreads();
  if (n) goto again;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(spin, 1, 64, 0, x, y, n); }
)",
                      64, 64, options);
  EXPECT_EQ(emulation.only_fault().kind, FaultKind::step_limit);
}

TEST(OrderFaults, ADeviceRunsOnAfterAFault) {
  Emulation emulation(R"(
__global__ void diverge(const float* x, float* y, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < n) __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
  __syncthreads();
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(diverge, 1, 64, 0, x, y, n); }
)");
  EXPECT_EQ(emulation.run(20), 719);
  EXPECT_EQ(emulation.device.faults().size(), 1u);
  EXPECT_EQ(emulation.run(64), 0);
  EXPECT_EQ(emulation.device.faults().size(), 1u) << emulation.device.describe_faults();
  EXPECT_EQ(emulation.y[63], 63.f);
}

}  // namespace
}  // namespace esc::testing
