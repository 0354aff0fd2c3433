// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tuner/build/kernel_text.h"

namespace esc::gpu {

/// Compiles a device text with NVRTC, after the prelude that stands for CUDA's headers. Needs no GPU. Safe to call in
/// parallel, though NVRTC then builds one text after the other. Throws BuildError when the text does not compile or
/// lacks one of the kernels.
tuning::Cubin build(const tuning::KernelText& text);

/// Version of NVRTC, "13.0".
std::string rtc_version();

/// What NVRTC's code depends on beside the text and that version: the prelude and the options, as 16 hexadecimal
/// digits.
std::string rtc_setup();

}  // namespace esc::gpu
