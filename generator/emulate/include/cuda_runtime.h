// SPDX-License-Identifier: Apache-2.0
/* Stand-in for <cuda_runtime.h>: lets the text of a CUDA kernel be parsed as plain C++17 and run on the host. What CUDA
 * does in hardware is a call of the emulator, named __esc_*. Every kernel under check parses this file: keep it small.
 */
#pragma once
#include <cuda_runtime_api.h>

#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#if !defined(__CUDA_ARCH__) && !defined(__ESC_HOST_PASS__)
#define __CUDA_ARCH__ 900
#endif

#define ESC_RUNTIME __attribute__((convergent, nothrow))

#define __global__ __attribute__((annotate("esc_kernel"), noinline))
#define __device__ __attribute__((annotate("esc_device")))
#define __constant__ __attribute__((annotate("esc_constant")))
#define __shared__ __attribute__((annotate("esc_shared")))
#define __grid_constant__ __attribute__((annotate("esc_grid_constant")))
#define __host__
#define __launch_bounds__(...) __attribute__((annotate("esc_launch_bounds", __VA_ARGS__)))
#define __cluster_dims__(...) __attribute__((annotate("esc_cluster_dims", __VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __align__(bytes)

#define warpSize 32

#define ESC_VECTOR(T, name, align2, align4)                                 \
  struct name##1 { T x; };                                                  \
  struct alignas(align2) name##2 { T x, y; };                               \
  struct name##3 { T x, y, z; };                                            \
  struct alignas(align4) name##4 { T x, y, z, w; };                         \
  static inline name##1 make_##name##1(T x) { return {x}; }                 \
  static inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  static inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
ESC_VECTOR(signed char, char, 2, 4)
ESC_VECTOR(unsigned char, uchar, 2, 4)
ESC_VECTOR(short, short, 4, 8)
ESC_VECTOR(unsigned short, ushort, 4, 8)
ESC_VECTOR(int, int, 8, 16)
ESC_VECTOR(unsigned, uint, 8, 16)
ESC_VECTOR(long long, longlong, 16, 16)
ESC_VECTOR(unsigned long long, ulonglong, 16, 16)
ESC_VECTOR(float, float, 8, 16)
ESC_VECTOR(double, double, 16, 16)
#undef ESC_VECTOR

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

extern "C" {
extern const uint3 threadIdx;
extern const uint3 blockIdx;
extern const dim3 blockDim;
extern const dim3 gridDim;

ESC_RUNTIME int __esc_barrier(int predicate, int reduction);
ESC_RUNTIME void __esc_sync_warp(unsigned mask);
ESC_RUNTIME unsigned long long __esc_shuffle(unsigned mask, unsigned long long value, int lane, int width, int kind);
ESC_RUNTIME unsigned __esc_vote(unsigned mask, int predicate);
ESC_RUNTIME unsigned __esc_active_mask();
ESC_RUNTIME void __esc_fence();
ESC_RUNTIME void __esc_device_only();
ESC_RUNTIME void __esc_wait_for_predecessor();

ESC_RUNTIME int __esc_atomic_i32(int* address, int value, int operation);
ESC_RUNTIME unsigned __esc_atomic_u32(unsigned* address, unsigned value, int operation);
ESC_RUNTIME unsigned long long __esc_atomic_u64(unsigned long long* address, unsigned long long value, int operation);
ESC_RUNTIME long long __esc_atomic_i64(long long* address, long long value, int operation);
ESC_RUNTIME float __esc_atomic_add_f32(float* address, float value);
ESC_RUNTIME double __esc_atomic_add_f64(double* address, double value);
ESC_RUNTIME unsigned __esc_compare_swap_u32(unsigned* address, unsigned expected, unsigned value);
ESC_RUNTIME unsigned long long __esc_compare_swap_u64(unsigned long long* address, unsigned long long expected,
                                                      unsigned long long value);
}

static inline void __syncthreads() { __esc_barrier(0, 0); }
static inline int __syncthreads_count(int predicate) { return __esc_barrier(predicate, 0); }
static inline int __syncthreads_and(int predicate) { return __esc_barrier(predicate, 1); }
static inline int __syncthreads_or(int predicate) { return __esc_barrier(predicate, 2); }
static inline void __syncwarp(unsigned mask = 0xffffffffu) { __esc_sync_warp(mask); }
static inline void __threadfence() { __esc_fence(); }
static inline void __threadfence_block() { __esc_fence(); }
static inline void cudaGridDependencySynchronize() { __esc_wait_for_predecessor(); }
static inline void cudaTriggerProgrammaticLaunchCompletion() { __esc_device_only(); }

template <class T>
struct __esc_shuffled;
#define ESC_SHUFFLED(T) \
  template <>           \
  struct __esc_shuffled<T> {};
ESC_SHUFFLED(int)
ESC_SHUFFLED(unsigned)
ESC_SHUFFLED(long)
ESC_SHUFFLED(unsigned long)
ESC_SHUFFLED(long long)
ESC_SHUFFLED(unsigned long long)
ESC_SHUFFLED(float)
ESC_SHUFFLED(double)
#undef ESC_SHUFFLED
template <class T>
static inline T __esc_shuffle_value(unsigned mask, T value, int lane, int width, int kind) {
  static_assert(sizeof(__esc_shuffled<T>) != 0, "a shuffle moves numbers of 4 or 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = __esc_shuffle(mask, bits, lane, width, kind);
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class T>
static inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
  return __esc_shuffle_value(mask, value, lane, width, 0);
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return __esc_shuffle_value(mask, value, (int)delta, width, 1);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  return __esc_shuffle_value(mask, value, (int)delta, width, 2);
}
template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
  return __esc_shuffle_value(mask, value, lanes, width, 3);
}
static inline unsigned __ballot_sync(unsigned mask, int predicate) { return __esc_vote(mask, predicate); }
static inline int __any_sync(unsigned mask, int predicate) { return __esc_vote(mask, predicate) != 0; }
static inline int __all_sync(unsigned mask, int predicate) { return __esc_vote(mask, !predicate) == 0; }
static inline unsigned __activemask() { return __esc_active_mask(); }

static inline float atomicAdd(float* address, float value) { return __esc_atomic_add_f32(address, value); }
static inline double atomicAdd(double* address, double value) { return __esc_atomic_add_f64(address, value); }
#define ESC_ATOMIC(name, operation)                                                                       \
  static inline int name(int* address, int value) { return __esc_atomic_i32(address, value, operation); } \
  static inline unsigned name(unsigned* address, unsigned value) {                                        \
    return __esc_atomic_u32(address, value, operation);                                                   \
  }                                                                                                       \
  static inline unsigned long long name(unsigned long long* address, unsigned long long value) {          \
    return __esc_atomic_u64(address, value, operation);                                                   \
  }
ESC_ATOMIC(atomicAdd, 0)
ESC_ATOMIC(atomicMin, 1)
ESC_ATOMIC(atomicMax, 2)
ESC_ATOMIC(atomicExch, 3)
ESC_ATOMIC(atomicAnd, 4)
ESC_ATOMIC(atomicOr, 5)
ESC_ATOMIC(atomicXor, 6)
#undef ESC_ATOMIC
static inline int atomicSub(int* address, int value) { return __esc_atomic_i32(address, -value, 0); }
static inline unsigned atomicSub(unsigned* address, unsigned value) { return __esc_atomic_u32(address, 0u - value, 0); }
static inline long long atomicMin(long long* address, long long value) { return __esc_atomic_i64(address, value, 1); }
static inline long long atomicMax(long long* address, long long value) { return __esc_atomic_i64(address, value, 2); }
static inline float atomicExch(float* address, float value) {
  return __builtin_bit_cast(float, __esc_atomic_u32((unsigned*)address, __builtin_bit_cast(unsigned, value), 3));
}
static inline int atomicCAS(int* address, int expected, int value) {
  return (int)__esc_compare_swap_u32((unsigned*)address, (unsigned)expected, (unsigned)value);
}
static inline unsigned atomicCAS(unsigned* address, unsigned expected, unsigned value) {
  return __esc_compare_swap_u32(address, expected, value);
}
static inline unsigned long long atomicCAS(unsigned long long* address, unsigned long long expected,
                                           unsigned long long value) {
  return __esc_compare_swap_u64(address, expected, value);
}

template <class T>
static inline T __ldg(const T* address) {
  return *address;
}
template <class T>
static inline T __ldcs(const T* address) {
  return *address;
}
template <class T>
static inline T __ldcg(const T* address) {
  return *address;
}
template <class T>
static inline void __stcs(T* address, T value) {
  *address = value;
}
template <class T>
static inline void __stcg(T* address, T value) {
  *address = value;
}

/// The bytes of x, 0 to 3, and of y, 4 to 7, that the lower 3 bits of each of four digits name, the lowest first.
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned order) {
  const unsigned long long bytes = x | static_cast<unsigned long long>(y) << 32;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    result |= static_cast<unsigned>(bytes >> ((order >> (4 * i) & 7) * 8) & 255) << (8 * i);
  }
  return result;
}
/// The sum of c and the products of the halves of a and the lower two bytes of b, none of them with a sign.
static inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return c + (a & 65535) * (b & 255) + (a >> 16) * (b >> 8 & 255);
}
/// The sum of c and the products of the bytes of a and b in the same places, none of them with a sign.
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) {
    c += (a >> (8 * i) & 255) * (b >> (8 * i) & 255);
  }
  return c;
}
static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline int __clz(int v) { return v == 0 ? 32 : __builtin_clz((unsigned)v); }
static inline int __clzll(long long v) { return v == 0 ? 64 : __builtin_clzll((unsigned long long)v); }
static inline unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
static inline float __int_as_float(int v) { return __builtin_bit_cast(float, v); }
static inline int __float_as_int(float v) { return __builtin_bit_cast(int, v); }
static inline float __uint_as_float(unsigned v) { return __builtin_bit_cast(float, v); }
static inline unsigned __float_as_uint(float v) { return __builtin_bit_cast(unsigned, v); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }

static inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
template <class A, class B, class C>
void fma(A, B, C) = delete;
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
// The mathematics library of device code, in both types.
// Between types that CUDA promotes in its own way there is none.
#define ESC_OF_ONE(name)                                                  \
  static inline float name##f(float a) { return __builtin_##name##f(a); } \
  static inline float name(float a) { return __builtin_##name##f(a); }    \
  static inline double name(double a) { return __builtin_##name(a); }
#define ESC_OF_TWO(name)                                                              \
  static inline float name##f(float a, float b) { return __builtin_##name##f(a, b); } \
  static inline float name(float a, float b) { return __builtin_##name##f(a, b); }    \
  static inline double name(double a, double b) { return __builtin_##name(a, b); }    \
  template <class A, class B>                                                         \
  void name(A, B) = delete;
ESC_OF_ONE(ceil)
ESC_OF_ONE(cos)
ESC_OF_ONE(erf)
ESC_OF_ONE(exp)
ESC_OF_ONE(exp2)
ESC_OF_ONE(expm1)
ESC_OF_ONE(fabs)
ESC_OF_ONE(floor)
ESC_OF_ONE(log)
ESC_OF_ONE(log1p)
ESC_OF_ONE(log2)
ESC_OF_ONE(rint)
ESC_OF_ONE(sin)
ESC_OF_ONE(sqrt)
ESC_OF_ONE(tanh)
ESC_OF_TWO(fmax)
ESC_OF_TWO(fmin)
ESC_OF_TWO(pow)
#undef ESC_OF_ONE
#undef ESC_OF_TWO

#define ESC_MIN_MAX(T)                                    \
  static inline T min(T a, T b) { return b < a ? b : a; } \
  static inline T max(T a, T b) { return a < b ? b : a; }
ESC_MIN_MAX(int)
ESC_MIN_MAX(unsigned)
ESC_MIN_MAX(long)
ESC_MIN_MAX(unsigned long)
ESC_MIN_MAX(long long)
ESC_MIN_MAX(unsigned long long)
#undef ESC_MIN_MAX
static inline unsigned min(int a, unsigned b) { return min((unsigned)a, b); }
static inline unsigned min(unsigned a, int b) { return min(a, (unsigned)b); }
static inline unsigned max(int a, unsigned b) { return max((unsigned)a, b); }
static inline unsigned max(unsigned a, int b) { return max(a, (unsigned)b); }
static inline float min(float a, float b) { return __builtin_fminf(a, b); }
static inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
static inline double min(double a, double b) { return __builtin_fmin(a, b); }
static inline double max(double a, double b) { return __builtin_fmax(a, b); }
static inline void __trap() { __builtin_trap(); }

typedef enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeSynchronizationPolicy = 3,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8
} cudaLaunchAttributeID;
typedef union cudaLaunchAttributeValue {
  char pad[64];
  unsigned long long whole[8];
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
  int priority;
} cudaLaunchAttributeValue;
typedef struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  char pad[8 - sizeof(cudaLaunchAttributeID)];
  cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_st {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
} cudaLaunchConfig_t;

extern "C" {
cudaError_t __esc_launch(const cudaLaunchConfig_t* config, const void* kernel, void (*enter)(const void*, void**),
                         void** arguments);
cudaError_t __esc_set_function_attribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t __esc_get_function_attributes(cudaFuncAttributes* attributes, const void* kernel);
}

template <class T, T... I>
struct __esc_indices {};
template <class... P, size_t... I>
__attribute__((disable_sanitizer_instrumentation, always_inline)) static void __esc_enter_with(
    void (*kernel)(P...), void** arguments, __esc_indices<size_t, I...>) {
  kernel(*(P*)arguments[I]...);
}
/* Calls a kernel for one thread. The arguments lie where the launch left them, outside what a kernel may touch. */
template <class... P>
__attribute__((disable_sanitizer_instrumentation)) static void __esc_enter(const void* kernel, void** arguments) {
  __esc_enter_with((void (*)(P...))kernel, arguments, __make_integer_seq<__esc_indices, size_t, sizeof...(P)>());
}
template <class... P>
static inline cudaError_t __esc_launch_values(const cudaLaunchConfig_t* config, void (*kernel)(P...), P... values) {
  void* arguments[] = {(void*)&values..., nullptr};
  return __esc_launch(config, (const void*)kernel, &__esc_enter<P...>, arguments);
}
template <class... P, class... A>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...), A&&... values) {
  return __esc_launch_values<P...>(config, kernel, static_cast<A&&>(values)...);
}
template <class T>
static inline cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return __esc_set_function_attribute((const void*)kernel, attribute, value);
}
template <class T>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* kernel) {
  return __esc_get_function_attributes(attributes, (const void*)kernel);
}

#include <esc_inline_ptx.h>
