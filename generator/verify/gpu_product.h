// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "generator/verify/bundle_interface.h"
#include "generator/verify/cuda_runtime.h"
#include "generator/verify/kernel_calls.h"
#include "generator/verify/predecessor.h"

namespace esc {

/// The kernel of a bundle on a GPU, with the matrix that it multiplies by. Refers to what it is made of.
struct KernelOnGpu {
  const CudaRuntime& runtime;
  const DeviceStream& stream;  ///< of the caller's own
  const Predecessor& predecessor;
  const KernelFunctions& functions;
  std::span<const std::byte> packed;
  std::int64_t rows = 0;
  const Dispatch& dispatch;
  const LoopNest* input = nullptr;  ///< the nest, whose epilogue may read more than B
};

/// C as the kernel leaves it, its rows and columns alone, and the error of the call or of the device, or that something
/// was written between elements of C; empty where there is none.
struct GpuProduct {
  TypedElements c;
  std::string problem;
};

/// Makes one call after the predecessor, which writes B and what the epilogue reads, and poisons C. `b` is K rows of
/// the columns alone. B and C end with their last element.
GpuProduct gpu_product(const KernelOnGpu& kernel, const KernelCall& call, const TypedElements& b);

/// The same of NAME_unpack, as unpack_calls tells it: A in place of C, after no other kernel.
GpuProduct gpu_unpacking(const KernelOnGpu& kernel, const KernelCall& call, ScalarType element);

/// The same of NAME_values: `a` has all rows of A, without gaps, and the result the packed matrix in place of C.
GpuProduct gpu_repacking(const KernelOnGpu& kernel, const KernelCall& call, const TypedElements& a);

}  // namespace esc
