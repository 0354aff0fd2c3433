// SPDX-License-Identifier: Apache-2.0
// In place of the C library's function, through LD_PRELOAD: allocation number FAILING_ALLOCATION, and those up to
// FAILING_ALLOCATIONS - 1 after it, give nothing. How many there were is written to ALLOCATIONS_FILE at the end.

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" void* __libc_malloc(std::size_t bytes);

namespace {

std::atomic<long> done = 0;

long number_of(const char* name, long otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atol(text);
}

}  // namespace

extern "C" void* malloc(std::size_t bytes) {
  static const long first = number_of("FAILING_ALLOCATION", -1);
  static const long count = number_of("FAILING_ALLOCATIONS", 1);
  const long number = done++;
  return first >= 0 && number >= first && number < first + count ? nullptr : __libc_malloc(bytes);
}

[[gnu::destructor]] static void tell() {
  if (const char* const name = std::getenv("ALLOCATIONS_FILE")) {
    if (std::FILE* const file = std::fopen(name, "w")) {
      std::fprintf(file, "%ld\n", done.load());
      std::fclose(file);
    }
  }
}
