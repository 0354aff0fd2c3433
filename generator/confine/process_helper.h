// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <span>

#include "generator/confine/shared_memory.h"

namespace esc {

/// What a process that the helper makes begins with.
struct Birth {
  /// What it does; it must not return.
  void (*live)(const void* argument, int descriptor) = nullptr;
  const void* argument = nullptr;  ///< in one of the memories
  int descriptor = -1;             ///< which it gets, under another number
  std::span<const SharedMemory* const> memories = {};
};

/// Starts the helper: a copy of this process, as it is now, that makes processes when it is asked to. A process that
/// has threads must not be copied itself, for what another thread has locked stays locked in the copy for ever; the
/// helper has one thread alone. `warm_up` runs in it first: what finds out what those processes will not be able to.
/// Has to be called while this process has no other thread; where that could not be, nothing is done, and make_process
/// tells why.
void start_process_helper(const std::function<void()>& warm_up = {});

/// A child of this process that is a copy of the helper, with these memories at their places; the helper is started
/// where that was not done. Safe to use from several threads. Throws UserError with status missing_tool where the
/// machine does not let one be made.
pid_t make_process(const Birth& birth);

/// Of the helper, as long as this process lives.
pid_t process_helper();

}  // namespace esc
