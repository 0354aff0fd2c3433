// SPDX-License-Identifier: Apache-2.0
// How the threads of a block wait together: barriers, warp operations, and what is said when they do not come.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "generator/emulate/block_runner.h"

namespace esc {

int BlockRunner::barrier(int predicate, BarrierReduction reduction) {
  ++judge_.counters().barriers;
  Thread& thread = threads_[current_];
  thread.site = judge_.site();
  thread.predicate = predicate;
  thread.state = State::at_barrier;
  reduction_ = reduction;
  if (++at_barrier_ < live_ || meets_cluster_) {
    wait(State::at_barrier);
    return barrier_result_;
  }
  complete_barrier();
  return barrier_result_;
}

/// The last thread to arrive waits, too, as other blocks of the cluster have their turns first. One of them then
/// completes the barrier.
void BlockRunner::cluster_barrier() {
  meets_cluster_ = true;
  barrier(1, BarrierReduction::all);
  if (std::exchange(completes_cluster_, false)) {
    threads_[current_].state = State::at_barrier;
    complete_barrier();
  }
}

/// Lets all go on; the running thread, where it was the last to arrive, without a switch.
void BlockRunner::complete_barrier() {
  const std::uint32_t threads = static_cast<std::uint32_t>(thread_indices_.size());
  std::uint32_t first = kNobody;
  int met = 0;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    if (threads_[thread].state != State::at_barrier) {
      continue;
    }
    if (first == kNobody) {
      first = thread;
    } else if (threads_[thread].site != threads_[first].site) {
      judge_.report(FaultKind::divergent_barrier, threads_[thread].site, "", [&] {
        return fmt::format("{}, but {}: a barrier must be reached by all threads of the block alike",
                           describe_wait(thread), describe_wait(first));
      });
      judge_.stop();
    }
    met += threads_[thread].predicate != 0 ? 1 : 0;
  }
  const int live = static_cast<int>(live_);
  if (live_ < threads && !judge_.options().returned_threads_may_miss_barriers) {
    judge_.report(FaultKind::divergent_barrier, threads_[first].site, "", [&] {
      return fmt::format("{}, but {} threads of the block have returned", describe_wait(first), threads - live_);
    });
    judge_.stop();
  }
  barrier_result_ = reduction_ == BarrierReduction::count ? met
                    : reduction_ == BarrierReduction::all ? met == live
                                                          : met > 0;
  at_barrier_ = 0;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    if (threads_[thread].state != State::at_barrier) {
      continue;
    }
    if (thread == current_) {
      threads_[thread].state = State::running;
    } else {
      make_ready(thread);
    }
  }
  if (!judge_.clock().begin_interval()) {
    judge_.report(FaultKind::limit, judge_.site(), "",
                  [] { return "more barriers in one launch than can be told apart"; });
    judge_.stop_launch();
  }
  if (std::exchange(meets_cluster_, false)) {
    cluster_.pass_barrier();
  }
}

void BlockRunner::named_barrier(NamedBarriers::Request request) {
  ++judge_.counters().barriers;
  named_barriers_.check(request);
  threads_[current_].site = judge_.site();
  const std::uint32_t warp = current_ / 32;
  if (gather(request.waits ? WarpOperationKind::named_barrier : WarpOperationKind::named_arrival, request.packed())) {
    named_barriers_.arrive(warp, gathered(), request.waits);
    wake_met();
  }
  if (request.waits && named_barriers_.holding(warp) != 0) {
    wait(State::at_named_barrier);
  }
}

/// Those of them that have not begun to wait find that they need not.
void BlockRunner::wake_met() {
  for (std::uint32_t warps = named_barriers_.take_met(); warps != 0; warps &= warps - 1) {
    const std::uint32_t first = 32 * static_cast<std::uint32_t>(std::countr_zero(warps));
    for (std::uint32_t thread = first; thread < first + 32; ++thread) {
      if (threads_[thread].state == State::at_named_barrier) {
        make_ready(thread);
      }
    }
  }
}

void BlockRunner::wait_for_phase(std::uint64_t barrier, std::uint32_t parity) {
  Thread& thread = threads_[current_];
  thread.site = judge_.site();
  thread.async_barrier = barrier;
  thread.parity = parity;
  while (!async_barriers_.passes(barrier, parity)) {
    async_barriers_.add_waiting(barrier, current_);
    wait(State::at_async_barrier);
    judge_.registers().site = thread.site;
  }
  wake_waiting();
}

void BlockRunner::wake_waiting() {
  for (const std::uint32_t thread : async_barriers_.take_woken()) {
    make_ready(thread);
  }
}

std::uint64_t BlockRunner::warp_operation(WarpOperationKind kind, std::uint32_t mask, std::uint64_t value,
                                          std::int32_t argument, std::uint32_t width) {
  ++judge_.counters().warp_operations;
  const std::uint32_t index = current_ / 32;
  const std::uint32_t lane = current_ % 32;
  const std::uint32_t site = judge_.site();
  Warp& warp = warps_[index];
  if ((mask >> lane & 1) == 0) {
    judge_.report(FaultKind::missing_lanes, site, "", [&] {
      return fmt::format("{} with mask {:#010x} is called by lane {}, which the mask does not name", to_string(kind),
                         mask, lane);
    });
    judge_.stop();
  }
  if (!std::has_single_bit(width) || width > 32) {
    judge_.report(FaultKind::missing_lanes, site, "",
                  [&] { return fmt::format("{} with width {}, not a power of two up to 32", to_string(kind), width); });
    judge_.stop();
  }
  auto operation = std::find_if(warp.pending.begin(), warp.pending.end(),
                                [&](const WarpOperation& other) { return other.mask == mask; });
  if (operation == warp.pending.end()) {
    operation = warp.pending.insert(operation, {kind, mask, site, 0});
  } else if (operation->kind != kind || operation->site != site) {
    judge_.report(FaultKind::missing_lanes, site, "", [&] {
      return fmt::format("lane {} is in {} with mask {:#010x}, but lanes {:#010x} of the mask wait in {} at {}", lane,
                         to_string(kind), mask, operation->arrived, to_string(operation->kind),
                         judge_.describe_site(operation->site));
    });
    judge_.stop();
  }
  warp.value[lane] = value;
  warp.argument[lane] = argument;
  warp.width[lane] = width;
  operation->arrived |= 1u << lane;
  if (!warp.is_complete(*operation)) {
    wait(State::in_warp_operation);
    return warp.result[lane];
  }
  complete_warp_operation(index, static_cast<std::size_t>(operation - warp.pending.begin()));
  if (needs_whole_warp(kind)) {
    warp.result[lane] = 1;
  }
  return warp.result[lane];
}

bool BlockRunner::gather(WarpOperationKind kind, std::uint64_t operands) {
  constexpr std::uint32_t kAllLanes = ~0u;
  warps_[current_ / 32].result[current_ % 32] = 0;
  return warp_operation(kind, kAllLanes, operands, 0, 32) != 0;
}

/// Gives every lane its result and lets all but the running one go on.
void BlockRunner::complete_warp_operation(std::uint32_t index, std::size_t operation_index) {
  Warp& warp = warps_[index];
  const WarpOperation operation = warp.pending[operation_index];
  warp.pending.erase(warp.pending.begin() + static_cast<std::ptrdiff_t>(operation_index));
  const bool may_miss = judge_.options().returned_threads_may_miss_barriers && !needs_whole_warp(operation.kind);
  if (operation.arrived != operation.mask && !may_miss) {
    judge_.report(FaultKind::missing_lanes, operation.site, "", [&] {
      return fmt::format("{} with mask {:#010x} names lanes {:#010x}, which have returned", to_string(operation.kind),
                         operation.mask, operation.mask & ~operation.arrived);
    });
    judge_.stop();
  }
  if (operation.kind == WarpOperationKind::vote) {
    std::uint64_t ballot = 0;
    for (std::uint32_t lanes = operation.arrived; lanes != 0; lanes &= lanes - 1) {
      const int lane = std::countr_zero(lanes);
      ballot |= warp.value[static_cast<std::size_t>(lane)] != 0 ? std::uint64_t{1} << lane : 0;
    }
    for (std::uint32_t lanes = operation.arrived; lanes != 0; lanes &= lanes - 1) {
      warp.result[static_cast<std::size_t>(std::countr_zero(lanes))] = ballot;
    }
  } else if (operation.kind != WarpOperationKind::sync && !needs_whole_warp(operation.kind)) {
    shuffle(warp, operation);
  }
  const bool orders = operation.kind == WarpOperationKind::sync ||
                      (judge_.options().shuffles_order_memory && !needs_whole_warp(operation.kind));
  if (orders && !judge_.clock().meet(index, operation.arrived)) {
    judge_.report(FaultKind::limit, operation.site, "",
                  [] { return "more warp operations between two barriers than can be told apart"; });
  }
  for (std::uint32_t lanes = operation.arrived; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t thread = index * 32 + static_cast<std::uint32_t>(std::countr_zero(lanes));
    if (threads_[thread].state == State::in_warp_operation) {
      make_ready(thread);
    }
  }
}

void BlockRunner::shuffle(Warp& warp, const WarpOperation& operation) {
  for (std::uint32_t lanes = operation.arrived; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
    const std::uint32_t source = shuffle_source(operation.kind, lane, warp.argument[lane], warp.width[lane]);
    if ((operation.arrived >> source & 1) == 0) {
      judge_.report(FaultKind::missing_lanes, operation.site, "", [&] {
        return fmt::format("{} with mask {:#010x}: lane {} reads lane {}, which {}", to_string(operation.kind),
                           operation.mask, lane, source,
                           (operation.mask >> source & 1) != 0 ? "has returned" : "the mask does not name");
      });
    }
    warp.result[lane] = warp.value[source];
  }
}

std::string BlockRunner::describe_wait(std::uint32_t thread) const {
  const Dim3& at = thread_indices_[thread];
  const std::string who = fmt::format("thread ({},{},{})", at.x, at.y, at.z);
  if (threads_[thread].state == State::at_barrier) {
    return fmt::format("{} waits at __syncthreads at {}", who, judge_.describe_site(threads_[thread].site));
  }
  if (threads_[thread].state == State::in_warp_operation) {
    for (const WarpOperation& operation : warps_[thread / 32].pending) {
      if ((operation.arrived >> thread % 32 & 1) != 0) {
        return fmt::format("{} waits in {} with mask {:#010x} at {}", who, to_string(operation.kind), operation.mask,
                           judge_.describe_site(operation.site));
      }
    }
  }
  if (threads_[thread].state == State::at_async_barrier) {
    return fmt::format("{} waits for {}, at {}", who,
                       async_barriers_.describe_wait(threads_[thread].async_barrier, threads_[thread].parity),
                       judge_.describe_site(threads_[thread].site));
  }
  if (threads_[thread].state == State::at_named_barrier) {
    return fmt::format("{} waits at {}, at {}", who, named_barriers_.describe_wait(thread / 32),
                       judge_.describe_site(threads_[thread].site));
  }
  return fmt::format("{} has returned", who);
}

/// Nobody can run and somebody is left: lanes wait in a warp operation for lanes that wait elsewhere, warps at a named
/// barrier for others, or threads for a phase that nothing completes. What a named barrier lacks is said first: who
/// else waits may wait for those who are held there.
void BlockRunner::report_deadlock() {
  const auto is_named = [](WarpOperationKind kind) {
    return kind == WarpOperationKind::named_barrier || kind == WarpOperationKind::named_arrival;
  };
  const auto is_any = [](WarpOperationKind) { return true; };
  if (!report_absent_lanes(is_named) && !report_absent_warps() && !report_endless_phase()) {
    report_absent_lanes(is_any);
  }
}

bool BlockRunner::report_absent_warps() {
  const auto count = static_cast<std::uint32_t>(thread_indices_.size());
  std::uint32_t first = 0;
  while (first < count && threads_[first].state != State::at_named_barrier) {
    ++first;
  }
  if (first == count) {
    return false;
  }
  std::uint32_t other = 0;
  while (other < count && (threads_[other].state == State::done ||
                           named_barriers_.holding(other / 32) == named_barriers_.holding(first / 32))) {
    ++other;
  }
  judge_.registers().thread_index = thread_indices_[first];
  judge_.report(FaultKind::deadlock, threads_[first].site, "", [&] {
    return fmt::format("{}, and nobody else comes: {}", describe_wait(first),
                       other == count ? "the others have returned" : describe_wait(other));
  });
  return true;
}

bool BlockRunner::report_endless_phase() {
  for (std::uint32_t thread = 0; thread < thread_indices_.size(); ++thread) {
    if (threads_[thread].state == State::at_async_barrier) {
      judge_.registers().thread_index = thread_indices_[thread];
      judge_.report(FaultKind::deadlock, threads_[thread].site, "", [&] {
        return fmt::format("{}; all threads of the block wait, and no copy under way completes it",
                           describe_wait(thread));
      });
      return true;
    }
  }
  return false;
}

bool BlockRunner::report_absent_lanes(bool (*concerns)(WarpOperationKind)) {
  for (std::uint32_t index = 0; index < warps_.size(); ++index) {
    for (const WarpOperation& operation : warps_[index].pending) {
      if (!concerns(operation.kind)) {
        continue;
      }
      const std::uint32_t absent = operation.mask & ~operation.arrived & ~warps_[index].gone;
      const std::uint32_t first = index * 32 + static_cast<std::uint32_t>(std::countr_zero(operation.arrived));
      const std::uint32_t other = index * 32 + static_cast<std::uint32_t>(std::countr_zero(absent));
      judge_.registers().thread_index = thread_indices_[first];
      judge_.report(FaultKind::missing_lanes, operation.site, "", [&] {
        return fmt::format("deadlock: {}, for lanes {:#010x} that do not come: {}", describe_wait(first), absent,
                           describe_wait(other));
      });
      return true;
    }
  }
  return false;
}

}  // namespace esc
