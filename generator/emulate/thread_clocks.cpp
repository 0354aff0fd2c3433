// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/thread_clocks.h"

namespace esc {
namespace {

/// From member `first` on.
void join(Knowledge& into, const Knowledge& from, std::size_t first = 0) {
  for (std::size_t member = first; member < from.times.size(); ++member) {
    into.times[member] = std::max(into.times[member], from.times[member]);
  }
}

}  // namespace

void ThreadClocks::begin_launch(std::uint32_t threads) {
  threads_ = threads;
  known_.assign(threads, Knowledge());
}

void ThreadClocks::begin_block() {
  barriers_ = 0;
  phases_.clear();
  for (Knowledge& known : known_) {
    known = Knowledge();
  }
}

void ThreadClocks::begin_interval() {
  for (const Knowledge& known : known_) {
    for (std::uint32_t barrier = 0; barrier < barriers_; ++barrier) {
      phases_[barrier] = std::max(phases_[barrier], known.of(threads_ + barrier));
    }
  }
  ++interval_;
}

std::optional<std::uint32_t> ThreadClocks::add_barrier() {
  if (threads_ + barriers_ >= kMostMembers) {
    return std::nullopt;
  }
  phases_.push_back(0);
  return threads_ + barriers_++;
}

Knowledge& ThreadClocks::updated(Knowledge& knowledge) {
  knowledge.times.resize(threads_ + barriers_);
  if (!is_current(knowledge)) {
    std::fill_n(knowledge.times.begin(), threads_, 0u);
    std::transform(phases_.begin(), phases_.end(), knowledge.times.begin() + threads_,
                   knowledge.times.begin() + threads_, [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
    knowledge.interval = interval_;
  }
  return knowledge;
}

void ThreadClocks::meet(std::span<const std::uint32_t> threads) {
  Knowledge joint;
  updated(joint);
  std::uint32_t latest = 0;
  for (const std::uint32_t thread : threads) {
    release(thread, joint);
    latest = std::max(latest, time(thread));
  }
  // One time for all, so that what they do next together can be kept together.
  for (const std::uint32_t thread : threads) {
    joint.times[thread] = latest;
  }
  for (const std::uint32_t thread : threads) {
    known_[thread] = joint;
  }
}

void ThreadClocks::release(std::uint32_t thread, Knowledge& into) {
  Knowledge& mine = updated(known_[thread]);
  ++mine.times[thread];
  join(updated(into), mine);
}

void ThreadClocks::acquire(std::uint32_t thread, const Knowledge& from) {
  join(updated(known_[thread]), from, is_current(from) ? 0 : threads_);
}

void ThreadClocks::complete(Knowledge& completed, const Knowledge& arrived, std::uint32_t barrier,
                            std::uint32_t phases) {
  join(updated(completed), arrived, is_current(arrived) ? 0 : threads_);
  completed.times[barrier] = phases;
}

}  // namespace esc
