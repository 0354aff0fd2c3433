// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace esc {

/// What a process with no rights may use up, in its whole life.
struct Allowance {
  std::chrono::milliseconds time{60'000};         ///< on the clock of the wall, and as much of a processor
  std::uint64_t memory = std::uint64_t{4} << 30;  ///< bytes, beside what it was born with
  std::uint64_t address_space = 0;                ///< bytes that it may map beyond those, of which it touches few
  bool reads_files = false;                       ///< whether it may open files to read them; nothing else either way
};

}  // namespace esc
