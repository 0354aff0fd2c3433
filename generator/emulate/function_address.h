// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace esc {

/// Where compiled text finds a function of ours.
template <class Function>
std::uint64_t address_of(Function* function) {
  return reinterpret_cast<std::uint64_t>(function);
}

}  // namespace esc
