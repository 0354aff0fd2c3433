// SPDX-License-Identifier: Apache-2.0
#include "generator/patterns/census.h"

#include "generator/patterns/csr_view.h"
#include "generator/support/error.h"
#include "transformer/list_format.h"
#include "transformer/row_tile_sources.h"

namespace esc {

std::int64_t PatternCensus::enumerated_columns() const {
  std::int64_t sum = 0;
  for (const auto& [pattern, count] : columns) {
    sum += count;
  }
  return sum;
}

double PatternCensus::reuse() const {
  const std::int64_t loads = enumerated_columns();
  return loads == 0 ? 0.0 : static_cast<double>(nonzeros) / static_cast<double>(loads);
}

double PatternCensus::empty_pairs() const {
  const double pairs = static_cast<double>(row_tiles) * static_cast<double>((std::int64_t{1} << height) - 1);
  return 1.0 - static_cast<double>(occupied_pairs) / pairs;
}

std::vector<Pattern> PatternCensus::patterns() const {
  std::vector<Pattern> present;
  for (const auto& [pattern, count] : columns) {
    present.push_back(pattern);
  }
  return present;
}

PatternCensus take_census(const SparseMatrix& matrix, int height) {
  ESC_CHECK(height >= 1 && height <= static_cast<int>(transformer::max_height), "a row tile of 1 to 8 rows");
  const transformer::ListShape shape{{.height = static_cast<std::uint32_t>(height)}, matrix.rows, matrix.columns};
  const transformer::CsrRows<std::int64_t, double> rows{matrix.offsets.data(), matrix.column_of.data(),
                                                        matrix.values.data()};
  std::vector<std::int64_t> columns(shape.patterns());
  std::vector<std::int64_t> last_row_tile(shape.patterns(), -1);
  PatternCensus census{.height = height, .row_tiles = shape.row_tiles(), .nonzeros = matrix.nonzeros(), .columns = {}};
  for (std::int64_t row_tile = 0; row_tile < shape.row_tiles(); ++row_tile) {
    rows.visit(shape.first_row(row_tile), shape.rows_in(row_tile), [&](std::int64_t, std::uint64_t mask, const auto&) {
      ++columns[mask];
      census.occupied_pairs += last_row_tile[mask] != row_tile ? 1 : 0;
      last_row_tile[mask] = row_tile;
    });
  }
  for (std::uint64_t mask = 1; mask < columns.size(); ++mask) {
    if (columns[mask] != 0) {
      census.columns[{mask, height}] = columns[mask];
    }
  }
  return census;
}

}  // namespace esc
