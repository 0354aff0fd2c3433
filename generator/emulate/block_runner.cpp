#include "generator/emulate/block_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <numeric>
#include <utility>

#include "generator/emulate/machine.h"

namespace esc {
namespace {

constexpr std::size_t kMaxThreads = 1024;

}  // namespace

BlockRunner::BlockRunner(Machine& machine) : machine_(machine) {}

void BlockRunner::begin_launch(const Launch& launch) {
  if (!fibres_) {
    fibres_.emplace(kMaxThreads, kThreadStackBytes);
    threads_.resize(kMaxThreads);
    for (std::uint32_t fibre = kMaxThreads; fibre-- > 0;) {
      idle_fibres_.push_back(fibre);
    }
  }
  launch_ = &launch;
  const auto count = static_cast<std::uint32_t>(launch.block.volume());
  thread_indices_.resize(count);
  for (std::uint32_t thread = 0; thread < count; ++thread) {
    thread_indices_[thread] = launch.block.at(thread);
  }
  warps_.assign((count + 31) / 32, Warp());
  start_order_.resize(count);
  std::iota(start_order_.begin(), start_order_.end(), 0u);
  if (machine_.options().shuffle_seed) {
    random_.seed(*machine_.options().shuffle_seed);
  }
}

void BlockRunner::begin_block(std::uint64_t linear_block) {
  Registers& registers = machine_.program().registers();
  registers.block_index = launch_->grid.at(linear_block);
  live_ = static_cast<std::uint32_t>(thread_indices_.size());
  at_barrier_ = 0;
  abandoned_ = false;
  ready_.clear();
  first_ready_ = 0;
  next_start_ = 0;
  for (std::uint32_t thread = 0; thread < live_; ++thread) {
    threads_[thread].state = State::unstarted;
    threads_[thread].fibre = kNobody;
    threads_[thread].copies.clear();
  }
  for (Warp& warp : warps_) {
    warp.gone = 0;
    warp.pending.clear();
  }
  if (live_ % 32 != 0) {
    warps_.back().gone = ~0u << live_ % 32;
  }
  if (machine_.options().shuffle_seed) {
    for (std::size_t left = start_order_.size(); left > 1; --left) {
      std::swap(start_order_[left - 1], start_order_[random_() % left]);
    }
  }
}

bool BlockRunner::run(std::uint64_t linear_block) {
  begin_block(linear_block);
  if (!machine_.clock().begin_block(linear_block)) {
    machine_.report(FaultKind::limit, 0, "", [] { return "more blocks and barriers in one launch than can be told apart"; });
    return false;
  }
  ++machine_.counters().blocks;
  machine_.counters().threads += live_;
  const std::uint32_t first = pick();
  activate(first);
  Context::switch_to(scheduler_, context_of(first));
  if (!abandoned_ && live_ != 0) {
    report_deadlock();
    abandoned_ = true;
  }
  if (abandoned_) {
    release_fibres();
  }
  return !abandoned_;
}

/// The life of a fibre: it runs threads from their beginning, one after the other.
void BlockRunner::run_fibre(std::uint32_t fibre) {
  for (;;) {
    threads_[current_].fibre = fibre;
    launch_->enter(reinterpret_cast<const void*>(launch_->kernel->address), launch_->arguments);
    finish_thread();
    threads_[current_].fibre = kNobody;
    const std::uint32_t next = pick();
    if (next != kNobody && threads_[next].state == State::unstarted) {
      threads_[next].fibre = fibre;
      activate(next);
      continue;
    }
    idle_fibres_.push_back(fibre);
    if (next == kNobody) {
      Context::switch_to((*fibres_)[fibre], scheduler_);
    } else {
      activate(next);
      Context::switch_to((*fibres_)[fibre], context_of(next));
    }
  }
}

/// The thread to run next, taken from the lists; kNobody when all wait or are done. Waiting ones go first, so that a
/// warp gets through before the next one starts.
std::uint32_t BlockRunner::pick() {
  const std::size_t ready = ready_.size() - first_ready_;
  const std::size_t unstarted = start_order_.size() - next_start_;
  if (ready + unstarted == 0) {
    return kNobody;
  }
  bool from_ready = ready > 0;
  if (machine_.options().shuffle_seed) {
    const std::size_t choice = random_() % (ready + unstarted);
    from_ready = choice < ready;
    if (from_ready) {
      std::swap(ready_[first_ready_], ready_[first_ready_ + choice]);
    }
  }
  if (!from_ready) {
    return start_order_[next_start_++];
  }
  const std::uint32_t thread = ready_[first_ready_++];
  if (first_ready_ == ready_.size()) {
    ready_.clear();
    first_ready_ = 0;
  }
  return thread;
}

/// Gives `thread` a stack where it has none, and makes the registers, the clock and the stack limits its own.
void BlockRunner::activate(std::uint32_t thread) {
  Thread& state = threads_[thread];
  Registers& registers = machine_.program().registers();
  current_ = thread;
  registers.thread_index = thread_indices_[thread];
  machine_.clock().enter_thread(thread);
  if (state.state == State::unstarted) {
    registers.fuel = machine_.options().steps_per_thread;
    if (state.fibre == kNobody) {
      state.fibre = idle_fibres_.back();
      idle_fibres_.pop_back();
      if (!fibres_->is_started(state.fibre)) {
        fibres_->start(
            state.fibre,
            [](void* argument) {
              auto& runner = *static_cast<BlockRunner*>(argument);
              runner.run_fibre(runner.threads_[runner.current_].fibre);
            },
            this);
      }
    }
  } else {
    registers.fuel = state.fuel;
  }
  state.state = State::running;
  machine_.enter_stack((*fibres_)[state.fibre]);
}

Context& BlockRunner::context_of(std::uint32_t thread) { return (*fibres_)[threads_[thread].fibre]; }

void BlockRunner::wait(State state) {
  const std::uint32_t thread = current_;
  threads_[thread].state = state;
  threads_[thread].fuel = machine_.program().registers().fuel;
  const std::uint32_t next = pick();
  Context& mine = context_of(thread);
  if (next == kNobody) {
    Context::switch_to(mine, scheduler_);
    return;
  }
  activate(next);
  Context::switch_to(mine, context_of(next));
}

void BlockRunner::make_ready(std::uint32_t thread) {
  threads_[thread].state = State::ready;
  ready_.push_back(thread);
}

void BlockRunner::finish_thread() {
  threads_[current_].state = State::done;
  --live_;
  const std::uint32_t index = current_ / 32;
  Warp& warp = warps_[index];
  warp.gone |= 1u << current_ % 32;
  for (std::size_t operation = warp.pending.size(); operation-- > 0;) {
    if (warp.is_complete(warp.pending[operation])) {
      complete_warp_operation(index, operation);
    }
  }
  if (live_ != 0 && at_barrier_ == live_) {
    complete_barrier();
  }
}

int BlockRunner::barrier(int predicate, BarrierReduction reduction) {
  ++machine_.counters().barriers;
  Thread& thread = threads_[current_];
  thread.site = machine_.site();
  thread.predicate = predicate;
  thread.state = State::at_barrier;
  reduction_ = reduction;
  if (++at_barrier_ < live_) {
    wait(State::at_barrier);
    return barrier_result_;
  }
  complete_barrier();
  return barrier_result_;
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
      machine_.report(FaultKind::divergent_barrier, threads_[thread].site, "", [&] {
        return fmt::format("{}, but {}: a barrier must be reached by all threads of the block alike",
                           describe_wait(thread), describe_wait(first));
      });
      machine_.stop();
    }
    met += threads_[thread].predicate != 0 ? 1 : 0;
  }
  const int live = static_cast<int>(live_);
  if (live_ < threads && !machine_.options().returned_threads_may_miss_barriers) {
    machine_.report(FaultKind::divergent_barrier, threads_[first].site, "", [&] {
      return fmt::format("{}, but {} threads of the block have returned", describe_wait(first), threads - live_);
    });
    machine_.stop();
  }
  barrier_result_ = reduction_ == BarrierReduction::count ? met : reduction_ == BarrierReduction::all ? met == live : met > 0;
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
  if (!machine_.clock().begin_interval()) {
    machine_.report(FaultKind::limit, machine_.site(), "", [] { return "more barriers in one launch than can be told apart"; });
    machine_.stop_launch();
  }
}

std::uint64_t BlockRunner::warp_operation(WarpOperationKind kind, std::uint32_t mask, std::uint64_t value,
                                          std::int32_t argument, std::uint32_t width) {
  ++machine_.counters().warp_operations;
  const std::uint32_t index = current_ / 32;
  const std::uint32_t lane = current_ % 32;
  const std::uint32_t site = machine_.site();
  Warp& warp = warps_[index];
  if ((mask >> lane & 1) == 0) {
    machine_.report(FaultKind::missing_lanes, site, "", [&] {
      return fmt::format("{} with mask {:#010x} is called by lane {}, which the mask does not name", to_string(kind), mask,
                         lane);
    });
    machine_.stop();
  }
  if (!std::has_single_bit(width) || width > 32) {
    machine_.report(FaultKind::missing_lanes, site, "",
                    [&] { return fmt::format("{} with width {}, not a power of two up to 32", to_string(kind), width); });
    machine_.stop();
  }
  auto operation = std::find_if(warp.pending.begin(), warp.pending.end(),
                                [&](const WarpOperation& other) { return other.mask == mask; });
  if (operation == warp.pending.end()) {
    operation = warp.pending.insert(operation, {kind, mask, site, 0});
  } else if (operation->kind != kind || operation->site != site) {
    machine_.report(FaultKind::missing_lanes, site, "", [&] {
      return fmt::format("lane {} is in {} with mask {:#010x}, but lanes {:#010x} of the mask wait in {} at {}", lane,
                         to_string(kind), mask, operation->arrived, to_string(operation->kind),
                         machine_.describe_site(operation->site));
    });
    machine_.stop();
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
  return warp.result[lane];
}

/// Gives every lane its result and lets all but the running one go on.
void BlockRunner::complete_warp_operation(std::uint32_t index, std::size_t operation_index) {
  Warp& warp = warps_[index];
  const WarpOperation operation = warp.pending[operation_index];
  warp.pending.erase(warp.pending.begin() + static_cast<std::ptrdiff_t>(operation_index));
  if (operation.arrived != operation.mask && !machine_.options().returned_threads_may_miss_barriers) {
    machine_.report(FaultKind::missing_lanes, operation.site, "", [&] {
      return fmt::format("{} with mask {:#010x} names lanes {:#010x}, which have returned", to_string(operation.kind),
                         operation.mask, operation.mask & ~operation.arrived);
    });
    machine_.stop();
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
  } else if (operation.kind != WarpOperationKind::sync) {
    shuffle(warp, operation);
  }
  const bool orders = operation.kind == WarpOperationKind::sync || machine_.options().shuffles_order_memory;
  if (orders && !machine_.clock().meet(index, operation.arrived)) {
    machine_.report(FaultKind::limit, operation.site, "",
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
      machine_.report(FaultKind::missing_lanes, operation.site, "", [&] {
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
    return fmt::format("{} waits at __syncthreads at {}", who, machine_.describe_site(threads_[thread].site));
  }
  if (threads_[thread].state == State::in_warp_operation) {
    for (const WarpOperation& operation : warps_[thread / 32].pending) {
      if ((operation.arrived >> thread % 32 & 1) != 0) {
        return fmt::format("{} waits in {} with mask {:#010x} at {}", who, to_string(operation.kind), operation.mask,
                           machine_.describe_site(operation.site));
      }
    }
  }
  return fmt::format("{} has returned", who);
}

/// Nobody can run and somebody is left: some lanes wait in a warp operation for lanes that wait elsewhere.
void BlockRunner::report_deadlock() {
  for (std::uint32_t index = 0; index < warps_.size(); ++index) {
    for (const WarpOperation& operation : warps_[index].pending) {
      const std::uint32_t absent = operation.mask & ~operation.arrived & ~warps_[index].gone;
      const std::uint32_t first = index * 32 + static_cast<std::uint32_t>(std::countr_zero(operation.arrived));
      const std::uint32_t other = index * 32 + static_cast<std::uint32_t>(std::countr_zero(absent));
      machine_.program().registers().thread_index = thread_indices_[first];
      machine_.report(FaultKind::missing_lanes, operation.site, "", [&] {
        return fmt::format("deadlock: {}, for lanes {:#010x} that do not come: {}", describe_wait(first), absent,
                           describe_wait(other));
      });
      return;
    }
  }
}

/// Makes the stacks of an abandoned block usable again.
void BlockRunner::release_fibres() {
  for (std::uint32_t thread = 0; thread < thread_indices_.size(); ++thread) {
    if (threads_[thread].fibre != kNobody) {
      fibres_->forget(threads_[thread].fibre);
      idle_fibres_.push_back(threads_[thread].fibre);
    }
  }
}

void BlockRunner::abandon() {
  abandoned_ = true;
  Context::switch_to(context_of(current_), scheduler_);
  std::terminate();  // nobody continues an abandoned context
}

}  // namespace esc
