// SPDX-License-Identifier: Apache-2.0
// What a text could ask of the headers' types and functions without running them. The emulator's headers and CUDA's must
// answer alike: this compiles with both, or one of them differs.
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cudaTypedefs.h>
#include <cuda_pipeline_primitives.h>
#include <stdint.h>

namespace {

template <typename A, typename B>
struct Same {
  static constexpr bool value = false;
};
template <typename A>
struct Same<A, A> {
  static constexpr bool value = true;
};

#define HAS_SIZE(T, bytes, alignment) static_assert(sizeof(T) == bytes && alignof(T) == alignment, #T)
HAS_SIZE(size_t, 8, 8);
HAS_SIZE(dim3, 12, 4);
HAS_SIZE(uint3, 12, 4);
HAS_SIZE(int2, 8, 8);
HAS_SIZE(int3, 12, 4);
HAS_SIZE(int4, 16, 16);
HAS_SIZE(uint2, 8, 8);
HAS_SIZE(uint4, 16, 16);
HAS_SIZE(short2, 4, 4);
HAS_SIZE(short4, 8, 8);
HAS_SIZE(ushort2, 4, 4);
HAS_SIZE(ushort4, 8, 8);
HAS_SIZE(char2, 2, 2);
HAS_SIZE(char4, 4, 4);
HAS_SIZE(uchar2, 2, 2);
HAS_SIZE(uchar4, 4, 4);
HAS_SIZE(float2, 8, 8);
HAS_SIZE(float3, 12, 4);
HAS_SIZE(float4, 16, 16);
HAS_SIZE(double2, 16, 16);
HAS_SIZE(__half, 2, 2);
HAS_SIZE(__half2, 4, 4);
HAS_SIZE(__nv_bfloat16, 2, 2);
HAS_SIZE(__nv_bfloat162, 4, 4);
HAS_SIZE(CUtensorMap, 128, 128);
HAS_SIZE(CUtensorMapDataType, 4, 4);
HAS_SIZE(CUresult, 4, 4);
HAS_SIZE(cudaError_t, 4, 4);
HAS_SIZE(cudaFuncAttribute, 4, 4);
HAS_SIZE(cudaFuncAttributes, 144, 8);
HAS_SIZE(cudaDeviceAttr, 4, 4);
HAS_SIZE(cudaLaunchConfig_t, 56, 8);
HAS_SIZE(cudaLaunchAttribute, 72, 8);
HAS_SIZE(cudaLaunchAttributeValue, 64, 8);
HAS_SIZE(cudaDriverEntryPointQueryResult, 4, 4);
HAS_SIZE(PFN_cuTensorMapEncodeTiled_v12000, 8, 8);

#define HAS_TYPE(expression, ...) static_assert(Same<decltype(expression), __VA_ARGS__>::value, #expression)
HAS_TYPE(uint64_t(), unsigned long);
HAS_TYPE(int64_t(), long);
HAS_TYPE(uintptr_t(), unsigned long);
HAS_TYPE(cuuint32_t(), unsigned int);
HAS_TYPE(uint8_t(), unsigned char);
HAS_TYPE(int2().x, int);
HAS_TYPE(uint4().w, unsigned int);
HAS_TYPE(ushort4().w, unsigned short);
HAS_TYPE(uchar4().x, unsigned char);
HAS_TYPE(char4().x, signed char);
HAS_TYPE(float4().z, float);
HAS_TYPE(dim3().x, unsigned int);
HAS_TYPE(make_uint2(1, 2), uint2);
HAS_TYPE(make_uint4(1, 2, 3, 4), uint4);
HAS_TYPE(make_float4(1, 2, 3, 4), float4);

#define OF_NUMBERS(CHECK)                                                                                    \
  CHECK(int); CHECK(unsigned int); CHECK(long); CHECK(unsigned long); CHECK(long long); CHECK(unsigned long long); \
  CHECK(float); CHECK(double)
#define ZERO(T) static_cast<T>(0)
#define SMALLEST(T) HAS_TYPE(min(ZERO(T), ZERO(T)), T); HAS_TYPE(max(ZERO(T), ZERO(T)), T)
#define SHUFFLED(T)                              \
  HAS_TYPE(__shfl_sync(1u, ZERO(T), 0), T);      \
  HAS_TYPE(__shfl_up_sync(1u, ZERO(T), 1u), T);  \
  HAS_TYPE(__shfl_down_sync(1u, ZERO(T), 1u), T); \
  HAS_TYPE(__shfl_xor_sync(1u, ZERO(T), 1), T)
#define LOADED(T)                                      \
  HAS_TYPE(__ldg(static_cast<const T*>(nullptr)), T);  \
  HAS_TYPE(__ldcs(static_cast<const T*>(nullptr)), T); \
  HAS_TYPE(__ldcg(static_cast<const T*>(nullptr)), T)

/// Device code, which alone may name these functions.
__device__ void ask() {
  OF_NUMBERS(SMALLEST);
  OF_NUMBERS(SHUFFLED);
  OF_NUMBERS(LOADED);
  LOADED(uint2);
  LOADED(uint4);
  LOADED(float2);
  LOADED(float4);
  HAS_TYPE(min(1, 2u), unsigned int);
  HAS_TYPE(max(1u, 2), unsigned int);
  HAS_TYPE(min(static_cast<short>(1), static_cast<short>(2)), int);
  HAS_TYPE(fmaf(1.0f, 1.0f, 1.0f), float);
  HAS_TYPE(fma(1.0f, 1.0f, 1.0f), float);
  HAS_TYPE(fma(1.0, 1.0, 1.0), double);
  HAS_TYPE(floor(1.0f), float);
  HAS_TYPE(floor(1.0), double);
  HAS_TYPE(tanh(1.0f), float);
  HAS_TYPE(erf(1.0f), float);
  HAS_TYPE(fmax(1.0f, 1.0f), float);
  HAS_TYPE(fmax(1.0, 1.0), double);
  HAS_TYPE(pow(1.0f, 1.0f), float);
  HAS_TYPE(__popc(1u), int);
  HAS_TYPE(__popcll(1ull), int);
  HAS_TYPE(__ffs(1), int);
  HAS_TYPE(__ffsll(1ll), int);
  HAS_TYPE(__clz(1), int);
  HAS_TYPE(__clzll(1ll), int);
  HAS_TYPE(__brev(1u), unsigned int);
  HAS_TYPE(__byte_perm(1u, 2u, 3u), unsigned int);
  HAS_TYPE(__umulhi(1u, 2u), unsigned int);
  HAS_TYPE(__int_as_float(1), float);
  HAS_TYPE(__float_as_int(1.0f), int);
  HAS_TYPE(__uint_as_float(1u), float);
  HAS_TYPE(__float_as_uint(1.0f), unsigned int);
  HAS_TYPE(__ballot_sync(1u, 1), unsigned int);
  HAS_TYPE(__any_sync(1u, 1), int);
  HAS_TYPE(__all_sync(1u, 1), int);
  HAS_TYPE(__activemask(), unsigned int);
  HAS_TYPE(__cvta_generic_to_shared(nullptr), size_t);
  HAS_TYPE(__half2float(__half()), float);
  HAS_TYPE(__float2half_rn(1.0f), __half);
  HAS_TYPE(__half_as_ushort(__half()), unsigned short);
  HAS_TYPE(__ushort_as_half(static_cast<unsigned short>(1)), __half);
  HAS_TYPE(__bfloat162float(__nv_bfloat16()), float);
  HAS_TYPE(__float2bfloat16_rn(1.0f), __nv_bfloat16);
  HAS_TYPE(__bfloat16_as_ushort(__nv_bfloat16()), unsigned short);
  HAS_TYPE(__ushort_as_bfloat16(static_cast<unsigned short>(1)), __nv_bfloat16);
  HAS_TYPE(atomicAdd(static_cast<float*>(nullptr), 1.0f), float);
  HAS_TYPE(atomicAdd(static_cast<double*>(nullptr), 1.0), double);
  HAS_TYPE(atomicAdd(static_cast<int*>(nullptr), 1), int);
  HAS_TYPE(atomicAdd(static_cast<unsigned int*>(nullptr), 1u), unsigned int);
  HAS_TYPE(atomicAdd(static_cast<unsigned long long*>(nullptr), 1ull), unsigned long long);
  HAS_TYPE(atomicMin(static_cast<long long*>(nullptr), 1ll), long long);
  HAS_TYPE(atomicExch(static_cast<float*>(nullptr), 1.0f), float);
  HAS_TYPE(atomicCAS(static_cast<unsigned int*>(nullptr), 1u, 1u), unsigned int);
  HAS_TYPE(threadIdx.x, unsigned int);
  HAS_TYPE(blockDim.y, unsigned int);
  static_assert(sizeof(threadIdx) == 12 && sizeof(gridDim) == 12, "registers");
}

/// Which function is found for a number of 16 bits depends on what it can become.
struct Anything {
  char more[64];
};
Anything found_for(...);
double found_for(float);
struct OfHalf {
  OfHalf(__half);
};
char of(OfHalf, int);
Anything of(...);

static_assert(sizeof(found_for(__half())) == sizeof(double), "halves become numbers");
static_assert(sizeof(found_for(__nv_bfloat16())) == sizeof(double), "halves become numbers");
static_assert(sizeof(of(__half(), 0)) == 1, "one conversion");
static_assert(sizeof(of(1.0f, 0)) == sizeof(Anything), "no two conversions");
__half half_of(__half);
__nv_bfloat16 bfloat_of(__nv_bfloat16);
Anything half_of(...);
Anything bfloat_of(...);
static_assert(sizeof(half_of(1.0f)) == 2 && sizeof(half_of(1)) == 2 && sizeof(half_of(1.0)) == 2 && sizeof(half_of(1ull)) == 2, "numbers become halves");
static_assert(sizeof(bfloat_of(1.0f)) == 2 && sizeof(bfloat_of(1)) == 2 && sizeof(bfloat_of(1.0)) == 2, "numbers become halves");

}  // namespace

__global__ void use() { ask(); }
