// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "tuner/build/compiler.h"
#include "tuner/build/kernel_text.h"

namespace esc::tuning {

/// "nvcc 13.0", with its update, the frame around a text and the options in its setup; nothing where there is no nvcc.
std::optional<Compiler> installed_nvcc();

/// Builds a text as a bundle's is built: by nvcc, with CUDA's own headers in place of NVRTC's prelude. `symbols` are
/// the kernels' names in NVRTC's code of the same text. Throws BuildError, also where nvcc does not end in time.
Cubin build_with_nvcc(const KernelText& text, const std::vector<std::string>& symbols,
                      std::chrono::milliseconds patience = std::chrono::minutes(2));

}  // namespace esc::tuning
