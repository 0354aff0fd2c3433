// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/cache_policy_hooks.h"

#include <fmt/format.h>

#include "generator/emulate/active_machine.h"
#include "generator/emulate/function_address.h"
#include "generator/emulate/kernel_operands.h"

namespace esc {
namespace {

/// What createpolicy leaves in a register: any other operand of a cache hint was made by nothing.
constexpr std::uint64_t kEvictFirst = 0x12f0000000000000;
constexpr std::uint64_t kEvictLast = 0x14f0000000000000;

std::uint64_t create_policy(std::uint32_t stays) {
  require_kernel("createpolicy");
  return stays != 0 ? kEvictLast : kEvictFirst;
}

void check_policy(std::uint64_t policy) {
  require_kernel("a cache hint");
  if (policy != kEvictFirst && policy != kEvictLast) {
    active_machine().refuse(FaultKind::bad_operand, "",
                            [&] { return fmt::format("cache hint 0x{:x}, which createpolicy has not made", policy); });
  }
}

std::uint32_t load_global(std::uint64_t pointer) {
  require_kernel("ld.global");
  constexpr std::uint64_t kBytes = 4;
  constexpr unsigned kLog2Bytes = 2;
  Machine& machine = active_machine();
  if (machine.program().is_shared(pointer)) {
    machine.refuse(FaultKind::forbidden_space, "", [] { return std::string("ld.global from shared memory"); });
  }
  machine.check<Use::read>(pointer, kBytes, AccessNote::pack(kBytes, kLog2Bytes, machine.site()));
  return *reinterpret_cast<const std::uint32_t*>(pointer);
}

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> cache_policy_functions() {
  return {{"__esc_create_policy", address_of(&create_policy)},
          {"__esc_check_policy", address_of(&check_policy)},
          {"__esc_load_global", address_of(&load_global)}};
}

}  // namespace esc
