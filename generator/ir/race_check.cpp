// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/race_check.h"

#include "generator/ir/print.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// Whether a barrier of both is between the two.
bool are_ordered(const Group& earlier, const Group& now) {
  return earlier.number == now.number && earlier.phase != now.phase;
}

/// Whether no barrier is between the two. Of blocks that are interpreted one after the other, the later one may be
/// in an earlier phase.
bool is_unordered(const Moment& earlier, const Moment& now) {
  return earlier.phase >= now.phase && !are_ordered(earlier.warp, now.warp) &&
         !are_ordered(earlier.consumer_group, now.consumer_group);
}

/// Whether another iteration was there, and nothing orders the two.
bool is_other(const Moment& earlier, const Moment& now) {
  return earlier.iteration != now.iteration && is_unordered(earlier, now);
}

}  // namespace

RaceCheck::History& RaceCheck::history_of(const double* element) {
  const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(element) / sizeof(double);
  const std::uintptr_t number = place / std::tuple_size_v<Page>;
  auto& [held, page] = latest_[number % latest_.size()];
  if (page == nullptr || held != number) {
    held = number;
    page = &pages_[number];
  }
  return (*page)[place % std::tuple_size_v<Page>];
}

void RaceCheck::read(const double* element, const Moment& moment, const Access& access) {
  History& history = history_of(element);
  ESC_CHECK(!is_other(history.writer, moment), "race: two parallel iterations write and read " + print(access));
  history.several_readers =
      is_unordered(history.reader, moment) && (history.several_readers || history.reader.iteration != moment.iteration);
  history.reader = moment;
}

void RaceCheck::write(const double* element, const Moment& moment, bool atomic, const Access& access) {
  History& history = history_of(element);
  ESC_CHECK(!is_other(history.writer, moment) || (history.atomic && atomic),
            "race: two parallel iterations write " + print(access));
  ESC_CHECK(!is_other(history.reader, moment) && !(history.several_readers && is_unordered(history.reader, moment)),
            "race: two parallel iterations read and write " + print(access));
  history.atomic = atomic && (history.atomic || history.writer != moment);
  history.writer = moment;
}

}  // namespace esc
