// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <csignal>

namespace esc::tuning {

/// While it lives, SIGINT and SIGTERM ask for a stop; what is in flight is finished. A second one ends the program at
/// once. One object at a time.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  /// The signal that has come; 0: none.
  int received() const;

 private:
  static constexpr std::array asking = {SIGINT, SIGTERM};
  std::array<struct sigaction, asking.size()> before_;
};

}  // namespace esc::tuning
