// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/matching_sizes.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "generator/ir/product_digits.h"
#include "generator/support/error.h"

namespace esc {
namespace {

void require_count(const std::vector<Digit>& digits, std::int64_t size, const std::string& what) {
  if (const std::optional<std::int64_t> count = count_of(digits); count && count != size) {
    throw UserError("loop nest", fmt::format("has {} {}, but the matrix has {}", *count, what, size),
                    "make the bound a parameter, or give the matrix that the nest is for");
  }
}

}  // namespace

void require_matching_sizes(const LoopNest& nest, std::int64_t rows, std::int64_t columns, std::int64_t bcol) {
  const ProductDigits digits = digits_of(nest);
  require_count(digits.rows, rows, "rows");
  require_count(digits.reductions, columns, "columns");
  require_count({digits.columns.front()}, bcol, "columns of B");
}

}  // namespace esc
