// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/block_diagonal.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "generator/support/error.h"

namespace esc {
namespace {

/// The number that the digits of groups make in a row.
std::int64_t group_of(std::int64_t row, const ProductDigits& digits) {
  const std::vector<std::int64_t> values = values_of(row, digits.rows);
  std::int64_t group = 0;
  for (std::size_t at = 0; at < digits.groups; ++at) {
    const Digit& digit = digits.reductions[at];
    const auto place = std::ranges::find(digits.rows, digit.name, &Digit::name) - digits.rows.begin();
    group = group * digit.extent.constant() + values[static_cast<std::size_t>(place)];
  }
  return group;
}

}  // namespace

SparseMatrix block_diagonal(SparseMatrix stored, const ProductDigits& digits) {
  if (digits.groups == 0) {
    return stored;
  }
  const auto behind = digits.reductions.begin() + static_cast<std::ptrdiff_t>(digits.groups);
  const std::optional<std::int64_t> groups = count_of({digits.reductions.begin(), behind});
  const std::optional<std::int64_t> columns = count_of({behind, digits.reductions.end()});
  const std::optional<std::int64_t> rows = count_of(digits.rows);
  ESC_CHECK(groups && columns && rows, "the sizes of a product with groups are numbers");
  if (stored.rows != *rows || stored.columns != *columns) {
    throw UserError(
        "matrix",
        fmt::format("is {} x {}, but the nest's sparse array has {} rows, those of all groups, of {} elements each",
                    stored.rows, stored.columns, *rows, *columns),
        "give the weights as the nest declares them, without zeros between the groups, or change its sizes");
  }
  if (*groups > std::numeric_limits<std::int32_t>::max() / *columns) {
    throw UserError("loop nest",
                    fmt::format("has {} groups of {} columns each: together more than 2147483647", *groups, *columns),
                    "make a kernel for each of some parts of the groups");
  }
  for (std::int64_t row = 0; row < stored.rows; ++row) {
    const std::int64_t first = group_of(row, digits) * *columns;
    for (std::int64_t at = stored.offsets[static_cast<std::size_t>(row)];
         at < stored.offsets[static_cast<std::size_t>(row) + 1]; ++at) {
      stored.column_of[static_cast<std::size_t>(at)] += static_cast<std::int32_t>(first);
    }
  }
  stored.columns = *groups * *columns;
  return stored;
}

}  // namespace esc
