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

std::string text_with(const std::string& condition) {
  return "#include <cuda_runtime.h>\nextern \"C\" int kind() {\n#if " + condition +
         "\n  return 91;\n#elif __CUDA_ARCH__ >= 900\n  return 90;\n#else\n  return 80;\n#endif\n}\n";
}

std::optional<int> kind_of(const KernelPrograms& programs, const KernelCall& call) {
  EmulatedDevice device;
  return device.call<int()>(programs.for_call(call), "kind");
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
