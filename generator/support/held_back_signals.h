#pragma once

#include <array>
#include <csignal>

namespace esc {

/// Holds back the signals that end a program (SIGINT, SIGTERM, SIGHUP) while files are half-written, whichever thread
/// they reach; they take effect at the end of the scope. Scopes may be nested, but not be open in two threads at once.
class HeldBackSignals {
 public:
  HeldBackSignals();
  HeldBackSignals(const HeldBackSignals&) = delete;
  HeldBackSignals& operator=(const HeldBackSignals&) = delete;
  ~HeldBackSignals();

 private:
  static constexpr std::array ending = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, ending.size()> before_;
};

}  // namespace esc
