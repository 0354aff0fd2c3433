// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace esc {

/// What a kernel needs of a multiprocessor, by its compiled code or as is estimated, and what it reads.
struct KernelFacts {
  int registers = 0;        ///< of a thread
  int shared_bytes = 0;     ///< of a block, static and dynamic
  int local_bytes = 0;      ///< of a thread: spilled
  int threads = 0;          ///< of a block
  std::int64_t blocks = 0;  ///< of the grid
  std::int64_t packed_bytes = 0;
  bool operator==(const KernelFacts&) const = default;
};

}  // namespace esc
