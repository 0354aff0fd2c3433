// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace esc {

/// Absent for no numbers. All have to be positive.
std::optional<double> geometric_mean(const std::vector<double>& numbers);

/// The number below which `share` (0 to 1) of the numbers are, interpolated between neighbours. Absent for no numbers.
std::optional<double> quantile(std::vector<double> numbers, double share);

/// part / whole; absent where there is no whole.
std::optional<double> share_of(std::size_t part, std::size_t whole);

/// The median of some times and how far their middle half reaches, relative to it. Of no times both are 0.
double median(std::vector<double> samples);
double relative_spread(std::vector<double> samples);

}  // namespace esc
