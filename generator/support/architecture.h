// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace esc {

/// What compilers are told for a compute capability, after "sm_" or "compute_": with the features that it alone has,
/// "90a" for 90, where kernels use such.
inline std::string compiled_architecture(int capability) {
  return std::to_string(capability) + (capability == 90 ? "a" : "");
}

}  // namespace esc
