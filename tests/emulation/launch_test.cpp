// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "generator/support/error.h"
#include "tests/emulation/emulation_fixture.h"

namespace esc::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kInvalidValue = 1;
constexpr int kInvalidConfiguration = 9;
constexpr int kInvalidDeviceFunction = 98;
constexpr int kLaunchOutOfResources = 701;

/// A kernel that counts its threads, launched with whatever is asked for.
struct AnyLaunch {
  HostProgram program = compile(R"(
__global__ void count(int* total) {
  extern __shared__ float pool[];
  atomicAdd(total, 1);
}
__global__ void __launch_bounds__(64) bounded(int* total) {}
__global__ void roomy(int* total) {
  __shared__ float tile[1024];
  extern __shared__ float pool[];
  tile[threadIdx.x] = pool[0];
}
extern "C" int start(int* total, const unsigned* extents, size_t shared) {
  const dim3 grid(extents[0], extents[1], extents[2]), block(extents[3], extents[4], extents[5]);
  return launch(count, grid, block, shared, total);
}
extern "C" int start_bounded(int* total, unsigned threads) { return launch(bounded, 1, threads, 0, total); }
extern "C" int start_unknown(int* total) {
  return launch((void (*)(int*))((char*)count + 1), 1, 1, 0, total);
}
extern "C" int allow(int bytes, int which) {
  return which ? cudaFuncSetAttribute(roomy, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)
               : cudaFuncSetAttribute((const void*)count, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
extern "C" int limits(int which) {
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, roomy);
  int processors = 0, device = -1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  return which == 0 ? (int)attributes.sharedSizeBytes : which == 1 ? attributes.maxDynamicSharedSizeBytes : processors;
}
extern "C" int last_error(int) { return cudaGetLastError(); }
)");
  EmulatedDevice device;
  int total = 0;

  AnyLaunch() { device.add_buffer("total", &total, sizeof total, BufferUse::update()); }

  int start(std::vector<unsigned> extents, std::size_t shared = 0) {
    device.add_buffer("extents", std::span<unsigned>(extents), BufferUse::input().on_host());
    const auto error =
        device.call<int(int*, const unsigned*, std::size_t)>(program, "start", &total, extents.data(), shared);
    device.remove_buffer("extents");
    EXPECT_THAT(device.faults(), IsEmpty()) << device.describe_faults();
    return error.value_or(-1);
  }
  int allow(int bytes, int which = 0) {
    return device.call<int(int, int)>(program, "allow", bytes, which).value_or(-1);
  }
  int last_error() { return device.call<int(int)>(program, "last_error", 0).value_or(-1); }
};

TEST(Launch, RunsEveryThreadOfEveryBlock) {
  AnyLaunch any;
  EXPECT_EQ(any.start({5, 3, 2, 8, 4, 2}), 0);
  EXPECT_EQ(any.total, 30 * 64);
  EXPECT_EQ(any.device.counters().launches, 1u);
  EXPECT_EQ(any.device.counters().blocks, 30u);
  EXPECT_EQ(any.device.counters().threads, 30u * 64u);
}

TEST(Launch, RefusesExtentsThatTheHardwareDoesNotKnow) {
  AnyLaunch any;
  EXPECT_EQ(any.start({0, 1, 1, 32, 1, 1}), kInvalidConfiguration);
  EXPECT_EQ(any.start({0x80000000u, 1, 1, 32, 1, 1}), kInvalidConfiguration);
  EXPECT_EQ(any.start({1, 65536, 1, 32, 1, 1}), kInvalidConfiguration);
  EXPECT_EQ(any.start({1, 1, 65536, 32, 1, 1}), kInvalidConfiguration);
  EXPECT_EQ(any.start({1, 1, 1, 0, 1, 1}), kInvalidConfiguration);
  EXPECT_EQ(any.start({1, 1, 1, 1025, 1, 1}), kInvalidConfiguration);
  EXPECT_EQ(any.start({1, 1, 1, 64, 32, 1}), kInvalidConfiguration);
  EXPECT_EQ(any.start({1, 1, 1, 1, 1, 128}), kInvalidConfiguration);
  EXPECT_EQ(any.total, 0);
  EXPECT_EQ(any.last_error(), kInvalidConfiguration);
  EXPECT_EQ(any.last_error(), 0);
  EXPECT_EQ(any.start({1, 65535, 1, 1, 1, 64}), 0);
}

TEST(Launch, LimitsDynamicSharedMemory) {
  AnyLaunch any;
  EXPECT_EQ(any.start({1, 1, 1, 1, 1, 1}, 48 * 1024), 0);
  EXPECT_EQ(any.start({1, 1, 1, 1, 1, 1}, 48 * 1024 + 1), kInvalidValue);
  EXPECT_EQ(any.allow(100 * 1024), 0);
  EXPECT_EQ(any.start({1, 1, 1, 1, 1, 1}, 100 * 1024), 0);
  EXPECT_EQ(any.start({1, 1, 1, 1, 1, 1}, 100 * 1024 + 1), kInvalidValue);
  EXPECT_EQ(any.allow(227 * 1024), 0);
  EXPECT_EQ(any.allow(227 * 1024 + 1), kInvalidValue);
  EXPECT_EQ(any.allow(-1), kInvalidValue);
  EXPECT_EQ(any.allow(223 * 1024, 1), 0);
  EXPECT_EQ(any.allow(223 * 1024 + 1, 1), kInvalidValue) << "4 KiB are taken by the static array";
}

TEST(Launch, AnswersAttributes) {
  AnyLaunch any;
  const auto limit = [&](int which) { return any.device.call<int(int)>(any.program, "limits", which).value_or(-1); };
  EXPECT_EQ(limit(0), 4096);
  EXPECT_EQ(limit(1), 44 * 1024);
  EXPECT_EQ(limit(2), 132);
}

TEST(Launch, RefusesMoreThreadsThanTheKernelIsBoundTo) {
  AnyLaunch any;
  const auto start = [&](unsigned threads) {
    return any.device.call<int(int*, unsigned)>(any.program, "start_bounded", &any.total, threads).value_or(-1);
  };
  EXPECT_EQ(start(64), 0);
  EXPECT_EQ(start(65), kLaunchOutOfResources);
}

TEST(Launch, RefusesWhatIsNoKernel) {
  AnyLaunch any;
  EXPECT_EQ(any.device.call<int(int*)>(any.program, "start_unknown", &any.total), kInvalidDeviceFunction);
}

TEST(Launch, RunsOnlyTheSelectedBlocks) {
  std::vector<LaunchInfo> seen;
  EmulationOptions options;
  options.select_blocks = [&](const LaunchInfo& info) {
    seen.push_back(info);
    return std::vector<std::uint64_t>{3, 5, 1000};
  };
  Emulation emulation(R"(
__global__ void mark(const float* x, float* y, int n) { y[blockIdx.y * 4 + blockIdx.x] = 1.f; }
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(mark, dim3(4, 2), 1, 0, x, y, n); }
)",
                      1, 8, options);
  EXPECT_EQ(emulation.run(), 0);
  EXPECT_EQ(emulation.y[3], 1.f);
  EXPECT_EQ(emulation.y[5], 1.f);
  EXPECT_EQ(emulation.device.count_uninitialised("y"), 6u * sizeof(float));
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].kernel, "mark");
  EXPECT_EQ(seen[0].grid, (Dim3{4, 2, 1}));
}

TEST(Launch, AnExceptionOfTheCallerPassesThrough) {
  EmulationOptions options;
  options.select_blocks = [](const LaunchInfo&) -> std::vector<std::uint64_t> { throw UserError("here", "refused"); };
  Emulation emulation(R"(
__global__ void nothing(const float* x, float* y, int n) {}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(nothing, 1, 1, 0, x, y, n); }
)",
                      1, 1, options);
  EXPECT_THROW(emulation.run(), UserError);
  EXPECT_THROW(emulation.run(), UserError);
}

/// The order in which the threads of `blocks` blocks of `threads` came to an atomic counter.
std::vector<float> order(int blocks, int threads, std::optional<std::uint64_t> seed) {
  EmulationOptions options;
  options.shuffle_seed = seed;
  Emulation emulation(R"(
__global__ void log(const float* x, float* y, int n) {
  y[1 + (int)atomicAdd(y, 1.f)] = (float)(blockIdx.x * blockDim.x + threadIdx.x);
}
extern "C" cudaError_t run(const float* x, float* y, int n) {
  cudaMemsetAsync(y, 0, 4, nullptr);
  return launch(log, n, 16 / n, 0, x, y, n);
}
)",
                      1, 17, options);
  EXPECT_EQ(blocks * threads, 16);
  EXPECT_EQ(emulation.run(blocks), 0);
  return {emulation.y + 1, emulation.y + 17};
}

TEST(Launch, BlocksAndThreadsRunByIndexOrInTheOrderOfASeed) {
  std::vector<float> by_index(16);
  std::iota(by_index.begin(), by_index.end(), 0.f);
  for (const auto& [blocks, threads] : {std::pair(16, 1), std::pair(1, 16)}) {
    EXPECT_EQ(order(blocks, threads, std::nullopt), by_index);
    const std::vector<float> shuffled = order(blocks, threads, 1);
    EXPECT_NE(shuffled, by_index);
    EXPECT_THAT(shuffled, ::testing::UnorderedElementsAreArray(by_index));
    EXPECT_EQ(order(blocks, threads, 1), shuffled);
    EXPECT_NE(order(blocks, threads, 2), shuffled);
  }
}

TEST(Launch, ListsKernelsAndVariables) {
  const HostProgram program = compile(R"(
__constant__ short table[6] = {};
template <int N> __global__ void __launch_bounds__(N) scale(float* y) {
  __shared__ int tile[N];
  tile[0] = table[1];
  y[0] = tile[0];
}
extern "C" int run(float* y) { return launch(scale<96>, 1, 1, 0, y); }
)");
  ASSERT_EQ(program.kernels().size(), 1u);
  EXPECT_THAT(program.kernels()[0].facts.name, HasSubstr("scale<96>"));
  EXPECT_EQ(program.kernels()[0].facts.max_threads, 96u);
  EXPECT_EQ(program.kernels()[0].facts.static_shared, 96u * 4u);
  ASSERT_EQ(program.variables().size(), 1u);
  EXPECT_EQ(program.variables()[0].name, "table");
  EXPECT_EQ(program.variables()[0].bytes, 12u);
  EXPECT_EQ(program.variables()[0].kind, GlobalKind::constant);
}

/// A launch that may begin before the kernel before has ended, with a wait in the kernel or without, and a fill.
struct Overlap {
  HostProgram program = compile(R"(
template <bool waits>
__global__ void copy(const float* packed, const float* b, float* c) {
  const float a = packed[threadIdx.x];
  if (waits) {
    cudaGridDependencySynchronize();
  }
  c[threadIdx.x] = a * b[threadIdx.x];
}
extern "C" int start(const float* packed, const float* b, float* c, int waits, int programmatic, cudaStream_t stream) {
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = programmatic;
  cudaLaunchConfig_t config = {};
  config.blockDim = dim3(32);
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, waits ? copy<true> : copy<false>, packed, b, c);
}
extern "C" int fill(float* c, cudaStream_t stream) { return cudaMemsetAsync(c, 0, 4, stream); }
)");
  EmulatedDevice device;
  std::vector<float> packed = std::vector<float>(32, 2.0F);
  std::vector<float> b = std::vector<float>(32, 3.0F);
  std::vector<float> c = std::vector<float>(32);

  explicit Overlap(EmulationOptions options = {}) : device(std::move(options)) {
    device.add_buffer("packed", std::span(packed), BufferUse::input());
    device.add_buffer("B", std::span(b), BufferUse::input().shared_with_predecessor());
    device.add_buffer("C", std::span(c), BufferUse::output().shared_with_predecessor());
  }

  int start(bool waits, bool programmatic, void* stream = nullptr) {
    return device
        .call<int(const float*, const float*, float*, int, int, void*)>(program, "start", packed.data(), b.data(),
                                                                        c.data(), waits, programmatic, stream)
        .value_or(-1);
  }
};

TEST(ProgrammaticLaunch, TouchesNothingOfThePredecessorBeforeItsWait) {
  Overlap without_wait;
  without_wait.start(false, true);
  EXPECT_THAT(without_wait.device.describe_faults(), HasSubstr("before the wait"));
  EXPECT_THAT(without_wait.device.describe_faults(), HasSubstr("buffer 'B'"));

  Overlap with_wait;
  EXPECT_EQ(with_wait.start(true, true), 0);
  EXPECT_EQ(with_wait.device.describe_faults(), "");
  EXPECT_EQ(with_wait.c.front(), 6.0F);
}

TEST(ProgrammaticLaunch, NeedsNoWaitWhereItIsNone) {
  Overlap plain;
  EXPECT_EQ(plain.start(false, false), 0);
  EXPECT_EQ(plain.device.describe_faults(), "");
}

TEST(ProgrammaticLaunch, IsRefusedBeforeComputeCapability9) {
  EmulationOptions options;
  options.properties.compute_major = 8;
  Overlap early(options);
  EXPECT_NE(early.start(true, true), 0);
  EXPECT_EQ(early.start(true, false), 0);
}

TEST(Stream, IsTheCallersForLaunchesAndFills) {
  int stream = 0;
  EmulationOptions options;
  options.stream = &stream;
  Overlap right(options);
  EXPECT_EQ(right.start(true, true, &stream), 0);
  EXPECT_EQ((right.device.call<int(float*, void*)>(right.program, "fill", right.c.data(), static_cast<void*>(&stream))),
            0);
  EXPECT_EQ(right.device.describe_faults(), "");

  Overlap launches(options);
  launches.start(true, true, nullptr);
  EXPECT_THAT(launches.device.describe_faults(), HasSubstr("launch on another stream than the caller's"));
  Overlap fills(options);
  fills.device.call<int(float*, void*)>(fills.program, "fill", fills.c.data(), nullptr);
  EXPECT_THAT(fills.device.describe_faults(), HasSubstr("fill on another stream than the caller's"));
}

}  // namespace
}  // namespace esc::testing
