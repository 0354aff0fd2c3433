// SPDX-License-Identifier: Apache-2.0
/* Stand-in for <cudaTypedefs.h>, and for the way to the driver's functions that have a type there. */
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

typedef CUresult (*PFN_cuTensorMapEncodeTiled_v12000)(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                                      void* base, const cuuint64_t* sizes, const cuuint64_t* strides,
                                                      const cuuint32_t* box, const cuuint32_t* element_strides,
                                                      CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                                      CUtensorMapL2promotion l2_promotion,
                                                      CUtensorMapFloatOOBfill fill);

struct __esc_tiled_map_request {
  int type;
  cuuint32_t rank;
  void* base;
  const cuuint64_t* sizes;
  const cuuint64_t* strides;
  const cuuint32_t* box;
  const cuuint32_t* element_strides;
  int interleave, swizzle, l2_promotion, fill;
};

extern "C" {
CUresult __esc_encode_tiled(CUtensorMap* map, const __esc_tiled_map_request* request);
cudaError_t __esc_find_driver_function(const char* symbol, unsigned version, cudaDriverEntryPointQueryResult* result);
}

static inline CUresult __esc_tensor_map_encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                                     void* base, const cuuint64_t* sizes, const cuuint64_t* strides,
                                                     const cuuint32_t* box, const cuuint32_t* element_strides,
                                                     CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                                     CUtensorMapL2promotion l2_promotion,
                                                     CUtensorMapFloatOOBfill fill) {
  const __esc_tiled_map_request request = {type,       rank,    base,         sizes, strides, box, element_strides,
                                           interleave, swizzle, l2_promotion, fill};
  return __esc_encode_tiled(map, &request);
}

static inline cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                                           unsigned long long flags,
                                                           cudaDriverEntryPointQueryResult* result = nullptr) {
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
  const cudaError_t error =
      flags == cudaEnableDefault ? __esc_find_driver_function(symbol, version, &found) : cudaErrorInvalidValue;
  if (error != cudaSuccess) {
    return error;
  }
  *function = found == cudaDriverEntryPointSuccess ? (void*)&__esc_tensor_map_encode_tiled : nullptr;
  if (result != nullptr) {
    *result = found;
  }
  return result != nullptr || found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorSymbolNotFound;
}
