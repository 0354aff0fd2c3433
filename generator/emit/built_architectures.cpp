// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/built_architectures.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/ir/instruction.h"
#include "generator/ir/performed_instructions.h"
#include "generator/support/architecture.h"

namespace esc {

bool asks_for_own_features(std::string_view kernel_text) {
  return kernel_text.find("__CUDA_ARCH_FEAT_") != std::string_view::npos;
}

bool asks_for_own_features(const LoopNest& nest) {
  return std::ranges::any_of(performed_instructions(nest), [](const std::string& name) {
    return std::ranges::any_of(instruction(name).texts,
                               [](std::string_view text) { return asks_for_own_features(text); });
  });
}

std::string built_architectures(const std::vector<int>& capabilities, bool own_features) {
  std::string text;
  for (const int capability : capabilities) {
    const std::string plain = fmt::format("{}", capability);
    const std::string compiled = compiled_architecture(capability);
    text += (text.empty() ? "" : ";") +
            (own_features && compiled != plain ? fmt::format("{}-real;{}-virtual", compiled, plain) : plain);
  }
  return text;
}

}  // namespace esc
