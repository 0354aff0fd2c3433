// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/measured_ratios.h"

#include <fmt/format.h>

namespace esc {

std::optional<double> MeasuredRatios::expected_microseconds() const {
  return over_exact && exact_microseconds ? std::optional(*exact_microseconds / *over_exact) : std::nullopt;
}

std::string describe_speed(const MeasuredRatios& measured) {
  std::string text = fmt::format("about {:.2f} x the faster one of cuBLAS and cuSPARSE", *measured.over_exact);
  if (const std::optional<double> expected = measured.expected_microseconds()) {
    text += fmt::format(", {:.1f} us in place of {:.1f}", *expected, *measured.exact_microseconds);
  }
  return text;
}

void ExpectedTimes::add(const ExpectedTimes& more) {
  layers += more.layers;
  library += more.library;
  ours += more.ours;
}

ExpectedTimes expected_times(const std::optional<MeasuredRatios>& measured) {
  const std::optional<double> ours = measured ? measured->expected_microseconds() : std::nullopt;
  return ours ? ExpectedTimes{1, *measured->exact_microseconds, *ours} : ExpectedTimes{};
}

}  // namespace esc
