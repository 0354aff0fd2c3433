// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/named_barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace esc {
namespace {

constexpr std::uint32_t kWarpThreads = 32;

std::string text_of(NamedBarriers::Request request) {
  return fmt::format("barrier {} for {} threads", request.number, request.count);
}

}  // namespace

std::uint32_t NamedBarriers::Barrier::arrived() const {
  return kWarpThreads * static_cast<std::uint32_t>(std::popcount(warps));
}

void NamedBarriers::begin_block(std::uint32_t threads) {
  threads_ = threads;
  barriers_.fill({});
  holding_.fill(0);
  met_ = 0;
}

void NamedBarriers::check(Request request) {
  if (request.number == 0 || request.number >= barriers_.size()) {
    judge_.refuse(FaultKind::bad_operand, "", [&] {
      return fmt::format("{} at {}; there are barriers 1 to {}, and 0 is that of __syncthreads", does(request.waits),
                         text_of(request), barriers_.size() - 1);
    });
  }
  if (request.count == 0 || request.count % kWarpThreads != 0 || request.count > threads_) {
    judge_.refuse(FaultKind::bad_operand, "", [&] {
      return fmt::format("{} at {}, which is no multiple of {} from {} to the {} of the block", does(request.waits),
                         text_of(request), kWarpThreads, kWarpThreads, threads_);
    });
  }
}

void NamedBarriers::arrive(std::uint32_t warp, const std::array<std::uint64_t, 32>& requests, bool waits) {
  const auto other = std::ranges::find_if(requests, [&](std::uint64_t lane) { return lane != requests.front(); });
  if (other != requests.end()) {
    judge_.refuse(FaultKind::divergent_barrier, "", [&] {
      return fmt::format("lane 0 of the warp {} at {}, but lane {} at {}", does(waits),
                         text_of(Request::of(requests.front(), waits)), other - requests.begin(),
                         text_of(Request::of(*other, waits)));
    });
  }
  const Request request = Request::of(requests.front(), waits);
  Barrier& barrier = barriers_[request.number];
  if (!is_behind_round_before(barrier, warp)) {
    judge_.refuse(FaultKind::race, "", [&] {
      return fmt::format(
          "arrives at barrier {}, where others have met whom nothing orders it with: it could have been "
          "one of them",
          request.number);
    });
  }
  if (barrier.warps == 0) {
    barrier.count = request.count;
    barrier.site = judge_.site();
  }
  if (barrier.count != request.count) {
    judge_.refuse(FaultKind::divergent_barrier, "", [&] {
      return fmt::format("{} at {}, but others are there for {}, at {}", does(waits), text_of(request), barrier.count,
                         judge_.describe_site(barrier.site));
    });
  }
  if ((barrier.warps >> warp & 1) != 0) {
    judge_.refuse(FaultKind::divergent_barrier, "", [&] {
      return fmt::format("{} at {}, at which the warp has arrived in the same round", does(waits), text_of(request));
    });
  }
  barrier.warps |= 1u << warp;
  if (waits) {
    barrier.waiting |= 1u << warp;
    holding_[warp] = request.number;
  } else if (!judge_.clock().release_warp(warp, barrier.left)) {
    refuse_for_limit();
  }
  if (barrier.arrived() == barrier.count) {
    complete(barrier);
  }
}

/// Else it is chance which of the two rounds `warp` arrives in. What one lane knows is enough: they come together.
bool NamedBarriers::is_behind_round_before(const Barrier& barrier, std::uint32_t warp) {
  RaceClock& clock = judge_.clock();
  if (barrier.interval != clock.now()) {
    return true;
  }
  for (std::uint32_t thread = kWarpThreads * warp; thread < kWarpThreads * (warp + 1); ++thread) {
    if (clock.threads().is_behind(thread, barrier.thread, barrier.time - 1)) {
      return true;
    }
  }
  return false;
}

void NamedBarriers::complete(Barrier& barrier) {
  RaceClock& clock = judge_.clock();
  if (barrier.waiting == 0) {
    judge_.refuse(FaultKind::divergent_barrier, "", [&] {
      return fmt::format(
          "arrives as the last one of {} threads at a barrier where none of them waits, so that nobody can know when "
          "it may be used again",
          barrier.count);
    });
  }
  if (!clock.meet_warps(barrier.waiting, barrier.left)) {
    refuse_for_limit();
  }
  barrier.interval = clock.now();
  barrier.thread = kWarpThreads * static_cast<std::uint32_t>(std::countr_zero(barrier.waiting));
  barrier.time = clock.threads().time(barrier.thread);
  for (std::uint32_t warps = barrier.waiting; warps != 0; warps &= warps - 1) {
    holding_[static_cast<std::size_t>(std::countr_zero(warps))] = 0;
  }
  met_ |= barrier.waiting;
  barrier.warps = 0;
  barrier.waiting = 0;
  barrier.left = {};
}

void NamedBarriers::refuse_for_limit() {
  judge_.refuse(FaultKind::limit, "", [] {
    return std::string("more rounds of named barriers between two barriers of the block than can be told apart");
  });
}

std::string NamedBarriers::describe_wait(std::uint32_t warp) const {
  const Barrier& barrier = barriers_[holding_[warp]];
  return fmt::format("barrier {}, where {} of {} threads have arrived", holding_[warp], barrier.arrived(),
                     barrier.count);
}

}  // namespace esc
