// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace esc::tests {

/// Whether the environment asks for the whole of every sweep (ESC_SWEEP=full) and not for the part that an ordinary run
/// takes.
bool full_sweep();

/// What everything that a run draws follows from: ESC_SEED where that is set; else in an ordinary run always the same,
/// so that it can be run again, and in a whole one another each time. The program prints it.
std::uint64_t seed_of_the_run();
/// And that of RapidCheck's properties.
std::uint64_t seed_of_properties();

/// How many of so many cases of an ordinary run a run of this build takes: all; under the sanitizers, where each takes
/// many times as long, a quarter, and at least one.
std::size_t in_this_build(std::size_t ordinary);

/// Why a test of what an ordinary run covers has nothing to say in this build: it takes a part of it. Empty where it
/// takes all.
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

/// Cases of a suite of which a run that names none takes a part, drawn with its seed; a whole run takes all, and one
/// that asks for cases by their names takes those.
struct SampledSuite {
  std::string name;  ///< as GoogleTest prints it: "All/InstructionText"
  std::size_t ordinary = 1;
};

/// Has an ordinary run take so many of the suite's cases. At the level of a file:
///
///     const bool is_sampled = tests::sample_suite("All/InstructionText", 48);
bool sample_suite(const std::string& name, std::size_t ordinary);

/// Those that were given to sample_suite().
const std::vector<SampledSuite>& sampled_suites();

/// So many of them that an ordinary run draws with its seed, in their order; a whole run takes all.
template <class Case>
std::vector<Case> drawn_of(const std::vector<Case>& all, std::size_t ordinary) {
  if (full_sweep()) {
    return all;
  }
  std::vector<Case> part;
  std::mt19937_64 random(seed_of_the_run());
  std::ranges::sample(all, std::back_inserter(part), static_cast<std::ptrdiff_t>(in_this_build(ordinary)), random);
  return part;
}

}  // namespace esc::tests
