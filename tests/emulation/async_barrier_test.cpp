// SPDX-License-Identifier: Apache-2.0
// Asynchronous barriers by themselves: what they order, and what is wrong about one barrier and one slot is found.

#include "tests/emulation/async_fixture.h"

namespace esc::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One barrier, one slot, and what is wrong about them.

std::string single(const std::string& statements, int threads = 32) {
  return R"(
__global__ void k(const float* x, float* y) {
  __shared__ alignas(128) float slot[64];
  __shared__ Barrier barriers[4];
  Barrier* const full = &barriers[0];
  Barrier* const other = &barriers[1];
  const int lane = threadIdx.x;
)" + statements +
         R"(
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(k, 1, )" +
         std::to_string(threads) + R"(, 0, x, y); }
)";
}

const std::string kStart = "if (lane == 0) { initialise(full, 1); fence_initialisation(); } __syncthreads();\n";

void expect_fault(const std::string& statements, FaultKind kind, const std::string& words, int threads = 32) {
  const EmulationFault fault = first_fault(single(statements, threads));
  EXPECT_EQ(fault.kind, kind) << fault.message;
  EXPECT_THAT(fault.message, HasSubstr(words)) << statements;
}

TEST(AsyncBarrierFaults, NoneWhereAllIsRight) {
  const std::string right = kStart +
                            "if (lane == 0) { arrive_expecting(full, 256); copy_bulk(slot, x, 256, full); }\n"
                            "wait_for(full, 0); y[lane] = slot[lane];";
  EXPECT_THAT(messages_of(faults_of(single(right), {})), IsEmpty());
  // The copies may come before the arrival that expects them, and nothing but a phase completes a wait for it.
  const std::string copy_first = kStart +
                                 "if (lane == 0) { copy_bulk(slot, x, 128, full); copy_bulk(slot + 32, x, 128, full); "
                                 "arrive_expecting(full, 256); }\nwait_for(full, 0); y[lane] = slot[lane]; "
                                 "wait_for(full, 0);";
  EXPECT_THAT(messages_of(faults_of(single(copy_first), {})), IsEmpty());
  EXPECT_THAT(messages_of(faults_of(single(kStart + "wait_for(full, 1);"), {})), IsEmpty());
}

TEST(AsyncBarrierFaults, ArrivalsAtPhasesThatNobodyWaitsFor) {
  expect_fault(kStart + "if (lane == 0) { arrive(full); arrive(full); }", FaultKind::bad_barrier,
               "of which phase 0 is complete and nobody has waited for it");
  const std::string waited = kStart +
                             "if (lane == 0) arrive(full); wait_for(full, 0); __syncthreads(); "
                             "if (lane == 0) arrive(full);";
  EXPECT_THAT(messages_of(faults_of(single(waited), {})), IsEmpty()) << "the last phase is not waited for";
}

TEST(AsyncBarrierFaults, Initialisation) {
  expect_fault(
      "wait_for(full, 0);", FaultKind::bad_barrier,
      "wait of the asynchronous barrier at offset 0 of shared memory 'barriers', which nothing has initialised");
  expect_fault("if (lane == 0) arrive(other);", FaultKind::bad_barrier,
               "arrival of the asynchronous barrier at offset 8");
  expect_fault("if (lane == 0) initialise(full, 0);", FaultKind::bad_barrier, "for 0 arrivals; it takes 1 to 1048575");
  expect_fault("if (lane == 0) initialise(full, 1 << 20);", FaultKind::bad_barrier, "for 1048576 arrivals");
  expect_fault("if (lane == 0) { initialise(full, 1); initialise(full, 1); }", FaultKind::bad_barrier,
               "where an asynchronous barrier of thread (0,0,0) lies");
  expect_fault("if (lane == 0) initialise(full, 1); wait_for(full, 1);", FaultKind::race,
               "which another thread has initialised, and no barrier orders the two");
  expect_fault("if (lane == 0) initialise(full, 1); __syncwarp(); wait_for(full, 1);", FaultKind::race,
               "which another thread has initialised", 64);
  expect_fault(
      kStart + "if (lane == 1) *full = 5;", FaultKind::bad_barrier,
      "write of 8 bytes at offset 0 of shared memory 'barriers', where an asynchronous barrier of thread (0,0,0) lies");
  expect_fault(kStart + "if (lane == 1) y[0] = (float)*full;", FaultKind::bad_barrier,
               "read of 8 bytes at offset 0 of shared memory 'barriers', where an asynchronous barrier");
  expect_fault(
      "if (lane == 0) { initialise(full, 1); arrive_expecting(full, 256); copy_bulk(slot, x, 256, full); "
      "wait_for(full, 0); }",
      FaultKind::race, "no fence is between its initialisation and the copies");
}

TEST(AsyncBarrierFaults, Counts) {
  expect_fault(kStart + "if (lane < 2) arrive_expecting(full, 256);", FaultKind::bad_barrier,
               "once more than its 1 times");
  expect_fault(kStart + "if (lane == 0) arrive_expecting(full, 1 << 20);", FaultKind::bad_barrier,
               "expects 1048576 bytes in one phase");
  expect_fault(kStart + "if (lane == 0) { arrive_expecting(full, 128); copy_bulk(slot, x, 256, full); }",
               FaultKind::bad_barrier, "copies bring 256 bytes");
  expect_fault(kStart + "if (lane == 0) { copy_bulk(slot, x, 256, full); arrive(full); }", FaultKind::bad_barrier,
               "whose arrivals together expect 0");
  expect_fault(kStart + "if (lane == 0) { copy_bulk(slot, x, 256, full); wait_for(full, 2); }", FaultKind::bad_operand,
               "waits for the parity 2");
}

TEST(AsyncBarrierFaults, BytesArriveAsLateAsCanBe) {
  const std::string copied = kStart + "if (lane == 0) { copy_bulk(slot, x, 256, full); arrive_expecting(full, 256); ";
  expect_fault(copied + "}", FaultKind::race, "the block ends while an asynchronous copy of 256 bytes is under way");
  expect_fault(copied + "arrive(full); }", FaultKind::bad_barrier, "once more than its 1 times");
  expect_fault(copied + "y[0] = slot[0]; }", FaultKind::race,
               "where an asynchronous copy of thread (0,0,0) is under way");
}

TEST(AsyncBarrierFaults, Addresses) {
  const std::string expect = kStart + "if (lane == 0) { arrive_expecting(full, 256); ";
  expect_fault("if (lane == 0) initialise((Barrier*)((char*)full + 4), 1);", FaultKind::misaligned,
               "not a multiple of 8");
  expect_fault("if (lane == 0) initialise(barriers + 4, 1);", FaultKind::out_of_bounds,
               "past the end of shared memory 'barriers'");
  expect_fault(expect + "copy_bulk(slot + 1, x, 256 - 16, full); }", FaultKind::misaligned, "not a multiple of 16");
  expect_fault(expect + "copy_bulk(slot, x + 1, 256, full); }", FaultKind::misaligned, "buffer 'x'");
  expect_fault(expect + "copy_bulk(slot, x, 24, full); }", FaultKind::bad_copy,
               "bulk copy of 24 bytes, not a multiple of 16");
  expect_fault(expect + "copy_bulk(slot, x, 0, full); }", FaultKind::bad_copy, "bulk copy of 0 bytes");
  expect_fault(expect + "copy_bulk(slot + 4, x, 256, full); }", FaultKind::out_of_bounds, "shared memory 'slot'");
  expect_fault(expect + "copy_bulk(slot, x + 64 * 20 - 60, 256, full); }", FaultKind::out_of_bounds, "buffer 'x'");
  expect_fault(expect + "copy_bulk(slot, slot, 256, full); }", FaultKind::bad_copy, "which is not global memory");
  expect_fault(expect + "copy_bulk(slot, y, 256, full); }", FaultKind::uninitialised, "buffer 'y'");
  expect_fault(expect + "copy_bulk(barriers, x, 16, full); }", FaultKind::bad_barrier, "where an asynchronous barrier");
}

TEST(AsyncBarrierFaults, MemoryThatACopyIsUnderWayTo) {
  const std::string copy = kStart + "if (lane == 0) { arrive_expecting(full, 256); copy_bulk(slot, x, 256, full); }\n";
  expect_fault(copy + "__syncwarp(); y[lane] = slot[lane]; wait_for(full, 0);", FaultKind::race,
               "read of 4 bytes at offset 120 of shared memory 'slot', where an asynchronous copy of thread (0,0,0) is "
               "under way");
  expect_fault(copy + "__syncthreads(); if (lane == 9) slot[lane] = 1; __syncthreads(); wait_for(full, 0);",
               FaultKind::race, "write of 4 bytes at offset 36 of shared memory 'slot', where an asynchronous copy");
  expect_fault(copy + "__syncthreads(); if (lane == 0) copy_bulk(slot, x, 256, full);", FaultKind::race,
               "write of 256 bytes at offset 0 of shared memory 'slot', where an asynchronous copy");
  expect_fault(kStart +
                   "slot[lane] = 1; if (lane == 0) { arrive_expecting(full, 256); copy_bulk(slot, x, 256, full); } "
                   "wait_for(full, 0);",
               FaultKind::race, "");
  expect_fault(copy, FaultKind::race, "the block ends while an asynchronous copy of 256 bytes is under way");
  expect_fault(copy + "if (lane != 0) wait_for(full, 0); y[lane] = slot[lane];", FaultKind::race, "");
}

TEST(AsyncBarrierFaults, WaitThatIsTwoPhasesBehind) {
  expect_fault(kStart +
                   "if (lane == 0) for (int phase = 0; phase < 2; ++phase) { arrive(full); wait_for(full, phase); "
                   "}\nif (lane == 1) wait_for(full, 0);",
               FaultKind::race, "of which 2 phases are complete; of 0 the thread can know");
}

TEST(AsyncBarrierFaults, Deadlock) {
  expect_fault(kStart + "wait_for(full, 0);", FaultKind::deadlock,
               "thread (0,0,0) waits for phase 0 (parity 0) of the asynchronous barrier at offset 0 of shared memory "
               "'barriers', which lacks 1 of 1 arrivals and 0 of 0 expected bytes");
  expect_fault(
      kStart + "if (lane == 0) { arrive_expecting(full, 512); copy_bulk(slot, x, 256, full); } wait_for(full, 0);",
      FaultKind::deadlock, "which lacks 0 of 1 arrivals and 256 of 512 expected bytes, at kernel.cu");
  expect_fault(
      kStart + "if (lane == 0) { arrive(full); } else { wait_for(full, 0); wait_for(full, 1); } __syncthreads();",
      FaultKind::deadlock, "waits for phase 1 (parity 1)");
}

TEST(AsyncBarriers, OrderThreadsAsBarriersDo) {
  const auto with = [](const std::string& wait) {
    return R"(
__global__ void k(const float* x, float* y) {
  __shared__ float values[64];
  __shared__ Barrier met;
  if (threadIdx.x == 0) initialise(&met, 64);
  __syncthreads();
  for (int turn = 0; turn < 4; ++turn) {
    values[threadIdx.x] = x[threadIdx.x] + turn;
    arrive(&met);
    )" + wait +
           R"(
    y[64 * blockIdx.x + threadIdx.x] = values[63 - threadIdx.x];
    __syncthreads();
  }
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(k, 2, 64, 0, x, y); }
)";
  };
  for (const auto& order : kOrders) {
    EXPECT_THAT(messages_of(faults_of(with("wait_for(&met, turn & 1);"), order)), IsEmpty());
    EXPECT_THAT(first_fault(with(""), order).kind, AnyOf(FaultKind::race, FaultKind::uninitialised));
  }
}

TEST(AsyncBarriers, CopiesMayReadWhatTheKernelInFrontWritesBehindTheWaitForItAlone) {
  const std::string text = with_async_instructions(R"(
__global__ void k(const float* b, float* c, bool waits) {
  __shared__ alignas(128) float slot[4];
  __shared__ Barrier full;
  initialise(&full, 1);
  fence_initialisation();
  if (waits) cudaGridDependencySynchronize();
  arrive_expecting(&full, 16);
  copy_bulk(slot, b, 16, &full);
  wait_for(&full, 0);
  cudaGridDependencySynchronize();
  c[0] = slot[3];
}
extern "C" int start(const float* b, float* c, int waits) {
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 1;
  config.attrs = &overlap;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, k, b, c, waits != 0);
}
)");
  for (const bool waits : {true, false}) {
    const HostProgram program = compile(text);
    EmulatedDevice device;
    auto* b = reinterpret_cast<float*>(device.allocate("b", 16, BufferUse::input().shared_with_predecessor()).data());
    auto* c = reinterpret_cast<float*>(device.allocate("c", 4, BufferUse::output()).data());
    b[3] = 7;
    device.call<int(const float*, float*, int)>(program, "start", b, c, waits ? 1 : 0);
    if (waits) {
      EXPECT_THAT(messages_of(device.faults()), IsEmpty());
      EXPECT_EQ(c[0], 7);
    } else {
      ASSERT_EQ(device.faults().size(), 1u);
      EXPECT_EQ(device.faults().front().kind, FaultKind::before_wait);
    }
  }
}

}  // namespace
}  // namespace esc::testing
