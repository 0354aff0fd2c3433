// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "generator/confine/shared_memory.h"

namespace esc {

/// Memory for values that another process of this program is to have: a copy that is made in it has in it all that the
/// value owns, at addresses that are the same there. What a value only refers to does not come along.
class SharedHeap {
 public:
  /// Room for so many bytes.
  explicit SharedHeap(std::size_t bytes) : memory_(bytes) {}
  SharedHeap(const SharedHeap&) = delete;
  SharedHeap& operator=(const SharedHeap&) = delete;

  const SharedMemory& memory() const { return memory_; }

  /// A copy of the value, which lasts as long as the heap; nothing is destroyed. Throws std::bad_alloc where there is
  /// no room.
  template <typename Value>
  Value* copy(const Value& value) {
    const Allocating here(*this);
    return new Value(value);
  }

  /// The heap that this thread allocates in; null: the ordinary one.
  static SharedHeap* current();
  /// Room in it. Throws std::bad_alloc where there is none.
  void* allocate(std::size_t bytes, std::size_t alignment);

 private:
  /// For as long as it lives, this thread has its memory here.
  class Allocating {
   public:
    explicit Allocating(SharedHeap& heap);
    Allocating(const Allocating&) = delete;
    Allocating& operator=(const Allocating&) = delete;
    ~Allocating();
  };

  SharedMemory memory_;
  std::size_t used_ = 0;
};

}  // namespace esc
