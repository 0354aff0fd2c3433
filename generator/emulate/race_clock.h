// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "generator/emulate/thread_clocks.h"

namespace esc {

/// What is remembered of the accesses to one 4-byte word. An entry packs, from the top: the barrier interval (28 bits),
/// the thread in its block (10), the warp's time (17), the bytes touched (4), and whether several threads are after
/// it (1; `*_lanes` then names the lanes of the warp, 0 meaning several warps). The low four bits of `read` hold which
/// bytes are initialised, those of `write` by which atomic operation it was written. Where threads are followed one by
/// one, the thread may be an asynchronous barrier, whose copies have written, with its phase as the time; and for
/// several warps the bits of thread and time hold the number of a crowd.
struct WordShadow {
  std::uint64_t write;
  std::uint64_t read;
  std::uint32_t write_lanes;
  std::uint32_t read_lanes;
};

/// What writes. Atomic operations of one kind come out alike in every order, but for an exchange, of which the last one
/// stays, and a comparison with a swap, which another block may come before.
enum class Writing : std::uint32_t {
  plain,
  adding,
  minimum,
  maximum,
  bitwise_and,
  bitwise_or,
  bitwise_xor,
  swapping,
  exchanging
};

namespace shadow_entry {
inline constexpr std::uint64_t kMany = 1u << 4;
inline constexpr unsigned kBytesShift = 5;
inline constexpr unsigned kTimeShift = 9;
inline constexpr unsigned kThreadShift = 26;
inline constexpr unsigned kIntervalShift = 36;
inline constexpr std::uint32_t kMaxTime = (1u << 17) - 1;
inline constexpr std::uint32_t kMaxInterval = (1u << 28) - 1;

constexpr std::uint32_t interval(std::uint64_t e) { return static_cast<std::uint32_t>(e >> kIntervalShift); }
constexpr std::uint32_t thread(std::uint64_t e) { return static_cast<std::uint32_t>(e >> kThreadShift) & 1023; }
constexpr std::uint32_t time(std::uint64_t e) { return static_cast<std::uint32_t>(e >> kTimeShift) & kMaxTime; }
constexpr Writing writing(std::uint64_t e) { return static_cast<Writing>(e & 15); }
constexpr std::uint32_t bytes(std::uint64_t e) { return static_cast<std::uint32_t>(e >> kBytesShift) & 15; }
}  // namespace shadow_entry

/// An earlier access that the present one races with.
struct Conflict {
  std::uint64_t entry = 0;  ///< 0: none. Its thread is the running one where several are known only together
  bool wrote = false;
};

/// What a clock knows of a block that waits while others of its cluster run.
struct BlockClock {
  std::uint64_t block = 0;
  std::uint32_t first_interval = 0;
  std::uint32_t latest_turn = 0;
  ThreadClocks threads;
  std::vector<std::vector<std::uint64_t>> fences;
};

/// Logical time of a run, and the judgement whether two accesses are ordered.
///
/// Blocks and the intervals between the barriers of a block are numbered one after the other, those of the blocks of a
/// cluster as they take turns. Accesses in different
/// launches are ordered; so are those of one block in different intervals. Accesses of different blocks of one launch
/// never are. Inside an interval two threads of one warp are ordered by the warp operations that joined them: each warp
/// has a time that grows with each operation, and each lane knows up to which time the accesses of every other lane are
/// after it. Threads of different warps are not ordered inside an interval.
///
/// One entry is kept per word and direction. It stands for the oldest block that touched the word in this launch, and
/// inside a block for the latest access, or for all of the unordered ones together; their time is then the latest of
/// theirs. What is forgotten by this can hide a race: sub-word accesses of different threads to different bytes
/// displace each other, and of plain and atomic writes between two barriers only the plain one is kept.
///
/// Where asynchronous or named barriers order threads of different warps inside an interval, each thread is followed
/// (`ThreadClocks`), and those that are after an entry together are kept with their times, as a crowd.
class RaceClock {
 public:
  /// `followed_threads`: how many a block has, where they are followed one by one.
  void begin_launch(std::uint32_t followed_threads = 0);
  /// False when the numbers are used up; then nothing further can be judged in this launch.
  bool begin_block(std::uint64_t linear_block);
  bool begin_interval();
  /// The running block waits at a barrier, with all of its threads, while others run; later it goes on, in a new
  /// interval.
  BlockClock suspend() const { return {block_, first_of_block_, latest_turn_, threads_, fences_}; }
  void resume(BlockClock block);
  /// The first interval of the running block's turn before this one.
  std::uint32_t previous_turn() const { return previous_turn_; }
  void enter_thread(std::uint32_t thread);
  /// The lanes of `mask` in `warp` have met. False when the warp's time is used up.
  bool meet(std::uint32_t warp, std::uint32_t mask);
  /// All threads of these warps, as bits, have met, and acquire what others left there; they are followed one by one.
  /// False when their time is used up.
  bool meet_warps(std::uint32_t warps, const Knowledge& left = {});
  /// The threads of a warp, which are followed, release what is after them. False when their time is used up.
  bool release_warp(std::uint32_t warp, Knowledge& into);
  /// The running thread releases what is after it. False when its time is used up.
  bool release(Knowledge& into);
  void acquire(const Knowledge& from);
  /// What the running thread, which is followed, has written is there for the asynchronous proxy, too. False when its
  /// time is used up.
  bool fence_proxy();
  /// The thread whose write of the word is not: no fence of its own is between that and what is after the running
  /// thread. Several who have written it together in an earlier interval are not known any more, and count as such.
  std::optional<std::uint32_t> find_unfenced(const WordShadow& word) const;
  /// Copies have written the whole word, whose earlier accesses are after that, and completed `phase` of `barrier`.
  void land(WordShadow& word, std::uint32_t barrier, std::uint32_t phase);
  /// The whole word was written before the barrier of the block that has just begun an interval, by nobody of the
  /// block.
  void settle(WordShadow& word) const;
  ThreadClocks& threads() { return threads_; }
  std::uint32_t running_thread() const { return thread_; }
  /// The number of the running interval.
  std::uint32_t now() const { return interval_; }

  /// Numbers are short: before a launch, all remembered accesses should be forgotten when this says so.
  bool wants_reset() const { return interval_ > shadow_entry::kMaxInterval / 2; }
  void reset() { interval_ = 0; }

  std::uint32_t first_of_launch() const { return first_of_launch_; }
  std::uint32_t first_of_block() const { return first_of_block_; }

  /// Judges and remembers an access to `bytes` (a mask of 4 bits) of a word. Entries older than `floor` are void.
  Conflict read(WordShadow& word, std::uint32_t bytes, std::uint32_t floor);
  Conflict write(WordShadow& word, std::uint32_t bytes, std::uint32_t floor, Writing writing);

  /// The block (linear index) that an entry of this launch belongs to.
  std::uint64_t block_of(std::uint64_t entry) const { return block_in(shadow_entry::interval(entry)); }

 private:
  struct WarpClock {
    std::uint32_t interval = 0;  ///< the rest is void in any other interval
    std::uint32_t time = 0;
    std::array<std::array<std::uint32_t, 32>, 32> known{};  ///< [lane][other]: accesses of other before this time
  };

  std::uint64_t block_in(std::uint32_t interval) const;
  /// Whether an interval of this launch is one of the running block.
  bool is_own(std::uint32_t interval) const {
    return interval >= first_of_block_ && (interval >= latest_turn_ || block_in(interval) == block_);
  }
  std::uint32_t warp_time(const WarpClock& warp) const { return warp.interval == interval_ ? warp.time : 0; }
  bool meet_followed(std::span<const std::uint32_t> threads);
  void set_me();
  std::uint32_t lanes_not_behind(std::uint32_t lanes, std::uint32_t time) const;
  std::uint64_t find_rival(std::uint64_t entry, std::uint32_t lanes, std::uint32_t bytes) const;
  std::uint64_t find_followed_rival(std::uint64_t entry, std::uint32_t lanes) const;
  void merge(std::uint64_t& entry, std::uint32_t& lanes, std::uint64_t fresh);
  void merge_followed(std::uint64_t& entry, std::uint32_t& lanes, std::uint64_t fresh);
  std::uint32_t crowd_of(std::uint64_t entry, std::uint32_t lanes);
  bool is_fenced(std::uint32_t thread, std::uint32_t when, std::uint32_t time) const;
  void dissolve(std::uint64_t entry, std::uint32_t lanes);
  /// `entry`, naming a thread of it that the running thread is not ordered with; 0 where there is none.
  std::uint64_t rival(std::uint64_t entry, std::uint32_t lanes, std::uint32_t bytes, std::uint32_t floor) const {
    return shadow_entry::interval(entry) < floor || is_mine_alone(entry) ? 0 : find_rival(entry, lanes, bytes);
  }
  /// Puts the running thread's access `fresh` into `entry`.
  void remember(std::uint64_t& entry, std::uint32_t& lanes, std::uint64_t fresh, std::uint32_t floor) {
    if (shadow_entry::interval(entry) < floor) {
      entry = fresh;
    } else {
      merge(entry, lanes, fresh);
    }
  }
  bool is_mine_alone(std::uint64_t entry) const {
    return (entry >> shadow_entry::kThreadShift) == (me_ >> shadow_entry::kThreadShift) &&
           (entry & shadow_entry::kMany) == 0;
  }

  std::uint32_t interval_ = 0;
  std::uint32_t first_of_block_ = 0;
  std::uint32_t first_of_launch_ = 0;
  std::uint32_t latest_turn_ = 0;  ///< the interval in which the running block began or went on for the last time
  std::uint32_t previous_turn_ = 0;
  std::uint64_t block_ = 0;  ///< that runs, linear index
  std::uint32_t thread_ = 0;
  std::uint64_t me_ = 0;  ///< an entry of the running thread without bytes
  std::array<WarpClock, 32> warps_;
  ThreadClocks threads_;
  std::vector<std::vector<std::uint64_t>>
      fences_;  ///< of each thread in this block: interval and time after each fence, ascending
  /// By number; of each thread the time of its access + 1, or 0. All of the running interval.
  std::vector<std::vector<std::uint32_t>> crowds_;
  std::vector<std::uint32_t> free_crowds_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>>
      blocks_;  ///< of this launch: first interval of a turn, linear index
};

inline Conflict RaceClock::read(WordShadow& word, std::uint32_t bytes, std::uint32_t floor) {
  const Conflict conflict = {rival(word.write, word.write_lanes, bytes, floor), true};
  const std::uint64_t fresh = me_ | bytes << shadow_entry::kBytesShift | (word.read & 15);
  if (word.read != fresh) {
    remember(word.read, word.read_lanes, fresh, floor);
  }
  return conflict;
}

inline Conflict RaceClock::write(WordShadow& word, std::uint32_t bytes, std::uint32_t floor, Writing writing) {
  Conflict conflict = {rival(word.read, word.read_lanes, bytes, floor), false};
  const bool in_any_order = writing != Writing::plain && writing != Writing::exchanging &&
                            writing == shadow_entry::writing(word.write) &&
                            (writing != Writing::swapping || is_own(shadow_entry::interval(word.write)));
  if (conflict.entry == 0 && !in_any_order) {
    conflict = {rival(word.write, word.write_lanes, bytes, floor), true};
  }
  // A plain write that nothing but warp operations came after stands for the atomic ones after it, too: it is the one
  // that other warps race with.
  const bool stronger = writing != Writing::plain && shadow_entry::writing(word.write) == Writing::plain &&
                        shadow_entry::interval(word.write) == interval_ &&
                        (shadow_entry::bytes(word.write) & bytes) != 0;
  if (!stronger) {
    remember(word.write, word.write_lanes,
             me_ | bytes << shadow_entry::kBytesShift | static_cast<std::uint32_t>(writing), floor);
  }
  return conflict;
}

}  // namespace esc
