// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace esc::tests {

/// Whether the environment asks for the whole of every sweep (ESC_SWEEP=full) and not for the part that an ordinary run
/// takes.
bool full_sweep();

/// How many of so many cases of an ordinary run a run of this build takes: all; under the sanitizers, where each takes many times as long, a
/// quarter, and at least one.
std::size_t in_this_build(std::size_t ordinary);

/// Why a test of what an ordinary run covers has nothing to say in this build: it takes a part of it. Empty where it takes all.
std::string why_not_ordinary();

/// Those of an ordinary run that a run of this build takes, spread over them.
template <class Case>
std::vector<Case> in_this_build(std::vector<Case> ordinary) {
  const std::size_t step = std::max<std::size_t>(1, ordinary.size() / in_this_build(ordinary.size()));
  std::vector<Case> part;
  for (std::size_t index = 0; index < ordinary.size(); index += step) {
    part.push_back(ordinary[index]);
  }
  return part;
}

}  // namespace esc::tests
