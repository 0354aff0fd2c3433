// SPDX-License-Identifier: Apache-2.0
// Whether a GPU makes of matrix_instructions.cuh what the emulator makes of it: the same operands, the same plain computation.
//
//     nvcc -std=c++17 -arch=sm_90 -O2 -I . tests/device/matrix_instructions.cu -o matrix-instructions && ./matrix-instructions
//
// Integers must come out bit by bit. Of other numbers the hardware cuts off low bits of the sums: within 2^-18 of the
// magnitudes; the largest difference is printed. Status 0: all as expected; 1: not; 3: there is no GPU.

#include "tests/device/matrix_instructions.cuh"

#include <cstdio>

#include "tests/support/matrix_instruction_cases.h"

namespace {

using namespace esc::testing;

constexpr int kSeeds = 200;

float float_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// The difference in units of the magnitude; infinity where the two are of different kinds.
double difference(std::uint32_t expected, std::uint32_t found, double magnitude) {
  const float wanted = float_of(expected);
  const float got = float_of(found);
  if (magnitude == 0 || std::isinf(wanted)) {
    return expected == found ? 0 : HUGE_VAL;
  }
  if (std::isnan(wanted)) {
    return std::isnan(got) ? 0 : HUGE_VAL;
  }
  return std::isfinite(got) ? std::abs(static_cast<double>(got) - static_cast<double>(wanted)) / magnitude : HUGE_VAL;
}

bool succeeded(cudaError_t error) {
  if (error != cudaSuccess) {
    std::printf("CUDA: %s\n", cudaGetErrorString(error));
  }
  return error == cudaSuccess;
}

}  // namespace

int main() {
  int devices = 0;
  if (!succeeded(cudaGetDeviceCount(&devices)) || devices == 0) {
    std::printf("no GPU\n");
    return 3;
  }
  const char* const names[] = {"integers", "fractions", "specials"};
  unsigned* operands = nullptr;
  unsigned* results = nullptr;
  const MatrixInstructionCase sizes;
  if (!succeeded(cudaMalloc(&operands, sizes.operands.size() * 4)) || !succeeded(cudaMalloc(&results, sizes.results.size() * 4))) {
    return 3;
  }
  bool right = true;
  for (int instruction = 0; instruction < kMatrixInstructions; ++instruction) {
    for (const MatrixValues values : {MatrixValues::integers, MatrixValues::fractions, MatrixValues::specials}) {
      double largest = 0;
      int wrong = 0;
      for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
        const MatrixInstructionCase drawn = draw_matrix_case(instruction, values, seed);
        std::vector<std::uint32_t> found(drawn.results.size());
        cudaMemcpy(operands, drawn.operands.data(), drawn.operands.size() * 4, cudaMemcpyHostToDevice);
        play<<<1, 32>>>(instruction, operands, results);
        if (!succeeded(cudaMemcpy(found.data(), results, found.size() * 4, cudaMemcpyDeviceToHost))) {
          return 1;
        }
        for (std::size_t at = 0; at < found.size(); ++at) {
          const double off = difference(drawn.results[at], found[at], drawn.magnitudes[at]);
          largest = std::max(largest, off);
          if (off > std::ldexp(1.0, -18) && ++wrong <= 3) {
            std::printf("  seed %u, lane %zu, result %zu: expected %08x, found %08x\n", seed, at / 4, at % 4, drawn.results[at],
                        found[at]);
          }
        }
      }
      std::printf("%-36s %-10s %s, largest difference 2^%.1f of the magnitude\n",
                  describe_matrix_instruction(instruction).c_str(), names[static_cast<int>(values)],
                  wrong == 0 ? "as expected" : "WRONG", largest == 0 ? -HUGE_VAL : std::log2(largest));
      right = right && wrong == 0;
    }
  }
  std::printf("%s\n", right ? "all as expected" : "some are wrong");
  return right ? 0 : 1;
}
