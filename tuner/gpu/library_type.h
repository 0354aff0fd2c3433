// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <library_types.h>

#include "generator/ir/scalar_type.h"

namespace esc::gpu {

/// The type by the name that NVIDIA's libraries have for it.
constexpr cudaDataType_t library_type(ScalarType type) {
  return type == ScalarType::f16    ? CUDA_R_16F
         : type == ScalarType::bf16 ? CUDA_R_16BF
         : type == ScalarType::f64  ? CUDA_R_64F
                                    : CUDA_R_32F;
}

/// The type that they have sums of such elements in, and the factors of these.
constexpr cudaDataType_t library_sum_type(ScalarType element) {
  return element == ScalarType::f64 ? CUDA_R_64F : CUDA_R_32F;
}

/// A factor of sums, where libraries read it.
class SumFactor {
 public:
  constexpr SumFactor(ScalarType element, double value)
      : single_(static_cast<float>(value)), double_(value), is_double_(library_sum_type(element) == CUDA_R_64F) {}
  const void* get() const { return is_double_ ? static_cast<const void*>(&double_) : &single_; }

 private:
  float single_;
  double double_;
  bool is_double_;
};

}  // namespace esc::gpu
