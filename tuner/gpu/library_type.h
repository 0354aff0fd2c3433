// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <library_types.h>

#include "generator/ir/scalar_type.h"

namespace esc::gpu {

/// The type by the name that NVIDIA's libraries have for it.
constexpr cudaDataType_t library_type(ScalarType type) {
  return type == ScalarType::f16 ? CUDA_R_16F : type == ScalarType::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

}  // namespace esc::gpu
