// SPDX-License-Identifier: Apache-2.0
#include "tests/support/run_size.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string_view>

namespace esc::tests {
namespace {

#ifdef ESC_SANITIZED
constexpr std::size_t share = 4;
#else
constexpr std::size_t share = 1;
#endif

std::vector<SampledSuite>& suites() {
  static std::vector<SampledSuite> all;
  return all;
}

std::uint64_t wanted_seed() {
  constexpr std::uint64_t ordinary = 0;
  const char* const given = std::getenv("ESC_SEED");
  return given != nullptr ? std::stoull(given) : full_sweep() ? std::random_device{}() : ordinary;
}

}  // namespace

bool full_sweep() {
  const char* sweep = std::getenv("ESC_SWEEP");
  return sweep != nullptr && std::string_view(sweep) == "full";
}

std::uint64_t seed_of_the_run() {
  static const std::uint64_t seed = wanted_seed();
  return seed;
}

std::uint64_t seed_of_properties() {
  constexpr std::uint64_t with_known_cases = 20;  // of the first runs, which the tests were written with
  return with_known_cases + seed_of_the_run();
}

std::size_t in_this_build(std::size_t ordinary) { return std::max<std::size_t>(1, ordinary / share); }

bool sample_suite(const std::string& name, std::size_t ordinary) {
  suites().push_back({name, ordinary});
  return true;
}

const std::vector<SampledSuite>& sampled_suites() { return suites(); }

std::string why_not_ordinary() {
  constexpr std::size_t some = 100;
  return in_this_build(some) == some ? "" : "a build with sanitizers takes a part of an ordinary run";
}

}  // namespace esc::tests
