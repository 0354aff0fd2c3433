// SPDX-License-Identifier: Apache-2.0
// Whether a GPU makes of warpgroup_instructions.cuh what the emulator makes of it: the same operands, the same plain
// computation.
//
//     nvcc -std=c++17 -arch=sm_90a -O2 -I . tests/device/warpgroup_products.cu -o warpgroup-products &&
//     ./warpgroup-products
//
// Integers must come out bit by bit, and so must subnormal numbers of float16 times integers. Of other numbers the
// hardware cuts off low bits of the sums: within 2^-18 of the magnitudes; the largest difference is printed. Status 0:
// all as expected; 1: not; 3: there is no GPU of compute capability 9.0.

#include <algorithm>
#include <cstdio>

#include "tests/device/warpgroup_instructions.cuh"
#include "tests/support/warpgroup_product_cases.h"

namespace {

using namespace esc::testing;

constexpr int kSeeds = 50;

bool succeeded(cudaError_t error) {
  if (error != cudaSuccess) {
    std::printf("CUDA: %s\n", cudaGetErrorString(error));
  }
  return error == cudaSuccess;
}

/// The largest difference in units of the magnitude; infinity where the GPU does not answer.
double largest_difference(int groups, ChainFactors factors, ChainValues values, std::uint32_t seed, float* device_x,
                          float* device_y) {
  const std::vector<std::uint32_t> x = draw_chain(groups, factors, values, seed);
  std::vector<float> y(static_cast<std::size_t>(groups * kSumElements));
  cudaMemcpy(device_x, x.data(), x.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice);
  cudaMemset(device_y, 0xff, y.size() * sizeof(float));
  auto* const multiply = factors == ChainFactors::float16 ? &multiply_chain<true> : &multiply_chain<false>;
  multiply<<<1, 128 * groups>>>(device_x, device_y, kChainSteps);
  if (!succeeded(cudaMemcpy(y.data(), device_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost))) {
    return HUGE_VAL;
  }
  double largest = 0;
  for (int at = 0; at < groups * kSumElements; ++at) {
    const ChainedSum expected = chained_sum(x, groups, factors, at);
    const double off =
        std::abs(static_cast<double>(y[static_cast<std::size_t>(at)]) - static_cast<double>(expected.sum));
    largest = std::isfinite(off) ? std::max(largest, off / std::max(expected.magnitude, 1e-30)) : HUGE_VAL;
  }
  return largest;
}

}  // namespace

int main() {
  cudaDeviceProp properties = {};
  if (!succeeded(cudaGetDeviceProperties(&properties, 0)) || properties.major != 9) {
    std::printf("no GPU of compute capability 9.0\n");
    return 3;
  }
  float* x = nullptr;
  float* y = nullptr;
  if (!succeeded(cudaMalloc(&x, 3 * kChainSteps * kStepWords * sizeof(float))) ||
      !succeeded(cudaMalloc(&y, 2 * kSumElements * sizeof(float)))) {
    return 3;
  }
  struct Kind {
    ChainFactors factors;
    ChainValues values;
    const char* name;
  };
  const Kind kinds[] = {{ChainFactors::tensor_float32, ChainValues::integers, "tf32 integers"},
                        {ChainFactors::tensor_float32, ChainValues::fractions, "tf32 fractions"},
                        {ChainFactors::float16, ChainValues::integers, "f16 integers"},
                        {ChainFactors::float16, ChainValues::fractions, "f16 fractions"},
                        {ChainFactors::float16, ChainValues::subnormals, "f16 subnormals"}};
  bool right = true;
  for (const int groups : {1, 2}) {
    for (const Kind& kind : kinds) {
      double largest = 0;
      for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
        largest = std::max(largest, largest_difference(groups, kind.factors, kind.values, seed, x, y));
      }
      const bool as_expected = largest <= (kind.values == ChainValues::fractions ? std::ldexp(1.0, -18) : 0);
      std::printf("%d warpgroups, %-14s %s, largest difference 2^%.1f of the magnitude\n", groups, kind.name,
                  as_expected ? "as expected" : "WRONG", largest == 0 ? -HUGE_VAL : std::log2(largest));
      right = right && as_expected;
    }
  }
  std::printf("%s\n", right ? "all as expected" : "some are wrong");
  return right ? 0 : 1;
}
