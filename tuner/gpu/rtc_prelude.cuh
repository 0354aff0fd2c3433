// SPDX-License-Identifier: Apache-2.0
// What the device texts of this project use of CUDA's headers, for NVRTC, which has none of them.

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef unsigned long long uintptr_t;

// What tensor copies are told by. The names of kernels that take it have the structure's own, as CUDA calls it.
struct alignas(128) CUtensorMap_st {
  unsigned long long opaque[16];
};
typedef CUtensorMap_st CUtensorMap;

// Programmatic dependent launch.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
static __device__ __forceinline__ void cudaGridDependencySynchronize() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
static __device__ __forceinline__ void cudaTriggerProgrammaticLaunchCompletion() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#endif

// Copies from global to shared memory past the registers, of 16, 8 or 4 bytes, the last ones of which may be zero.
static __device__ __forceinline__ void __pipeline_memcpy_async(void* to_shared, const void* from_global, size_t bytes,
                                                               size_t zeros = 0) {
  const unsigned int address = static_cast<unsigned int>(__cvta_generic_to_shared(to_shared));
  const unsigned int copied = static_cast<unsigned int>(bytes - zeros);
  if (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from_global), "r"(copied) : "memory");
  } else if (bytes == 8) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(address), "l"(from_global), "r"(copied) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from_global), "r"(copied) : "memory");
  }
}
static __device__ __forceinline__ void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int groups>
static __device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}
// The number is a constant wherever the header's function is called; a function's parameter is none to the assembler.
#define __pipeline_wait_prior(groups) wait_for_copies<groups>()

// Numbers of 16 bits, which are kept in memory alone.
struct alignas(2) __half {
  unsigned short bits;
};
struct alignas(4) __half2 {
  __half x, y;
};
static __device__ __forceinline__ __half __ushort_as_half(unsigned short bits) { return {bits}; }
static __device__ __forceinline__ unsigned short __half_as_ushort(__half value) { return value.bits; }
static __device__ __forceinline__ float __half2float(__half value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
}
static __device__ __forceinline__ __half __float2half_rn(float value) {
  __half result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}

struct alignas(2) __nv_bfloat16 {
  unsigned short bits;
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
static __device__ __forceinline__ __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return {bits}; }
static __device__ __forceinline__ unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.bits; }
static __device__ __forceinline__ float __bfloat162float(__nv_bfloat16 value) { return __uint_as_float((unsigned int)value.bits << 16); }
static __device__ __forceinline__ __nv_bfloat16 __float2bfloat16_rn(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  __nv_bfloat16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
#else
  const unsigned int bits = __float_as_uint(value);
  const unsigned int rounded = bits + 0x7fffu + (bits >> 16 & 1u);
  return {(unsigned short)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded >> 16)};
#endif
}
