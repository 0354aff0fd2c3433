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

/// The factors of a library's product, C = 1 A B + 0 C, in the type that it has sums in.
class ProductFactors {
 public:
  explicit constexpr ProductFactors(ScalarType element) : type_(element == ScalarType::f64 ? CUDA_R_64F : CUDA_R_32F) {}

  cudaDataType_t type() const { return type_; }
  const void* one() const { return of(&doubles_[1], &floats_[1]); }
  const void* zero() const { return of(&doubles_[0], &floats_[0]); }

 private:
  const void* of(const double* twice, const float* single) const {
    return type_ == CUDA_R_64F ? static_cast<const void*>(twice) : single;
  }

  static constexpr double doubles_[2] = {0, 1};
  static constexpr float floats_[2] = {0, 1};
  cudaDataType_t type_;
};

}  // namespace esc::gpu
