// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster that store sums to each other's shared memory: right ones are right, in any order of threads and
// blocks, and each way to store or to take them too early, in the wrong place or in another number of steps is found.

#include <fmt/format.h>

#include <numeric>

#include "generator/support/error.h"
#include "tests/emulation/emulation_fixture.h"

namespace esc::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kNotSupported = 801;
constexpr int kInvalidClusters = 9;

/// Two clusters of four blocks of 32 threads. Each leaves four numbers a thread for the first one, which stores their
/// sums in y[cluster][thread].
struct Cluster {
  std::string begun = "meet();";
  std::string leave = "if (rank > 0) leave(&sums[rank - 1][4 * thread], 0, x[rank], 1, 2, 3);";
  std::string behind = "";
  std::string met = "meet();";
  std::string take =
      "if (rank == 0) y[32 * (blockIdx.x / 4) + thread] = sums[0][4 * thread] + sums[1][4 * thread] + sums[2][4 * "
      "thread + 3];";
  std::string last = "";
  std::string dimensions = "__cluster_dims__(4, 1, 1)";
  int grid = 8;
};

std::string cluster_text(const Cluster& cluster) {
  return fmt::format(R"(
__device__ void meet() {{ asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" : : : "memory"); }}
__device__ void leave(float* to, int block, float a, float b, float c, float d) {{
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))), "r"(block));
  asm volatile("st.shared::cluster.v4.b32 [%0], {{%1, %2, %3, %4}};" : : "r"(there), "r"(__float_as_uint(a)), "r"(__float_as_uint(b)),
               "r"(__float_as_uint(c)), "r"(__float_as_uint(d)) : "memory");
}}
__global__ void {} kernel(const float* x, float* y) {{
  __shared__ alignas(16) float sums[3][4 * 32];
  const int rank = blockIdx.x % 4;
  const int thread = threadIdx.x;
  {}
  {}
  {}
  {}
  {}
  {}
}}
extern "C" cudaError_t run(const float* x, float* y, int n) {{ return launch(kernel, {}, 32, 0, x, y); }}
)",
                     cluster.dimensions, cluster.begun, cluster.leave, cluster.behind, cluster.met, cluster.take,
                     cluster.last, cluster.grid);
}

TEST(BlockCluster, FindsTheSumsThatOthersHaveLeft) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    EmulationOptions options;
    options.shuffle_seed = seed;
    Emulation emulation(cluster_text({}), 64, 64, options);
    EXPECT_EQ(emulation.run(), 0);
    EXPECT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
    EXPECT_EQ(emulation.result(64), std::vector<float>(64, 1 + 2 + 3));
    EXPECT_EQ(emulation.device.counters().blocks, 8u);
  }
}

/// Each block stores a number for every other one, which adds up what it finds.
Cluster all_to_all() {
  Cluster cluster;
  cluster.leave =
      "for (int to = 0; to < 4; ++to) if (to != rank) leave(&sums[(rank + 4 - to) % 4 - 1][4 * thread], to, "
      "x[8 * rank + to], 0, 0, 0);";
  cluster.take =
      "y[32 * blockIdx.x + thread] = sums[0][4 * thread] + 100 * sums[1][4 * thread] + 10000 * sums[2][4 * thread];";
  cluster.grid = 4;
  return cluster;
}

TEST(BlockCluster, FindsWhatEachBlockStoresForEachOther) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    EmulationOptions options;
    options.shuffle_seed = seed;
    Emulation emulation(cluster_text(all_to_all()), 64, 128, options);
    EXPECT_EQ(emulation.run(), 0);
    EXPECT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
    const std::vector<float> all = emulation.result(128);
    for (int block = 0; block < 4; ++block) {
      const auto from = [&](int distance) { return 8 * ((block + distance) % 4) + block; };
      EXPECT_EQ(all[static_cast<std::size_t>(32 * block)], from(1) + 100 * from(2) + 10000 * from(3)) << block;
    }
  }
}

TEST(BlockCluster, KeepsTheSharedMemoryOfBlocksThatWait) {
  Cluster own;
  own.begun = "sums[0][thread] = 10 * rank + thread % 2; meet();";
  own.leave = "sums[1][thread] = sums[0][thread ^ 1] + 100;";
  own.take = "y[32 * blockIdx.x + thread] = sums[1][thread ^ 1];";
  own.grid = 4;
  Emulation emulation(cluster_text(own), 64, 128);
  EXPECT_EQ(emulation.run(), 0);
  EXPECT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
  const std::vector<float> all = emulation.result(128);
  EXPECT_EQ(all[0], 100);
  EXPECT_EQ(all[33], 111);
  EXPECT_EQ(all[127], 131);
}

TEST(BlockCluster, FindsAStoreWhereABlockThatRanBeforeHasRead) {
  Cluster late = all_to_all();
  late.begun = "sums[0][4 * thread] = 1; meet();";
  late.behind = "if (rank == 3) y[thread] = sums[0][4 * thread];";
  late.leave = "if (rank == 2) leave(&sums[0][4 * thread], 3, 1, 2, 3, 4);";
  late.take = "";
  EXPECT_THAT(Emulation(cluster_text(late)).only_fault().message,
              HasSubstr("which this block has used between the same two barriers of the cluster"));
}

TEST(BlockCluster, FindsBlocksOfAClusterThatWriteTheSameElement) {
  Cluster both;
  both.leave = "y[thread] = 1;";
  both.take = "";
  both.grid = 4;
  EXPECT_EQ(Emulation(cluster_text(both)).only_fault().kind, FaultKind::race);
  // One block's own writes, before and after a barrier of the cluster, follow each other.
  both.leave = "if (rank == 3) y[thread] = 1;";
  both.last = "if (rank == 3) y[thread] += 2;";
  Emulation own(cluster_text(both));
  EXPECT_EQ(own.run(), 0);
  EXPECT_THAT(own.device.faults(), IsEmpty()) << own.device.describe_faults();
}

TEST(BlockCluster, RunsWholeClustersWhereSomeBlocksAreChosen) {
  EmulationOptions options;
  options.select_blocks = [](const LaunchInfo&) { return std::vector<std::uint64_t>{6, 4}; };
  Emulation emulation(cluster_text({}), 64, 64, options);
  EXPECT_EQ(emulation.run(), 0);
  EXPECT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
  EXPECT_EQ(emulation.device.counters().blocks, 4u);
  EXPECT_EQ(emulation.device.count_uninitialised("y"), 32u * sizeof(float));
}

TEST(BlockCluster, FindsAStoreIntoABlockThatMayNotHaveBegun) {
  EXPECT_THAT(Emulation(cluster_text({.begun = ""})).only_fault().message,
              HasSubstr("race: kernel 'kernel' at kernel.cu:6:3"));
  EXPECT_THAT(Emulation(cluster_text({.begun = ""})).only_fault().message,
              HasSubstr("may not have begun: no barrier of the cluster is before it"));
}

TEST(BlockCluster, FindsAReadBeforeTheBarrier) {
  Cluster early;
  std::swap(early.met, early.take);
  EXPECT_THAT(Emulation(cluster_text(early)).only_fault().message,
              HasSubstr("of another block of the cluster stores, which has not been waited for"));
}

TEST(BlockCluster, FindsAWriteWhereAnotherBlockStores) {
  const EmulationFault fault =
      Emulation(cluster_text({.behind = "if (rank == 0) sums[0][4 * thread] = 0;"})).only_fault();
  EXPECT_THAT(fault.message, HasSubstr("of another block of the cluster stores, which has not been waited for"));
}

TEST(BlockCluster, FindsAStoreWhereABarrierOfTheOtherBlockLies) {
  const std::string begun =
      R"(if (thread == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&sums[2][8]))), "r"(1) : "memory"); meet();)";
  const EmulationFault fault = Emulation(cluster_text({.begun = begun})).only_fault();
  EXPECT_EQ(fault.kind, FaultKind::bad_barrier);
  EXPECT_THAT(fault.message, HasSubstr("kernel.cu:6:3"));
  EXPECT_THAT(fault.message, HasSubstr("write of 16 bytes at offset 1056 of shared memory 'sums', where an "
                                       "asynchronous barrier of thread (0,0,0) lies"));
}

TEST(BlockCluster, StoresWhereTheOtherBlockHasEndedWithTheMemoryAtTheBarrier) {
  Emulation emulation(cluster_text({.begun = "sums[0][4 * thread] = x[rank]; sums[0][4 * thread] += 1; meet();"}));
  EXPECT_EQ(emulation.run(), 0);
  EXPECT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
  EXPECT_EQ(emulation.result(64), std::vector<float>(64, 1 + 2 + 3));
}

TEST(BlockCluster, FindsAStoreBehindTheLastBarrier) {
  Cluster late;
  late.last = "if (rank == 1) leave(&sums[2][4 * thread], 0, 1, 2, 3, 4);";
  late.leave = "if (rank == 1 || rank == 2) leave(&sums[rank - 1][4 * thread], 0, x[rank], 1, 2, 3);";
  late.take = "if (rank == 0) y[32 * (blockIdx.x / 4) + thread] = sums[0][4 * thread] + sums[1][4 * thread];";
  EXPECT_THAT(Emulation(cluster_text(late)).only_fault().message,
              HasSubstr("after which that block waits for no barrier of the cluster"));
}

TEST(BlockCluster, FindsTwoStoresInOnePlace) {
  const EmulationFault fault =
      Emulation(cluster_text({.leave = "if (rank > 0) leave(&sums[0][4 * thread], 0, 1, 2, 3, 4);"})).only_fault();
  EXPECT_EQ(fault.kind, FaultKind::race);
  EXPECT_THAT(fault.message, HasSubstr("stores as well"));
}

TEST(BlockCluster, FindsBlocksThatMeetAnotherNumberOfTimes) {
  EXPECT_THAT(Emulation(cluster_text({.last = "if (rank == 2) meet();"})).only_fault().message,
              HasSubstr("the block waits at a barrier of its cluster, number 3, which another block of it never "
                        "reaches"));
}

TEST(BlockCluster, FindsThreadsThatMeetElsewhere) {
  EXPECT_EQ(Emulation(cluster_text({.last = "if (thread < 16) meet(); else __syncthreads();"})).only_fault().kind,
            FaultKind::divergent_barrier);
}

TEST(BlockCluster, RefusesStoresThatItDoesNotFollow) {
  EXPECT_EQ(Emulation(cluster_text({.leave = "if (rank == 1) leave(&sums[0][4 * thread], 1, 1, 2, 3, 4);", .take = ""}))
                .only_fault()
                .kind,
            FaultKind::limit);
  EXPECT_EQ(Emulation(cluster_text({.leave = "if (rank == 1) leave(&sums[0][4 * thread], 4, 1, 2, 3, 4);", .take = ""}))
                .only_fault()
                .kind,
            FaultKind::bad_operand);
}

TEST(BlockCluster, FindsStoresOutsideAndBetweenPlaces) {
  EXPECT_EQ(Emulation(cluster_text({.leave = "if (rank == 1) leave(&sums[0][4 * thread] + 3 * 128, 0, 1, 2, 3, 4);",
                                    .take = ""}))
                .only_fault()
                .kind,
            FaultKind::out_of_bounds);
  EXPECT_EQ(
      Emulation(cluster_text({.leave = "if (rank == 1) leave(&sums[0][4 * thread + 1], 0, 1, 2, 3, 4);", .take = ""}))
          .only_fault()
          .kind,
      FaultKind::misaligned);
}

TEST(BlockCluster, OfOneBlockMeetsItself) {
  Emulation emulation(cluster_text({.leave = "sums[0][4 * thread] = x[thread];",
                                    .take = "y[thread] = sums[0][4 * (thread ^ 1)];",
                                    .dimensions = "",
                                    .grid = 1}),
                      64, 32);
  EXPECT_EQ(emulation.run(), 0);
  EXPECT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
  EXPECT_EQ(emulation.result(2), (std::vector<float>{1, 0}));
}

TEST(BlockCluster, IsRefusedAsTheRuntimeDoes) {
  EXPECT_EQ(Emulation(cluster_text({.grid = 6})).run(), kInvalidClusters);
  EmulationOptions options;
  options.properties.compute_major = 8;
  EXPECT_EQ(Emulation(cluster_text({}), 64, 64, options).run(), kNotSupported);
}

TEST(BlockCluster, OfAnotherShapeIsRefusedWithTheText) {
  for (const char* dimensions : {"__cluster_dims__(2, 2, 1)", "__cluster_dims__(16, 1, 1)"}) {
    EXPECT_THAT([&] { Emulation(cluster_text({.dimensions = dimensions})); },
                ::testing::ThrowsMessage<UserError>(HasSubstr("has clusters that cannot be run on the host")));
  }
}

}  // namespace
}  // namespace esc::testing
