// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/fibre.h"

#include <boost/context/detail/fcontext.hpp>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace esc {
namespace {

namespace bc = boost::context::detail;

/// What a switch hands to the side that continues.
struct Handover {
  Context* from;
  Context* to;
};

}  // namespace

/// First code on a fresh stack.
struct ContextEntry {
  static void run(bc::transfer_t transfer) {
    Context* self = static_cast<const Handover*>(transfer.data)->to;
    Context::arrive(transfer.data, transfer.fctx);
    self->entry_(self->argument_);
  }
};

void Context::arrive(const void* data, void* came_from) {
  const auto* handover = static_cast<const Handover*>(data);
  handover->from->handle_ = came_from;
#if defined(__SANITIZE_ADDRESS__)
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(handover->to->fake_stack_, &bottom, &bytes);
  handover->to->fake_stack_ = nullptr;
  if (handover->from->bottom_ == nullptr) {
    handover->from->bottom_ = static_cast<const std::byte*>(bottom);
    handover->from->bytes_ = bytes;
  }
#endif
}

Context::~Context() {
#if defined(__SANITIZE_ADDRESS__)
  // What the sanitizer noted about frames must not outlive their stack: the addresses may be used again.
  if (entry_ != nullptr) {
    __asan_unpoison_memory_region(bottom_, bytes_);
  }
#endif
}

void Context::start(std::byte* bottom, std::size_t bytes, Entry entry, void* argument) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(bottom, bytes);
  fake_stack_ = nullptr;
#endif
  bottom_ = bottom;
  bytes_ = bytes;
  entry_ = entry;
  argument_ = argument;
  handle_ = bc::make_fcontext(bottom + bytes, bytes, &ContextEntry::run);
}

void Context::switch_to(Context& from, Context& to) {
  Handover handover{&from, &to};
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.fake_stack_, to.bottom_, to.bytes_);
#endif
  const bc::transfer_t transfer = bc::jump_fcontext(to.handle_, &handover);
  arrive(transfer.data, transfer.fctx);
}

FibrePool::FibrePool(std::size_t count, std::size_t stack_bytes)
    : stack_bytes_(round_up(stack_bytes, kPageBytes)),
      memory_(count * (stack_bytes_ + kPageBytes)),
      states_(count, State::untouched),
      contexts_(std::make_unique<Context[]>(count)) {}

void FibrePool::start(std::size_t index, Context::Entry entry, void* argument) {
  const std::size_t offset = index * (stack_bytes_ + kPageBytes);
  if (states_[index] == State::untouched) {
    memory_.protect(offset, kPageBytes);
  }
  states_[index] = State::started;
  contexts_[index].start(memory_.data() + offset + kPageBytes, stack_bytes_, entry, argument);
}

}  // namespace esc
