// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/table_line.h"

#include <cmath>

namespace esc {
namespace {

/// Below it doubles are whole numbers to the last one, and so are differences of two.
constexpr double most = 4503599627370496;  // 2^52

}  // namespace

std::optional<Line> line_through(const std::vector<double>& values, const IndexRange& range) {
  if (range.least < 0 || range.most >= std::ssize(values)) {
    return std::nullopt;
  }
  const auto value = [&](std::int64_t at) { return values[static_cast<std::size_t>(at)]; };
  for (std::int64_t at = range.least; at <= range.most; ++at) {
    if (std::abs(value(at)) > most) {
      return std::nullopt;
    }
  }
  const double step = range.most > range.least ? value(range.least + 1) - value(range.least) : 0;
  for (std::int64_t at = range.least; at < range.most; ++at) {
    if (value(at + 1) - value(at) != step) {
      return std::nullopt;
    }
  }
  const double start = value(range.least) - step * static_cast<double>(range.least);
  return Line{static_cast<std::int64_t>(start), static_cast<std::int64_t>(step)};
}

}  // namespace esc
