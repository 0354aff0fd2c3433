// SPDX-License-Identifier: Apache-2.0
// Reads nothing: that it can be built says that the machine has what the programs of libFuzzer need.

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t*, std::size_t) { return 0; }
