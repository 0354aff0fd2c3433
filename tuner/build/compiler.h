// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace esc::tuning {

/// A compiler, as records name it and as the cache tells it from others.
struct Compiler {
  std::string name;   ///< "nvrtc 13.0"
  std::string setup;  ///< a digest of what else its code depends on: prelude, options, update
  bool operator==(const Compiler&) const = default;
};

}  // namespace esc::tuning
