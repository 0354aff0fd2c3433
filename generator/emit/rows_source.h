#pragma once

#include <string>

#include "generator/emit/layer.h"

namespace esc {

/// NAME.cu of a layer of family rows: the constant text with the schedule's constants. The matrix has a non-zero.
std::string rows_kernel_source(const Layer& layer);

/// The part of it that runs on the GPU. It depends on the name, the schedule and bCol alone: what the kernels must know
/// of the matrix beside that are their arguments.
std::string rows_device_source(const Layer& layer);

/// How the kernel that sets split rows of C to zero is launched for N = bCol.
struct ZeroingShape {
  unsigned int row_threads = 1;  ///< threads beside each other that have a row
  unsigned int blocks = 0;

  static constexpr unsigned int threads = 128;  ///< of a block
};
ZeroingShape zeroing_shape(const Layer& layer);

}  // namespace esc
