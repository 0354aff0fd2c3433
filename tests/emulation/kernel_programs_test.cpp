// SPDX-License-Identifier: Apache-2.0
// A text is compiled for each kind of devices that it does otherwise on, and for no more.

#include "generator/verify/kernel_programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "generator/emulate/device.h"

namespace esc::testing {
namespace {

/// The kernel tells what it was compiled for, the launcher what the host was.
std::string text_with(const std::string& condition) {
  return "#include <cuda_runtime.h>\n"
         "#if " +
         condition +
         "\nconstexpr int architecture = 91;\n"
         "#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900\nconstexpr int architecture = 90;\n"
         "#elif defined(__CUDA_ARCH__)\nconstexpr int architecture = 80;\n"
         "#else\nconstexpr int architecture = 0;\n#endif\n"
         "__constant__ int more = 0;\n"
         "inline int told() { return architecture; }\n"
         "__device__ int told_by_device() { return architecture + more; }\n"
         "template <int one>\n"
         "__global__ void tell(int* kind) { *kind = told_by_device() + one - 1; }\n"
         "extern \"C\" int kind_of_host() { return told(); }\n"
         "extern \"C\" int launch(int* kind) {\n"
         "  cudaLaunchConfig_t config = {};\n  config.gridDim = config.blockDim = dim3(1);\n"
         "  return cudaLaunchKernelEx(&config, tell<1>, kind);\n}\n";
}

std::optional<int> kind_of(const KernelPrograms& programs, const KernelCall& call) {
  EmulatedDevice device;
  int* const kind = reinterpret_cast<int*>(device.allocate("kind", sizeof(int), BufferUse::output()).data());
  const HostProgram& program = programs.for_call(call);
  EXPECT_EQ(device.call<int()>(program, "kind_of_host"), 0) << "host code is compiled for no device";
  EXPECT_EQ(device.call<int(int*)>(program, "launch", kind), 0) << device.describe_faults();
  EXPECT_TRUE(device.faults().empty()) << device.describe_faults();
  return *kind;
}

TEST(KernelPrograms, AreThreeWhereFeaturesOfAnArchitectureAreAskedFor) {
  const KernelPrograms programs(text_with("defined(__CUDA_ARCH_FEAT_SM90_ALL)"), "a.cu", {.copies_in_bulk = true});
  EXPECT_TRUE(programs.differ_without_features());
  EXPECT_EQ(kind_of(programs, {}), 91);
  EXPECT_EQ(kind_of(programs, {.product = {}, .has_features = false}), 90);
  EXPECT_EQ(kind_of(programs, {.product = {}, .compute_major = 8}), 80);
}

TEST(KernelPrograms, HaveNoFeaturesOfALaterArchitecture) {
  const KernelPrograms programs(text_with("defined(__CUDA_ARCH_FEAT_SM90_ALL)"), "a.cu", {});
  EXPECT_EQ(kind_of(programs, {}), 91);
  EXPECT_EQ(kind_of(programs, {.product = {}, .compute_major = 8}), 90) << "the same text, without them";
}

TEST(KernelPrograms, AreTwoWhereTheyAreNot) {
  const KernelPrograms programs(text_with("defined(__CUDA_ARCH_OTHER)"), "a.cu", {.copies_in_bulk = true});
  EXPECT_FALSE(programs.differ_without_features());
  EXPECT_EQ(kind_of(programs, {}), 90);
  EXPECT_EQ(&programs.for_call({.product = {}, .has_features = false}), &programs.usual());
  EXPECT_EQ(kind_of(programs, {.product = {}, .compute_major = 8}), 80);
}

TEST(KernelCalls, WithoutFeaturesAreAddedInTwo) {
  const Dispatch dispatch{
      .tuned_items = 64, .has_vectors = true, .vectors = true, .vector_width = 4, .copies_in_bulk = true};
  std::vector<KernelCall> calls = kernel_calls(dispatch, 100, 100);
  const std::size_t before = calls.size();
  EXPECT_TRUE(std::ranges::all_of(calls, &KernelCall::has_features));
  add_calls_without_features(calls);
  ASSERT_EQ(calls.size(), before + 2);
  EXPECT_FALSE(
      std::ranges::any_of(calls.begin() + static_cast<std::ptrdiff_t>(before), calls.end(), &KernelCall::has_features));
  EXPECT_EQ(calls[before].product, calls.front().product);
  EXPECT_NE(calls[before + 1].product.shift_b, 0);
}

}  // namespace
}  // namespace esc::testing
