// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "generator/emulate/mapped_memory.h"

namespace esc {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr std::size_t kThreadStackBytes = 256 * 1024;
inline constexpr std::size_t kStackMargin = 128 * 1024;
#else
inline constexpr std::size_t kThreadStackBytes = 512 * 1024;
/// What the emulator itself may need below the frames of the text under check.
inline constexpr std::size_t kStackMargin = 32 * 1024;
#endif

/// A place where execution is, or will start: a stack and a saved instruction pointer. The raw switch of
/// Boost.Context is used because a context must be droppable without unwinding: no exception can pass through
/// compiled text.
class Context {
 public:
  using Entry = void (*)(void* argument);

  /// The context of the code that runs now; it is filled in by the first switch away from it.
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  /// The stack that it was started on must still be there.
  ~Context();

  /// Starts afresh on a stack of `bytes` at `bottom`: the next switch to it calls `entry`, which must never return.
  /// Whatever was on that stack is dropped without being unwound.
  void start(std::byte* bottom, std::size_t bytes, Entry entry, void* argument);

  /// Saves the running code in `from` and continues `to`.
  static void switch_to(Context& from, Context& to);

  std::uint64_t stack_bottom() const { return reinterpret_cast<std::uint64_t>(bottom_); }
  std::size_t stack_bytes() const { return bytes_; }

 private:
  static void arrive(const void* data, void* came_from);
  friend struct ContextEntry;

  void* handle_ = nullptr;
  const std::byte* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  [[maybe_unused]] void* fake_stack_ = nullptr;  // AddressSanitizer's, while this context is not running
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
};

/// Stacks of one size with an inaccessible page below each, each with its context.
class FibrePool {
 public:
  FibrePool(std::size_t count, std::size_t stack_bytes);

  Context& operator[](std::size_t index) { return contexts_[index]; }

  /// Starts fibre `index` at `entry`, with the next switch to it.
  void start(std::size_t index, Context::Entry entry, void* argument);
  bool is_started(std::size_t index) const { return states_[index] == State::started; }
  /// Drops what is on the stack of fibre `index`; it can be started again.
  void forget(std::size_t index) { states_[index] = State::dropped; }

 private:
  enum class State : std::uint8_t { untouched, started, dropped };

  std::size_t stack_bytes_;
  MappedMemory memory_;
  std::vector<State> states_;
  std::unique_ptr<Context[]> contexts_;
};

}  // namespace esc
