// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "generator/emulate/access_judge.h"

namespace esc {

/// The named barriers (bar.sync and bar.arrive with a number and a count of threads) of one block. A warp arrives
/// whole, as the instructions demand, and waits or goes on. A round is over when its warps have as many threads as its
/// count says; whoever arrives next begins another round. Threads must be followed one by one: a round orders those who
/// wait with each other and after those who went on, and nobody else.
///
/// Threads that have returned are never made up for, whatever the options say of barriers of the whole block: the count
/// is the text's, so that a round that lacks a warp does not end, and PTX promises nothing of a warp that lacks lanes.
class NamedBarriers {
 public:
  /// What a lane asks for, in one word but for `waits`, which is the same for a statement.
  struct Request {
    std::uint32_t number = 0;
    std::uint32_t count = 0;
    bool waits = true;

    std::uint64_t packed() const { return std::uint64_t{count} << 32 | number; }
    static Request of(std::uint64_t packed, bool waits) {
      return {static_cast<std::uint32_t>(packed), static_cast<std::uint32_t>(packed >> 32), waits};
    }
  };

  explicit NamedBarriers(AccessJudge& judge) : judge_(judge) {}

  void begin_block(std::uint32_t threads);

  /// Stops the running thread where its request has no meaning.
  void check(Request request);
  /// `warp`, to which the running thread belongs, arrives; `requests` has the packed one of each lane.
  void arrive(std::uint32_t warp, const std::array<std::uint64_t, 32>& requests, bool waits);
  /// The number of the barrier whose round `warp` waits in, or 0.
  std::uint32_t holding(std::uint32_t warp) const { return holding_[warp]; }
  /// The warps, as bits, of rounds that are complete by now.
  std::uint32_t take_met() { return std::exchange(met_, 0); }

  /// "barrier 3, where 32 of 64 threads have arrived", of a warp that waits.
  std::string describe_wait(std::uint32_t warp) const;

 private:
  struct Barrier {
    std::uint32_t warps = 0;    ///< that have arrived in this round, as bits
    std::uint32_t waiting = 0;  ///< those of them that wait
    std::uint32_t count = 0;    ///< that the first of them has named
    std::uint32_t site = 0;     ///< where it has
    Knowledge left = {};        ///< by those who went on
    // Of the round before:
    std::uint32_t interval = 0;  ///< in which it was complete; 0: there was none
    std::uint32_t thread = 0;    ///< one of those who waited
    std::uint32_t time = 0;      ///< of that thread, as it met the others

    std::uint32_t arrived() const;
  };

  static const char* does(bool waits) { return waits ? "waits" : "arrives"; }
  bool is_behind_round_before(const Barrier& barrier, std::uint32_t warp);
  void complete(Barrier& barrier);
  [[noreturn]] void refuse_for_limit();
  AccessJudge& judge_;
  std::uint32_t threads_ = 0;
  std::array<Barrier, 16> barriers_;  ///< by number; the first is that of __syncthreads, and not used
  std::array<std::uint32_t, 32> holding_{};
  std::uint32_t met_ = 0;
};

}  // namespace esc
