#pragma once

#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

/// A lowered nest as CUDA text, not yet formatted.
struct CudaText {
  std::string functions;    ///< one device function per case of the nest's switch
  std::string kernel_body;  ///< the statements of the kernel, which call them
};

/// Prints the final form of a nest: the grid becomes blockIdx.x, warps and lanes threadIdx.x, each case of the switch a
/// device function, and accesses to B and C use the leading dimensions `ldb` and `ldc`. The text reads the packed arrays
/// through pointers of their names, B and C through `B` and `C`, and the number of columns from `N`.
/// `offset_type` is the C type of positions in the packed arrays: "int", or "long long" for 2^31 non-zeros or more.
/// Throws Defect for a nest that is not in its final form.
CudaText print_cuda(const LoopNest& nest, const std::string& offset_type, const std::string& column_type);

}  // namespace esc
