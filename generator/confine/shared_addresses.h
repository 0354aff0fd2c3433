// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace esc {

/// Addresses that the system gives nobody who does not ask for them, so that they are free in each of our processes.
inline constexpr std::uintptr_t shared_addresses_begin = std::uintptr_t{0x2000} << 32;
inline constexpr std::uintptr_t shared_addresses_end = std::uintptr_t{0x3000} << 32;

}  // namespace esc
