// SPDX-License-Identifier: Apache-2.0
#include "tuner/commands/run_narrator.h"

#include <fmt/format.h>
#include <unistd.h>

#include "generator/support/standard_streams.h"

namespace esc {

RunNarrator::RunNarrator(const Console& console)
    : console_(console),
      progress_([this](const std::string& text) { write(text); }, {.terminal = isatty(STDERR_FILENO) == 1},
                steady_seconds) {}

tuning::RunObserver RunNarrator::observer() {
  return {
      .expects = [this](std::size_t candidates) { progress_.expect(candidates); },
      .measured = [this](std::size_t candidates, const std::string& where) { progress_.advance(candidates, where); },
      .decided = [this](const tuning::DecisionRecord& decision) { say(decision); },
      .failed = [this](const std::string& problem) { fail(problem); }};
}

void RunNarrator::say(const tuning::DecisionRecord& decision) {
  if (console_.verbosity() == Verbosity::verbose) {
    progress_.say(fmt::format("{}: {} {:.2f} us, {}", describe(decision.item), decision.winner,
                              decision.winner_microseconds, print(decision.verdict)));
  }
}

void RunNarrator::fail(const std::string& problem) {
  if (console_.verbosity() == Verbosity::quiet) {
    console_.error(problem);
  } else {
    progress_.say(problem);
  }
}

void RunNarrator::write(const std::string& text) const {
  if (console_.verbosity() != Verbosity::quiet) {
    write_to_standard_error(text);
  }
}

}  // namespace esc
