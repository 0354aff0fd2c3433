// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/emit/layer.h"

namespace esc {

/// What NAME.cu has for the GPU: the constants, the instructions and the kernels that the lowered nest of the layer
/// performs. It compiles by itself where the CUDA runtime's names are known, as NVRTC's text, and depends on the name,
/// the schedule, bCol and the types of the packed matrix alone: what the kernels must know of the matrix beside that
/// are their arguments. The matrix has a non-zero.
std::string device_text(const Layer& layer);

/// Names of the kernels: the main one, that before it which prepares rows of C, that which writes A from its
/// packed form, and that which writes values of A into it.
std::string kernel_name(const Layer& layer);
std::string zeroing_name(const Layer& layer);
std::string unpacking_name(const Layer& layer);
std::string repacking_name(const Layer& layer);

}  // namespace esc
