#pragma once

#include <optional>
#include <string>

#include "tuner/build/kernel_text.h"

namespace esc::tuning {

/// "nvcc 13.0"; nothing where there is no nvcc.
std::optional<std::string> nvcc_name();

/// Builds a text as a bundle's is built: by nvcc, with CUDA's own headers in place of NVRTC's prelude. `symbols` are
/// the kernels' names in NVRTC's code of the same text. Throws BuildError.
Cubin build_with_nvcc(const KernelText& text, const std::vector<std::string>& symbols);

}  // namespace esc::tuning
