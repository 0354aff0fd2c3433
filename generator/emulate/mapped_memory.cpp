// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/mapped_memory.h"

#include <sys/mman.h>

#include <new>

namespace esc {

MappedMemory::MappedMemory(std::size_t bytes, std::size_t guard_bytes) {
  const std::size_t guard = round_up(guard_bytes, kPageBytes);
  const std::size_t usable = round_up(bytes == 0 ? 1 : bytes, kPageBytes);
  total_ = usable + 2 * guard;
  void* memory = mmap(nullptr, total_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  start_ = static_cast<std::byte*>(memory);
  data_ = start_ + guard;
  bytes_ = bytes;
  if (mprotect(data_, usable, PROT_READ | PROT_WRITE) != 0) {
    munmap(start_, total_);
    throw std::bad_alloc();
  }
}

MappedMemory::~MappedMemory() {
  if (start_ != nullptr) {
    munmap(start_, total_);
  }
}

void MappedMemory::protect(std::size_t offset, std::size_t bytes) {
  if (mprotect(data_ + offset, bytes, PROT_NONE) != 0) {
    throw std::bad_alloc();
  }
}

}  // namespace esc
