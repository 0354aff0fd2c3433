#include "generator/support/held_back_signals.h"

#include <atomic>

namespace esc {
namespace {

/// The signal that is held back, 0 for none: the one thing that a handler can reach. Blocking the signals would not do,
/// because other threads, of a thread pool for example, would still take them.
std::atomic<int> held_back = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void hold_back(int signal) { held_back = signal; }

}  // namespace

HeldBackSignals::HeldBackSignals() {
  struct sigaction hold = {};
  hold.sa_handler = hold_back;
  hold.sa_flags = SA_RESTART;
  sigemptyset(&hold.sa_mask);
  for (std::size_t at = 0; at < ending.size(); ++at) {
    sigaction(ending[at], &hold, &before_[at]);
  }
}

HeldBackSignals::~HeldBackSignals() {
  for (std::size_t at = 0; at < ending.size(); ++at) {
    sigaction(ending[at], &before_[at], nullptr);
  }
  if (const int signal = held_back.exchange(0); signal != 0) {
    raise(signal);
  }
}

}  // namespace esc
