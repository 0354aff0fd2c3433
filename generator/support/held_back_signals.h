// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace esc {

/// Holds back the signals that would end the program (SIGINT, SIGTERM and SIGHUP, where nothing else handles them)
/// while files are half-written, whichever thread they reach; they take effect when the last open scope ends. Scopes
/// may be nested and be open in several threads at once.
class HeldBackSignals {
 public:
  HeldBackSignals();
  HeldBackSignals(const HeldBackSignals&) = delete;
  HeldBackSignals& operator=(const HeldBackSignals&) = delete;
  ~HeldBackSignals();
};

}  // namespace esc
