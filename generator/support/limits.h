// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace esc {

// What a kernel can be made for: its counters have 32 bits, and so has the C interface.
inline constexpr std::int64_t largest_dimension = 2147483647;  ///< rows of A, and columns
inline constexpr std::int64_t most_nonzeros = 2147483647;
inline constexpr std::int64_t most_columns_of_b = 2147483647;

// What a check by emulation takes on. A product that is larger is checked with fewer columns of B, and the report says
// so.
inline constexpr std::int64_t most_checked_columns = 4096;
/// Bytes of B and C together; the check takes some five times as much memory.
inline constexpr std::int64_t most_checked_bytes = std::int64_t{512} << 20;

// What is read whole into memory.
inline constexpr std::uint64_t most_text_bytes = std::uint64_t{4} << 30;
inline constexpr std::uint64_t most_packed_bytes = std::uint64_t{1} << 40;
/// A bundle's kernel and transformer, of which every word is looked at.
inline constexpr std::uint64_t most_source_bytes = std::uint64_t{16} << 20;

}  // namespace esc
