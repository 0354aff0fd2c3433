// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "generator/lower/index_range.h"

namespace esc {

/// Numbers that are evenly spaced: start + step * index.
struct Line {
  std::int64_t start = 0;
  std::int64_t step = 0;
};

/// The line on which the whole numbers of a table lie at all indices of the range; nothing where they do not, or some
/// of them are not there.
std::optional<Line> line_through(const std::vector<double>& values, const IndexRange& range);

}  // namespace esc
