// SPDX-License-Identifier: Apache-2.0
// Products of warpgroups on the emulated grid: what they compute, and that each way of being too early, or of not doing
// the same, is found.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "tests/emulation/warpgroup_fixture.h"
#include "tests/support/warpgroup_product_cases.h"

namespace esc::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What they compute.

/// Of which elements products are, and what a text has of them.
struct Factors {
  const char* name;
  ChainFactors factors;
  const char* multiply;  ///< the function
  const char* ones;      ///< a word of them
  float sum;             ///< of products of ones
};

void PrintTo(const Factors& factors, std::ostream* out) { *out << factors.name; }

class OfFactors : public ::testing::TestWithParam<Factors> {};
class WarpgroupProducts : public OfFactors {};
class WarpgroupProductFaults : public OfFactors {};

const auto kAllFactors =
    ::testing::Values(Factors{"tf32", ChainFactors::tensor_float32, "multiply_async", "0x3f800000u", 8},
                      Factors{"float16", ChainFactors::float16, "multiply_halves_async", "0x3c003c00u", 16});
const auto kNameOfFactors = [](const auto& test) { return std::string(test.param.name); };
INSTANTIATE_TEST_SUITE_P(All, WarpgroupProducts, kAllFactors, kNameOfFactors);
INSTANTIATE_TEST_SUITE_P(All, WarpgroupProductFaults, kAllFactors, kNameOfFactors);

TEST_P(WarpgroupProducts, AreSumsOverStepsOfMatricesThatLieDifferently) {
  const ChainFactors factors = GetParam().factors;
  const std::string halves = factors == ChainFactors::float16 ? "true" : "false";
  const std::string text = with_warpgroup_instructions(
      "extern \"C\" cudaError_t run(const float* x, float* y, int n) { return launch(multiply_chain<" + halves +
      ">, 1, n, 0, x, y, 4); }\n");
  Emulation emulation(text, 3 * kChainSteps * kStepWords, 2 * kSumElements);
  std::vector<ChainValues> kinds{ChainValues::integers, ChainValues::fractions};
  if (factors == ChainFactors::float16) {
    kinds.push_back(ChainValues::subnormals);
  }
  for (const std::optional<std::uint64_t> order : kOrders) {
    EmulationOptions options;
    options.shuffle_seed = order;
    emulation.device.set_options(options);
    for (const int groups : {1, 2}) {
      const auto seed = static_cast<std::uint32_t>(order.value_or(0));
      const std::vector<std::uint32_t> x =
          draw_chain(groups, factors, kinds[(seed + static_cast<std::uint32_t>(groups)) % kinds.size()], seed);
      std::memcpy(emulation.x, x.data(), x.size() * sizeof(float));
      ASSERT_EQ(emulation.run(128 * groups), 0);
      ASSERT_THAT(messages_of(emulation.device.faults()), IsEmpty());
      for (int at = 0; at < groups * kSumElements; ++at) {
        ASSERT_EQ(emulation.y[at], chained_sum(x, groups, factors, at).sum) << groups << " warpgroups, element " << at;
      }
    }
  }
}

// Mistakes.

/// What a kernel does with `d`, `a` (ones; `multiply` is the function of them) and `b`, the descriptor of `tile`.
struct Trial {
  std::string statements;
  FaultKind kind = FaultKind::race;
  std::string words = {};
  int threads = 128;
};

/// One text for all of them, which takes the place of as many that would have to be compiled; `n` says which to run.
std::string text_of(const std::vector<Trial>& trials, const Factors& factors) {
  std::string text = std::string("#define multiply ") + factors.multiply + "\n#define ONES " + factors.ones + R"(
#include <cuda_pipeline.h>
#define FILL for (int at = threadIdx.x; at < 512; at += blockDim.x) tile[at] = __uint_as_float(ONES)
#define READY FILL; fence_stores(); __syncthreads(); fence_products()
#define FILL_SLOT for (int at = threadIdx.x; at < 512; at += blockDim.x) slot[at] = __uint_as_float(ONES)
#define MULTIPLY multiply(d, a, b, 0)
#define FINISH commit_products(); wait_for_products()
#define MULTIPLY_TWICE MULTIPLY; commit_products(); multiply(e, own, matrix_at(slot, 128, 256), 0); commit_products()
__device__ void fence_elsewhere() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __noinline__ void multiply_into_own(const unsigned* a, unsigned long long b) {
  float d[32];
  multiply(d, a, b, 0);
}
__device__ __noinline__ void multiply_own(float* d, const unsigned* a, unsigned long long b) {
  const unsigned own[4] = {a[0], a[1], a[2], a[3]};
  multiply(d, own, b, 0);
}
__device__ __noinline__ float beside(const float* x) {
  float other[256];
  for (int at = 0; at < 256; ++at) other[at] = x[at];
  return other[threadIdx.x];
}
__global__ void k(const float* x, float* y, int n) {
  __shared__ alignas(128) float tile[512];
  __shared__ alignas(128) float slot[512];
  __shared__ Barrier full;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const unsigned a[4] = {ONES, ONES, ONES, ONES};
  unsigned own[4] = {ONES, ONES, ONES, ONES};
  const unsigned long long b = matrix_at(tile, 128, 256);
  float d[32];
  float e[32];
  switch (n) {
)";
  for (std::size_t number = 0; number < trials.size(); ++number) {
    text += "  case " + std::to_string(number) + ": {\n" + trials[number].statements + "\n  } break;\n";
  }
  text += "  }\n}\nextern \"C\" cudaError_t run(const float* x, float* y, int n) {\n  const int threads[] = {";
  for (const Trial& trial : trials) {
    text += std::to_string(trial.threads) + ", ";
  }
  return with_warpgroup_instructions(text + "};\n  return launch(k, 1, threads[n], 0, x, y, n);\n}\n");
}

/// The first fault of each must be what it is said to be.
void expect_faults(const Factors& factors, const std::vector<Trial>& trials) {
  Emulation emulation(text_of(trials, factors), kStepWords, 256);
  for (std::size_t number = 0; number < trials.size(); ++number) {
    emulation.device.forget_faults();
    emulation.run(static_cast<int>(number));
    const std::vector<EmulationFault>& faults = emulation.device.faults();
    ASSERT_FALSE(faults.empty()) << trials[number].statements;
    EXPECT_EQ(faults.front().kind, trials[number].kind) << faults.front().message;
    EXPECT_THAT(faults.front().message, HasSubstr(trials[number].words)) << trials[number].statements;
  }
}

const std::string kEnd = " FINISH; y[threadIdx.x] = d[0];";

/// Each with operands of its own.
const std::string kTwoGroups = "FILL_SLOT; READY; MULTIPLY_TWICE; ";

TEST_P(WarpgroupProducts, NoFaultWhereAllIsRight) {
  const std::string copied = R"(
    if (threadIdx.x == 0) { initialise(&full, 1); fence_initialisation(); }
    __syncthreads();
    if (threadIdx.x == 0) { arrive_expecting(&full, 2048); copy_bulk(slot, x, 2048, &full); }
    wait_for(&full, 0);
    fence_products(); multiply(d, a, matrix_at(slot, 128, 256), 0);)";
  const std::vector<Trial> right = {
      {"READY; MULTIPLY;" + kEnd},
      {"READY; MULTIPLY;" + kEnd, {}, "", 256},
      {"READY; MULTIPLY; multiply(d, a, b, 1); multiply(e, a, b, 0);" + kEnd + " y[threadIdx.x] -= e[31];"},
      // A slot whose next stores another fence makes seen, while the first are read.
      {"READY; for (int at = threadIdx.x; at < 512; at += 128) slot[at] = __uint_as_float(ONES); fence_stores(); "
       "MULTIPLY; FINISH; __syncthreads(); fence_products();multiply(d, a, matrix_at(slot, 128, 256), 0);" +
       kEnd},
      // What is committed later is completed later.
      {"READY; MULTIPLY; commit_products(); multiply(e, a, b, 0); wait_for_products(); const float sum = d[0];" + kEnd +
       " y[threadIdx.x] = sum + e[0] - d[0];"},
      // Bulk copies need no fence: the proxy has written what it reads.
      {copied + " FINISH; y[threadIdx.x] = " + std::to_string(GetParam().sum) + ";"},
      // Of the older group all may be used again, while the younger one is under way.
      {kTwoGroups + "wait_for_products_but<1>(); const float sum = d[0]; d[0] = 1; wait_for_products(); "
                    "y[threadIdx.x] = sum + e[0] - e[31];"},
      {kTwoGroups + "wait_for_products_but<1>(); __syncthreads(); tile[threadIdx.x] = 2; wait_for_products(); "
                    "y[threadIdx.x] = e[0];"},
      {"READY; multiply(d, own, b, 0); commit_products(); multiply(e, a, b, 0); commit_products(); "
       "wait_for_products_but<1>(); own[0] = 0; wait_for_products(); y[threadIdx.x] = d[0] + __uint_as_float(own[0]);"},
      {kTwoGroups + "wait_for_products_but<2>(); wait_for_products_but<1>(); wait_for_products(); "
                    "y[threadIdx.x] = d[0] + e[0] - e[31];"},
      // Groups of none count, too.
      {kTwoGroups + "commit_products(); wait_for_products_but<1>(); y[threadIdx.x] = d[0] + e[0] - e[31]; "
                    "wait_for_products();"},
      // One team of two, met by a barrier of its own.
      {"if (threadIdx.x < 128) { for (int at = threadIdx.x; at < 512; at += 128) tile[at] = __uint_as_float(ONES); "
       "fence_stores(); sync_consumer_group(1, 128); fence_products(); MULTIPLY; FINISH; y[threadIdx.x] = d[0]; }",
       {},
       "",
       256}};
  Emulation emulation(text_of(right, GetParam()), kStepWords, 256);
  for (std::size_t number = 0; number < right.size(); ++number) {
    emulation.y[7] = 0;
    emulation.run(static_cast<int>(number));
    ASSERT_THAT(messages_of(emulation.device.faults()), IsEmpty()) << right[number].statements;
    EXPECT_EQ(emulation.y[7], GetParam().sum) << right[number].statements;
  }
}

TEST_P(WarpgroupProducts, WhoReadsEarlyGetsNaN) {
  Emulation emulation(text_of({{"READY; MULTIPLY; commit_products(); y[threadIdx.x] = d[0] + 1; wait_for_products();"},
                               {"READY; MULTIPLY; FINISH; fence_products(); multiply(d, a, b, 1); "
                                "wait_for_products(); y[threadIdx.x] = d[0]; FINISH;"},
                               {"READY; MULTIPLY; commit_products(); multiply(d, a, b, 1); "
                                "wait_for_products(); y[threadIdx.x] = d[0]; FINISH;"},
                               {"READY; MULTIPLY; FINISH; fence_products(); multiply(d, a, b, 1); "
                                "wait_for_products(); y[threadIdx.x] = d[31];"},
                               {kTwoGroups + "wait_for_products_but<1>(); y[threadIdx.x] = e[5] - 1; FINISH;"},
                               {kTwoGroups + "wait_for_products_but<2>(); y[threadIdx.x] = d[5]; FINISH;"},
                               // What the younger group adds to.
                               {"READY; MULTIPLY; commit_products(); multiply(d, a, b, 1); commit_products(); "
                                "wait_for_products_but<1>(); y[threadIdx.x] = d[0]; FINISH;"}},
                              GetParam()),
                      kStepWords, 256);
  for (const int trial : {0, 1, 2, 4, 5, 6}) {
    emulation.run(trial);
    EXPECT_THAT(messages_of(emulation.device.faults()), IsEmpty());
    EXPECT_TRUE(std::isnan(emulation.y[77])) << trial;
  }
  const EmulationFault fault = emulation.only_fault(3);
  EXPECT_TRUE(std::isnan(emulation.y[77]));
  EXPECT_THAT(fault.message, HasSubstr("the block ends while 1 products of the warp are under way"));
}

TEST_P(WarpgroupProductFaults, StoresThatNoFenceMakesSeen) {
  const std::string words = "by the asynchronous proxy; thread";
  const std::string multiplied = " fence_products(); MULTIPLY;" + kEnd;
  expect_faults(
      GetParam(),
      {{"FILL; __syncthreads();" + multiplied, FaultKind::race, words},
       {"fence_stores(); FILL; __syncthreads();" + multiplied, FaultKind::race, words},
       {"FILL; if (threadIdx.x == 0) fence_stores(); __syncthreads();" + multiplied, FaultKind::race, words},
       {"FILL; if (threadIdx.x != 77) fence_stores(); __syncthreads();" + multiplied, FaultKind::race,
        "thread (77,0,0) wrote there"},
       {"FILL; __syncthreads(); fence_stores();" + multiplied, FaultKind::race, words},
       {"FILL; __syncthreads(); if (warp == 2) fence_stores(); __syncwarp();" + multiplied, FaultKind::race, words},
       {"FILL; fence_stores(); if (threadIdx.x == 9) tile[9] = 2; __syncthreads();" + multiplied, FaultKind::race,
        "thread (9,0,0) wrote there"},
       {"FILL; fence_initialisation(); __syncthreads();" + multiplied, FaultKind::race, words},
       {"READY; MULTIPLY; FINISH; __syncthreads(); FILL; __syncthreads();" + multiplied, FaultKind::race, words},
       {"FILL; sync_consumer_group(1, 128); fence_stores();" + multiplied, FaultKind::race, words},
       // The last thread comes first after the barrier; nothing orders its fence with the others.
       {"FILL; fence_stores(); if (threadIdx.x == 255) tile[255] = 1; __syncthreads(); if (warp > 3) fence_stores(); "
        "else { fence_products(); MULTIPLY; FINISH; }",
        FaultKind::race, "thread (255,0,0) wrote there", 256},
       {"__pipeline_memcpy_async(tile + 4 * threadIdx.x, x + 4 * threadIdx.x, 16); __pipeline_commit(); "
        "__pipeline_wait_prior(0); __syncthreads();" +
            multiplied,
        FaultKind::race, words}});
}

TEST_P(WarpgroupProductFaults, Races) {
  expect_faults(
      GetParam(),
      {{"READY; MULTIPLY; commit_products(); if (warp == 1) tile[lane] = 2; wait_for_products();", FaultKind::race,
        "shared memory 'tile'"},
       {"READY; MULTIPLY; commit_products(); __syncthreads(); if (warp == 1) tile[lane] = 2; fence_stores(); "
        "__syncthreads(); wait_for_products();",
        FaultKind::race, "since which the shared memory that it reads has been written"},
       {"READY; MULTIPLY; commit_products(); __syncthreads(); if (warp == 0) tile[lane] = 2; fence_stores(); "
        "wait_for_products();",
        FaultKind::race, "shared memory"},
       {"READY; MULTIPLY; FINISH; if (threadIdx.x == 70) tile[3] = 2;", FaultKind::race,
        "write of 4 bytes at offset 12 of shared memory 'tile'"},
       {"READY; FILL; fence_stores(); fence_products(); MULTIPLY;" + kEnd, FaultKind::race, "of shared memory 'tile'"},
       // In order with the wait, and not with the issue; then the other way round, and late, without another value.
       {"READY; if (threadIdx.x == 5) { tile[5] = 2; fence_stores(); } MULTIPLY; commit_products(); __syncthreads(); "
        "wait_for_products();",
        FaultKind::race, "of shared memory 'tile'"},
       {"READY; MULTIPLY; commit_products(); __syncthreads(); if (threadIdx.x == 96) tile[0] = 1; wait_for_products();",
        FaultKind::race, "write of 4 bytes at offset 0 of shared memory 'tile'"}});
}

TEST_P(WarpgroupProductFaults, Order) {
  expect_faults(
      GetParam(),
      {{"FILL; fence_stores(); __syncthreads(); MULTIPLY;" + kEnd, FaultKind::race,
        "no wgmma.fence of the warp is between"},
       {"READY; MULTIPLY; FINISH; MULTIPLY;" + kEnd, FaultKind::race, "no wgmma.fence of the warp is between"},
       {"READY; MULTIPLY;", FaultKind::race, "the block ends while 1 products of the warp are under way"},
       {"READY; MULTIPLY; commit_products();", FaultKind::race,
        "the block ends while 1 products of the warp are under way"},
       {"READY; MULTIPLY; wait_for_products();", FaultKind::race,
        "the block ends while 1 products of the warp are under way"}});
}

TEST_P(WarpgroupProductFaults, GroupsUnderWay) {
  const std::string first_is_done = kTwoGroups + "wait_for_products_but<1>(); ";
  expect_faults(
      GetParam(),
      {{first_is_done, FaultKind::race, "the block ends while 1 products of the warp are under way"},
       {first_is_done + "multiply(d, a, b, 0); FINISH;", FaultKind::race, "no wgmma.fence of the warp is between"},
       {first_is_done + "if (threadIdx.x == 40) e[3] = 1; wait_for_products();", FaultKind::race,
        "lane 8 has written a register of D since"},
       {first_is_done + "if (threadIdx.x == 41) own[3] = 1; wait_for_products();", FaultKind::race,
        "lane 9 has written a register of A since"},
       {first_is_done + "__syncthreads(); if (threadIdx.x == 7) slot[7] = 2; wait_for_products();", FaultKind::race,
        "shared memory 'slot'"},
       {first_is_done + "__syncthreads(); if (warp == 0) slot[lane] = 2; fence_stores(); __syncthreads(); "
                        "wait_for_products();",
        FaultKind::race, "since which the shared memory that it reads has been written"},
       {kTwoGroups + "wait_for_products_but<2>(); __syncthreads(); if (warp == 0) tile[lane] = 2; fence_stores(); "
                     "__syncthreads(); wait_for_products_but<1>();",
        FaultKind::race, "since which the shared memory that it reads has been written"},
       {kTwoGroups + "if (warp == 1) wait_for_products_but<1>(); else wait_for_products_but<2>();",
        FaultKind::missing_lanes, "where another warp of its group has come to wgmma.wait_group at"},
       {kTwoGroups + "if (lane == 1) wait_for_products_but<1>(); else wait_for_products_but<2>();",
        FaultKind::missing_lanes, "wgmma.wait_group with"}});
}

TEST_P(WarpgroupProductFaults, RegistersOfA) {
  expect_faults(GetParam(), {{"READY; multiply(d, own, b, 0); commit_products(); if (threadIdx.x == 40) own[1] = 3; "
                              "wait_for_products(); y[threadIdx.x] = d[0] + __uint_as_float(own[1]);",
                              FaultKind::race, "lane 8 has written a register of A since"},
                             {"READY; multiply_own(d, a, b); commit_products(); y[threadIdx.x] = beside(x); "
                              "wait_for_products();",
                              FaultKind::race, "or left the function"}});
}

TEST_P(WarpgroupProductFaults, RegistersOfD) {
  expect_faults(GetParam(),
                {{"READY; MULTIPLY; commit_products(); if (threadIdx.x == 40) d[3] = 1; wait_for_products();",
                  FaultKind::race, "lane 8 has written a register of D since"},
                 {"READY; multiply_into_own(a, b); commit_products(); y[threadIdx.x] = beside(x); wait_for_products();",
                  FaultKind::race, "or left the function"},
                 {"READY; multiply((float*)x, a, b, 0); FINISH;", FaultKind::bad_operand,
                  "with a D that is not of variables of the thread's own"},
                 {"float f[40]; READY; multiply(f, a, b, 0); multiply(f + 8, a, b, 0); FINISH;", FaultKind::bad_operand,
                  "in the D of another product under way"},
                 {"float f[40]; READY; multiply(f + (n > 0 ? 9 : 0), a, b, 0); FINISH;", FaultKind::stopped,
                  "indexes a local array outside its bounds"}});
}

TEST_P(WarpgroupProductFaults, LanesThatDiffer) {
  expect_faults(GetParam(), {{"READY; multiply(d, a, lane == 3 ? b - (1 << 16) : b, 0);" + kEnd, FaultKind::bad_operand,
                              "in lane 3"},
                             {"READY; multiply(d, a, b, lane == 5);" + kEnd, FaultKind::bad_operand, "in lane 5"},
                             {"READY; if (lane != 7) MULTIPLY;", FaultKind::missing_lanes,
                              "wgmma.mma_async with mask 0xffffffff names lanes 0x00000080, which have returned"},
                             {"if (lane < 9) fence_products(); else fence_elsewhere();", FaultKind::missing_lanes,
                              "is in wgmma.fence with mask 0xffffffff, but lanes"},
                             {"READY; MULTIPLY; commit_products(); if (lane > 0) wait_for_products();",
                              FaultKind::missing_lanes, "wgmma.wait_group with mask"},
                             {"FILL; fence_stores(); __syncthreads(); if (lane > 0) fence_products();",
                              FaultKind::missing_lanes, "wgmma.fence with mask"}});
}

TEST_P(WarpgroupProductFaults, WarpsThatDiffer) {
  expect_faults(
      GetParam(),
      {{"READY; multiply(d, a, warp == 2 ? b - (1 << 16) : b, 0);" + kEnd, FaultKind::bad_operand,
        "by warp 2 with the descriptor"},
       {"READY; multiply(d, a, b, warp == 3);" + kEnd, FaultKind::bad_operand, "by warp 3 with the descriptor"},
       {"READY; MULTIPLY; if (warp != 1) multiply(d, a, b, 1);" + kEnd, FaultKind::missing_lanes,
        "where another warp of its group has come to"},
       {"if (warp == 1) fence_products(); else fence_elsewhere();", FaultKind::missing_lanes,
        "where another warp of its group has come to wgmma.fence at"},
       {"READY; if (warp != 1) { MULTIPLY; FINISH; }", FaultKind::missing_lanes,
        "of which warp 1 has done 1 steps and another one 4"},
       {"READY; MULTIPLY;" + kEnd, FaultKind::missing_lanes, "by warp 0 of a block of 96 threads", 96},
       {"READY; MULTIPLY;" + kEnd, FaultKind::missing_lanes,
        "by warp 4 of a block of 160 threads, which end within the four warps from 4 on", 160}});
}

TEST_P(WarpgroupProductFaults, Descriptors) {
  const auto product = [](const std::string& descriptor) {
    return "READY; multiply(d, a, " + descriptor + ", 0);" + kEnd;
  };
  const std::string swizzle = "asks for a base offset or a swizzle but those of 64 and 128 bytes";
  expect_faults(GetParam(), {{product("b | 1ull << 62"), FaultKind::bad_operand, swizzle},
                             {product("b | 2ull << 62"), FaultKind::bad_operand, swizzle},
                             {product("b | 1ull << 49"), FaultKind::bad_operand, swizzle},
                             {product("b | 1ull << 14"), FaultKind::bad_operand, "bits that mean nothing"},
                             {product("b + 1"), FaultKind::out_of_bounds, "past the end of shared memory 'tile'"},
                             {product("matrix_at(tile, 0x3fff0, 0x3fff0)"), FaultKind::out_of_bounds, ""},
                             {product("matrix_at(slot, 128, 256)"), FaultKind::uninitialised, "shared memory 'slot'"}});
}

}  // namespace
}  // namespace esc::testing
