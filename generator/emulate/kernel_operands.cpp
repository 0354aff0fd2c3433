// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/kernel_operands.h"

#include <fmt/format.h>

#include "generator/emulate/active_machine.h"

namespace esc {

void require_kernel(const char* what) {
  if (!active_machine().in_kernel()) {
    active_machine().report(FaultKind::forbidden_space, active_machine().site(), what,
                            [&] { return fmt::format("host code uses {}, which only kernels may", what); });
    active_machine().stop();
  }
}

std::uint64_t shared_pointer(std::uint32_t address, const char* instruction) {
  Machine& machine = active_machine();
  const std::uint64_t pointer = machine.program().shared_window() + address;
  if (!machine.program().is_shared(pointer)) {
    machine.report(FaultKind::out_of_bounds, machine.site(), instruction, [&] {
      return fmt::format("{} of the address {:#x}, which is not in shared memory", instruction, address);
    });
    machine.stop();
  }
  return pointer;
}

}  // namespace esc
