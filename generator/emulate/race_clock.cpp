// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/race_clock.h"

#include <algorithm>

namespace esc {

using namespace shadow_entry;

void RaceClock::begin_launch() {
  first_of_launch_ = interval_ + 1;
  blocks_.clear();
}

bool RaceClock::begin_block(std::uint64_t linear_block) {
  if (!begin_interval()) {
    return false;
  }
  first_of_block_ = interval_;
  blocks_.emplace_back(interval_, linear_block);
  return true;
}

bool RaceClock::begin_interval() {
  if (interval_ >= kMaxInterval) {
    return false;
  }
  ++interval_;
  set_me();
  return true;
}

void RaceClock::enter_thread(std::uint32_t thread) {
  thread_ = thread;
  set_me();
}

void RaceClock::set_me() {
  me_ = std::uint64_t{interval_} << kIntervalShift | std::uint64_t{thread_} << kThreadShift |
        std::uint64_t{warp_time(warps_[thread_ / 32])} << kTimeShift;
}

bool RaceClock::meet(std::uint32_t warp_index, std::uint32_t mask) {
  WarpClock& warp = warps_[warp_index];
  if (warp.interval != interval_) {
    warp.interval = interval_;
    warp.time = 0;
    for (auto& lane : warp.known) {
      lane.fill(0);
    }
  }
  std::array<std::uint32_t, 32> joint{};
  for (std::uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const auto& known = warp.known[static_cast<std::size_t>(std::countr_zero(lanes))];
    for (std::size_t other = 0; other < 32; ++other) {
      joint[other] = std::max(joint[other], known[other]);
    }
  }
  for (std::uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    joint[static_cast<std::size_t>(std::countr_zero(lanes))] = warp.time + 1;
  }
  for (std::uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    warp.known[static_cast<std::size_t>(std::countr_zero(lanes))] = joint;
  }
  const bool room = warp.time < kMaxTime;
  if (room) {
    ++warp.time;
  }
  set_me();
  return room;
}

std::uint64_t RaceClock::block_of(std::uint64_t entry) const {
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), interval(entry),
                                      [](std::uint32_t wanted, const auto& block) { return wanted < block.first; });
  return after == blocks_.begin() ? 0 : std::prev(after)->second;
}

/// Those of `lanes` of the running thread's warp that did something by `time` that is not behind the running thread.
std::uint32_t RaceClock::lanes_not_behind(std::uint32_t lanes, std::uint32_t time) const {
  const std::uint32_t mine = thread_ % 32;
  const WarpClock& warp = warps_[thread_ / 32];
  lanes &= ~(1u << mine);
  if (warp.interval != interval_) {
    return lanes;
  }
  std::uint32_t found = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    found |= time >= warp.known[mine][static_cast<std::size_t>(lane)] ? 1u << lane : 0u;
  }
  return found;
}

/// `entry` is not void.
std::uint64_t RaceClock::find_rival(std::uint64_t entry, std::uint32_t lanes, std::uint32_t touched) const {
  const std::uint32_t when = interval(entry);
  if ((bytes(entry) & touched) == 0) {
    return 0;
  }
  if (when < first_of_block_) {
    return entry;  // another block of this launch
  }
  if (when < interval_) {
    return 0;
  }
  const bool many = (entry & kMany) != 0;
  if ((many && lanes == 0) || thread(entry) / 32 != thread_ / 32) {
    return entry;  // another warp, with no barrier in between
  }
  const std::uint32_t others = lanes_not_behind(many ? lanes : 1u << thread(entry) % 32, time(entry));
  if (others == 0) {
    return 0;
  }
  const std::uint64_t other = thread_ / 32 * 32 + static_cast<std::uint32_t>(std::countr_zero(others));
  return (entry & ~(std::uint64_t{1023} << kThreadShift)) | other << kThreadShift;
}

/// `entry` is not void.
void RaceClock::merge(std::uint64_t& entry, std::uint32_t& lanes, std::uint64_t fresh) const {
  const std::uint32_t when = interval(entry);
  const std::uint32_t common = bytes(entry) & bytes(fresh);
  if (when < first_of_block_ && common != 0) {
    return;  // the older block stays
  }
  if (when < interval_) {
    entry = fresh;
    return;
  }
  const bool many = (entry & kMany) != 0;
  if (!many && thread(entry) == thread_) {
    entry = time(entry) == time(fresh) ? fresh | std::uint64_t{bytes(entry)} << kBytesShift : fresh;
    return;
  }
  if (common == 0) {
    entry = fresh;
    return;
  }
  const std::uint64_t shared =
      (fresh & ~(std::uint64_t{15} << kBytesShift)) | std::uint64_t{common} << kBytesShift | kMany;
  if ((many && lanes == 0) || thread(entry) / 32 != thread_ / 32) {
    entry = shared;
    lanes = 0;
    return;
  }
  const std::uint32_t before = many ? lanes : 1u << thread(entry) % 32;
  if (lanes_not_behind(before, time(entry)) == 0) {
    entry = fresh;
    return;
  }
  entry = shared;
  lanes = before | 1u << thread_ % 32;
}

}  // namespace esc
