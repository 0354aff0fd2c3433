// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/fault.h"

namespace esc {

const char* to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds:
      return "out of bounds";
    case FaultKind::left_open:
      return "left open";
    case FaultKind::misaligned:
      return "misaligned";
    case FaultKind::read_only:
      return "write to read-only memory";
    case FaultKind::forbidden_space:
      return "wrong memory space";
    case FaultKind::uninitialised:
      return "uninitialised read";
    case FaultKind::race:
      return "race";
    case FaultKind::divergent_barrier:
      return "divergent barrier";
    case FaultKind::missing_lanes:
      return "missing lanes";
    case FaultKind::step_limit:
      return "step limit";
    case FaultKind::before_wait:
      return "before the wait";
    case FaultKind::wrong_stream:
      return "wrong stream";
    case FaultKind::bad_copy:
      return "bad asynchronous copy";
    case FaultKind::bad_barrier:
      return "bad asynchronous barrier";
    case FaultKind::deadlock:
      return "deadlock";
    case FaultKind::bad_operand:
      return "bad operand";
    case FaultKind::forbidden_call:
      return "forbidden call";
    case FaultKind::stopped:
      return "stopped";
    case FaultKind::stack_overflow:
      return "stack overflow";
    case FaultKind::limit:
      return "limit of the emulator";
  }
  return "fault";
}

std::vector<std::string> messages_of(const std::vector<EmulationFault>& faults) {
  std::vector<std::string> messages;
  for (const EmulationFault& fault : faults) {
    messages.push_back(fault.message);
  }
  return messages;
}

}  // namespace esc
