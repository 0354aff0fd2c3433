// SPDX-License-Identifier: Apache-2.0
// The program's operators new and delete are here: those of the C++ library but for threads that allocate in a shared
// heap, and for what was allocated there, which goes with it as a whole.
#include "generator/confine/shared_heap.h"

#include <cstdint>
#include <cstdlib>
#include <new>

#include "generator/confine/shared_addresses.h"

namespace esc {
namespace {

thread_local SharedHeap* heap_of_thread = nullptr;

bool is_shared(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return address >= shared_addresses_begin && address < shared_addresses_end;
}

/// As the standard has it: whoever may free some memory is asked to, as long as there is somebody.
template <typename Allocate>
void* allocated(const Allocate& allocate) {
  while (true) {
    if (void* const memory = allocate()) {
      return memory;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) {
      throw std::bad_alloc();
    }
    handler();
  }
}

}  // namespace

SharedHeap::Allocating::Allocating(SharedHeap& heap) { heap_of_thread = &heap; }

SharedHeap::Allocating::~Allocating() { heap_of_thread = nullptr; }

SharedHeap* SharedHeap::current() { return heap_of_thread; }

void* SharedHeap::allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t begin = (used_ + alignment - 1) / alignment * alignment;
  if (begin > memory_.place().size() || bytes > memory_.place().size() - begin) {
    throw std::bad_alloc();
  }
  used_ = begin + bytes;
  return memory_.place().begin() + begin;
}

}  // namespace esc

// Not inlined: GCC 12 takes what is freed for memory of another operator than its own.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (esc::SharedHeap* const heap = esc::SharedHeap::current()) {
    return heap->allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }
  return esc::allocated([&] { return std::malloc(bytes == 0 ? 1 : bytes); });
}

[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto multiple = static_cast<std::size_t>(alignment);
  if (esc::SharedHeap* const heap = esc::SharedHeap::current()) {
    return heap->allocate(bytes, multiple);
  }
  return esc::allocated([&] {
    return std::aligned_alloc(multiple, (bytes == 0 ? 1 : bytes) + (multiple - bytes % multiple) % multiple);
  });
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (!esc::is_shared(memory)) {
    std::free(memory);
  }
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { operator delete(memory); }
