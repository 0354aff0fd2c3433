// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/sampled_tiles.h"

#include <algorithm>
#include <cstddef>

#include "generator/emit/dispatch.h"

namespace esc {
namespace {

/// Columns of C that each launch of a call has but the last, of whole items.
std::int64_t launch_columns(const KernelCall& call, std::int64_t tile_columns) {
  return most_tiles * tile_columns / call.item_columns * call.item_columns;
}

}  // namespace

std::set<std::uint64_t> SampledTiles::of_launch(const KernelCall& call, std::int64_t number) const {
  const std::int64_t of_each = launch_columns(call, columns);
  std::set<std::uint64_t> tiles;
  for (const ColumnRange& range : call.compared()) {
    const std::int64_t begin = std::max<std::int64_t>(range.first - number * of_each, 0);
    const std::int64_t end = std::min(range.first + range.count - number * of_each, of_each);
    if (begin >= end) {
      continue;
    }
    const std::int64_t first = begin / columns;
    const std::int64_t last = (end - 1) / columns;
    for (std::int64_t tile = first; tile <= last; tile += stride) {
      tiles.insert(static_cast<std::uint64_t>(tile));
    }
    tiles.insert(static_cast<std::uint64_t>(last));
  }
  return tiles;
}

std::vector<bool> SampledTiles::compared_columns(const KernelCall& call) const {
  const std::int64_t of_each = launch_columns(call, columns);
  std::vector<bool> compared;
  compared.reserve(static_cast<std::size_t>(call.width()));
  std::int64_t launch = -1;
  std::set<std::uint64_t> tiles;
  for (const ColumnRange& range : call.compared()) {
    for (std::int64_t column = range.first; column < range.first + range.count; ++column) {
      if (column / of_each != launch) {
        launch = column / of_each;
        tiles = of_launch(call, launch);
      }
      compared.push_back(tiles.contains(static_cast<std::uint64_t>(column % of_each / columns)));
    }
  }
  return compared;
}

}  // namespace esc
