// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/stop_signals.h"

namespace esc::tuning {
namespace {

volatile std::sig_atomic_t received_signal = 0;

/// The system has put the default action back, so that the next one ends the program.
void receive(int signal) { received_signal = signal; }

}  // namespace

StopSignals::StopSignals() {
  received_signal = 0;
  struct sigaction action = {};
  action.sa_handler = receive;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t number = 0; number < asking.size(); ++number) {
    sigaction(asking[number], &action, &before_[number]);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t number = 0; number < asking.size(); ++number) {
    sigaction(asking[number], &before_[number], nullptr);
  }
}

int StopSignals::received() const { return received_signal; }

}  // namespace esc::tuning
