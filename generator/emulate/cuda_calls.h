// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <utility>

#include "generator/emulate/active_machine.h"

namespace esc {

/// Calls `function` with the machine, for a function `name` of the CUDA interface. An exception cannot pass through
/// compiled text: it ends the host function and goes to the caller of EmulatedDevice::call.
template <class Function>
int guarded_cuda_call(const char* name, const Function& function) {
  Machine& machine = active_machine();
  std::exception_ptr error;
  if (machine.in_kernel()) {
    machine.report(FaultKind::forbidden_space, machine.site(), name,
                   [&] { return std::string("device code calls ") + name + ", which only host code may"; });
    machine.stop();
  }
  try {
    return function(machine);
  } catch (...) {
    error = std::current_exception();
  }
  machine.stop_with(std::move(error));
}

/// Whether this call is the one that is to fail.
inline bool must_fail(Machine& machine) { return machine.options().failing_call == machine.fallible_calls++; }

}  // namespace esc
