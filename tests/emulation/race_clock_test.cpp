// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/race_clock.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "generator/emulate/warp.h"

namespace esc {
namespace {

constexpr std::uint32_t kThreads = 64;
constexpr std::uint32_t kWords = 3;

enum class Action { read, write, atomic, meet, meet_warps, barrier, next_block, release, acquire };

struct Step {
  Action action = Action::read;
  std::uint32_t thread = 0;
  std::uint32_t word = 0;
  std::uint32_t mask = 0;
};

void showValue(const Step& step, std::ostream& stream) {
  stream << "{" << static_cast<int>(step.action) << " thread " << step.thread << " word " << step.word << " mask "
         << std::hex << step.mask << std::dec << "}";
}

/// The definition: every access is kept, with a full vector clock over all threads of all blocks of the launch.
class ReferenceClock {
 public:
  bool access(const Step& step) {
    const std::uint32_t me = block_ * kThreads + step.thread;
    bool races = false;
    for (const Access& other : accesses_[step.word]) {
      const bool conflict = (other.kind != Action::read || step.action != Action::read) &&
                            !(other.kind == Action::atomic && step.action == Action::atomic);
      const bool ordered = other.thread == me || knows(me, other.thread) > other.time;
      races = races || (conflict && !ordered);
    }
    accesses_[step.word].push_back({me, now_[me], step.action});
    return races;
  }

  void meet(const std::vector<std::uint32_t>& threads) {
    std::map<std::uint32_t, std::uint32_t> joint;
    for (const std::uint32_t thread : threads) {
      for (const auto& [other, time] : known_[thread]) {
        joint[other] = std::max(joint[other], time);
      }
      joint[thread] = ++now_[thread];
    }
    for (const std::uint32_t thread : threads) {
      known_[thread] = joint;
    }
  }

  void barrier() {
    std::vector<std::uint32_t> all;
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      all.push_back(block_ * kThreads + thread);
    }
    meet(all);
  }

  void release(std::uint32_t thread, std::uint32_t token) {
    const std::uint32_t me = block_ * kThreads + thread;
    known_[me][me] = ++now_[me];
    for (const auto& [other, time] : known_[me]) {
      tokens_[token][other] = std::max(tokens_[token][other], time);
    }
  }

  void acquire(std::uint32_t thread, std::uint32_t token) {
    for (const auto& [other, time] : tokens_[token]) {
      std::uint32_t& known = known_[block_ * kThreads + thread][other];
      known = std::max(known, time);
    }
  }

  void next_block() {
    ++block_;
    tokens_ = {};
  }
  std::uint32_t block() const { return block_; }

 private:
  struct Access {
    std::uint32_t thread;
    std::uint32_t time;
    Action kind;
  };

  std::uint32_t knows(std::uint32_t me, std::uint32_t other) { return known_[me][other]; }

  std::uint32_t block_ = 0;
  std::map<std::uint32_t, std::uint32_t> now_;
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> known_;
  std::array<std::vector<Access>, kWords> accesses_;
  std::array<std::map<std::uint32_t, std::uint32_t>, kWords> tokens_;
};

rc::Gen<std::vector<Step>> any_steps(std::vector<Action> accesses, bool followed = false) {
  std::vector<Action> actions = {Action::meet, Action::meet, Action::meet, Action::barrier};
  if (followed) {
    actions.insert(actions.end(), {Action::release, Action::release, Action::release, Action::acquire, Action::acquire,
                                   Action::acquire});
    actions.push_back(Action::meet_warps);
  }
  for (const Action access : accesses) {
    actions.insert(actions.end(), {access, access, access});
  }
  auto action = rc::gen::oneOf(rc::gen::elementOf(actions), rc::gen::elementOf(actions),
                               rc::gen::elementOf(std::vector<Action>{accesses.front(), Action::next_block}));
  // Groups as kernels have them: the whole warp, aligned groups of lanes, lanes a power of two apart.
  auto mask = rc::gen::element<std::uint32_t>(0xffffffffu, 0xffffffffu, 0xffu, 0xff00u, 0xfu, 0x01010101u, 0x3u);
  return rc::gen::container<std::vector<Step>>(rc::gen::build<Step>(
      rc::gen::set(&Step::action, std::move(action)),
      rc::gen::set(&Step::thread, rc::gen::element<std::uint32_t>(0, 1, 2, 8, 9, 32, 33)),
      rc::gen::set(&Step::word, rc::gen::inRange(0u, kWords)), rc::gen::set(&Step::mask, std::move(mask))));
}

enum class Verdict { agree, missed, invented };

/// Runs both clocks up to the first race by definition, or the first that is reported. Threads are followed one by one
/// where they release and acquire; a word's number is then that of what they do so through.
Verdict compare(const std::vector<Step>& steps, bool followed = false) {
  ReferenceClock reference;
  const auto clock = std::make_unique<RaceClock>();
  std::array<WordShadow, kWords> words{};
  std::array<Knowledge, kWords> tokens;
  clock->begin_launch(followed ? kThreads : 0);
  clock->begin_block(0);
  for (const Step& step : steps) {
    const std::uint32_t warp = step.thread / 32;
    if (step.action == Action::meet) {
      std::vector<std::uint32_t> threads;
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        if ((step.mask >> lane & 1) != 0) {
          threads.push_back(reference.block() * kThreads + warp * 32 + lane);
        }
      }
      reference.meet(threads);
      RC_ASSERT(clock->meet(warp, step.mask));
    } else if (step.action == Action::meet_warps) {
      reference.barrier();
      RC_ASSERT(clock->meet_warps(3));
    } else if (step.action == Action::barrier) {
      reference.barrier();
      RC_ASSERT(clock->begin_interval());
    } else if (step.action == Action::next_block) {
      reference.next_block();
      RC_ASSERT(clock->begin_block(reference.block()));
      tokens = {};
    } else if (step.action == Action::release) {
      reference.release(step.thread, step.word);
      clock->enter_thread(step.thread);
      RC_ASSERT(clock->release(tokens[step.word]));
    } else if (step.action == Action::acquire) {
      reference.acquire(step.thread, step.word);
      clock->enter_thread(step.thread);
      clock->acquire(tokens[step.word]);
    } else {
      clock->enter_thread(step.thread);
      WordShadow& word = words[step.word];
      const std::uint32_t floor = clock->first_of_launch();
      const Conflict conflict =
          step.action == Action::read
              ? clock->read(word, 15, floor)
              : clock->write(word, 15, floor, step.action == Action::atomic ? Writing::adding : Writing::plain);
      const bool races = reference.access(step);
      if (races || conflict.entry != 0) {
        return !races ? Verdict::invented : conflict.entry == 0 ? Verdict::missed : Verdict::agree;
      }
    }
  }
  return Verdict::agree;
}

RC_GTEST_PROP(RaceClock, FindsTheFirstRaceOfReadsAndWrites, ()) {
  RC_ASSERT(compare(*any_steps({Action::read, Action::write})) == Verdict::agree);
}

RC_GTEST_PROP(RaceClock, FindsTheFirstRaceOfReadsAndAtomics, ()) {
  RC_ASSERT(compare(*any_steps({Action::read, Action::atomic})) == Verdict::agree);
}

RC_GTEST_PROP(RaceClock, FindsTheFirstRaceOfThreadsThatAreFollowed, ()) {
  RC_ASSERT(compare(*any_steps({Action::read, Action::write}, true), true) == Verdict::agree);
}

RC_GTEST_PROP(RaceClock, FindsTheFirstRaceOfReadsAndAtomicsOfThreadsThatAreFollowed, ()) {
  RC_ASSERT(compare(*any_steps({Action::read, Action::atomic}, true), true) == Verdict::agree);
}

RC_GTEST_PROP(RaceClock, InventsNoRace, ()) {
  RC_ASSERT(compare(*any_steps({Action::read, Action::write, Action::atomic})) != Verdict::invented);
}

TEST(RaceClock, APlainWriteIsNotForgottenForAtomicOnes) {
  const auto clock = std::make_unique<RaceClock>();
  WordShadow word{};
  clock->begin_launch();
  clock->begin_block(0);
  clock->enter_thread(0);
  clock->write(word, 15, clock->first_of_launch(), Writing::plain);
  clock->meet(0, ~0u);
  clock->enter_thread(1);
  EXPECT_EQ(clock->write(word, 15, clock->first_of_launch(), Writing::adding).entry, 0u);
  clock->enter_thread(32);
  EXPECT_NE(clock->write(word, 15, clock->first_of_launch(), Writing::adding).entry, 0u);
}

TEST(RaceClock, NamesTheOtherSide) {
  const auto clock = std::make_unique<RaceClock>();
  WordShadow word{};
  clock->begin_launch();
  clock->begin_block(70);
  clock->enter_thread(5);
  EXPECT_EQ(clock->write(word, 15, clock->first_of_launch(), Writing::plain).entry, 0u);
  clock->begin_interval();
  clock->begin_block(3);
  clock->enter_thread(9);
  const Conflict conflict = clock->read(word, 15, clock->first_of_launch());
  EXPECT_TRUE(conflict.wrote);
  EXPECT_EQ(shadow_entry::thread(conflict.entry), 5u);
  EXPECT_EQ(clock->block_of(conflict.entry), 70u);
}

TEST(RaceClock, LaunchesAreOrdered) {
  const auto clock = std::make_unique<RaceClock>();
  WordShadow word{};
  for (int launch = 0; launch < 2; ++launch) {
    clock->begin_launch();
    clock->begin_block(static_cast<std::uint64_t>(launch));
    clock->enter_thread(0);
    EXPECT_EQ(clock->write(word, 15, clock->first_of_launch(), Writing::plain).entry, 0u);
  }
}

TEST(RaceClock, BytesOfAWordAreApart) {
  const auto clock = std::make_unique<RaceClock>();
  WordShadow word{};
  clock->begin_launch();
  clock->begin_block(0);
  for (std::uint32_t thread = 0; thread < 4; ++thread) {
    clock->enter_thread(thread);
    EXPECT_EQ(clock->read(word, 1u << thread, clock->first_of_launch()).entry, 0u);
    EXPECT_EQ(clock->write(word, 1u << thread, clock->first_of_launch(), Writing::plain).entry, 0u);
  }
  clock->enter_thread(0);
  EXPECT_NE(clock->read(word, 8, clock->first_of_launch()).entry, 0u);
}

TEST(RaceClock, TimeOfAWarpIsLimited) {
  const auto clock = std::make_unique<RaceClock>();
  clock->begin_launch();
  clock->begin_block(0);
  clock->enter_thread(0);
  for (std::uint32_t step = 0; step < shadow_entry::kMaxTime; ++step) {
    ASSERT_TRUE(clock->meet(0, ~0u));
  }
  EXPECT_FALSE(clock->meet(0, ~0u));
}

TEST(RaceClock, TimeOfWarpsThatMeetIsLimited) {
  const auto clock = std::make_unique<RaceClock>();
  clock->begin_launch(kThreads);
  clock->begin_block(0);
  clock->enter_thread(0);
  for (std::uint32_t step = 1; step < shadow_entry::kMaxTime; ++step) {
    ASSERT_TRUE(clock->meet_warps(3));
  }
  EXPECT_FALSE(clock->meet_warps(3));
}

TEST(ShuffleSource, FollowsTheHardware) {
  using Kind = WarpOperationKind;
  EXPECT_EQ(shuffle_source(Kind::shuffle_index, 9, 3, 8), 11u);
  EXPECT_EQ(shuffle_source(Kind::shuffle_index, 9, 13, 8), 13u);
  EXPECT_EQ(shuffle_source(Kind::shuffle_index, 9, -1, 8), 15u);
  EXPECT_EQ(shuffle_source(Kind::shuffle_up, 9, 1, 8), 8u);
  EXPECT_EQ(shuffle_source(Kind::shuffle_up, 9, 2, 8), 9u);
  EXPECT_EQ(shuffle_source(Kind::shuffle_down, 14, 1, 8), 15u);
  EXPECT_EQ(shuffle_source(Kind::shuffle_down, 15, 1, 8), 15u);
  EXPECT_EQ(shuffle_source(Kind::shuffle_xor, 9, 4, 8), 13u);
  EXPECT_EQ(shuffle_source(Kind::shuffle_xor, 9, 8, 8), 1u) << "an earlier segment may be read";
  EXPECT_EQ(shuffle_source(Kind::shuffle_xor, 1, 8, 8), 1u) << "a later one may not";
  EXPECT_EQ(shuffle_source(Kind::shuffle_xor, 31, 16, 32), 15u);
}

}  // namespace
}  // namespace esc
