// SPDX-License-Identifier: Apache-2.0
#include "tests/support/run_size.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace esc::tests {
namespace {

#ifdef ESC_SANITIZED
constexpr std::size_t share = 4;
#else
constexpr std::size_t share = 1;
#endif

}  // namespace

bool full_sweep() {
  const char* sweep = std::getenv("ESC_SWEEP");
  return sweep != nullptr && std::string_view(sweep) == "full";
}

std::size_t in_this_build(std::size_t ordinary) { return std::max<std::size_t>(1, ordinary / share); }

std::string why_not_ordinary() {
  constexpr std::size_t some = 100;
  return in_this_build(some) == some ? "" : "a build with sanitizers takes a part of an ordinary run";
}

}  // namespace esc::tests
