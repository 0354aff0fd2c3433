// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/warpgroup_hooks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "generator/emulate/active_machine.h"
#include "generator/emulate/function_address.h"
#include "generator/emulate/kernel_operands.h"

namespace esc {
namespace {

constexpr const char* kProduct = "wgmma.mma_async";

/// Judges the running lane's share of the reads of B: of its pieces of 16 bytes every 32nd.
void check_reads(const MatrixDescriptor& matrix, std::uint32_t columns) {
  constexpr std::uint64_t kBytes = MatrixDescriptor::piece_bytes;
  Machine& machine = active_machine();
  const auto lane = machine.runner().current_lane();
  const std::uint64_t note = AccessNote::pack(kBytes, static_cast<unsigned>(std::countr_zero(kBytes)), machine.site());
  for (std::uint32_t piece = lane; piece < MatrixDescriptor::pieces(columns); piece += kLanes) {
    machine.check_proxy_read(shared_pointer(matrix.piece(piece), kProduct), kBytes, note);
  }
}

/// Gathers all lanes at a statement that has this number. One with another number is another statement, though the
/// compiler may have made one of both.
bool gather_with(WarpOperationKind kind, std::uint32_t number) {
  BlockRunner& runner = active_machine().runner();
  if (!runner.gather(kind, number)) {
    return false;
  }
  const auto& numbers = runner.gathered();
  const auto other = std::ranges::find_if(numbers, [number](std::uint64_t found) { return found != number; });
  if (other != numbers.end()) {
    active_machine().refuse(FaultKind::missing_lanes, "", [&] {
      return fmt::format("{} with {} in lane {}, but {} in lane {}", to_string(kind), number, runner.current_lane(),
                         *other, other - numbers.begin());
    });
  }
  return true;
}

void fence() {
  require_kernel("wgmma.fence");
  BlockRunner& runner = active_machine().runner();
  if (runner.gather(WarpOperationKind::fence_products, 0)) {
    runner.products().fence(runner.current_warp());
  }
}

void commit() {
  require_kernel("wgmma.commit_group");
  BlockRunner& runner = active_machine().runner();
  if (runner.gather(WarpOperationKind::commit_products, 0)) {
    runner.products().commit(runner.current_warp());
  }
}

/// Registers are variables of the thread: what lies elsewhere would be stored there long before the product is.
void check_registers(const WarpgroupOperands& operands) {
  const bool are_local = std::ranges::all_of(operands.registers, [](const float* place) {
    return active_machine().is_on_stack(reinterpret_cast<std::uint64_t>(place), sizeof(float));
  });
  if (!are_local) {
    active_machine().refuse(FaultKind::bad_operand, "", [] {
      return fmt::format("{} with a D that is not of variables of the thread's own", kProduct);
    });
  }
}

/// What lies elsewhere than in a variable of the thread is in a register by now, which nobody else knows.
const std::uint32_t* variable_at(const std::uint32_t* place) {
  const bool is_variable = active_machine().is_on_stack(reinterpret_cast<std::uint64_t>(place), sizeof(*place));
  return is_variable ? place : nullptr;
}

void issue(float* const* registers, const float* values, std::uint32_t sums, const std::uint32_t* a,
           const std::uint32_t* const* places_of_a, std::uint64_t descriptor, std::uint32_t adds,
           std::uint32_t product) {
  require_kernel(kProduct);
  BlockRunner& runner = active_machine().runner();
  WarpgroupOperands mine{.registers = {registers, registers + sums},
                         .values = {values, values + sums},
                         .product = MatrixProduct::of(product),
                         .descriptor = descriptor,
                         .adds = adds != 0};
  std::copy_n(a, mine.a.size(), mine.a.begin());
  std::transform(places_of_a, places_of_a + mine.a.size(), mine.places_of_a.begin(), variable_at);
  check_registers(mine);
  const std::optional<MatrixDescriptor> matrix = mine.matrix();
  if (!matrix) {
    active_machine().refuse(FaultKind::bad_operand, "", [&] {
      return fmt::format(
          "{} with the descriptor {:#x}, which asks for a base offset or a swizzle but those of 64 and 128 bytes, has "
          "bits that mean nothing, or lines that do not begin at a multiple of eight of them or are read beyond their "
          "end",
          kProduct, descriptor);
    });
  }
  // B may be read from now on, and is at last where the warp waits: what others write to it must be ordered with both.
  check_reads(*matrix, mine.columns());
  if (!runner.gather(WarpOperationKind::issue_product, reinterpret_cast<std::uint64_t>(&mine))) {
    return;
  }
  std::array<WarpgroupOperands*, kLanes> lanes{};
  std::ranges::transform(runner.gathered(), lanes.begin(),
                         [](std::uint64_t value) { return reinterpret_cast<WarpgroupOperands*>(value); });
  runner.products().issue(runner.current_warp(), lanes);
}

/// For all groups of products but the last `pending`.
void wait(std::uint32_t pending) {
  require_kernel("wgmma.wait_group");
  BlockRunner& runner = active_machine().runner();
  for (std::size_t product = 0; product < runner.products().ended(runner.current_warp(), pending); ++product) {
    const WarpgroupProducts::Place place = runner.products().place(runner.current_warp(), product);
    check_reads(place.matrix, place.columns);
  }
  if (gather_with(WarpOperationKind::wait_for_products, pending)) {
    runner.products().wait(runner.current_warp(), pending);
  }
}

void exchange_registers(std::uint32_t registers, std::uint32_t takes) {
  require_kernel("setmaxnreg");
  BlockRunner& runner = active_machine().runner();
  if (gather_with(WarpOperationKind::exchange_registers, registers)) {
    runner.registers().exchange(runner.current_warp(), registers, takes != 0);
  }
}

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> warpgroup_functions() {
  return {{hook_names::kIssueProduct, address_of(&issue)},
          {"__esc_fence_products", address_of(&fence)},
          {"__esc_commit_products", address_of(&commit)},
          {"__esc_wait_for_products", address_of(&wait)},
          {"__esc_exchange_registers", address_of(&exchange_registers)}};
}

}  // namespace esc
