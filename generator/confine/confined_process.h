// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "generator/confine/allowance.h"
#include "generator/confine/channel.h"
#include "generator/confine/memory_watch.h"
#include "generator/confine/shared_heap.h"

namespace esc {

/// A confined process has ended, or was ended, before it gave the answer that was waited for. The words have the
/// process as their subject: "runs longer than 60 s".
class ConfinedEnd : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a confined process does: it answers on the channel and returns when that is closed. It has what it captures as
/// a copy, and nothing of this process beside that: references lead nowhere there, but to functions and constants.
using ConfinedWork = std::function<void(const Channel& channel)>;

/// A process that has no rights (give_up_rights.h) and little time and memory: for texts that nobody has looked at. It
/// is made by the process helper (process_helper.h), has its work and some memory that it shares with this process, and
/// cannot be heard but through its channel. Whatever it answers, once it has run such a text, may be that text's
/// answer.
///
/// Kinds of messages from `reserved_kinds` on are this class's own.
class ConfinedProcess {
 public:
  /// Starts `work`, which captures about `work_bytes`, in such a process. An exception that `work` lets out is the next
  /// answer. The memory, where there is one, must outlive this.
  ConfinedProcess(const Allowance& allowance, const ConfinedWork& work, std::size_t work_bytes = 0,
                  const SharedMemory* memory = nullptr);
  ConfinedProcess(const ConfinedProcess&) = delete;
  ConfinedProcess& operator=(const ConfinedProcess&) = delete;
  /// Ends it.
  ~ConfinedProcess();

  void ask(const Message& request);
  /// The next message. Throws ConfinedEnd where none comes; UserError where that is what `work` let out, and, with
  /// status missing_tool, where this machine does not let a process give up its rights, or where none comes and a limit
  /// of this process leaves it less memory than the allowance.
  Message answer();

  static constexpr std::uint32_t reserved_kinds = 0xffff0000;

 private:
  [[noreturn]] void fail(const std::string& reason);
  std::string describe_end();
  void end();
  /// Waits for its end, and gives how it ended.
  int reap();

  Allowance allowance_;
  Deadline deadline_;
  SharedHeap heap_;  ///< of the work
  ChannelPair channels_;
  pid_t process_ = -1;
  std::optional<MemoryWatch> watch_;
};

}  // namespace esc
