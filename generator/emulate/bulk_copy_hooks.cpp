// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/bulk_copy_hooks.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "generator/emulate/active_machine.h"
#include "generator/emulate/function_address.h"
#include "generator/emulate/kernel_operands.h"
#include "generator/emulate/tensor_map.h"

namespace esc {
namespace {

constexpr const char* kBarrier = "mbarrier";
constexpr const char* kBulkCopy = "cp.async.bulk";
constexpr std::uint64_t kPieceBytes = 16;

std::uint64_t note_of(std::uint64_t bytes, std::uint64_t alignment) {
  return AccessNote::pack(bytes, static_cast<unsigned>(std::countr_zero(alignment)), active_machine().site());
}

void initialise(std::uint32_t barrier, std::uint32_t count) {
  require_kernel(kBarrier);
  active_machine().runner().async_barriers().initialise(shared_pointer(barrier, kBarrier), count);
}

void fence() {
  require_kernel("a fence of asynchronous barriers");
  active_machine().runner().async_barriers().fence();
}

/// A fence of barriers, too; and what the thread has written is told apart from what it writes next, where threads are
/// followed.
void fence_proxy() {
  fence();
  RaceClock& clock = active_machine().clock();
  if (clock.threads().follows() && !clock.fence_proxy()) {
    active_machine().refuse(FaultKind::limit, "",
                            [] { return std::string("more fences between two barriers than can be told apart"); });
  }
}

void arrive(std::uint32_t barrier) {
  require_kernel(kBarrier);
  BlockRunner& runner = active_machine().runner();
  runner.async_barriers().arrive(shared_pointer(barrier, kBarrier));
  runner.wake_waiting();
}

void arrive_expecting(std::uint32_t barrier, std::uint32_t bytes) {
  require_kernel(kBarrier);
  BlockRunner& runner = active_machine().runner();
  runner.async_barriers().arrive_expecting(shared_pointer(barrier, kBarrier), bytes);
  runner.wake_waiting();
}

void wait(std::uint32_t barrier, std::uint32_t parity) {
  require_kernel(kBarrier);
  active_machine().runner().wait_for_phase(shared_pointer(barrier, kBarrier), parity);
}

/// The memory that a copy is going to fill, which the running thread may overwrite now.
std::uint64_t occupy(std::uint32_t address, std::uint64_t bytes, std::uint64_t alignment) {
  Machine& machine = active_machine();
  const std::uint64_t target = shared_pointer(address, kBulkCopy);
  machine.occupy(target, bytes, note_of(bytes, alignment), Occupant::bulk_copy);
  return target;
}

void copy(std::uint32_t target_address, std::uint64_t source, std::uint32_t bytes, std::uint32_t barrier_address) {
  require_kernel(kBulkCopy);
  Machine& machine = active_machine();
  if (bytes == 0 || bytes % kPieceBytes != 0) {
    active_machine().refuse(FaultKind::bad_copy, "", [&] {
      return fmt::format("bulk copy of {} bytes, not a multiple of {}", bytes, kPieceBytes);
    });
  }
  AsyncBarriers& barriers = machine.runner().async_barriers();
  const std::uint64_t barrier = shared_pointer(barrier_address, kBulkCopy);
  barriers.check_copy(barrier, bytes);
  machine.check_bulk_source(source, bytes, note_of(bytes, kPieceBytes));
  const std::uint64_t target = occupy(target_address, bytes, kPieceBytes);
  const auto* first = reinterpret_cast<const std::byte*>(source);
  barriers.add_copy(barrier, target, std::vector<std::byte>(first, first + bytes));
  machine.runner().wake_waiting();
}

/// The map that the running thread has as a parameter at `address`.
TensorMap tensor_map_at(std::uint64_t address) {
  if (!active_machine().runner().is_grid_constant(address)) {
    active_machine().refuse(FaultKind::bad_operand, "", [] {
      return std::string("tensor copy with a map that is no const __grid_constant__ parameter of the kernel");
    });
  }
  EncodedTensorMap encoded;
  std::memcpy(encoded.data(), reinterpret_cast<const void*>(address), sizeof(encoded));
  const std::optional<TensorMap> map = decode_tensor_map(encoded);
  if (!map) {
    active_machine().refuse(FaultKind::bad_operand, "", [] {
      return std::string("tensor copy with a map that cuTensorMapEncodeTiled has not made");
    });
  }
  return *map;
}

void copy_tensor(std::uint32_t target_address, std::uint64_t map_address, std::uint32_t x, std::uint32_t y,
                 std::uint32_t barrier_address) {
  require_kernel(kBulkCopy);
  Machine& machine = active_machine();
  const TensorMap map = tensor_map_at(map_address);
  AsyncBarriers& barriers = machine.runner().async_barriers();
  const std::uint64_t barrier = shared_pointer(barrier_address, kBulkCopy);
  barriers.check_copy(barrier, map.box_bytes());
  const auto column = static_cast<std::int32_t>(x);
  const auto line = static_cast<std::int32_t>(y);
  if (!map.may_begin_at(column)) {
    active_machine().refuse(FaultKind::misaligned, "", [&] {
      return fmt::format("tensor copy from column {}, which is no multiple of {} elements of 16 bits", column,
                         kPieceBytes / map.element_bytes);
    });
  }
  for (std::uint32_t row = 0; row < map.box_rows; ++row) {
    const TensorMap::Span span = map.inside(column, line, row);
    if (span.count != 0) {
      const std::uint64_t bytes = map.element_bytes * span.count;
      machine.check_bulk_source(span.address, bytes, note_of(bytes, map.element_bytes));
    }
  }
  const std::uint64_t target = occupy(target_address, map.box_bytes(), map.box_alignment());
  barriers.add_copy(barrier, target, map.read(column, line));
  machine.runner().wake_waiting();
}

void grid_constant(std::uint64_t address) {
  require_kernel("__grid_constant__");
  active_machine().runner().add_grid_constant(address);
}

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> bulk_copy_functions() {
  return {{hook_names::kInitialiseBarrier, address_of(&initialise)},
          {hook_names::kGridConstant, address_of(&grid_constant)},
          {"__esc_barrier_arrive", address_of(&arrive)},
          {"__esc_barrier_arrive_expecting", address_of(&arrive_expecting)},
          {"__esc_barrier_wait", address_of(&wait)},
          {"__esc_fence_copies", address_of(&fence)},
          {"__esc_fence_proxy", address_of(&fence_proxy)},
          {"__esc_copy_bulk", address_of(&copy)},
          {"__esc_copy_tensor", address_of(&copy_tensor)}};
}

}  // namespace esc
