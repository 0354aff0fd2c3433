// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/emulation/emulation_fixture.h"

namespace esc::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(MemoryFaults, ReadOneElementPastTheEnd) {
  Emulation emulation(R"(__global__ void shift(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i + 1];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(shift, 2, 32, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault();
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_EQ(fault.kernel, "shift");
  EXPECT_EQ(fault.place, "kernel.cu:3:10");
  EXPECT_THAT(fault.message,
              AllOf(HasSubstr("kernel 'shift' at kernel.cu:3:10, block (1,0,0), thread (31,0,0)"),
                    HasSubstr("read of 4 bytes 4 bytes past the end of buffer 'x' (256 bytes), offset 256")));
}

TEST(MemoryFaults, WriteOneElementBeforeTheStart) {
  Emulation emulation(R"(
__global__ void shift(const float* x, float* y, int n) { y[(int)threadIdx.x - 1] = x[threadIdx.x]; }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(shift, 1, 32, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault();
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_THAT(fault.message, HasSubstr("write of 4 bytes 4 bytes before the start of buffer 'y'"));
}

TEST(MemoryFaults, FarOutsideIsNotAnotherBuffer) {
  Emulation emulation(R"(
__global__ void far(const float* x, float* y, int n) { y[0] = x[10000000 + n]; }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(far, 1, 1, 0, x, y, n); }
)");
  EXPECT_EQ(emulation.only_fault().kind, FaultKind::out_of_bounds);
}

TEST(MemoryFaults, NullPointer) {
  Emulation emulation(R"(
__global__ void null(const float* x, float* y, int n) { y[0] = x[n]; }
extern "C" cudaError_t run(const float* x, float* y, int n) {
  return launch(null, 1, 1, 0, (const float*)nullptr, y, n);
}
)");
  EXPECT_THAT(emulation.only_fault().message, HasSubstr("near no buffer"));
  emulation.device.forget_faults();
  EXPECT_THAT(emulation.only_fault(-1).message, HasSubstr("address 0xfffffffffffffffc, near no buffer"));
}

TEST(MemoryFaults, VectorAccessAtAnUnalignedAddress) {
  Emulation emulation(R"(
__global__ void load(const float* x, float* y, int n) {
  const float4 v = *(const float4*)(x + n);
  y[0] = v.x + v.w;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(load, 1, 1, 0, x, y, n); }
)");
  EXPECT_EQ(emulation.run(4), 0);
  EXPECT_THAT(emulation.device.faults(), IsEmpty());
  const EmulationFault fault = emulation.only_fault(5);
  EXPECT_EQ(fault.kind, FaultKind::misaligned);
  EXPECT_THAT(fault.message,
              AllOf(HasSubstr("read of 16 bytes at offset 20 of buffer 'x'"), HasSubstr("not a multiple of 16")));
}

TEST(MemoryFaults, VectorStoreThatRunsOverTheEnd) {
  Emulation emulation(R"(
__global__ void store(const float* x, float* y, int n) { *(float4*)(y + n) = make_float4(1, 2, 3, 4); }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(store, 1, 1, 0, x, y, n); }
)",
                      64, 63);
  const EmulationFault fault = emulation.only_fault(60);
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_THAT(fault.message, HasSubstr("write of 16 bytes 4 bytes past the end of buffer 'y' (252 bytes)"));
}

TEST(MemoryFaults, WriteToAnInput) {
  Emulation emulation(R"(
__global__ void scribble(const float* x, float* y, int n) { ((float*)x)[n] = 1.f; }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(scribble, 1, 1, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault(3);
  EXPECT_EQ(fault.kind, FaultKind::read_only);
  EXPECT_THAT(fault.message, HasSubstr("write of 4 bytes at offset 12 of buffer 'x', which is read-only"));
  EXPECT_EQ(emulation.x[3], 3.f);
}

TEST(MemoryFaults, WriteToAConstant) {
  Emulation emulation(R"(
__constant__ int table[4] = {1, 2, 3, 4};
__global__ void scribble(const float* x, float* y, int n) { table[n] = 1; }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(scribble, 1, 1, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault(2);
  EXPECT_EQ(fault.kind, FaultKind::read_only);
  EXPECT_THAT(fault.message, HasSubstr("constant 'table'"));
}

TEST(MemoryFaults, ConstantReadPastItsEnd) {
  Emulation emulation(R"(
__constant__ const int table[4] = {1, 2, 3, 4};
__global__ void look(const float* x, float* y, int n) { y[0] = (float)table[n]; }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(look, 1, 1, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault(4);
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_THAT(fault.message, HasSubstr("past the end of constant 'table' (16 bytes)"));
}

/// What a function does with numbers that its caller writes down is judged as if it were done.
TEST(MemoryFaults, ConstantReadPastItsEndAtAPlaceThatIsWrittenDown) {
  for (const char* values : {"{1, 2, 3, 4}", "{}"}) {
    Emulation emulation(std::string("__constant__ const int table[4] = ") + values + R"(;
__device__ int at(const int* begin, int place) { return begin[place]; }
__device__ int look_up(const int* begin, int place) { return at(begin, place + 1); }
__global__ void look(const float* x, float* y, int n) {
  y[0] = (float)(n == 0 ? look_up(table, 2) : n == 1 ? look_up(table, 3) : look_up(table, n));
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(look, 1, 1, 0, x, y, n); }
)");
    EXPECT_EQ(emulation.run(0), 0);
    EXPECT_THAT(emulation.device.faults(), IsEmpty());
    for (const int n : {1, 3}) {
      emulation.device.forget_faults();
      const EmulationFault fault = emulation.only_fault(n);
      EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
      EXPECT_EQ(fault.place, "kernel.cu:2:57");
      EXPECT_THAT(fault.message, HasSubstr("past the end of constant 'table' (16 bytes)"));
    }
  }
}

TEST(MemoryFaults, LocalArrayReadPastItsEndAtAPlaceThatIsWrittenDown) {
  Emulation emulation(R"(
__device__ float at(const float* begin, int place) { return begin[place]; }
__global__ void look(const float* x, float* y, int n) {
  const float values[4] = {x[0], x[1], x[2], x[3]};
  y[0] = n == 0 ? at(values, 3) : at(values, 4);
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(look, 1, 1, 0, x, y, n); }
)");
  EXPECT_EQ(emulation.run(0), 0);
  EXPECT_THAT(emulation.device.faults(), IsEmpty());
  EXPECT_THAT(emulation.only_fault(1).message, HasSubstr("local"));
}

TEST(MemoryFaults, DivisionByAZeroThatIsWrittenDown) {
  Emulation emulation(R"(
__device__ int divide(int a, int b) { return a / b; }
__device__ int share(int a) { return a % a; }
__global__ void compute(const float* x, float* y, int n) { y[0] = (float)(n < 0 ? divide(1, 0) : share(n)); }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(compute, 1, 1, 0, x, y, n); }
)");
  EXPECT_EQ(emulation.run(1), 0);
  EXPECT_THAT(emulation.device.faults(), IsEmpty());
  for (const auto& [n, place] : {std::pair(-1, "kernel.cu:2:48"), std::pair(0, "kernel.cu:3:40")}) {
    emulation.device.forget_faults();
    const EmulationFault fault = emulation.only_fault(n);
    EXPECT_THAT(fault.message, HasSubstr("divides an integer by zero"));
    EXPECT_EQ(fault.place, place);
  }
}

TEST(MemoryFaults, HostConstantReadByAKernel) {
  Emulation emulation(R"(
const int table[4] = {1, 2, 3, 4};
__global__ void look(const float* x, float* y, int n) { y[0] = (float)table[n]; }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(look, 1, 1, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault(1);
  EXPECT_EQ(fault.kind, FaultKind::forbidden_space);
  EXPECT_THAT(fault.message, HasSubstr("device code touches host memory"));
}

TEST(MemoryFaults, HostCodeTouchesDeviceMemory) {
  Emulation emulation(R"(
extern "C" cudaError_t run(const float* x, float* y, int n) { y[n] = 0.f; return cudaSuccess; }
)");
  const EmulationFault fault = emulation.only_fault(1);
  EXPECT_EQ(fault.kind, FaultKind::forbidden_space);
  EXPECT_THAT(fault.message, HasSubstr("host code touches device memory: write of 4 bytes at offset 4 of buffer 'y'"));
  EXPECT_EQ(emulation.run(), std::nullopt);
}

TEST(MemoryFaults, SharedMemoryThatNothingHasWritten) {
  Emulation emulation(R"(
__global__ void forget(const float* x, float* y, int n) {
  __shared__ float tile[64];
  if (threadIdx.x != 5) tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[(threadIdx.x + 1) % 64];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(forget, 1, 64, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault();
  EXPECT_EQ(fault.kind, FaultKind::uninitialised);
  EXPECT_EQ(fault.thread.x, 4u);
  EXPECT_THAT(fault.message,
              HasSubstr("read of 4 bytes at offset 20 of shared memory 'tile', which nothing has written"));
}

TEST(MemoryFaults, SharedMemoryOfTheBlockBefore) {
  Emulation emulation(R"(
__global__ void leftover(const float* x, float* y, int n) {
  extern __shared__ float tile[];
  if (blockIdx.x == 0) tile[threadIdx.x] = 1.f;
  y[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(leftover, 2, 32, 128, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault();
  EXPECT_EQ(fault.kind, FaultKind::uninitialised);
  EXPECT_EQ(fault.block.x, 1u);
  EXPECT_THAT(fault.message, HasSubstr("dynamic shared memory"));
}

TEST(MemoryFaults, DynamicSharedMemoryEndsWhereTheLaunchSays) {
  Emulation emulation(R"(
__global__ void over(const float* x, float* y, int n) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = 1.f;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(over, 1, 32, 124, x, y, n); }
)");
  EXPECT_THAT(emulation.only_fault().message, HasSubstr("past the end of dynamic shared memory (124 bytes)"));
}

TEST(MemoryFaults, SharedArraysDoNotRunIntoEachOther) {
  Emulation emulation(R"(
__global__ void over(const float* x, float* y, int n) {
  __shared__ float a[8];
  __shared__ float b[8];
  b[threadIdx.x] = 0.f;
  a[threadIdx.x + n] = b[threadIdx.x];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(over, 1, 8, 0, x, y, n); }
)");
  EXPECT_THAT(emulation.only_fault(1).message, HasSubstr("past the end of shared memory 'a' (32 bytes)"));
}

TEST(MemoryFaults, AsynchronousCopyThatIsNotWaitedFor) {
  Emulation emulation(R"(
#include <cuda_pipeline_primitives.h>
__global__ void hasty(const float* x, float* y, int n) {
  __shared__ float tile[32];
  tile[threadIdx.x] = 0.f;
  __pipeline_memcpy_async(&tile[threadIdx.x], x + threadIdx.x, 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  y[threadIdx.x] = tile[threadIdx.x];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(hasty, 1, 32, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault();
  EXPECT_EQ(fault.kind, FaultKind::uninitialised);
  EXPECT_THAT(fault.message, AllOf(HasSubstr("shared memory 'tile'"), HasSubstr("asynchronous copy")));
  EXPECT_EQ(emulation.y[7], 0.f);
}

TEST(MemoryFaults, AsynchronousCopyOfAnOddSize) {
  Emulation emulation(R"(
#include <cuda_pipeline.h>
__global__ void odd(const float* x, float* y, int n) {
  __shared__ float tile[32];
  __pipeline_memcpy_async(tile, x, n);
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(odd, 1, 1, 0, x, y, n); }
)");
  EXPECT_THAT(emulation.only_fault(12).message, HasSubstr("copies 12 bytes"));
  EXPECT_EQ(emulation.device.faults().front().kind, FaultKind::bad_copy);
}

TEST(MemoryFaults, AsynchronousCopyToAnUnalignedPlace) {
  Emulation emulation(R"(
#include <cuda_pipeline.h>
__global__ void skew(const float* x, float* y, int n) {
  __shared__ alignas(16) float tile[32];
  __pipeline_memcpy_async(tile + n, x, 16);
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(skew, 1, 1, 0, x, y, n); }
)");
  EXPECT_EQ(emulation.only_fault(1).kind, FaultKind::misaligned);
}

/// A kernel that writes vectors into dynamic shared memory declared with `alignment`, after as many bytes of it as `n`
/// says.
std::string vectors_in_shared_memory(const std::string& alignment) {
  return R"(
__global__ void stage(const float* x, float* y, int n) {
  extern __shared__ )" +
         alignment + R"( unsigned char tile[];
  unsigned char* const place = tile + n;
  *(float4*)place = make_float4(x[0], x[1], x[2], x[3]);
  y[0] = ((float4*)place)->x;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(stage, 1, 1, 64, x, y, n); }
)";
}

TEST(MemoryFaults, SharedMemoryIsAlignedAsItIsDeclaredAndNoBetter) {
  Emulation right(vectors_in_shared_memory("__align__(16)"));
  EXPECT_EQ(right.run(0), 0);
  EXPECT_THAT(right.device.faults(), IsEmpty());
  for (const char* const alignment : {"", "__align__(4)", "__align__(8)"}) {
    Emulation wrong(vectors_in_shared_memory(alignment));
    EXPECT_EQ(wrong.only_fault(0).kind, FaultKind::misaligned) << alignment;
  }
}

TEST(MemoryFaults, AtomicUpdateOfBytesThatNothingHasWritten) {
  Emulation emulation(R"(
__global__ void sum(const float* x, float* y, int n) { atomicAdd(y + threadIdx.x, x[threadIdx.x]); }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(sum, 1, 32, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault();
  EXPECT_EQ(fault.kind, FaultKind::uninitialised);
  EXPECT_THAT(fault.message, AllOf(HasSubstr("buffer 'y'"), HasSubstr("which nothing has written")));
  EXPECT_EQ(fault.place, "kernel.cu:2:56");
}

TEST(MemoryFaults, PlainUpdateOfBytesThatNothingHasWritten) {
  Emulation emulation(R"(
__global__ void sum(const float* x, float* y, int n) { y[threadIdx.x] += x[threadIdx.x]; }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(sum, 1, 32, 0, x, y, n); }
)");
  EXPECT_EQ(emulation.only_fault().kind, FaultKind::uninitialised);
}

TEST(MemoryFaults, FillBeyondABuffer) {
  Emulation emulation(R"(
extern "C" cudaError_t run(const float* x, float* y, int n) { return cudaMemsetAsync(y, 0, n, nullptr); }
)");
  EXPECT_THAT(emulation.only_fault(257).message, HasSubstr("fill of 257 bytes 1 bytes past the end of buffer 'y'"));
}

TEST(MemoryFaults, LocalArrayOutsideItsBounds) {
  Emulation emulation(R"(
__global__ void local(const float* x, float* y, int n) {
  float sums[4] = {1, 2, 3, 4};
  for (int i = 0; i <= n; ++i) sums[i] += x[i];
  for (int i = 0; i < 4; ++i) y[i] = sums[i];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(local, 1, 1, 0, x, y, n); }
)");
  const EmulationFault fault = emulation.only_fault(4);
  EXPECT_EQ(fault.kind, FaultKind::stopped);
  EXPECT_THAT(fault.message, HasSubstr("local array outside its bounds"));
}

TEST(MemoryFaults, AnotherThreadsLocalVariable) {
  Emulation emulation(R"(
__global__ void leak(const float* x, float* y, int n) {
  __shared__ float* address;
  volatile float mine = x[threadIdx.x];
  if (threadIdx.x == 0) address = (float*)&mine;
  __syncthreads();
  y[threadIdx.x] = *address;
  __syncthreads();
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(leak, 1, 32, 0, x, y, n); }
)");
  EXPECT_EQ(emulation.only_fault().kind, FaultKind::out_of_bounds);
}

TEST(MemoryFaults, DeepRecursion) {
  Emulation emulation(R"(
__device__ __noinline__ float deep(const float* x, int n) { return n == 0 ? 0.f : x[n % 64] + deep(x, n - 1) * 2.f; }
__global__ void recurse(const float* x, float* y, int n) { y[0] = deep(x, n); }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(recurse, 1, 1, 0, x, y, n); }
)");
  EXPECT_EQ(emulation.run(10), 0);
  EXPECT_EQ(emulation.only_fault(1 << 20).kind, FaultKind::stack_overflow);
}

TEST(MemoryFaults, DivisionByZero) {
  Emulation emulation(R"(
__global__ void divide(const float* x, float* y, int n) { y[0] = (float)(100 / n); }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(divide, 1, 1, 0, x, y, n); }
)");
  EXPECT_THAT(emulation.only_fault(0).message, HasSubstr("divides an integer by zero"));
}

/// The processors of hosts take the lower bits of the number, GPUs give 0.
TEST(MemoryFaults, ShiftsByAsManyBitsAsThereAre) {
  Emulation emulation(R"(
__global__ void shift(const float* x, float* y, int n) { y[0] = (float)(8u >> n) + (float)(1ull << 2 * n); }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(shift, 1, 1, 0, x, y, n); }
)");
  EXPECT_EQ(emulation.run(31), 0);
  EXPECT_THAT(emulation.device.faults(), IsEmpty());
  for (const int n : {32, -1}) {
    emulation.device.forget_faults();
    EXPECT_THAT(emulation.only_fault(n).message, HasSubstr("shifts a number by as many bits as it has, or more")) << n;
  }
}

TEST(MemoryFaults, SeveralAreReportedEachOnce) {
  Emulation emulation(R"(
__global__ void many(const float* x, float* y, int n) {
  if (blockIdx.x % 2 == 0) y[0] = x[64 + threadIdx.x];
  else y[64 + threadIdx.x] = 1.f;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(many, 100, 32, 0, x, y, n); }
)");
  EXPECT_EQ(emulation.run(), 719);
  EXPECT_EQ(emulation.device.faults().size(), 2u) << emulation.device.describe_faults();
  EXPECT_EQ(emulation.device.counters().blocks, 100u);
}

TEST(MemoryFaults, TheRunStopsAfterTheLastFaultAllowed) {
  EmulationOptions options;
  options.max_faults = 1;
  Emulation emulation(R"(
__global__ void many(const float* x, float* y, int n) {
  if (blockIdx.x % 2 == 0) y[0] = x[64 + threadIdx.x];
  else y[64 + threadIdx.x] = 1.f;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(many, 100, 32, 0, x, y, n); }
)",
                      64, 64, options);
  EXPECT_EQ(emulation.run(), 719);
  EXPECT_EQ(emulation.device.faults().size(), 1u);
  EXPECT_EQ(emulation.device.counters().blocks, 1u);
}

}  // namespace
}  // namespace esc::testing
