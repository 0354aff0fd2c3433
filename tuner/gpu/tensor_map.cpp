// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/tensor_map.h"

#include <array>

#include "generator/emit/dispatch.h"
#include "tuner/gpu/device.h"

namespace esc::gpu {
namespace {

/// Rows of float32 are padded instead.
CUtensorMapSwizzle swizzle_of(const LaunchPlan::Boxes& boxes) {
  const unsigned int row_bytes = (boxes.of_columns ? boxes.rows : boxes.columns) * boxes.element_bytes;
  return boxes.element_bytes == 4 ? CU_TENSOR_MAP_SWIZZLE_NONE
         : row_bytes == 32        ? CU_TENSOR_MAP_SWIZZLE_32B
         : row_bytes == 64        ? CU_TENSOR_MAP_SWIZZLE_64B
                                  : CU_TENSOR_MAP_SWIZZLE_128B;
}

bool has_tensor_copies() {
  int device = 0;
  int major = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
  return major >= first_bulk_major;
}

PFN_cuTensorMapEncodeTiled_v12000 encoder() {
  constexpr unsigned int version = 12000;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, version, cudaEnableDefault, &found),
        "cudaGetDriverEntryPointByVersion");
  check(found == cudaDriverEntryPointSuccess ? cudaSuccess : cudaErrorNotSupported, "cudaGetDriverEntryPointByVersion");
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

}  // namespace

CUtensorMap describe_boxes(const LaunchPlan::Boxes& boxes, const void* b, long long ldb, unsigned int n) {
  CUtensorMap map = {};
  if (!has_tensor_copies()) {
    return map;
  }
  std::array<cuuint64_t, 2> extents{n, boxes.rows_of_b};
  const std::array<cuuint64_t, 1> row_bytes{static_cast<cuuint64_t>(ldb) * boxes.element_bytes};
  std::array<cuuint32_t, 2> box{boxes.columns, boxes.rows};
  if (boxes.of_columns) {
    std::swap(extents[0], extents[1]);
    std::swap(box[0], box[1]);
  }
  const std::array<cuuint32_t, 2> steps{1, 1};
  const CUresult result = encoder()(
      &map, boxes.element_bytes == 4 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_UINT16, 2,
      const_cast<void*>(b), extents.data(), row_bytes.data(), box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
      swizzle_of(boxes), CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check(static_cast<cudaError_t>(result), "cuTensorMapEncodeTiled");
  return map;
}

}  // namespace esc::gpu
