#pragma once

#include <cstddef>
#include <cstdint>

namespace esc {

/// The C interface of a bundle, as function pointers. cudaError_t and cudaStream_t are passed as int and void*.
struct BundleInterface {
  std::size_t (*packed_bytes)() = nullptr;
  int (*transform)(const float* a, std::int64_t lda, void* packed) = nullptr;
  int (*transform_csr)(const std::int32_t* offsets, const std::int32_t* columns, const float* values,
                       void* packed) = nullptr;
  const char* (*transform_error)() = nullptr;
  int (*load)(const char* path, void* packed) = nullptr;
  int (*prepare)() = nullptr;
  int (*spmm)(const void* packed, const float* b, std::int64_t ldb, float* c, std::int64_t ldc, std::int32_t n,
              void* stream) = nullptr;
};

}  // namespace esc
