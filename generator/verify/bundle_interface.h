// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "generator/verify/c_call.h"

namespace esc {

/// What a path that `load` is given leads to.
struct PackedFile {
  enum class Path { null, missing, file };
  Path path = Path::file;
  std::span<const std::byte> contents = {};
};

/// The host functions of a bundle's transformer, wherever they run: in a shared library or in an emulated text.
/// Elements are of the bundle's type.
struct TransformerFunctions {
  std::function<std::size_t()> packed_bytes;
  std::function<int(const void* a, std::int64_t lda, void* packed)> transform;
  std::function<int(const std::int32_t* offsets, const std::int32_t* columns, const void* values, void* packed)>
      transform_csr;
  std::function<int(const PackedFile& file, void* packed)> load;
  std::function<std::string()> transform_error;
  // Of a kernel that takes any pattern; else they are empty.
  std::function<std::size_t(const void* a, std::int64_t lda)> bytes_for = {};
  std::function<std::size_t(const std::int32_t* offsets, const std::int32_t* columns, const void* values)>
      bytes_for_csr = {};
  std::function<int(const void* a, std::int64_t lda, void* packed, std::size_t bytes)> transform_into = {};
  std::function<int(const std::int32_t* offsets, const std::int32_t* columns, const void* values, void* packed,
                    std::size_t bytes)>
      transform_csr_into = {};

  bool takes_any_pattern() const { return bytes_for && bytes_for_csr && transform_into && transform_csr_into; }
};

/// The functions of a bundle that launch. cudaError_t and cudaStream_t are passed as int and void*.
struct KernelFunctions {
  std::function<int()> prepare;
  std::function<int(const ProductArguments&)> spmm;
  std::function<int(const UnpackArguments&)> unpack;  ///< empty where the kernel cannot
  std::function<int(const UnpackArguments&)> values;  ///< likewise

  const std::function<int(const UnpackArguments&)>& of(UnpackFunction function) const {
    return function == UnpackFunction::unpack ? unpack : values;
  }
};

}  // namespace esc
