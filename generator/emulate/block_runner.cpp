// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/block_runner.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace esc {
namespace {

/// Stacks come in so many times a power of two: each launch has another number of threads.
constexpr std::uint32_t kLeastFibres = 128;

}  // namespace

void BlockRunner::begin_launch(const Launch& launch) {
  launch_ = &launch;
  const auto count = static_cast<std::uint32_t>(launch.block.volume());
  if (threads_.size() < count) {
    const std::uint32_t most = std::max(kLeastFibres, std::bit_ceil(count));
    fibres_.emplace(most, kThreadStackBytes);
    threads_.resize(most);
    idle_fibres_.resize(most);
    std::iota(idle_fibres_.rbegin(), idle_fibres_.rend(), 0u);
  }
  thread_indices_.resize(count);
  for (std::uint32_t thread = 0; thread < count; ++thread) {
    thread_indices_[thread] = launch.block.at(thread);
  }
  warps_.assign((count + 31) / 32, Warp());
  start_order_.resize(count);
  std::iota(start_order_.begin(), start_order_.end(), 0u);
  if (judge_.options().shuffle_seed) {
    random_.seed(*judge_.options().shuffle_seed);
  }
}

void BlockRunner::begin_block(std::uint64_t linear_block) {
  Registers& registers = judge_.registers();
  registers.block_index = launch_->grid.at(linear_block);
  linear_block_ = linear_block;
  judge_.forget_occupants();
  async_barriers_.begin_block();
  named_barriers_.begin_block(static_cast<std::uint32_t>(thread_indices_.size()));
  products_.begin_block(static_cast<std::uint32_t>(thread_indices_.size()));
  registers_.begin_block(static_cast<std::uint32_t>(thread_indices_.size()));
  meets_cluster_ = false;
  live_ = static_cast<std::uint32_t>(thread_indices_.size());
  at_barrier_ = 0;
  ready_.clear();
  first_ready_ = 0;
  next_start_ = 0;
  for (std::uint32_t thread = 0; thread < live_; ++thread) {
    threads_[thread].state = State::unstarted;
    threads_[thread].fibre = kNobody;
    threads_[thread].waited = !launch_->programmatic;
    threads_[thread].copies.clear();
    threads_[thread].grid_constants.clear();
  }
  for (Warp& warp : warps_) {
    warp.gone = 0;
    warp.pending.clear();
  }
  if (live_ % 32 != 0) {
    warps_.back().gone = ~0u << live_ % 32;
  }
  if (judge_.options().shuffle_seed) {
    for (std::size_t left = start_order_.size(); left > 1; --left) {
      std::swap(start_order_[left - 1], start_order_[random_() % left]);
    }
  }
}

BlockProgress BlockRunner::run(std::uint64_t linear_block) {
  begin_block(linear_block);
  if (!judge_.clock().begin_block(linear_block)) {
    judge_.report(FaultKind::limit, 0, "",
                  [] { return "more blocks and barriers in one launch than can be told apart"; });
    return BlockProgress::abandoned;
  }
  ++judge_.counters().blocks;
  judge_.counters().threads += live_;
  return run_threads(pick());
}

std::uint32_t BlockRunner::first_waiting() const {
  std::uint32_t thread = 0;
  while (threads_[thread].state != State::at_barrier) {
    ++thread;
  }
  return thread;
}

BlockProgress BlockRunner::go_on() {
  judge_.registers().block_index = launch_->grid.at(linear_block_);
  completes_cluster_ = true;
  return run_threads(first_waiting());
}

void BlockRunner::report_uneven_barriers() {
  const std::uint32_t thread = first_waiting();
  judge_.registers().block_index = launch_->grid.at(linear_block_);
  judge_.registers().thread_index = thread_indices_[thread];
  cluster_.report_uneven_barriers(threads_[thread].site);
}

BlockProgress BlockRunner::run_threads(std::uint32_t first) {
  activate(first);
  Context::switch_to(scheduler_, context_of(first));
  if (!judge_.stopped() && live_ != 0 && meets_cluster_ && at_barrier_ == live_) {
    return BlockProgress::at_cluster_barrier;
  }
  if (judge_.stopped() || live_ != 0) {
    if (!judge_.stopped()) {
      report_deadlock();
    }
    release_fibres();
    return BlockProgress::abandoned;
  }
  async_barriers_.end_block();
  products_.end_block();
  registers_.end_block();
  cluster_.end_block();
  return BlockProgress::finished;
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
  if (judge_.options().shuffle_seed) {
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
  Registers& registers = judge_.registers();
  current_ = thread;
  registers.thread_index = thread_indices_[thread];
  judge_.clock().enter_thread(thread);
  if (state.state == State::unstarted) {
    registers.fuel = judge_.options().steps_per_thread;
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
  judge_.set_before_wait(!state.waited);
  judge_.enter_stack((*fibres_)[state.fibre], scheduler_);
}

Context& BlockRunner::context_of(std::uint32_t thread) { return (*fibres_)[threads_[thread].fibre]; }

void BlockRunner::wait(State state) {
  const std::uint32_t thread = current_;
  threads_[thread].state = state;
  threads_[thread].fuel = judge_.registers().fuel;
  const std::uint32_t next = pick();
  Context& mine = context_of(thread);
  if (next == kNobody) {
    Context::switch_to(mine, scheduler_);
    return;
  }
  activate(next);
  Context::switch_to(mine, context_of(next));
}

void BlockRunner::wait_for_predecessor() {
  threads_[current_].waited = true;
  judge_.set_before_wait(false);
}

bool BlockRunner::is_grid_constant(std::uint64_t address) const {
  return std::ranges::find(threads_[current_].grid_constants, address) != threads_[current_].grid_constants.end();
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
  if (live_ != 0 && at_barrier_ == live_ && !meets_cluster_) {
    complete_barrier();
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

}  // namespace esc
