// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/hooks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <unordered_map>

#include "generator/emulate/active_machine.h"
#include "generator/emulate/bulk_copy_hooks.h"
#include "generator/emulate/cache_policy_hooks.h"
#include "generator/emulate/cluster_hooks.h"
#include "generator/emulate/cuda_api.h"
#include "generator/emulate/driver_api.h"
#include "generator/emulate/function_address.h"
#include "generator/emulate/instrument.h"
#include "generator/emulate/kernel_operands.h"
#include "generator/emulate/matrix_hooks.h"
#include "generator/emulate/warpgroup_hooks.h"

namespace esc {
namespace {

// Hooks of instrumented code.

template <std::uint64_t bytes>
void read_hook(std::uint64_t address, std::uint64_t note) {
  active_machine().check<Use::read>(address, bytes, note);
}

template <std::uint64_t bytes>
void write_hook(std::uint64_t address, std::uint64_t note) {
  active_machine().check<Use::write>(address, bytes, note);
}

template <Use use>
void range_hook(std::uint64_t address, std::uint64_t bytes, std::uint64_t note) {
  if (bytes != 0) {
    active_machine().check<use>(address, bytes, note);
  }
}

const char* describe_stop(std::uint32_t reason) {
  switch (static_cast<StopReason>(reason)) {
    case StopReason::trap:
      return "reaches a trap";
    case StopReason::unreachable:
      return "reaches code that must not be reached, such as the end of a function that returns a value";
    case StopReason::division:
      return "divides an integer by zero, or its lowest value by -1";
    case StopReason::shift:
      return "shifts a number by as many bits as it has, or more";
    case StopReason::local_array:
      return "indexes a local array outside its bounds";
    case StopReason::call_target:
      return "calls through a pointer what is no function of the text of that type";
  }
  return "stops";
}

void stop_hook(std::uint32_t reason, std::uint32_t site) {
  active_machine().report(FaultKind::stopped, site, std::to_string(reason),
                          [&] { return std::string(describe_stop(reason)); });
  active_machine().stop();
}

void out_of_fuel_hook(std::uint32_t site) {
  const std::int64_t limit = active_machine().in_kernel() ? active_machine().options().steps_per_thread
                                                          : active_machine().options().host_steps;
  active_machine().report(FaultKind::step_limit, site, "",
                          [&] { return fmt::format("has gone round loops {} times", limit); });
  active_machine().stop_launch();
}

void stack_overflow_hook(std::uint32_t site) {
  active_machine().report(FaultKind::stack_overflow, site, "", [] {
    return std::string("needs more stack than a thread has: local arrays too large, or recursion");
  });
  active_machine().stop();
}

// Device functions of the stand-in headers.

int barrier(int predicate, std::int32_t reduction) {
  require_kernel("__syncthreads");
  return active_machine().runner().barrier(predicate, static_cast<BarrierReduction>(reduction));
}

void named_barrier(std::uint32_t number, std::uint32_t threads, int waits) {
  require_kernel(waits != 0 ? "bar.sync" : "bar.arrive");
  active_machine().runner().named_barrier({number, threads, waits != 0});
}

void sync_warp(std::uint32_t mask) {
  require_kernel("__syncwarp");
  active_machine().runner().warp_operation(WarpOperationKind::sync, mask, 0, 0, 32);
}

std::uint64_t shuffle(std::uint32_t mask, std::uint64_t value, std::int32_t lane, std::int32_t width,
                      std::int32_t kind) {
  constexpr auto kFirst = static_cast<std::int32_t>(WarpOperationKind::shuffle_index);
  require_kernel("a shuffle");
  return active_machine().runner().warp_operation(static_cast<WarpOperationKind>(kFirst + kind), mask, value, lane,
                                                  static_cast<std::uint32_t>(width));
}

std::uint32_t vote(std::uint32_t mask, int predicate) {
  require_kernel("a vote");
  return static_cast<std::uint32_t>(
      active_machine().runner().warp_operation(WarpOperationKind::vote, mask, predicate != 0 ? 1 : 0, 0, 32));
}

std::uint32_t active_mask() {
  require_kernel("__activemask");
  return active_machine().runner().active_lanes();
}

void fence() { require_kernel("__threadfence"); }
void wait_for_predecessor() {
  require_kernel("cudaGridDependencySynchronize");
  active_machine().runner().wait_for_predecessor();
}

void device_only() { require_kernel("a function of programmatic launches"); }

void copy_async(std::uint64_t shared, std::uint64_t global, std::uint64_t bytes, std::uint64_t zero_fill) {
  require_kernel("__pipeline_memcpy_async");
  active_machine().begin_copy(shared, global, bytes, zero_fill);
  active_machine().runner().copies().issue({shared, global, bytes, zero_fill});
}

/// cp.async of 16 bytes, of which so many are read and the others are zero.
void copy_async_piece(std::uint32_t shared, std::uint64_t global, std::uint32_t bytes) {
  constexpr std::uint32_t kBytes = 16;
  require_kernel("cp.async");
  Machine& machine = active_machine();
  if (bytes > kBytes) {
    machine.report(FaultKind::bad_operand, machine.site(), "", [&] {
      return fmt::format("cp.async of {} of {} bytes: PTX does not promise what happens", bytes, kBytes);
    });
    machine.stop();
  }
  copy_async(shared_pointer(shared, "cp.async"), global, kBytes, kBytes - bytes);
}

void copy_commit() {
  require_kernel("__pipeline_commit");
  active_machine().runner().copies().commit();
}

void copy_wait(std::uint64_t groups_left) {
  require_kernel("__pipeline_wait_prior");
  active_machine().runner().copies().wait(groups_left, [](const AsyncCopy& copy) { active_machine().end_copy(copy); });
}

// Atomics. One thread runs at a time, so plain arithmetic is atomic.

/// By the numbers that the stand-in headers have for the operations.
Writing writing_of(std::int32_t operation) {
  constexpr std::array<Writing, 7> all = {Writing::adding,     Writing::minimum,     Writing::maximum,
                                          Writing::exchanging, Writing::bitwise_and, Writing::bitwise_or,
                                          Writing::bitwise_xor};
  return operation >= 0 && operation < 7 ? all[static_cast<std::size_t>(operation)] : Writing::exchanging;
}

template <class T>
T atomic_operation(T* address, T value, std::int32_t operation) {
  active_machine().check_atomic(reinterpret_cast<std::uint64_t>(address), sizeof(T), writing_of(operation));
  using Bits = std::make_unsigned_t<T>;
  const T old = *address;
  switch (operation) {
    case 0:
      *address = static_cast<T>(static_cast<Bits>(old) + static_cast<Bits>(value));
      break;
    case 1:
      *address = std::min(old, value);
      break;
    case 2:
      *address = std::max(old, value);
      break;
    case 3:
      *address = value;
      break;
    case 4:
      *address = old & value;
      break;
    case 5:
      *address = old | value;
      break;
    default:
      *address = old ^ value;
      break;
  }
  return old;
}

/// Zero with the number's sign, where it is too small to be normal.
float without_subnormal(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

/// Of float32, operands and sums in global memory that are not normal are zero: PTX ISA, atom. In shared memory, and of
/// float64, they are kept.
template <class T>
T atomic_add_float(T* address, T value) {
  Machine& machine = active_machine();
  machine.check_atomic(reinterpret_cast<std::uint64_t>(address), sizeof(T), Writing::adding);
  const T old = *address;
  if constexpr (std::is_same_v<T, float>) {
    if (!machine.program().is_shared(reinterpret_cast<std::uint64_t>(address))) {
      *address = without_subnormal(without_subnormal(old) + without_subnormal(value));
      return old;
    }
  }
  *address = old + value;
  return old;
}

template <class T>
T compare_swap(T* address, T expected, T value) {
  active_machine().check_atomic(reinterpret_cast<std::uint64_t>(address), sizeof(T), Writing::swapping);
  const T old = *address;
  if (old == expected) {
    *address = value;
  }
  return old;
}

using Table = std::unordered_map<std::string, std::uint64_t>;

Table make_hooks() {
  Table table = {
      {"__esc_read1", address_of(&read_hook<1>)},
      {"__esc_read2", address_of(&read_hook<2>)},
      {"__esc_read4", address_of(&read_hook<4>)},
      {"__esc_read8", address_of(&read_hook<8>)},
      {"__esc_read16", address_of(&read_hook<16>)},
      {"__esc_write1", address_of(&write_hook<1>)},
      {"__esc_write2", address_of(&write_hook<2>)},
      {"__esc_write4", address_of(&write_hook<4>)},
      {"__esc_write8", address_of(&write_hook<8>)},
      {"__esc_write16", address_of(&write_hook<16>)},
      {hook_names::kReadRange, address_of(&range_hook<Use::read>)},
      {hook_names::kWriteRange, address_of(&range_hook<Use::write>)},
      {hook_names::kAtomic, address_of(&range_hook<Use::atomic>)},
      {hook_names::kStop, address_of(&stop_hook)},
      {hook_names::kOutOfFuel, address_of(&out_of_fuel_hook)},
      {hook_names::kStackOverflow, address_of(&stack_overflow_hook)},
      {"__esc_barrier", address_of(&barrier)},
      {hook_names::kNamedBarrier, address_of(&named_barrier)},
      {"__esc_sync_warp", address_of(&sync_warp)},
      {"__esc_shuffle", address_of(&shuffle)},
      {"__esc_vote", address_of(&vote)},
      {"__esc_active_mask", address_of(&active_mask)},
      {"__esc_fence", address_of(&fence)},
      {"__esc_wait_for_predecessor", address_of(&wait_for_predecessor)},
      {"__esc_device_only", address_of(&device_only)},
      {"__esc_copy_async", address_of(&copy_async)},
      {"__esc_copy_async_piece", address_of(&copy_async_piece)},
      {"__esc_copy_commit", address_of(&copy_commit)},
      {"__esc_copy_wait", address_of(&copy_wait)},
      {"__esc_atomic_i32", address_of(&atomic_operation<std::int32_t>)},
      {"__esc_atomic_u32", address_of(&atomic_operation<std::uint32_t>)},
      {"__esc_atomic_i64", address_of(&atomic_operation<std::int64_t>)},
      {"__esc_atomic_u64", address_of(&atomic_operation<std::uint64_t>)},
      {"__esc_atomic_add_f32", address_of(&atomic_add_float<float>)},
      {"__esc_atomic_add_f64", address_of(&atomic_add_float<double>)},
      {"__esc_compare_swap_u32", address_of(&compare_swap<std::uint32_t>)},
      {"__esc_compare_swap_u64", address_of(&compare_swap<std::uint64_t>)},
  };
  for (const auto& functions : {cuda_api_functions(), driver_api_functions(), matrix_functions(), bulk_copy_functions(),
                                cache_policy_functions(), cluster_functions(), warpgroup_functions()}) {
    table.insert(functions.begin(), functions.end());
  }
  return table;
}

}  // namespace

std::uint64_t resolve_hook(const std::string& name) {
  static const Table kTable = make_hooks();
  const auto found = kTable.find(name);
  return found == kTable.end() ? 0 : found->second;
}

}  // namespace esc
