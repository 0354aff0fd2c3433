// SPDX-License-Identifier: Apache-2.0
#include "tests/support/order_of_sums.h"

#include <algorithm>
#include <set>

#include "generator/patterns/csr_view.h"
#include "transformer/pack.h"

namespace esc::tests {
namespace {

/// The columns of the row tile that a row is in, ascending.
std::vector<std::int32_t> row_tile_columns(const SparseMatrix& a, std::int64_t row, std::int64_t height) {
  const std::int64_t first = row / height * height;
  const auto begin = a.column_of.begin() + a.offsets[static_cast<std::size_t>(first)];
  const auto end = a.column_of.begin() + a.offsets[static_cast<std::size_t>(std::min(first + height, a.rows))];
  const std::set<std::int32_t> columns(begin, end);
  return {columns.begin(), columns.end()};
}

}  // namespace

OrderOfSums::OrderOfSums(const Schedule& schedule, const SparseMatrix& a) : schedule_(schedule), a_(a) {
  if (const auto* const row_tile = std::get_if<PanelSchedule>(&schedule)) {
    const transformer::RegionCut cut{.height = static_cast<std::uint32_t>(row_tile->ufi),
                                     .warp_row_tiles = static_cast<std::uint32_t>(row_tile->warp_row_tiles()),
                                     .block_row_tiles = static_cast<std::uint32_t>(row_tile->row_tiles)};
    every_column_ = transformer::plan(csr_view(a), cut).counts.every_column;
  }
}

std::optional<std::vector<std::int32_t>> OrderOfSums::of_row(std::int64_t row) const {
  if (const auto* const row_tile = std::get_if<PanelSchedule>(&schedule_)) {
    constexpr std::int32_t all = -1;
    return every_column_ ? std::vector{all} : row_tile_columns(a_, row, row_tile->ufi);
  }
  const auto* const rows = std::get_if<RowsSchedule>(&schedule_);
  if (rows == nullptr || a_.row_length(row) > rows->task) {
    return std::nullopt;
  }
  return std::vector<std::int32_t>();
}

}  // namespace esc::tests
