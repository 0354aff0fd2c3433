// SPDX-License-Identifier: Apache-2.0
#include "generator/support/means.h"

#include <algorithm>
#include <cmath>

namespace esc {

std::optional<double> geometric_mean(const std::vector<double>& numbers) {
  if (numbers.empty()) {
    return std::nullopt;
  }
  double sum = 0;
  for (const double number : numbers) {
    sum += std::log(number);
  }
  return std::exp(sum / static_cast<double>(numbers.size()));
}

std::optional<double> quantile(std::vector<double> numbers, double share) {
  if (numbers.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(numbers);
  const double place = share * static_cast<double>(numbers.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, numbers.size() - 1);
  return std::lerp(numbers[below], numbers[above], place - std::floor(place));
}

std::optional<double> share_of(std::size_t part, std::size_t whole) {
  return whole == 0 ? std::nullopt : std::optional(static_cast<double>(part) / static_cast<double>(whole));
}

double median(std::vector<double> samples) {
  if (samples.empty()) {
    return 0;
  }
  std::ranges::sort(samples);
  return (samples[(samples.size() - 1) / 2] + samples[samples.size() / 2]) / 2;
}

double relative_spread(std::vector<double> samples) {
  const double middle = median(samples);
  if (middle <= 0) {
    return 0;
  }
  std::ranges::sort(samples);
  const std::size_t quarter = (samples.size() - 1) / 4;
  return (samples[samples.size() - 1 - quarter] - samples[quarter]) / middle;
}

}  // namespace esc
