// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/emulation/emulation_fixture.h"

namespace esc::testing {

/// A text that begins with tests/device/async_instructions.cuh.
inline std::string with_async_instructions(const std::string& text) {
  std::ifstream file(ESC_SOURCE_DIR "/tests/device/async_instructions.cuh");
  std::ostringstream whole;
  whole << file.rdbuf() << "\n#line 1\n" << text;
  return whole.str();
}

/// Steps of a ring, and the values of a slot of it.
inline constexpr int kRingSteps = 20;
inline constexpr int kSlotValues = 64;

/// The orders of threads that each text is run in: of their numbers, and some others.
inline const std::vector<std::optional<std::uint64_t>> kOrders = {std::nullopt, 1, 2, 3, 4, 5};

/// Of a text that reads values of x that stand for steps of a ring, and writes y; `first` gets the first of y.
inline std::vector<EmulationFault> faults_of(const std::string& text, std::optional<std::uint64_t> order,
                                             float* first = nullptr) {
  EmulationOptions options;
  options.shuffle_seed = order;
  Emulation emulation(with_async_instructions(text), kSlotValues * kRingSteps, 256, options);
  emulation.run();
  if (first != nullptr) {
    *first = emulation.y[0];
  }
  return emulation.device.faults();
}

/// There must be one.
inline EmulationFault first_fault(const std::string& text, std::optional<std::uint64_t> order = {}) {
  const std::vector<EmulationFault> faults = faults_of(text, order);
  EXPECT_FALSE(faults.empty());
  return faults.empty() ? EmulationFault{} : faults.front();
}

}  // namespace esc::testing
