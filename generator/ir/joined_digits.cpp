// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/joined_digits.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace esc {
namespace {

/// Which digits are joined, and from which one and which dimension on.
struct Joint {
  std::vector<Digit> Layout::* digits;
  std::size_t first_digit;
  std::size_t first_dimension;
};

/// Makes one dimension of two, from this one on, where the first counts this digit and the second the next one.
void join_dimensions(Layout& layout, std::size_t first, const Digit& digit, const Digit& next) {
  const auto counts = [](const StoredDimension& dimension, const Digit& one) {
    return dimension.index.is_name(one.name) && dimension.extent == one.extent;
  };
  std::vector<StoredDimension>& dimensions = layout.dimensions;
  for (std::size_t outer = first; outer + 1 < dimensions.size(); ++outer) {
    if (counts(dimensions[outer], digit) && counts(dimensions[outer + 1], next)) {
      const std::int64_t step = next.extent.constant();
      dimensions[outer] = {digit.extent * step, Affine::of(digit.name, step) + Affine::of(next.name), false};
      dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(outer) + 1);
      return;
    }
  }
}

/// The layout with one digit for this one and the next one; nothing where one of them is without the other.
std::optional<Layout> joined(Layout layout, const Joint& joint, std::size_t at) {
  std::vector<Digit>& digits = layout.*joint.digits;
  const Digit digit = digits[at];
  const Digit next = digits[at + 1];
  join_dimensions(layout, joint.first_dimension, digit, next);
  const std::int64_t step = next.extent.constant();
  for (StoredDimension& dimension : layout.dimensions) {
    const std::int64_t coefficient = dimension.index.coefficient(digit.name);
    if (coefficient != step * dimension.index.coefficient(next.name)) {
      return std::nullopt;
    }
    dimension.index = dimension.index - Affine::of(digit.name, coefficient);
  }
  digits[at + 1].extent = digit.extent * step;
  digits.erase(digits.begin() + static_cast<std::ptrdiff_t>(at));
  return layout;
}

Layout with_joint(Layout layout, const Joint& joint) {
  for (std::size_t at = joint.first_digit; at + 1 < (layout.*joint.digits).size();) {
    if (std::optional<Layout> fewer = joined(layout, joint, at)) {
      layout = std::move(*fewer);
    } else {
      ++at;
    }
  }
  return layout;
}

}  // namespace

Layout join_rows(Layout layout) { return with_joint(std::move(layout), {&Layout::row, 0, 0}); }

Layout join_columns(Layout layout) { return with_joint(std::move(layout), {&Layout::column, 1, 1}); }

bool has_whole_columns(const Layout& layout) {
  return has_contiguous_rows(layout) && join_columns(layout).dimensions.size() == 2;
}

}  // namespace esc
