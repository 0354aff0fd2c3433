// SPDX-License-Identifier: Apache-2.0
#include "generator/confine/shared_memory.h"

#include <sys/mman.h>

#include <new>

#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::size_t gap_bytes = 65536;
constexpr std::size_t alignment = 256;

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes) : bytes_(bytes) {
  void* const memory = mmap(nullptr, bytes_ == 0 ? 1 : bytes_, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  memory_ = static_cast<std::byte*>(memory);
}

SharedMemory::~SharedMemory() { munmap(memory_, bytes_ == 0 ? 1 : bytes_); }

std::span<std::byte> SharedMemory::part(std::size_t begin, std::size_t bytes) const {
  ESC_CHECK(begin <= bytes_ && bytes <= bytes_ - begin, "a part of shared memory is inside it");
  return {memory_ + begin, bytes};
}

std::size_t PartsOfMemory::add(std::size_t bytes) {
  const std::size_t begin = end_;
  end_ = (begin + bytes + gap_bytes + alignment - 1) / alignment * alignment;
  return begin;
}

}  // namespace esc
