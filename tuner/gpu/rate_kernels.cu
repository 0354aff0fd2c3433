// SPDX-License-Identifier: Apache-2.0
// Kernels that do one thing alone, as often as a device can: what it reads, and what it computes, in a second.

// Reads an array over and over, past the L1 cache: in each round 64 bytes of each thread. The array has a power of
// two of chunks of 16 bytes, which `last` is one less than. It is zero, so that nothing is written; a compiler does not
// know that.
extern "C" __global__ void read_kernel(const uint4* __restrict__ array, unsigned long long last, unsigned int rounds,
                                       unsigned int* __restrict__ result) {
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  unsigned long long at = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  unsigned int bits = 0;
  for (unsigned int round = 0; round < rounds; ++round) {
    uint4 parts[4];
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(parts[part].x), "=r"(parts[part].y), "=r"(parts[part].z), "=r"(parts[part].w)
                   : "l"(array + (at & last)));
      at += step;
    }
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      bits |= parts[part].x | parts[part].y | parts[part].z | parts[part].w;
    }
  }
  if (bits != 0) {
    *result = bits;
  }
}

// Multiplies and adds in eight chains of a thread, 128 times in each round.
extern "C" __global__ void multiply_add_kernel(float factor, float summand, unsigned int rounds,
                                               float* __restrict__ result) {
  float sums[8];
#pragma unroll
  for (int chain = 0; chain < 8; ++chain) {
    sums[chain] = static_cast<float>(threadIdx.x + chain);
  }
  for (unsigned int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 16; ++step) {
#pragma unroll
      for (int chain = 0; chain < 8; ++chain) {
        sums[chain] = fmaf(sums[chain], factor, summand);
      }
    }
  }
  float sum = 0;
#pragma unroll
  for (int chain = 0; chain < 8; ++chain) {
    sum += sums[chain];
  }
  if (sum < 0) {  // factor and summand are above 0
    *result = sum;
  }
}
