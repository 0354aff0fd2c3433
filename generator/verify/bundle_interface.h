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

/// The host functions of a bundle's transformer, wherever they run: in a shared library or in an emulated text. Elements are
/// of the bundle's type.
struct TransformerFunctions {
  std::function<std::size_t()> packed_bytes;
  std::function<int(const void* a, std::int64_t lda, void* packed)> transform;
  std::function<int(const std::int32_t* offsets, const std::int32_t* columns, const void* values, void* packed)>
      transform_csr;
  std::function<int(const PackedFile& file, void* packed)> load;
  std::function<std::string()> transform_error;
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
