// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "generator/ir/loop_nest.h"

namespace esc {

/// Threads that wait for each other alone, and between which of their barriers something happens.
struct Group {
  std::int64_t number = 0;
  std::int64_t phase = 0;
  bool operator==(const Group&) const = default;
};

/// When an element is touched: in which parallel iteration, between which barriers of its block or cluster, and in
/// which consumer group and warp between which of their own. Memory that no barrier orders has one phase.
struct Moment {
  std::int64_t iteration = 0;
  std::int64_t phase = 0;
  Group consumer_group = {};
  Group warp = {};
  bool operator==(const Moment&) const = default;
};

/// Who touched each element last, to find races: two parallel iterations of one phase that touch an element, one of
/// them writing, unless both add atomically.
class RaceCheck {
 public:
  /// Throw Defect for a race. The element is known by its address; `access` is for the message.
  void read(const double* element, const Moment& moment, const Access& access);
  void write(const double* element, const Moment& moment, bool atomic, const Access& access);

 private:
  /// Phases and iterations count from 0; before any of them nothing was touched.
  struct History {
    Moment writer{-1, -1, {-1, -1}, {-1, -1}};
    Moment reader{-1, -1, {-1, -1}, {-1, -1}};
    bool atomic = false;           ///< every write of the last writer
    bool several_readers = false;  ///< in the phase of the last reader
  };

  /// Of elements that are beside each other.
  using Page = std::array<History, 64>;

  History& history_of(const double* element);

  std::unordered_map<std::uintptr_t, Page> pages_;
  /// The latest pages, each at the place that its number gives: what is touched is mostly one of a few.
  std::array<std::pair<std::uintptr_t, Page*>, 256> latest_{};
};

}  // namespace esc
