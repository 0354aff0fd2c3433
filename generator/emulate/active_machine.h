// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/emulate/machine.h"
#include "generator/support/error.h"

namespace esc {

/// Makes `machine` the one whose code runs on this thread, and the former one again at the end of the scope.
class ActiveMachine {
 public:
  explicit ActiveMachine(Machine& machine) : former_(current_) { current_ = &machine; }
  ActiveMachine(const ActiveMachine&) = delete;
  ActiveMachine& operator=(const ActiveMachine&) = delete;
  ~ActiveMachine() { current_ = former_; }

 private:
  friend Machine& active_machine();

  /// Compiled text calls the hooks with nothing but addresses, millions of times a second; a thread-local pointer is
  /// how they find their machine without a look-up.
  static inline constinit thread_local Machine* current_ = nullptr;

  Machine* former_;
};

inline Machine& active_machine() {
  ESC_CHECK(ActiveMachine::current_ != nullptr, "compiled text runs outside EmulatedDevice::call");
  return *ActiveMachine::current_;
}

}  // namespace esc
