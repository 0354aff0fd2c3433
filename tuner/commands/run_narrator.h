// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/commands/console.h"
#include "generator/support/progress.h"
#include "tuner/run/tuning_run.h"

namespace esc {

/// Says on standard error how far a run is.
class RunNarrator {
 public:
  /// The console outlives it.
  explicit RunNarrator(const Console& console);

  tuning::RunObserver observer();
  void finish() { progress_.finish(); }

 private:
  void say(const tuning::DecisionRecord& decision);
  /// With --quiet there is no bar, but what went wrong is said all the same.
  void fail(const std::string& problem);
  void write(const std::string& text) const;

  const Console& console_;
  Progress progress_;
};

}  // namespace esc
