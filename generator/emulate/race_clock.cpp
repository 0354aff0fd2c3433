// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/race_clock.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace esc {

using namespace shadow_entry;

namespace {

constexpr std::uint64_t kCrowdMask = (std::uint64_t{1} << (kIntervalShift - kTimeShift)) - 1;

bool is_crowd(std::uint64_t entry, std::uint32_t lanes) { return (entry & kMany) != 0 && lanes == 0; }

std::uint32_t crowd_number(std::uint64_t entry) { return static_cast<std::uint32_t>(entry >> kTimeShift & kCrowdMask); }

/// Adds those of `mask`, counted from `first`.
void add_threads(std::vector<std::uint32_t>& threads, std::uint32_t first, std::uint32_t mask) {
  for (; mask != 0; mask &= mask - 1) {
    threads.push_back(first + static_cast<std::uint32_t>(std::countr_zero(mask)));
  }
}

/// Orders what one thread does.
std::uint64_t moment(std::uint32_t interval, std::uint32_t time) { return std::uint64_t{interval} << 32 | time; }

std::uint64_t with_thread(std::uint64_t entry, std::uint64_t thread) {
  return (entry & ~(std::uint64_t{1023} << kThreadShift)) | thread << kThreadShift;
}

}  // namespace

void RaceClock::begin_launch(std::uint32_t followed_threads) {
  first_of_launch_ = interval_ + 1;
  threads_.begin_launch(followed_threads);
  fences_.assign(followed_threads, {});
  thread_ = 0;
  blocks_.clear();
}

bool RaceClock::begin_block(std::uint64_t linear_block) {
  if (!begin_interval()) {
    return false;
  }
  first_of_block_ = interval_;
  threads_.begin_block();
  for (std::vector<std::uint64_t>& fences : fences_) {
    fences.clear();
  }
  latest_turn_ = interval_;
  block_ = linear_block;
  blocks_.emplace_back(interval_, linear_block);
  return true;
}

void RaceClock::resume(BlockClock block) {
  block_ = block.block;
  first_of_block_ = block.first_interval;
  threads_ = std::move(block.threads);
  fences_ = std::move(block.fences);
  previous_turn_ = block.latest_turn;
  latest_turn_ = interval_ + 1;  // which the end of the barrier begins
  blocks_.emplace_back(latest_turn_, block_);
}

bool RaceClock::begin_interval() {
  if (interval_ >= kMaxInterval) {
    return false;
  }
  ++interval_;
  if (threads_.follows()) {
    threads_.begin_interval();
    free_crowds_.resize(crowds_.size());
    std::iota(free_crowds_.begin(), free_crowds_.end(), 0u);
  }
  set_me();
  return true;
}

void RaceClock::enter_thread(std::uint32_t thread) {
  thread_ = thread;
  set_me();
}

void RaceClock::set_me() {
  const std::uint32_t now = threads_.follows() ? threads_.time(thread_) : warp_time(warps_[thread_ / 32]);
  me_ = std::uint64_t{interval_} << kIntervalShift | std::uint64_t{thread_} << kThreadShift |
        std::uint64_t{now} << kTimeShift;
}

bool RaceClock::meet(std::uint32_t warp_index, std::uint32_t mask) {
  if (threads_.follows()) {
    std::vector<std::uint32_t> threads;
    add_threads(threads, 32 * warp_index, mask);
    return meet_followed(threads);
  }
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

bool RaceClock::meet_warps(std::uint32_t warps, const Knowledge& left) {
  std::vector<std::uint32_t> threads;
  for (; warps != 0; warps &= warps - 1) {
    add_threads(threads, 32 * static_cast<std::uint32_t>(std::countr_zero(warps)), ~0u);
  }
  const bool room = meet_followed(threads);
  for (const std::uint32_t thread : threads) {
    threads_.acquire(thread, left);
  }
  return room;
}

bool RaceClock::release_warp(std::uint32_t warp, Knowledge& into) {
  std::vector<std::uint32_t> threads;
  add_threads(threads, 32 * warp, ~0u);
  bool room = true;
  for (const std::uint32_t thread : threads) {
    threads_.release(thread, into);
    room = room && threads_.time(thread) < kMaxTime;
  }
  set_me();
  return room;
}

bool RaceClock::meet_followed(std::span<const std::uint32_t> threads) {
  threads_.meet(threads);
  set_me();
  return threads_.time(threads.front()) < kMaxTime;
}

bool RaceClock::release(Knowledge& into) {
  threads_.release(thread_, into);
  set_me();
  return threads_.time(thread_) < kMaxTime;
}

void RaceClock::acquire(const Knowledge& from) { threads_.acquire(thread_, from); }

bool RaceClock::fence_proxy() {
  threads_.advance(thread_);
  set_me();
  fences_[thread_].push_back(moment(interval_, threads_.time(thread_)));
  return threads_.time(thread_) < kMaxTime;
}

/// Of the fences after an access the first one is the first that others know of.
bool RaceClock::is_fenced(std::uint32_t thread, std::uint32_t when, std::uint32_t time) const {
  const auto fence = std::ranges::upper_bound(fences_[thread], moment(when, time));
  return fence != fences_[thread].end() &&
         (*fence >> 32 < interval_ || threads_.is_behind(thread_, thread, static_cast<std::uint32_t>(*fence) - 1));
}

std::optional<std::uint32_t> RaceClock::find_unfenced(const WordShadow& word) const {
  const std::uint64_t entry = word.write;
  const std::uint32_t when = interval(entry);
  const auto lacks_fence = [&](std::uint32_t member, std::uint32_t at) {
    return member < threads_.threads() && !is_fenced(member, when, at);
  };
  if (!is_own(when)) {
    return std::nullopt;
  }
  if ((entry & kMany) == 0) {
    return lacks_fence(thread(entry), time(entry)) ? std::optional(thread(entry)) : std::nullopt;
  }
  if (word.write_lanes == 0) {
    return thread_;
  }
  for (std::uint32_t lanes = word.write_lanes; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t other = thread(entry) / 32 * 32 + static_cast<std::uint32_t>(std::countr_zero(lanes));
    if (lacks_fence(other, time(entry))) {
      return other;
    }
  }
  return std::nullopt;
}

void RaceClock::land(WordShadow& word, std::uint32_t barrier, std::uint32_t phase) {
  constexpr std::uint32_t kWholeWord = 15;
  dissolve(word.read, word.read_lanes);
  dissolve(word.write, word.write_lanes);
  word = {std::uint64_t{interval_} << kIntervalShift | std::uint64_t{barrier} << kThreadShift |
              std::uint64_t{phase} << kTimeShift | std::uint64_t{kWholeWord} << kBytesShift,
          kWholeWord, 0, 0};
}

void RaceClock::settle(WordShadow& word) const {
  constexpr std::uint32_t kWholeWord = 15;
  word = {std::uint64_t{first_of_block_} << kIntervalShift | std::uint64_t{kWholeWord} << kBytesShift, kWholeWord, 0,
          0};
}

std::uint64_t RaceClock::block_in(std::uint32_t interval) const {
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), interval,
                                      [](std::uint32_t wanted, const auto& block) { return wanted < block.first; });
  return after == blocks_.begin() ? 0 : std::prev(after)->second;
}

/// Those of `lanes` of the running thread's warp that did something by `time` that is not after the running thread.
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
  if (!is_own(when)) {
    return is_crowd(entry, lanes) && threads_.follows() ? with_thread(entry, 0)
                                                        : entry;  // another block of this launch
  }
  if (when < interval_) {
    return 0;
  }
  if (threads_.follows()) {
    return find_followed_rival(entry, lanes);
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

/// `entry` is of this interval.
std::uint64_t RaceClock::find_followed_rival(std::uint64_t entry, std::uint32_t lanes) const {
  if (is_crowd(entry, lanes)) {
    const std::vector<std::uint32_t>& crowd = crowds_[crowd_number(entry)];
    for (std::uint32_t other = 0; other < crowd.size(); ++other) {
      if (crowd[other] != 0 && !threads_.is_behind(thread_, other, crowd[other] - 1)) {
        return with_thread(entry, other);
      }
    }
    return 0;
  }
  if ((entry & kMany) == 0) {
    return threads_.is_behind(thread_, thread(entry), time(entry)) ? 0 : entry;
  }
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint32_t other = thread(entry) / 32 * 32 + static_cast<std::uint32_t>(std::countr_zero(lanes));
    if (!threads_.is_behind(thread_, other, time(entry))) {
      return with_thread(entry, other);
    }
  }
  return 0;
}

/// The number of a crowd of all who are after `entry`, which may be one already.
std::uint32_t RaceClock::crowd_of(std::uint64_t entry, std::uint32_t lanes) {
  if (is_crowd(entry, lanes)) {
    return crowd_number(entry);
  }
  if (free_crowds_.empty()) {
    free_crowds_.push_back(static_cast<std::uint32_t>(crowds_.size()));
    crowds_.emplace_back();
  }
  const std::uint32_t number = free_crowds_.back();
  free_crowds_.pop_back();
  std::vector<std::uint32_t>& crowd = crowds_[number];
  crowd.assign(threads_.members(), 0);
  const std::uint32_t first = thread(entry) / 32 * 32;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    crowd[first + static_cast<std::uint32_t>(std::countr_zero(left))] = time(entry) + 1;
  }
  if ((entry & kMany) == 0) {
    crowd[thread(entry)] = time(entry) + 1;
  }
  return number;
}

void RaceClock::dissolve(std::uint64_t entry, std::uint32_t lanes) {
  if (is_crowd(entry, lanes) && interval(entry) == interval_) {
    free_crowds_.push_back(crowd_number(entry));
  }
}

/// `entry` is of this interval, and not of the running thread alone; `fresh` touches some of the same bytes.
void RaceClock::merge_followed(std::uint64_t& entry, std::uint32_t& lanes, std::uint64_t fresh) {
  const bool crowd = is_crowd(entry, lanes);
  if (!crowd && find_followed_rival(entry, lanes) == 0) {
    entry = fresh;
    return;
  }
  const std::uint64_t common = bytes(entry) & bytes(fresh);
  const std::uint64_t shared = (fresh & ~(std::uint64_t{15} << kBytesShift)) | common << kBytesShift | kMany;
  const std::uint32_t before = (entry & kMany) != 0 ? lanes : 1u << thread(entry) % 32;
  if (!crowd && thread(entry) / 32 == thread_ / 32 && time(entry) == time(fresh)) {
    entry = shared;
    lanes = before | 1u << thread_ % 32;
    return;
  }
  const std::uint32_t number = crowd_of(entry, (entry & kMany) != 0 ? lanes : 0);
  crowds_[number][thread_] = time(fresh) + 1;
  entry = (shared & ~(kCrowdMask << kTimeShift)) | std::uint64_t{number} << kTimeShift;
  lanes = 0;
}

/// `entry` is not void.
void RaceClock::merge(std::uint64_t& entry, std::uint32_t& lanes, std::uint64_t fresh) {
  const std::uint32_t when = interval(entry);
  const std::uint32_t common = bytes(entry) & bytes(fresh);
  if (common != 0 && !is_own(when)) {
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
  if (threads_.follows()) {
    merge_followed(entry, lanes, fresh);
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
