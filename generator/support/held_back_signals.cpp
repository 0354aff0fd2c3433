// SPDX-License-Identifier: Apache-2.0
#include "generator/support/held_back_signals.h"

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>

namespace esc {
namespace {

/// The signal that is held back, 0 for none: the one thing that a handler can reach. Blocking the signals would not do,
/// because other threads, of a thread pool for example, would still take them.
std::atomic<int> held_back = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void hold_back(int signal) { held_back = signal; }

constexpr std::array ending = {SIGINT, SIGTERM, SIGHUP};

/// What all open scopes share.
struct Scopes {
  std::mutex mutex;
  int open = 0;
  std::array<bool, ending.size()> held = {};
};

Scopes& scopes() {
  static Scopes shared;
  return shared;
}

}  // namespace

HeldBackSignals::HeldBackSignals() {
  Scopes& shared = scopes();
  const std::lock_guard lock(shared.mutex);
  if (shared.open++ > 0) {
    return;
  }
  struct sigaction hold = {};
  hold.sa_handler = hold_back;
  hold.sa_flags = SA_RESTART;
  sigemptyset(&hold.sa_mask);
  for (std::size_t at = 0; at < ending.size(); ++at) {
    struct sigaction before = {};
    sigaction(ending[at], nullptr, &before);
    // A program that has a handler of its own, or ignores the signal, is not ended by it.
    shared.held[at] = before.sa_handler == SIG_DFL && sigaction(ending[at], &hold, nullptr) == 0;
  }
}

HeldBackSignals::~HeldBackSignals() {
  Scopes& shared = scopes();
  {
    const std::lock_guard lock(shared.mutex);
    if (--shared.open > 0) {
      return;
    }
    for (std::size_t at = 0; at < ending.size(); ++at) {
      if (shared.held[at]) {
        std::signal(ending[at], SIG_DFL);
      }
    }
  }
  if (const int signal = held_back.exchange(0); signal != 0) {
    raise(signal);
  }
}

}  // namespace esc
