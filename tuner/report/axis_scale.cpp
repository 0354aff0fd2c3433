// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/axis_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace esc::tuning {
namespace {

/// 1, 2 or 5 times a power of ten, so that there are four to ten marks.
double readable_step(double range) {
  if (range <= 0) {
    return 1;
  }
  constexpr double most_marks = 9;
  const double power = std::pow(10, std::floor(std::log10(range / most_marks)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (range / (factor * power) <= most_marks) {
      return factor * power;
    }
  }
  return 10 * power;
}

}  // namespace

AxisScale::AxisScale(const Axis& axis, const std::vector<double>& numbers, double from, double to)
    : axis_(axis), from_(from), to_(to) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const double number : numbers) {
    least = std::min(least, transformed(number));
    most = std::max(most, transformed(number));
  }
  if (least > most) {
    least = most = 0;
  }
  step_ = axis_.logarithmic ? 1 : readable_step(most - least);
  low_ = std::floor(least / step_) * step_;
  high_ = std::max(std::ceil(most / step_) * step_, low_ + step_);
}

std::vector<double> AxisScale::marks() const {
  std::vector<double> numbers;
  const auto count = static_cast<int>(std::lround((high_ - low_) / step_));
  for (int mark = 0; mark <= count; ++mark) {
    const double number = low_ + mark * step_;
    numbers.push_back(axis_.logarithmic ? std::pow(axis_.base, number) : number);
  }
  return numbers;
}

double AxisScale::transformed(double number) const {
  return axis_.logarithmic ? std::log2(number) / std::log2(axis_.base) : number;
}

}  // namespace esc::tuning
