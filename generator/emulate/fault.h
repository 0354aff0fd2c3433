// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/emulate/registers.h"

namespace esc {

/// What went wrong in a run.
enum class FaultKind {
  out_of_bounds,      ///< an access outside every buffer
  misaligned,         ///< an address that is not a multiple of what the accessed type promises
  read_only,          ///< a write to a buffer or variable that the kernel may only read
  forbidden_space,    ///< host code touches device memory, or device code host memory
  uninitialised,      ///< a read of bytes that nothing has written
  race,               ///< two accesses that nothing orders, at least one of them a write
  divergent_barrier,  ///< threads of a block wait at different barriers, or one has left without reaching it; threads
                      ///< wait
                      ///< at one for different counts
  missing_lanes,      ///< a warp operation whose named lanes do not all take part
  step_limit,         ///< a thread runs longer than allowed
  before_wait,        ///< a kernel touches what the kernel before may still write or read, and has not waited for it
  wrong_stream,       ///< a launch or a fill on another stream than the caller's
  bad_copy,           ///< an asynchronous copy of a kind that the hardware does not know
  bad_barrier,        ///< an asynchronous barrier that is none, or that is used against its counts
  deadlock,           ///< all threads of a block wait, and nothing is under way that could let one go on
  left_open,          ///< host code has returned and not closed a file
  bad_operand,        ///< an operand for which an instruction has no meaning
  forbidden_call,     ///< a function that a text under check may not call
  stopped,            ///< a trap, a division by zero, an index outside a local array, unreachable code
  stack_overflow,     ///< a thread needs more stack than it has
  limit               ///< the text does more than the emulator can follow
};

/// The word for a kind, as it is in messages: "out of bounds", "race", ...
const char* to_string(FaultKind kind);

/// One fault of a run. `message` is whole: kind, kernel, place, block, thread and what happened.
struct EmulationFault {
  FaultKind kind;
  std::string kernel;  ///< empty for host code
  std::string place;   ///< file:line:column of the text
  Dim3 block;
  Dim3 thread;
  std::string message;
};

/// Their messages, in order.
std::vector<std::string> messages_of(const std::vector<EmulationFault>& faults);

/// What a run did.
struct EmulationCounters {
  std::uint64_t launches = 0;
  std::uint64_t fills = 0;
  std::uint64_t prepared = 0;      ///< questions for a kernel's attributes
  std::uint64_t tensor_calls = 0;  ///< questions for the driver's function of tensor maps, and calls of it
  std::uint64_t blocks = 0;
  std::uint64_t threads = 0;
  std::uint64_t accesses = 0;
  std::uint64_t atomics = 0;
  std::uint64_t barriers = 0;
  std::uint64_t warp_operations = 0;
};

}  // namespace esc
