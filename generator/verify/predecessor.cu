// The kernel in front of the one that is checked: it lets that one begin at once, waits, and only then writes what it reads. A kernel that
// does not wait for it reads what is there before, and what it has stored too early is overwritten.
#include <cuda_runtime.h>

namespace {

/// A piece of device memory that is written late, in words of four bytes. generator/verify/predecessor.h has the same.
struct LateWrite {
  void* to;
  const void* from;
  unsigned long long words;
};

constexpr int blocks = 8;  // few, so that the kernel behind finds multiprocessors
constexpr int threads = 512;
constexpr long long delay = 2000000;  // cycles: about a millisecond, in which a small kernel is launched and has ended

__global__ void __launch_bounds__(threads) write_late(const LateWrite* writes, int count) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  const long long begin = clock64();
  while (clock64() - begin < delay) {
  }
  for (int i = 0; i < count; ++i) {
    const LateWrite write = writes[i];
    const unsigned int* const __restrict__ from = static_cast<const unsigned int*>(write.from);
    unsigned int* const __restrict__ to = static_cast<unsigned int*>(write.to);
#pragma unroll 4
    for (unsigned long long word = blockIdx.x * threads + threadIdx.x; word < write.words; word += blocks * threads) {
      to[word] = from[word];
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
  write_late<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<const LateWrite*>(writes), count);
  return cudaGetLastError();
}
