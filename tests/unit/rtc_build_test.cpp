// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/rtc_build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "generator/emit/device_text.h"
#include "generator/emit/generate.h"
#include "generator/emit/launch_plan.h"
#include "generator/matrix/round_values.h"
#include "generator/matrix/sample.h"
#include "generator/support/process.h"
#include "tuner/build/build_pool.h"
#include "tuner/build/cubin_store.h"
#include "tuner/build/nvcc_build.h"
#include "tuner/gpu/floor.h"
#include "tuner/gpu/graph_timer.h"
#include "tuner/gpu/launch.h"
#include "tuner/gpu/texts.h"

namespace esc::gpu {
namespace {

using testing::HasSubstr;
using tuning::build_with_nvcc;
using tuning::BuildError;
using tuning::BuildPool;
using tuning::Cubin;
using tuning::CubinStore;
using tuning::installed_nvcc;
using tuning::KernelText;

constexpr int h200 = 90;
constexpr int a100 = 80;

/// The device text of a layer.
KernelText device_text(const std::string& schedule, std::int64_t columns_of_a = 256, int architecture = h200,
                       ScalarType element = ScalarType::f32) {
  SparseMatrix matrix = sample_matrix(
      {.rows = 64, .columns = columns_of_a, .sparsity = 0.8, .structure = SampleStructure::uniform, .seed = 1});
  if (is_rounded(element)) {
    round_values(matrix, element);
  }
  const GeneratedLayer generated = generate_layer(matrix, spmm_nest(element),
                                                  {.name = "layer",
                                                   .source_file = "layer.smtx",
                                                   .bcol = 64,
                                                   .architectures = {architecture},
                                                   .choice = {parse_schedule(schedule), "user"}});
  return {device_text(generated.layer), kernels_of(launch_plan(generated.layer)), architecture};
}

BuildPool pool_of(int processes) { return {{.program = ESC_TUNE_WORKER, .arguments = {"build"}}, processes}; }

/// Machine code in an ELF file that has the kernel under the name that was given for it.
void expect_kernel(const Cubin& cubin) {
  const std::string_view image(cubin.image.data(), cubin.image.size());
  EXPECT_TRUE(image.starts_with("\177ELF"));
  EXPECT_THAT(cubin.symbols.front(), HasSubstr("layer_kernel"));
  EXPECT_NE(image.find(cubin.symbols.front()), std::string_view::npos);
}

class EverySchedule : public testing::TestWithParam<const char*> {};

TEST_P(EverySchedule, CompilesForBothGenerationsOfGpus) {
  for (const int architecture : {a100, h200}) {
    SCOPED_TRACE(architecture);
    expect_kernel(build(device_text(GetParam(), 256, architecture)));
  }
}

INSTANTIATE_TEST_SUITE_P(
    RtcBuild, EverySchedule,
    testing::Values("4-7-1-32", "rows:task=8,light=4",
                    "rows: tile=1x64, thread=1x4, unroll_k=8, task=128, light=16, warps=8, pdl=off",
                    "panel:ufi=1,columns=32,vector=1,groups=1,warps=1,panels=8",
                    "panel:ufi=2,columns=32,vector=4,groups=4,warps=8",
                    "panel:ufi=2,columns=32,vector=4,groups=4,warps=8,pdl=off",
                    "panel:ufi=2,columns=32,vector=4,groups=4,warps=8,stage=on",
                    "panel:ufi=2,columns=32,vector=4,groups=4,warps=8,stage=on,pdl=off",
                    "panel:ufi=4,columns=64,vector=4,groups=2,warps=4,panels=2",
                    "panel:ufi=2,columns=64,vector=4,groups=2,warps=16,ufk=8",
                    "panel:ufi=1,columns=64,vector=2,groups=1,warps=2,panels=4",
                    "panel:ufi=8,columns=32,vector=4,groups=1,warps=1,panels=16,stage=on",
                    "panel:ufi=2,columns=64,vector=4,groups=2,warps=16,stage=on,ufk=8",
                    "panel:ufi=1,columns=32,vector=2,groups=2,warps=1,panels=4"));

void expect_kernels_for_both_generations(const char* schedule, std::initializer_list<ScalarType> elements) {
  for (const ScalarType element : elements) {
    for (const int architecture : {a100, h200}) {
      SCOPED_TRACE(architecture);
      const KernelText text = device_text(schedule, 600, architecture, element);
      const Cubin cubin = build(text);
      expect_kernel(cubin);
      if (installed_nvcc() && architecture == h200) {
        expect_kernel(build_with_nvcc(text, cubin.symbols));
      }
    }
  }
}

class EveryScheduleOfHalves : public testing::TestWithParam<const char*> {};

TEST_P(EveryScheduleOfHalves, CompilesForBothGenerationsOfGpus) {
  expect_kernels_for_both_generations(GetParam(), {ScalarType::f16, ScalarType::bf16});
}

INSTANTIATE_TEST_SUITE_P(RtcBuild, EveryScheduleOfHalves,
                         testing::Values("panel:ufi=2,columns=32,vector=4,groups=4,warps=8,stage=on",
                                         "rows:columns=64,vector=4,unroll=8,task=512,light=16,warps=8",
                                         "bitmap: tile=64x256x8, warps=8, stages=3, stages_a=2, pdl=on",
                                         "bitmap: tile=16x256x64, warps=1, stages=2, stages_a=2, step=256, pdl=off",
                                         "bitmap: tile=64x256x64, warps=4, stages=4, stages_a=2, mma=wgmma, pdl=on"));

class EveryStream : public testing::TestWithParam<const char*> {};

TEST_P(EveryStream, CompilesForBothGenerationsOfGpus) {
  expect_kernels_for_both_generations(GetParam(), {ScalarType::f32, ScalarType::tf32});
}

INSTANTIATE_TEST_SUITE_P(RtcBuild, EveryStream,
                         testing::Values("stream:columns=8,panels=4,warps=2,stages=3",
                                         "stream: tile=16x256x64, warps=1, stages=2, copy=cp_async, pdl=off",
                                         "stream:columns=8,stages=3,copies=bulk",
                                         "stream:columns=32,panels=2,stages=2,copies=bulk"));

TEST(RtcBuild, HasTheKernelInFrontOfOneThatAdds) {
  const KernelText text = device_text("rows:task=8,light=4");
  const Cubin cubin = build(text);
  ASSERT_THAT(text.kernels, testing::SizeIs(2)) << "rows of about 50 non-zeros are split into tasks of 8";
  EXPECT_THAT(cubin.symbols, testing::ElementsAre(HasSubstr("layer_kernel"), HasSubstr("layer_zero_rows")));
}

TEST(RtcBuild, CompilesColumnsOf32Bits) {
  expect_kernel(build(device_text("panel:ufi=1,columns=32,vector=4,groups=4,warps=16", 70000)));
}

TEST(RtcBuild, KeepsTheWaitOfProgrammaticLaunches) {
  EXPECT_NE(build(device_text("panel:pdl=on")).image, build(device_text("panel:pdl=off")).image);
}

TEST(RtcBuild, CompilesTheFloor) {
  for (const int architecture : {a100, h200}) {
    const Cubin rates = build({std::string(rate_kernels_text), {"read_kernel", "multiply_add_kernel"}, architecture});
    EXPECT_THAT(rates.symbols, testing::ElementsAre("read_kernel", "multiply_add_kernel"));
  }
  const Cubin cubin = build({std::string(floor_kernel_text), {"floor_kernel"}, h200});
  EXPECT_THAT(cubin.symbols, testing::ElementsAre("floor_kernel"));
  EXPECT_FALSE(cubin.image.empty());
}

TEST(RtcBuild, ReportsTheLineOfAnError) {
  try {
    build({"__global__ void layer_kernel() {\n  unknown();\n}\n", {"layer_kernel"}, h200});
    FAIL() << "a text that calls what it does not declare compiles";
  } catch (const BuildError& error) {
    EXPECT_THAT(error.what(), HasSubstr("kernel.cu(2)"));
    EXPECT_THAT(error.what(), HasSubstr("unknown"));
  }
}

TEST(RtcBuild, FindsSeveralKernelsInTheOrderAsked) {
  const KernelText text{"__global__ void one() {}\n__global__ void two() {}\n", {"two", "one"}, h200};
  for (const Cubin& cubin : {build(text), pool_of(1).build(text)}) {
    EXPECT_THAT(cubin.symbols, testing::ElementsAre(HasSubstr("two"), HasSubstr("one")));
  }
}

TEST(RtcBuild, RefusesAKernelThatIsNotThere) {
  EXPECT_THROW(build({"__global__ void layer_kernel() {}\n", {"other_kernel"}, h200}), BuildError);
}

TEST(CubinStore, BuildsEqualTextsOnce) {
  BuildPool pool = pool_of(2);
  std::atomic<int> builds = 0;
  CubinStore store([&](const KernelText& text) {
    ++builds;
    return pool.build(text);
  });
  const std::vector<KernelText> texts{device_text("panel:pdl=on"), device_text("panel:pdl=off")};
  std::vector<std::shared_ptr<const Cubin>> cubins(8);
  tbb::parallel_for(std::size_t{0}, cubins.size(),
                    [&](std::size_t index) { cubins[index] = store.get(texts[index % texts.size()]); });
  EXPECT_EQ(builds, 2);
  EXPECT_EQ(std::set(cubins.begin(), cubins.end()).size(), texts.size());
  EXPECT_EQ(cubins[0], cubins[6]);
  EXPECT_NE(cubins[0], cubins[1]);
}

/// A matrix without split rows needs no kernel that sets rows to zero, another with the same text does.
TEST(CubinStore, TellsATextWithOtherKernelsApart) {
  KernelText text{
      "template <int i> __global__ void layer_kernel(int* out) { out[0] = i; }\n", {"layer_kernel<1>"}, h200};
  CubinStore store(build);
  EXPECT_EQ(store.get(text)->symbols.size(), 1U);
  text.kernels.emplace_back("layer_kernel<2>");
  EXPECT_EQ(store.get(text)->symbols.size(), 2U);
}

TEST(CubinStore, TellsEveryoneOfAnError) {
  CubinStore store(build);
  for (int time = 0; time < 2; ++time) {
    EXPECT_THROW(store.get({"no C++", {"layer_kernel"}, h200}), BuildError);
  }
}

TEST(BuildPool, BuildsWhatThisProcessWould) {
  BuildPool pool = pool_of(1);
  const KernelText text = device_text("panel:stage=on");
  for (int time = 0; time < 2; ++time) {
    const Cubin cubin = pool.build(text);
    expect_kernel(cubin);
    EXPECT_EQ(cubin.image.size(), build(text).image.size());
  }
}

TEST(BuildPool, PassesErrorsOnAndGoesOn) {
  BuildPool pool = pool_of(1);
  EXPECT_THAT([&] { pool.build({"no C++", {"layer_kernel"}, h200}); },
              testing::ThrowsMessage<BuildError>(HasSubstr("kernel.cu(1)")));
  EXPECT_FALSE(pool.build({"__global__ void layer_kernel() {}\n", {"layer_kernel"}, h200}).image.empty());
}

TEST(BuildPool, ReplacesAProcessThatDoesNotAnswer) {
  BuildPool hanging({.program = "/bin/sleep", .arguments = {"60"}}, 1, std::chrono::milliseconds(50));
  for (int time = 0; time < 2; ++time) {
    EXPECT_THAT([&] { hanging.build({"", {"layer_kernel"}, h200}); },
                testing::ThrowsMessage<BuildError>(HasSubstr("has not ended")));
  }
}

TEST(BuildPool, ReplacesAProcessThatEnds) {
  BuildPool ending({.program = "/bin/false"}, 1);
  for (int time = 0; time < 2; ++time) {
    EXPECT_THAT([&] { ending.build({"", {"layer_kernel"}, h200}); },
                testing::ThrowsMessage<BuildError>(HasSubstr("status 1")));
  }
}

/// What objects are kept by.
TEST(Worker, NamesItsCompilerInOneLineAndItsSetupInTheNext) {
  EXPECT_THAT(rtc_setup(), testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(run_process({ESC_TUNE_WORKER, "version"}).output, "nvrtc " + rtc_version() + "\n" + rtc_setup() + "\n");
}

TEST(NvccBuild, MakesTheSameKernelsAsNvrtc) {
  if (!installed_nvcc()) {
    GTEST_SKIP() << "there is no nvcc";
  }
  for (const char* schedule : {"panel:ufi=2", "panel:stage=on", "rows:task=128", "4-2-1-32"}) {
    const KernelText text = device_text(schedule);
    expect_kernel(build_with_nvcc(text, build(text).symbols));
  }
}

TEST(Timing, TakesTheMedianAndTheMiddleHalf) {
  const Timing odd = timing_of({9, 1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(odd.microseconds, 3);
  EXPECT_DOUBLE_EQ(odd.spread, 2.0 / 3.0);
  const Timing even = timing_of({4, 2});
  EXPECT_DOUBLE_EQ(even.microseconds, 3);
}

TEST(Floor, CountsTheColumnsOfABlockOnce) {
  // Rows {0, 1}, {1}, {}, {0}: blocks of two rows have the columns {0, 1} and {0}.
  const SparseMatrix matrix{4, 3, {0, 2, 3, 3, 4}, {0, 1, 1, 0}, {1, 2, 3, 4}};
  EXPECT_DOUBLE_EQ(mean_columns_of_block(matrix, 1), 1.0);
  EXPECT_DOUBLE_EQ(mean_columns_of_block(matrix, 2), 1.5);
  EXPECT_DOUBLE_EQ(mean_columns_of_block(matrix, 3), 1.5);
  EXPECT_DOUBLE_EQ(mean_columns_of_block(matrix, 4), 2.0);
}

}  // namespace
}  // namespace esc::gpu
