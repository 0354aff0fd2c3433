// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/built_architectures.h"

#include <fmt/format.h>

#include "generator/support/architecture.h"

namespace esc {

bool asks_for_own_features(const std::string& kernel_text) { return kernel_text.find("__CUDA_ARCH_FEAT_") != std::string::npos; }

std::string built_architectures(const std::vector<int>& capabilities, bool own_features) {
  std::string text;
  for (const int capability : capabilities) {
    const std::string plain = fmt::format("{}", capability);
    const std::string compiled = compiled_architecture(capability);
    text += (text.empty() ? "" : ";") + (own_features && compiled != plain ? fmt::format("{}-real;{}-virtual", compiled, plain) : plain);
  }
  return text;
}

}  // namespace esc
