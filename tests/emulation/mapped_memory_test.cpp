// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/mapped_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace esc {
namespace {

/// The most that this process has had in memory so far, in KiB.
long most_resident() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Matrices whose rows are far apart take tens of gigabytes of addresses, and what is touched counts against a limit.
TEST(MappedMemory, CostsNoMoreThanIsTouchedFromBeginningToEnd) {
  const long before = most_resident();
  {
    const MappedMemory memory(std::size_t{16} << 30, std::size_t{64} << 20);
    memory.data()[0] = std::byte{1};
    memory.data()[memory.size() - 1] = std::byte{1};
  }
  EXPECT_LT(most_resident() - before, 16 << 10);
}

}  // namespace
}  // namespace esc
