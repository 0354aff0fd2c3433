// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/cluster_hooks.h"

#include <array>
#include <cstddef>
#include <cstring>

#include "generator/emulate/active_machine.h"
#include "generator/emulate/function_address.h"
#include "generator/emulate/kernel_operands.h"

namespace esc {
namespace {

void meet() {
  require_kernel("barrier.cluster");
  active_machine().runner().cluster_barrier();
}

std::uint32_t map(std::uint32_t address, std::uint32_t rank) {
  require_kernel("mapa");
  shared_pointer(address, "mapa");
  return active_machine().runner().cluster().map(address, rank);
}

void store(std::uint32_t mapped, std::uint32_t first, std::uint32_t second, std::uint32_t third, std::uint32_t fourth) {
  require_kernel("st.shared::cluster");
  const std::array words{first, second, third, fourth};
  std::vector<std::byte> bytes(sizeof(words));
  std::memcpy(bytes.data(), words.data(), sizeof(words));
  active_machine().runner().cluster().store(mapped, std::move(bytes));
}

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> cluster_functions() {
  return {{"__esc_cluster_meet", address_of(&meet)},
          {"__esc_cluster_map", address_of(&map)},
          {"__esc_cluster_store", address_of(&store)}};
}

}  // namespace esc
