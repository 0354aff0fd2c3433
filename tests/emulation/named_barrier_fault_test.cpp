// SPDX-License-Identifier: Apache-2.0
// Each way to use a named barrier wrongly.

#include <fmt/format.h>

#include "tests/emulation/async_fixture.h"

namespace esc::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string with_warps(const std::string& statements, int threads) {
  return fmt::format(R"(
__global__ void k(const float* x, float* y) {{
  __shared__ Barrier full;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) initialise(&full, 1);
  __syncthreads();
  {}
}}
extern "C" cudaError_t run(const float* x, float* y, int n) {{ return launch(k, 1, {}, 0, x, y); }}
)",
                     statements, threads);
}

void expect_team_fault(const std::string& statements, FaultKind kind, const std::string& words, int threads = 64) {
  const EmulationFault fault = first_fault(with_warps(statements, threads));
  EXPECT_EQ(fault.kind, kind) << fault.message;
  EXPECT_THAT(fault.message, HasSubstr(words)) << statements;
}

TEST(NamedBarrierFaults, NoneWhereAllIsRight) {
  for (const char* statements :
       {"sync_consumer_group(15, 64); sync_consumer_group(1 + warp, 32); sync_consumer_group(15, 64); "
        "sync_consumer_group(2 - warp, 32);",
        "if (warp == 0) sync_consumer_group(1, 32);", "if (warp == 1) sync_consumer_group(1, 32); __syncthreads();"}) {
    EXPECT_THAT(messages_of(testing::faults_of(with_warps(statements, 64), {})), IsEmpty()) << statements;
  }
}

TEST(NamedBarrierFaults, Numbers) {
  expect_team_fault("sync_consumer_group(0, 64);", FaultKind::bad_operand,
                    "waits at barrier 0 for 64 threads; there are barriers 1 to 15, and 0 is that of __syncthreads");
  expect_team_fault("sync_consumer_group(16, 64);", FaultKind::bad_operand, "waits at barrier 16 for 64 threads");
  expect_team_fault("sync_consumer_group(-1, 64);", FaultKind::bad_operand,
                    "waits at barrier 4294967295 for 64 threads");
}

TEST(NamedBarrierFaults, Counts) {
  for (const char* count : {"0", "31", "48", "96"}) {
    expect_team_fault(
        fmt::format("sync_consumer_group(1, {});", count), FaultKind::bad_operand,
        fmt::format("waits at barrier 1 for {} threads, which is no multiple of 32 from 32 to the 64 of the "
                    "block",
                    count));
  }
}

TEST(NamedBarrierFaults, CountsThatDiffer) {
  expect_team_fault("sync_consumer_group(1, warp == 2 ? 64 : 96);", FaultKind::divergent_barrier,
                    "waits at barrier 1 for 64 threads, but others are there for 96, at kernel.cu:", 96);
}

TEST(NamedBarrierFaults, LanesOfAWarpThatNameDifferentBarriers) {
  expect_team_fault("sync_consumer_group(1 + lane / 16, 64);", FaultKind::divergent_barrier,
                    "lane 0 of the warp waits at barrier 1 for 64 threads, but lane 16 at barrier 2 for 64 threads");
  expect_team_fault("sync_consumer_group(1, lane == 31 ? 32 : 64);", FaultKind::divergent_barrier,
                    "but lane 31 at barrier 1 for 32 threads");
}

TEST(NamedBarrierFaults, LanesOfAWarpAtDifferentStatements) {
  const std::string statement = "asm volatile(\"bar.sync %0, %1;\" : : \"r\"(1), \"r\"(64) : \"memory\");\n";
  expect_team_fault("if (lane < 8) {\n" + statement + "} else {\n" + statement + "}", FaultKind::missing_lanes,
                    "of the mask wait in bar.sync at kernel.cu:");
  expect_team_fault("if (lane < 8) {\n" + statement + "} else __syncwarp();", FaultKind::missing_lanes,
                    "of the mask wait in bar.sync at kernel.cu:");
}

TEST(NamedBarrierFaults, APartOfAWarp) {
  expect_team_fault("if (lane != 7) sync_consumer_group(1, 64);", FaultKind::missing_lanes,
                    "bar.sync with mask 0xffffffff names lanes 0x00000080, which have returned");
  expect_team_fault("sync_consumer_group(1, 32);", FaultKind::missing_lanes,
                    "names lanes 0xffffff00, which have returned", 40);
  // What the lanes' own warp lacks is said, not what keeps the other warp and the block waiting.
  expect_team_fault("if (warp == 0 || lane < 7) sync_consumer_group(1, 64); wait_for(&full, 0);",
                    FaultKind::missing_lanes, "thread (32,0,0) waits in bar.sync with mask 0xffffffff at kernel.cu");
  expect_team_fault("if (warp == 0 || lane < 7) sync_consumer_group(1, 64); __syncthreads();", FaultKind::missing_lanes,
                    "for lanes 0xffffff80 that do not come: thread (39,0,0) waits at __syncthreads");
}

TEST(NamedBarrierFaults, RoundsThatDoNotEnd) {
  const std::string waits = "thread (0,0,0) waits at barrier 2, where 32 of 64 threads have arrived, at kernel.cu:";
  const std::string begin = "if (warp == 0) { sync_consumer_group(2, 64); return; }\n";
  expect_team_fault(begin, FaultKind::deadlock, waits);
  expect_team_fault(begin, FaultKind::deadlock, ", and nobody else comes: the others have returned");
  expect_team_fault(begin + "__syncthreads();", FaultKind::deadlock, waits);
  expect_team_fault(begin + "__syncthreads();", FaultKind::deadlock,
                    "thread (32,0,0) waits at __syncthreads at kernel.cu:");
  expect_team_fault(begin + "sync_consumer_group(1, 64);", FaultKind::deadlock,
                    "nobody else comes: thread (32,0,0) waits at barrier 1, where 32 of 64 threads have arrived");
  expect_team_fault(begin + "wait_for(&full, 0);", FaultKind::deadlock, waits);
  expect_team_fault(begin + "wait_for(&full, 0);", FaultKind::deadlock,
                    "thread (32,0,0) waits for phase 0 (parity 0) of");
  expect_team_fault(begin + "if (lane == 0) sync_consumer_group(2, 64); __syncwarp();", FaultKind::missing_lanes,
                    "bar.sync");
}

TEST(NamedBarrierFaults, ArrivalsAreJudgedAsWaitsAre) {
  expect_team_fault("arrive_at(0, 64);", FaultKind::bad_operand,
                    "arrives at barrier 0 for 64 threads; there are barriers 1 to 15");
  expect_team_fault("arrive_at(1, 96);", FaultKind::bad_operand,
                    "arrives at barrier 1 for 96 threads, which is no multiple of 32 from 32 to the 64 of the block");
  expect_team_fault("arrive_at(1 + lane / 16, 64);", FaultKind::divergent_barrier,
                    "lane 0 of the warp arrives at barrier 1 for 64 threads, but lane 16 at barrier 2");
  expect_team_fault("if (warp == 2) arrive_at(1, 64); else sync_consumer_group(1, 96);", FaultKind::divergent_barrier,
                    "for 64 threads, but others are there for 96, at kernel.cu:", 96);
  expect_team_fault("if (lane != 7) arrive_at(1, 64);", FaultKind::missing_lanes,
                    "bar.arrive with mask 0xffffffff names lanes 0x00000080, which have returned");
  expect_team_fault("if (warp == 0) sync_consumer_group(2, 96); else if (warp == 1) arrive_at(2, 96);",
                    FaultKind::deadlock, "waits at barrier 2, where 64 of 96 threads have arrived", 96);
}

TEST(NamedBarrierFaults, AWarpArrivesOnceInARound) {
  expect_team_fault("if (warp == 0) { arrive_at(1, 96); arrive_at(1, 96); }", FaultKind::divergent_barrier,
                    "arrives at barrier 1 for 96 threads, at which the warp has arrived in the same round", 96);
  expect_team_fault("if (warp == 0) { arrive_at(1, 96); sync_consumer_group(1, 96); }", FaultKind::divergent_barrier,
                    "waits at barrier 1 for 96 threads, at which the warp has arrived in the same round", 96);
}

TEST(NamedBarrierFaults, WhoArrivesDoesNotKnowThatARoundIsOver) {
  expect_team_fault("if (warp == 0) { sync_consumer_group(1, 64); } else { arrive_at(1, 64); arrive_at(1, 64); }",
                    FaultKind::race, "it could have been one of them");
}

TEST(NamedBarrierFaults, RoundsInWhichNobodyWaits) {
  expect_team_fault("arrive_at(1, 64);", FaultKind::divergent_barrier,
                    "arrives as the last one of 64 threads at a barrier where none of them waits");
}

TEST(NamedBarrierFaults, ReturnedThreadsAreMissedWhateverBarriersOfTheBlockDo) {
  for (const bool may_miss : {true, false}) {
    EmulationOptions options;
    options.returned_threads_may_miss_barriers = may_miss;
    Emulation emulation(with_async_instructions(with_warps("if (warp == 0) sync_consumer_group(1, 64);", 64)), 64, 64,
                        options);
    EXPECT_EQ(emulation.only_fault().kind, FaultKind::deadlock);
  }
}

TEST(NamedBarrierFaults, HostCode) {
  const std::string text =
      "extern \"C\" int run(const float* x, float* y, int n) { sync_consumer_group(1, 32); return 0; }\n";
  EXPECT_EQ(first_fault(text).kind, FaultKind::forbidden_space);
}

}  // namespace
}  // namespace esc::testing
