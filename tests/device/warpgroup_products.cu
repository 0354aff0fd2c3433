// SPDX-License-Identifier: Apache-2.0
// Whether a GPU makes of warpgroup_instructions.cuh and warpgroup_tiles.cuh what the emulator makes of them: the same
// operands, the same plain computation.
//
//     nvcc -std=c++17 -arch=sm_90a -O2 -I . tests/device/warpgroup_products.cu -o warpgroup-products &&
//     ./warpgroup-products
//
// Integers must come out bit by bit, and so must subnormal numbers of float16 times integers. Of other numbers the
// hardware cuts off low bits of the sums: within 2^-18 of the magnitudes; the largest difference is printed. Status 0:
// all as expected; 1: not; 3: there is no GPU of compute capability 9.0.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/device/warpgroup_instructions.cuh"
#include "tests/device/warpgroup_tiles.cuh"
#include "tests/support/warpgroup_product_cases.h"

namespace {

using namespace esc::testing;

constexpr int kSeeds = 50;
constexpr int kTileSeeds = 6;

bool succeeded(cudaError_t error) {
  if (error != cudaSuccess) {
    std::printf("CUDA: %s\n", cudaGetErrorString(error));
  }
  return error == cudaSuccess;
}

/// Buffers of the device for all operands and sums.
struct DeviceArrays {
  float* x = nullptr;
  float* y = nullptr;

  bool allocate() {
    return succeeded(cudaMalloc(&x, (128 + kMostTileColumns) * kTileWords * sizeof(float))) &&
           succeeded(cudaMalloc(&y, 128 * kMostTileColumns * sizeof(float)));
  }
};

/// Of what `run` makes of x the largest difference in units of the magnitude; infinity where the GPU does not answer.
template <typename Run, typename Expected>
double largest_difference(const DeviceArrays& arrays, const std::vector<std::uint32_t>& x, int sums, const Run& run,
                          const Expected& expected) {
  std::vector<float> y(static_cast<std::size_t>(sums));
  cudaMemcpy(arrays.x, x.data(), x.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice);
  cudaMemset(arrays.y, 0xff, y.size() * sizeof(float));
  run();
  if (!succeeded(cudaGetLastError()) ||
      !succeeded(cudaMemcpy(y.data(), arrays.y, y.size() * sizeof(float), cudaMemcpyDeviceToHost))) {
    return HUGE_VAL;
  }
  double largest = 0;
  for (int at = 0; at < sums; ++at) {
    const ChainedSum sum = expected(at);
    const double off = std::abs(static_cast<double>(y[static_cast<std::size_t>(at)]) - static_cast<double>(sum.sum));
    largest = std::isfinite(off) ? std::max(largest, off / std::max(sum.magnitude, 1e-30)) : HUGE_VAL;
  }
  return largest;
}

double difference_of_chain(const DeviceArrays& arrays, int groups, ChainFactors factors, ChainValues values,
                           std::uint32_t seed) {
  const std::vector<std::uint32_t> x = draw_chain(groups, factors, values, seed);
  auto* const multiply = factors == ChainFactors::float16 ? &multiply_chain<true> : &multiply_chain<false>;
  return largest_difference(
      arrays, x, groups * kSumElements, [&] { multiply<<<1, 128 * groups>>>(arrays.x, arrays.y, kChainSteps); },
      [&](int at) { return chained_sum(x, groups, factors, at); });
}

/// Of which elements tiles are, which way they lie, and the kernel.
struct TileKind {
  const char* name;
  ChainFactors factors;
  bool transposed;
  TileKernel (*kernel)(int columns, unsigned bytes);
  std::vector<int> columns = {64, 128, 256};
};

double difference_of_tile(const DeviceArrays& arrays, const TileKind& kind, int groups, int columns,
                          TileDistances distances, ChainValues values, std::uint32_t seed) {
  const std::vector<std::uint32_t> x = draw_tile(groups, columns, kind.factors, values, seed);
  const unsigned bytes = tile_bytes(columns, kind.transposed, distances);
  const TileKernel multiply = kind.kernel(columns, bytes);
  return largest_difference(
      arrays, x, groups * 64 * columns,
      [&] {
        multiply<<<1, 128 * groups, bytes>>>(arrays.x, arrays.y, TilePlace{distances.leading, distances.stride},
                                             NamedPlace{distances.leading, distances.stride});
      },
      [&](int at) { return tile_sum(x, groups, columns, kind.factors, at); });
}

/// Integers have no difference, and neither have subnormal numbers.
bool judge(const char* what, ChainValues values, double largest) {
  const bool as_expected = largest <= (values == ChainValues::fractions ? std::ldexp(1.0, -18) : 0);
  std::printf("%-52s %s, largest difference 2^%.1f of the magnitude\n", what, as_expected ? "as expected" : "WRONG",
              largest == 0 ? -HUGE_VAL : std::log2(largest));
  return as_expected;
}

bool judge_tiles(const DeviceArrays& arrays, const TileKind& kind) {
  bool right = true;
  for (const int columns : kind.columns) {
    for (const TileDistances distances : tile_distances(columns, kind.transposed)) {
      for (const ChainValues values : {ChainValues::integers, ChainValues::fractions}) {
        double largest = 0;
        for (std::uint32_t seed = 0; seed < kTileSeeds; ++seed) {
          const int groups = 1 + static_cast<int>(seed % 2);
          largest = std::max(largest, difference_of_tile(arrays, kind, groups, columns, distances, values, seed));
        }
        char what[128];
        std::snprintf(what, sizeof(what), "tile %s, %d columns, %u and %u bytes, %s", kind.name, columns,
                      distances.leading, distances.stride, values == ChainValues::integers ? "integers" : "fractions");
        right = judge(what, values, largest) && right;
      }
    }
  }
  return right;
}

}  // namespace

int main() {
  cudaDeviceProp properties = {};
  if (!succeeded(cudaGetDeviceProperties(&properties, 0)) || properties.major != 9) {
    std::printf("no GPU of compute capability 9.0\n");
    return 3;
  }
  DeviceArrays arrays;
  if (!arrays.allocate()) {
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
        largest = std::max(largest, difference_of_chain(arrays, groups, kind.factors, kind.values, seed));
      }
      const std::string what = std::to_string(groups) + " warpgroups, " + kind.name;
      right = judge(what.c_str(), kind.values, largest) && right;
    }
  }
  using Elements = TileElements;
  for (const TileKind& kind :
       {TileKind{"f16", ChainFactors::float16, false, &tile_kernel<Elements::float16, false>},
        TileKind{"f16 transposed", ChainFactors::float16, true, &tile_kernel<Elements::float16, true>, {32, 64, 128, 256}},
        TileKind{"bf16", ChainFactors::bfloat16, false, &tile_kernel<Elements::bfloat16, false>},
        TileKind{"bf16 transposed", ChainFactors::bfloat16, true, &tile_kernel<Elements::bfloat16, true>, {32, 64, 128, 256}},
        TileKind{"tf32", ChainFactors::tensor_float32, false, &tile_kernel<Elements::tensor_float32, false>, {64}}}) {
    right = judge_tiles(arrays, kind) && right;
  }
  std::printf("%s\n", right ? "all as expected" : "some are wrong");
  return right ? 0 : 1;
}
