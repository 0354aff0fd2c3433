// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/placed_layout.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>

#include "generator/ir/joined_digits.h"
#include "generator/support/error.h"

namespace esc {
namespace {

/// Extents of all digits but the first, for which there is a 1.
std::vector<std::int64_t> extents_of(const std::vector<Digit>& digits, const Environment& sizes) {
  std::vector<std::int64_t> extents;
  for (const Digit& digit : digits) {
    extents.push_back(extents.empty() ? 1 : digit.extent.evaluate(sizes));
  }
  return extents;
}

std::int64_t product_of(const std::vector<std::int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

/// What the digits of the number add up to, each times its coefficient.
std::int64_t sum_of_digits(std::int64_t number, const std::vector<std::int64_t>& extents,
                           const std::vector<std::int64_t>& coefficients) {
  std::int64_t sum = 0;
  for (std::size_t digit = extents.size(); digit-- > 1;) {
    sum += number % extents[digit] * coefficients[digit];
    number /= extents[digit];
  }
  return sum + number * coefficients.front();
}

std::vector<std::int64_t> coefficients_of(const Affine& index, const std::vector<Digit>& digits) {
  std::vector<std::int64_t> coefficients;
  std::ranges::transform(digits, std::back_inserter(coefficients),
                         [&](const Digit& digit) { return index.coefficient(digit.name); });
  return coefficients;
}

}  // namespace

PlacedLayout::PlacedLayout() : PlacedLayout(row_major("row", 1, "column", Affine::of("N")), {}) {}

PlacedLayout::PlacedLayout(const Layout& given, const Environment& sizes) : row_major_(esc::is_row_major(given)) {
  ESC_CHECK(!given.row.empty() && !given.column.empty() && !given.dimensions.empty(), "a layout of a matrix");
  const Layout layout = join_columns(given);
  row_extents_ = extents_of(layout.row, sizes);
  column_extents_ = extents_of(layout.column, sizes);
  for (const StoredDimension& dimension : layout.dimensions) {
    dimensions_.push_back(
        {is_over_items(layout, dimension) ? std::nullopt : std::optional(dimension.extent.evaluate(sizes)),
         dimension.index.constant(), coefficients_of(dimension.index, layout.row),
         coefficients_of(dimension.index, layout.column), dimension.padded});
  }
}

std::int64_t PlacedLayout::columns_of_item() const { return product_of(column_extents_); }

std::int64_t PlacedLayout::least_leading_dimension(std::int64_t items) const {
  std::int64_t elements = 1;
  for (auto dimension = dimensions_.begin() + 1; dimension != dimensions_.end(); ++dimension) {
    elements *= dimension->extent.value_or(items);
  }
  return elements;
}

bool PlacedLayout::moves_vectors(std::int64_t width) const {
  const Dimension& last = dimensions_.back();
  const std::size_t digit = column_extents_.size() - 1;
  std::int64_t stride = 1;
  bool aligned = last.column[digit] == 1 && (digit == 0 || column_extents_[digit] % width == 0);
  for (std::size_t at = dimensions_.size(); at-- > 0;) {
    const Dimension& dimension = dimensions_[at];
    aligned = aligned && !dimension.padded;
    const auto begins_aligned = [&](std::int64_t step) { return at == 0 || step * stride % width == 0; };
    aligned = aligned && begins_aligned(dimension.constant) && std::ranges::all_of(dimension.row, begins_aligned);
    for (std::size_t one = 0; one < dimension.column.size(); ++one) {
      aligned = aligned && ((at + 1 == dimensions_.size() && one == digit) ||
                            (one == digit ? dimension.column[one] == 0 : begins_aligned(dimension.column[one])));
    }
    stride *= dimension.extent.value_or(width);
  }
  return aligned;
}

std::vector<PlacedLayout::Run> PlacedLayout::runs(std::int64_t row, std::int64_t first, std::int64_t count,
                                                  std::int64_t leading_dimension) const {
  std::vector<Run> runs;
  const std::int64_t end = first + count;
  while (first < end) {
    const std::int64_t line = column_extents_.back();
    const std::int64_t next = column_extents_.size() == 1 ? end : std::min(end, (first / line + 1) * line);
    if (const Run one = run(row, first, next - first, leading_dimension); one.count > 0) {
      runs.push_back(one);
    }
    first = next;
  }
  return runs;
}

PlacedLayout::Run PlacedLayout::run(std::int64_t row, std::int64_t first, std::int64_t count,
                                    std::int64_t leading_dimension) const {
  Run run{first, count, 0, 0};
  std::int64_t stride = 1;
  std::int64_t begin = 0;
  std::int64_t end = count;
  for (std::size_t at = dimensions_.size(); at-- > 0;) {
    const Dimension& dimension = dimensions_[at];
    const std::int64_t index = dimension.constant + sum_of_digits(row, row_extents_, dimension.row) +
                               sum_of_digits(first, column_extents_, dimension.column);
    const std::int64_t step = dimension.column.back();
    const auto is_padding = [&](std::int64_t place) {
      return index + place * step < 0 || index + place * step >= dimension.extent.value();
    };
    // What is no padding is together, for an index only ascends or only descends.
    for (; dimension.padded && begin < end && is_padding(begin); ++begin) {
    }
    for (; dimension.padded && begin < end && is_padding(end - 1); --end) {
    }
    const std::int64_t apart = at == 0 ? leading_dimension : stride;
    run.offset += index * apart;
    run.step += step * apart;
    stride *= dimension.extent.value_or(1);
  }
  return {first + begin, end - begin, run.offset + begin * run.step, run.step};
}

std::optional<std::int64_t> PlacedLayout::offset(std::int64_t row, std::int64_t column,
                                                 std::int64_t leading_dimension) const {
  const Run one = run(row, column, 1, leading_dimension);
  return one.count == 0 ? std::nullopt : std::optional(one.offset);
}

}  // namespace esc
