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
/// A text that people write, or this program: a spec, a list of schedules, a database, a manifest.
inline constexpr std::uint64_t most_text_bytes = std::uint64_t{64} << 20;
/// What the tuner has measured, line by line.
inline constexpr std::uint64_t most_journal_bytes = std::uint64_t{4} << 30;
/// A packed matrix that takes so many bytes as CSR. What is small may have units of which most are empty; nothing is
/// packed so that they are nearly all of it, whatever memory there is.
constexpr std::uint64_t most_packed_bytes(std::uint64_t csr_bytes) {
  constexpr std::uint64_t small = std::uint64_t{128} << 20;
  constexpr std::uint64_t times_csr = 32;
  return csr_bytes < small / times_csr ? small : csr_bytes * times_csr;
}
/// A bundle's kernel and transformer, of which every word is looked at.
inline constexpr std::uint64_t most_source_bytes = std::uint64_t{16} << 20;

}  // namespace esc
