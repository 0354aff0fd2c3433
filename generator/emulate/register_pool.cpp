// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/register_pool.h"

#include <fmt/format.h>

#include <algorithm>

namespace esc {
namespace {

constexpr std::uint32_t kOfMultiprocessor = 65536;
constexpr std::uint32_t kThreadsOfWarp = 32;
constexpr std::uint32_t kStep = 8;
constexpr std::uint32_t kLeast = 24;
constexpr std::uint32_t kMost = 256;

}  // namespace

void RegisterPool::begin_block(std::uint32_t threads) {
  const std::uint32_t warps = (threads + kThreadsOfWarp - 1) / kThreadsOfWarp;
  of_launch_ = std::min(kMost, kOfMultiprocessor / (warps * kThreadsOfWarp) / kStep * kStep);
  warps_.assign(warps, {.registers = of_launch_});
}

void RegisterPool::exchange(std::uint32_t warp, std::uint32_t registers, bool takes) {
  WarpState& state = warps_[warp];
  if (registers % kStep != 0 || registers < kLeast || registers > kMost ||
      (takes ? registers < state.registers : registers > state.registers)) {
    judge_.refuse(FaultKind::bad_operand, "", [&] {
      return fmt::format(
          "{} {} registers a thread, of which it has {}: setmaxnreg is for multiples of {} from {} to {}, and takes no "
          "fewer or leaves no more",
          takes ? "takes" : "leaves", registers, state.registers, kStep, kLeast, kMost);
    });
  }
  state = {registers, judge_.site(), judge_.registers().thread_index};
}

void RegisterPool::end_block() {
  std::uint32_t all = 0;
  for (const WarpState& state : warps_) {
    all += state.registers;
  }
  if (all <= of_launch_ * warps_.size()) {
    return;
  }
  const auto most = std::ranges::max_element(warps_, {}, &WarpState::registers);
  judge_.registers().thread_index = most->thread;
  judge_.report(FaultKind::deadlock, most->site, "", [&] {
    return fmt::format(
        "takes {} registers a thread, but of {} for each thread of the block warps have not left so many: it would "
        "wait for ever",
        most->registers, of_launch_);
  });
}

}  // namespace esc
