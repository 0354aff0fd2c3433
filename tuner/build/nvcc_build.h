#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "tuner/build/kernel_text.h"

namespace esc::tuning {

/// "nvcc 13.0"; nothing where there is no nvcc.
std::optional<std::string> nvcc_name();

/// What nvcc's code depends on beside the text and that name: its update, the frame around the text and the options, as
/// 16 hexadecimal digits.
std::string nvcc_setup();

/// Builds a text as a bundle's is built: by nvcc, with CUDA's own headers in place of NVRTC's prelude. `symbols` are
/// the kernels' names in NVRTC's code of the same text. Throws BuildError, also where nvcc does not end in time.
Cubin build_with_nvcc(const KernelText& text, const std::vector<std::string>& symbols,
                      std::chrono::milliseconds patience = std::chrono::minutes(2));

}  // namespace esc::tuning
