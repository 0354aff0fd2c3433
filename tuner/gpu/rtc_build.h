#pragma once

#include <string>

#include "tuner/build/kernel_text.h"

namespace esc::gpu {

/// Compiles a device text with NVRTC, behind the prelude that stands for CUDA's headers. Needs no GPU. Safe to call in
/// parallel, though NVRTC then builds one text after the other. Throws BuildError when the text does not compile or
/// lacks one of the kernels.
tuning::Cubin build(const tuning::KernelText& text);

/// Version of NVRTC, "13.0".
std::string rtc_version();

}  // namespace esc::gpu
