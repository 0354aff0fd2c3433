// SPDX-License-Identifier: Apache-2.0
// The kernel before the one that is checked: it lets that one begin at once, waits, and only then writes what it reads. A kernel that
// does not wait for it reads what is there before, and what it has stored too early is overwritten.
#include <cuda_runtime.h>

namespace {

/// A piece of device memory that is written late. generator/verify/predecessor.h has the same.
struct LateWrite {
  void* to;
  const void* from;
  unsigned long long bytes;
};

constexpr int blocks = 8;  // few, so that the kernel after finds multiprocessors
constexpr int threads = 512;
constexpr long long delay = 2000000;  // cycles: about a millisecond, in which a small kernel is launched and has ended

/// Whether addresses and size are of whole words.
template <typename Word>
__device__ bool is_of(const LateWrite& write) {
  const unsigned long long to = reinterpret_cast<unsigned long long>(write.to);
  const unsigned long long from = reinterpret_cast<unsigned long long>(write.from);
  return (to | from | write.bytes) % sizeof(Word) == 0;
}

template <typename Word>
__device__ void copy(const LateWrite& write) {
  const Word* const __restrict__ from = static_cast<const Word*>(write.from);
  Word* const __restrict__ to = static_cast<Word*>(write.to);
#pragma unroll 4
  for (unsigned long long word = blockIdx.x * threads + threadIdx.x; word < write.bytes / sizeof(Word); word += blocks * threads) {
    to[word] = from[word];
  }
}

__global__ void __launch_bounds__(threads) write_late(const LateWrite* writes, int count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  const long long begin = clock64();
  while (clock64() - begin < delay) {
  }
  for (int i = 0; i < count; ++i) {
    const LateWrite write = writes[i];
    if (is_of<unsigned int>(write)) {
      copy<unsigned int>(write);
    } else {
      copy<unsigned short>(write);
    }
  }
}

}  // namespace

/// Has the kernel loaded, so that the first launch is as quick as the others.
extern "C" int esc_predecessor_prepare(void) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, write_late);
}

/// `writes` is in device memory.
extern "C" int esc_predecessor_launch(const void* writes, int count, void* stream) {
  static_cast<void>(cudaGetLastError());  // of a call that was to be refused
  write_late<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<const LateWrite*>(writes), count);
  return cudaGetLastError();
}
