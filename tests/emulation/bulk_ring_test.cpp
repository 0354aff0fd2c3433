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

}  // namespace
}  // namespace esc::testing
