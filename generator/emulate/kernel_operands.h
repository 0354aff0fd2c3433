// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace esc {

/// Ends host code that uses what only kernels have.
void require_kernel(const char* what);

/// The pointer to what an instruction names by `address`, its distance from where the memory of the program begins.
/// Ends a thread whose address is none in shared memory.
std::uint64_t shared_pointer(std::uint32_t address, const char* instruction);

}  // namespace esc
