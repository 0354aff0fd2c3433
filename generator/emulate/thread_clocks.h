// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace esc {

/// What is after somebody: of each thread of a block the accesses before a time, of each asynchronous barrier so many
/// phases. Members are numbered: first the threads, then the barriers. Times of threads are those of one interval
/// between two barriers of the block, and void in any other; phases are counted through the block.
struct Knowledge {
  std::uint32_t interval = 0;
  std::vector<std::uint32_t> times;

  std::uint32_t of(std::uint32_t member) const { return member < times.size() ? times[member] : 0; }
};

/// Logical time within a block whose threads order themselves one by one, not by barriers of the whole block alone: a
/// thread releases what is after it, another acquires that.
class ThreadClocks {
 public:
  /// The most threads and barriers that can be told apart in a block.
  static constexpr std::uint32_t kMostMembers = 1024;

  /// `threads` 0: nobody is followed, and nothing else may be called but the other beginnings.
  void begin_launch(std::uint32_t threads);
  void begin_block();
  /// All threads have met.
  void begin_interval();

  bool follows() const { return threads_ != 0; }
  std::uint32_t threads() const { return threads_; }
  std::uint32_t members() const { return threads_ + barriers_; }
  /// A number for another barrier of the block, where there is one left.
  std::optional<std::uint32_t> add_barrier();

  /// The time that an access of `thread` has now.
  std::uint32_t time(std::uint32_t thread) const { return is_current(known_[thread]) ? known_[thread].of(thread) : 0; }
  /// Whether what `member` did at `time` of this interval is after `thread`.
  bool is_behind(std::uint32_t thread, std::uint32_t member, std::uint32_t time) const {
    return thread == member || (is_current(known_[thread]) && known_[thread].of(member) > time);
  }
  /// How many phases of a barrier `thread` knows to be complete.
  std::uint32_t phases_behind(std::uint32_t thread, std::uint32_t barrier) {
    return updated(known_[thread]).of(barrier);
  }

  /// What `thread` does from now on is told apart from what it did before.
  void advance(std::uint32_t thread) { ++updated(known_[thread]).times[thread]; }
  /// These have met.
  void meet(std::span<const std::uint32_t> threads);
  /// Adds to `into` what is after `thread` now, its own accesses among it.
  void release(std::uint32_t thread, Knowledge& into);
  void acquire(std::uint32_t thread, const Knowledge& from);
  /// Adds to `completed` what has `arrived` in the latest phase of `barrier`, of which now so many are complete.
  void complete(Knowledge& completed, const Knowledge& arrived, std::uint32_t barrier, std::uint32_t phases);

 private:
  bool is_current(const Knowledge& knowledge) const { return knowledge.interval == interval_; }
  /// `knowledge` without what is void, and with what everybody knows.
  Knowledge& updated(Knowledge& knowledge);

  std::uint32_t threads_ = 0;
  std::uint32_t barriers_ = 0;
  std::uint32_t interval_ = 0;
  std::vector<Knowledge> known_;       ///< by thread; of itself: its time
  std::vector<std::uint32_t> phases_;  ///< by barrier: of how many somebody knew when the interval began
};

}  // namespace esc
