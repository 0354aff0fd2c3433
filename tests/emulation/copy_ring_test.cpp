// SPDX-License-Identifier: Apache-2.0
// Several asynchronous copies in flight, in a ring of slots of shared memory: what is right stays without a fault, and
// what reads or overwrites a slot too early is found.

#include <fmt/format.h>

#include "tests/emulation/emulation_fixture.h"

namespace esc::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kThreads = 96;
constexpr int kSteps = 20;

/// What a thread does in a step, in this order.
struct Ring {
  int slots;
  int ahead;                              ///< copies issued before the first step
  int left;                               ///< groups that are not waited for
  std::string meet = "__syncthreads();";  ///< between waiting and reading
  std::string before_meeting = "";
  std::string before_issue = "";
  int bytes = 4;
};

/// Each step adds what another warp has copied.
std::string text_of(const Ring& ring) {
  return fmt::format(R"(
#include <cuda_pipeline_primitives.h>
constexpr int slots = {0}, ahead = {1}, steps = {2}, values = {3};
__device__ void issue(float* ring, const float* x, int step) {{
  if (step < steps) {{
    const int at = values * threadIdx.x;
    __pipeline_memcpy_async(ring + values * {4} * (step % slots) + at, x + values * {4} * step + at, 4 * values);
  }}
  __pipeline_commit();
}}
__global__ void stream(const float* x, float* y, int n) {{
  __shared__ alignas(16) float ring[slots * values * {4}];
  float sum = 0;
  for (int step = 0; step < ahead; ++step) issue(ring, x, step);
  for (int step = 0; step < steps; ++step) {{
    __pipeline_wait_prior({5});
    {6}
    {7}
    sum += ring[values * {4} * (step % slots) + values * ((threadIdx.x + 32) % {4})];
    {8}
    issue(ring, x, step + ahead);
  }}
  y[threadIdx.x] = sum;
}}
extern "C" cudaError_t run(const float* x, float* y, int n) {{ return launch(stream, 1, {4}, 0, x, y, n); }}
)",
                     ring.slots, ring.ahead, kSteps, ring.bytes / 4, kThreads, ring.left, ring.before_meeting,
                     ring.meet, ring.before_issue);
}

/// The faults of a run with threads in this order; without a seed in the order of their numbers.
std::vector<EmulationFault> faults_of(const Ring& ring, std::optional<std::uint64_t> seed = {}) {
  EmulationOptions options;
  options.shuffle_seed = seed;
  const std::size_t values = static_cast<std::size_t>(ring.bytes) / 4 * kThreads;
  Emulation emulation(text_of(ring), values * kSteps, kThreads, options);
  emulation.run();
  if (emulation.device.faults().empty()) {
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      float sum = 0;
      for (std::size_t step = 0; step < kSteps; ++step) {
        sum += emulation.x[values * step + static_cast<std::size_t>(ring.bytes) / 4 * ((thread + 32) % kThreads)];
      }
      EXPECT_EQ(emulation.y[thread], sum) << "thread " << thread;
    }
  }
  return emulation.device.faults();
}

void expect_fault(const Ring& ring, std::vector<FaultKind> kinds) {
  for (const std::optional<std::uint64_t> seed : {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(4)}) {
    const std::vector<EmulationFault> faults = faults_of(ring, seed);
    ASSERT_FALSE(faults.empty());
    EXPECT_THAT(kinds, ::testing::Contains(faults.front().kind)) << faults.front().message;
    EXPECT_THAT(faults.front().message, HasSubstr("shared memory 'ring'"));
  }
}

TEST(CopyRing, IsRightWithOneBarrierInAStep) {
  for (int left = 0; left <= 7; ++left) {
    for (const int bytes : {4, 8, 16}) {
      EXPECT_THAT(messages_of(faults_of({.slots = left + 2, .ahead = left + 1, .left = left, .bytes = bytes})),
                  IsEmpty())
          << left << " left, " << bytes << " bytes";
    }
    EXPECT_THAT(messages_of(faults_of({.slots = left + 2, .ahead = left + 1, .left = left}, 11)), IsEmpty()) << left;
  }
}

TEST(CopyRing, IsRightWithASlotLessAndTwoBarriers) {
  EXPECT_THAT(messages_of(faults_of({.slots = 4, .ahead = 4, .left = 3, .before_issue = "__syncthreads();"})),
              IsEmpty());
}

TEST(CopyRing, WaitingForOneGroupTooFew) {
  for (int left = 1; left <= 7; ++left) {
    expect_fault({.slots = left + 1, .ahead = left, .left = left}, {FaultKind::uninitialised});
  }
}

TEST(CopyRing, OverwritingASlotThatOtherWarpsRead) {
  for (const int slots : {1, 2, 4, 8}) {
    expect_fault({.slots = slots, .ahead = slots, .left = slots - 1}, {FaultKind::race, FaultKind::uninitialised});
  }
}

TEST(CopyRing, ReadingWithoutABarrierBehindTheWait) {
  expect_fault({.slots = 4, .ahead = 3, .left = 2, .meet = ""}, {FaultKind::race, FaultKind::uninitialised});
  expect_fault({.slots = 4, .ahead = 3, .left = 2, .meet = "__syncwarp();"},
               {FaultKind::race, FaultKind::uninitialised});
}

TEST(CopyRing, ABarrierInFrontOfTheWaitIsNoneBehindIt) {
  // The barrier of the next step is between this step's wait and nothing that reads.
  const Ring ring{.slots = 4, .ahead = 3, .left = 2, .meet = "", .before_issue = "__syncthreads();"};
  expect_fault(ring, {FaultKind::race, FaultKind::uninitialised});
}

TEST(CopyRing, MoreCopiesInFlightThanSlots) {
  expect_fault({.slots = 3, .ahead = 4, .left = 3}, {FaultKind::race});
  EXPECT_THAT(faults_of({.slots = 3, .ahead = 4, .left = 3}).front().message,
              HasSubstr("where an asynchronous copy of thread (0,0,0) is under way, which has not been waited for"));
}

TEST(CopyRing, WritingToASlotInFlight) {
  // By the thread that has issued the copy, and by another one after a barrier: neither orders the copy itself.
  for (const char* write :
       {"ring[values * 96 * ((step + 1) % slots) + values * threadIdx.x] = 1;",
        "__syncthreads(); ring[values * 96 * ((step + 1) % slots) + values * ((threadIdx.x + 32) % 96)] = 1; "
        "__syncthreads();"}) {
    expect_fault({.slots = 4, .ahead = 3, .left = 2, .before_issue = write}, {FaultKind::race});
  }
}

}  // namespace
}  // namespace esc::testing
