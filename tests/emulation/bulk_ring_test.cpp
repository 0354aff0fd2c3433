// SPDX-License-Identifier: Apache-2.0
// Rings of slots that bulk copies fill and asynchronous barriers hand on: right ones stay without a fault in any order
// of the threads, and each way to hand on too early, to count wrongly or to wait for ever is found.

#include <fmt/format.h>

#include "tests/emulation/async_fixture.h"

namespace esc::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kRingSteps = 20;
constexpr int kSlotValues = 64;

/// The orders of threads that each text is run in: of their numbers, and some others.
const std::vector<std::optional<std::uint64_t>> kOrders = {std::nullopt, 1, 2, 3, 4, 5};

std::vector<EmulationFault> faults_of(const std::string& text, std::optional<std::uint64_t> order,
                                      float* first = nullptr) {
  EmulationOptions options;
  options.shuffle_seed = order;
  Emulation emulation(with_async_instructions(text), kSlotValues * kRingSteps, 256, options);
  emulation.run();
  if (first != nullptr) {
    *first = emulation.y[0];
  }
  return emulation.device.faults();
}

EmulationFault first_fault(const std::string& text, std::optional<std::uint64_t> order = {}) {
  const std::vector<EmulationFault> faults = faults_of(text, order);
  EXPECT_FALSE(faults.empty());
  return faults.empty() ? EmulationFault{} : faults.front();
}

// One warp fetches, the others use each slot together.

struct SharedRing {
  int slots = 4;
  int consumers = 3;  ///< warps
  int empty_arrivals = 3;
  std::string full_wait = "wait_for(&full[slot], step / slots & 1);";
  std::string release = "__syncwarp(); if (lane == 0) arrive(&empty[slot]);";
  std::string before_release = "sum += ring[slot][lane] + ring[slot][lane + 32];";
  std::string behind_release = "";
  std::string empty_wait = "wait_for(&empty[slot], (step / slots & 1) ^ 1);";
  std::string expect = "arrive_expecting(&full[slot], bytes);";
  std::string copy = "copy_bulk(ring[slot], x + values * step, bytes, &full[slot]);";
  std::string fence = "fence_initialisation();";
  std::string behind_initialisation = "__syncthreads();";
};

std::string text_of(const SharedRing& ring) {
  return fmt::format(R"(
constexpr int slots = {}, steps = {}, consumers = {}, values = {}, bytes = 4 * values;
__global__ void stream(const float* x, float* y) {{
  __shared__ alignas(128) float ring[slots][values];
  __shared__ Barrier full[slots];
  __shared__ Barrier empty[slots];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {{
    for (int slot = 0; slot < slots; ++slot) {{
      initialise(&full[slot], 1);
      initialise(&empty[slot], {});
    }}
    {}
  }}
  {}
  if (warp == consumers) {{
    if (lane == 0) {{
      for (int step = 0; step < steps; ++step) {{
        const int slot = step % slots;
        {}
        {}
        {}
      }}
    }}
    return;
  }}
  float sum = 0;
  for (int step = 0; step < steps; ++step) {{
    const int slot = step % slots;
    {}
    {}
    {}
    {}
  }}
  y[threadIdx.x] = sum;
}}
extern "C" cudaError_t run(const float* x, float* y, int n) {{ return launch(stream, 1, 32 * (consumers + 1), 0, x, y); }}
)",
                     ring.slots, kRingSteps, ring.consumers, kSlotValues, ring.empty_arrivals, ring.fence,
                     ring.behind_initialisation, ring.empty_wait, ring.expect, ring.copy, ring.full_wait,
                     ring.before_release, ring.release, ring.behind_release);
}

void expect_right(const std::string& text) {
  for (const auto& order : kOrders) {
    float first = 0;
    EXPECT_THAT(messages_of(faults_of(text, order, &first)), IsEmpty());
    float sum = 0;
    for (int step = 0; step < kRingSteps; ++step) {
      sum += 2 * static_cast<float>(kSlotValues * step) + 32;
    }
    EXPECT_EQ(first, sum);
  }
}

TEST(SharedRing, IsRight) {
  for (const int slots : {1, 2, 3, 4, 7}) {
    expect_right(text_of({.slots = slots}));
  }
  expect_right(text_of({.fence = "fence_copies();"}));
}

TEST(SharedRing, IsRightWhereEveryThreadArrives) {
  expect_right(text_of({.slots = 3, .empty_arrivals = 96, .release = "arrive(&empty[slot]);"}));
}

TEST(SharedRing, IsRightWhereOneLaneWaitsForItsWarp) {
  expect_right(text_of({.full_wait = "if (lane == 0) wait_for(&full[slot], step / slots & 1); __syncwarp();"}));
}

TEST(SharedRing, IsRightWhereCopiesComeInParts) {
  expect_right(text_of({.copy = "copy_bulk(ring[slot], x + values * step, 16, &full[slot]);\n"
                                "copy_bulk(ring[slot] + 4, x + values * step + 4, bytes - 16, &full[slot]);"}));
}

TEST(SharedRing, SlotHandedBackBeforeItsLastRead) {
  const std::string text =
      text_of({.before_release = "sum += ring[slot][lane];", .behind_release = "sum += ring[slot][lane + 32];"});
  for (const auto& order : kOrders) {
    const EmulationFault fault = first_fault(text, order);
    EXPECT_EQ(fault.kind, FaultKind::race) << fault.message;
    EXPECT_THAT(fault.message, HasSubstr("of shared memory 'ring'"));
  }
}

TEST(SharedRing, SlotHandedBackByOneLaneForOthersThatStillRead) {
  const EmulationFault fault = first_fault(text_of({.release = "if (lane == 0) arrive(&empty[slot]);"}));
  EXPECT_EQ(fault.kind, FaultKind::race) << fault.message;
}

TEST(SharedRing, SlotHandedBackByTooFewWarps) {
  for (const auto& order : kOrders) {
    const EmulationFault fault = first_fault(
        text_of({.empty_arrivals = 2, .release = "__syncwarp(); if (lane == 0 && warp != 1) arrive(&empty[slot]);"}),
        order);
    EXPECT_EQ(fault.kind, FaultKind::race) << fault.message;
  }
}

TEST(SharedRing, SlotFilledWithoutWaitingForIt) {
  for (const auto& order : kOrders) {
    EXPECT_THAT(first_fault(text_of({.empty_wait = ""}), order).kind, AnyOf(FaultKind::race, FaultKind::bad_barrier));
  }
}

TEST(SharedRing, ReadWithoutWaiting) {
  for (const auto& order : kOrders) {
    const EmulationFault fault = first_fault(text_of({.full_wait = ""}), order);
    EXPECT_THAT(fault.kind, AnyOf(FaultKind::race, FaultKind::uninitialised)) << fault.message;
  }
}

TEST(SharedRing, ReadByLanesThatHaveNotMetTheOneThatWaited) {
  for (const auto& order : kOrders) {
    const EmulationFault fault =
        first_fault(text_of({.full_wait = "if (lane == 0) wait_for(&full[slot], step / slots & 1);"}), order);
    EXPECT_THAT(fault.kind, AnyOf(FaultKind::race, FaultKind::uninitialised)) << fault.message;
  }
}

TEST(SharedRing, ReadBehindTheWaitOfAnotherWarpAlone) {
  // The bytes are there when the others read, which nothing has told them.
  const EmulationFault fault = first_fault(R"(
__global__ void k(const float* x, float* y) {
  __shared__ alignas(128) float slot[64];
  __shared__ Barrier full;
  if (threadIdx.x == 0) {
    initialise(&full, 1);
    fence_initialisation();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    arrive_expecting(&full, 256);
    copy_bulk(slot, x, 256, &full);
    wait_for(&full, 0);
  }
  if (threadIdx.x == 32) y[0] = slot[0];
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(k, 1, 64, 0, x, y); }
)");
  EXPECT_EQ(fault.kind, FaultKind::race);
  EXPECT_THAT(fault.message, HasSubstr("which an asynchronous copy has written; the thread has not waited"));
}

TEST(SharedRing, ReadWhileTheCopyIsUnderWay) {
  const EmulationFault fault =
      first_fault(text_of({.slots = 4, .full_wait = "wait_for(&full[slot], (step / slots & 1) ^ 1);"}), 1);
  EXPECT_THAT(fault.kind, AnyOf(FaultKind::race, FaultKind::uninitialised)) << fault.message;
}

// Warps that take turns with the slots of one ring: warp w has the steps w, w + warps, ...

std::string turns(int slots, int warps) {
  return fmt::format(R"(
constexpr int slots = {}, steps = {}, warps = {}, values = {}, bytes = 4 * values;
__global__ void stream(const float* x, float* y) {{
  __shared__ alignas(128) float ring[slots][values];
  __shared__ Barrier full[slots];
  __shared__ Barrier empty[slots];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {{
    for (int slot = 0; slot < slots; ++slot) {{
      initialise(&full[slot], 1);
      initialise(&empty[slot], 1);
    }}
    fence_initialisation();
  }}
  __syncthreads();
  if (warp == warps) {{
    if (lane == 0) {{
      for (int step = 0; step < steps; ++step) {{
        const int slot = step % slots;
        wait_for(&empty[slot], (step / slots & 1) ^ 1);
        arrive_expecting(&full[slot], bytes);
        copy_bulk(ring[slot], x + values * step, bytes, &full[slot]);
      }}
    }}
    return;
  }}
  float sum = 0;
  for (int step = warp; step < steps; step += warps) {{
    const int slot = step % slots;
    wait_for(&full[slot], step / slots & 1);
    sum += ring[slot][lane] + ring[slot][lane + 32];
    __syncwarp();
    if (lane == 0) arrive(&empty[slot]);
  }}
  y[threadIdx.x] = sum;
}}
extern "C" cudaError_t run(const float* x, float* y, int n) {{ return launch(stream, 1, 32 * (warps + 1), 0, x, y); }}
)",
                     slots, kRingSteps, warps, kSlotValues);
}

TEST(RingInTurns, IsRightWhereEachWarpHasItsSlots) {
  for (const auto& [slots, warps] : std::vector<std::pair<int, int>>{{2, 2}, {4, 2}, {3, 3}, {6, 3}, {3, 1}}) {
    for (const auto& order : kOrders) {
      EXPECT_THAT(messages_of(faults_of(turns(slots, warps), order)), IsEmpty())
          << slots << " slots, " << warps << " warps";
    }
  }
}

TEST(RingInTurns, ParitiesAliasWhereTheSlotsAreNoMultipleOfTheWarps) {
  for (const auto& [slots, warps] : std::vector<std::pair<int, int>>{{3, 2}, {4, 3}, {5, 2}, {2, 3}}) {
    for (const auto& order : kOrders) {
      const EmulationFault fault = first_fault(turns(slots, warps), order);
      EXPECT_THAT(fault.kind, AnyOf(FaultKind::race, FaultKind::uninitialised)) << fault.message;
    }
  }
}

// A ring of its own for each warp, which fetches for itself and meets after each step.

std::string own_rings(const std::string& meet) {
  return fmt::format(R"(
constexpr int slots = 3, steps = {}, values = {}, bytes = 4 * values;
__device__ void fetch(float* ring, Barrier* full, const float* x, int step) {{
  if (step < steps && threadIdx.x % 32 == 0) {{
    arrive_expecting(&full[step % slots], bytes);
    copy_bulk(ring + values * (step % slots), x + values * step, bytes, &full[step % slots]);
  }}
}}
__global__ void stream(const float* x, float* y) {{
  extern __shared__ __align__(128) unsigned char memory[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float* ring = reinterpret_cast<float*>(memory) + slots * values * warp;
  Barrier* full = reinterpret_cast<Barrier*>(memory + 2 * slots * bytes) + slots * warp;
  if (lane == 0) {{
    for (int slot = 0; slot < slots; ++slot) initialise(&full[slot], 1);
    fence_copies();
  }}
  __syncwarp();
  for (int step = 0; step < slots; ++step) fetch(ring, full, x, step);
  float sum = 0;
  for (int step = 0; step < steps; ++step) {{
    wait_for(&full[step % slots], step / slots & 1);
    sum += ring[values * (step % slots) + lane] + ring[values * (step % slots) + lane + 32];
    {}
    fetch(ring, full, x, step + slots);
  }}
  y[threadIdx.x] = sum;
}}
extern "C" cudaError_t run(const float* x, float* y, int n) {{
  return launch(stream, 1, 64, 2 * slots * bytes + 2 * slots * 8, x, y);
}}
)",
                     kRingSteps, kSlotValues, meet);
}

TEST(OwnRings, AreRight) { expect_right(own_rings("__syncwarp();")); }

TEST(OwnRings, FilledBeforeTheOtherLanesHaveRead) {
  for (const auto& order : kOrders) {
    EXPECT_EQ(first_fault(own_rings(""), order).kind, FaultKind::race);
  }
}

// A ring whose slots the whole block hands back at a barrier, and whose phases one warp after the other waits for.

std::string met_ring(const std::string& meet) {
  return fmt::format(R"(
constexpr int slots = 3, steps = {}, values = {}, bytes = 4 * values;
__device__ void fetch(float (*ring)[values], Barrier* full, const float* x, int step) {{
  if (step < steps && threadIdx.x == 0) {{
    arrive_expecting(&full[step % slots], bytes);
    copy_bulk(ring[step % slots], x + values * step, bytes, &full[step % slots]);
  }}
}}
__global__ void stream(const float* x, float* y) {{
  __shared__ alignas(128) float ring[slots][values];
  __shared__ Barrier full[slots];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x < slots) {{
    initialise(&full[threadIdx.x], 1);
    fence_initialisation();
  }}
  __syncthreads();
  for (int step = 0; step < slots - 1; ++step) fetch(ring, full, x, step);
  float sum = 0;
  for (int step = 0; step < steps; ++step) {{
    if (step % 2 == warp) wait_for(&full[step % slots], step / slots & 1);
    {}
    sum += ring[step % slots][lane] + ring[step % slots][lane + 32];
    fetch(ring, full, x, step + slots - 1);
  }}
  y[threadIdx.x] = sum;
}}
extern "C" cudaError_t run(const float* x, float* y, int n) {{ return launch(stream, 1, 64, 0, x, y); }}
)",
                     kRingSteps, kSlotValues, meet);
}

TEST(MetRing, IsRight) { expect_right(met_ring("__syncthreads();")); }

TEST(MetRing, ReadWithoutMeetingTheWarpThatWaited) {
  for (const auto& order : kOrders) {
    EXPECT_THAT(first_fault(met_ring("__syncwarp();"), order).kind, AnyOf(FaultKind::race, FaultKind::uninitialised));
  }
}

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
  // The copies may come in front of the arrival that expects them, and nothing but a phase completes a wait for it.
  const std::string copy_first = kStart +
                                 "if (lane == 0) { copy_bulk(slot, x, 128, full); copy_bulk(slot + 32, x, 128, full); "
                                 "arrive_expecting(full, 256); }\nwait_for(full, 0); y[lane] = slot[lane]; "
                                 "wait_for(full, 0);";
  EXPECT_THAT(messages_of(faults_of(single(copy_first), {})), IsEmpty());
  EXPECT_THAT(messages_of(faults_of(single(kStart + "wait_for(full, 1);"), {})), IsEmpty());
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
      FaultKind::race, "no fence stands between its initialisation and the copies");
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
  expect_fault(copied + "y[0] = slot[0]; }", FaultKind::race, "where an asynchronous copy of thread (0,0,0) is under way");
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
