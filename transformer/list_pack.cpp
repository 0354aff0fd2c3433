// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>

#include <numeric>

#include "transformer/checked_shape.h"
#include "transformer/list_packing.h"
#include "transformer/pack.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

/// Where each row tile starts, and after them the totals.
template <typename Source>
std::vector<ListCounts> row_tile_starts(const Source& source, const ListShape& shape) {
  std::vector<ListCounts> starts(static_cast<std::size_t>(shape.row_tiles()) + 1);
  tbb::parallel_for(std::int64_t{0}, shape.row_tiles(), [&](std::int64_t row_tile) {
    starts[static_cast<std::size_t>(row_tile)] = total(count_patterns(source, shape, row_tile), shape);
  });
  std::exclusive_scan(starts.begin(), starts.end(), starts.begin(), ListCounts{});
  return starts;
}

template <typename Source>
Packed<ListFormat> pack_source(const Source& source, const ListShape& shape) {
  using Element = typename Source::ElementType;
  const std::vector<ListCounts> starts = row_tile_starts(source, shape);
  Packed<ListFormat> packed(describe(shape, starts.back()));
  with_arrays<Element>(packed.format, packed.bytes.data(), [&](const auto& arrays) {
    tbb::parallel_for(std::int64_t{0}, shape.row_tiles(), [&](std::int64_t row_tile) {
      const PatternCounts counts = count_patterns(source, shape, row_tile);
      fill_row_tile(source, shape, row_tile, counts, starts[static_cast<std::size_t>(row_tile)], arrays);
    });
  });
  seal<Element>(packed.format, packed.bytes.data());
  return packed;
}

}  // namespace

ListFormat plan(const CsrView& matrix, const ListCut& cut) {
  const ListShape shape = checked_shape(matrix, cut);
  return describe(shape, row_tile_starts(rows_of(matrix), shape).back());
}

Packed<ListFormat> pack(const CsrView& matrix, const ListCut& cut) {
  const ListShape shape = checked_shape(matrix, cut);
  return with_source(matrix, [&](const auto& source) { return pack_source(source, shape); });
}

}  // namespace esc::transformer
