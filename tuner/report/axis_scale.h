// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace esc::tuning {

/// How numbers lie along an axis. A logarithmic one takes positive numbers only and has its marks at powers of `base`.
struct Axis {
  std::string label;
  bool logarithmic = false;
  double base = 2;
};

/// An axis with the range that holds all of some numbers and ends at marks, drawn between two places of a picture.
class AxisScale {
 public:
  AxisScale(const Axis& axis, const std::vector<double>& numbers, double from, double to);

  double place(double number) const { return from_ + (transformed(number) - low_) / (high_ - low_) * (to_ - from_); }

  std::vector<double> marks() const;

 private:
  double transformed(double number) const;

  Axis axis_;
  double from_;
  double to_;
  double step_ = 1;
  double low_ = 0;
  double high_ = 1;
};

}  // namespace esc::tuning
