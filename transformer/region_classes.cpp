// SPDX-License-Identifier: Apache-2.0
#include "transformer/region_classes.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

namespace esc::transformer {
namespace {

/// Row tiles of one length, and those that are longer.
struct Length {
  std::uint64_t packets = 0;
  std::uint64_t row_tiles = 0;
  std::uint64_t longer = 0;
};

/// The lengths that occur, descending. Very many different ones are taken in steps, which keeps the search below short.
std::vector<Length> lengths_of(const std::vector<std::uint64_t>& row_tile_columns) {
  constexpr std::uint64_t most_lengths = 512;
  const std::uint64_t most = packets_of(*std::ranges::max_element(row_tile_columns));
  const std::uint64_t step = 1 + most / most_lengths;
  std::map<std::uint64_t, std::uint64_t, std::greater<>> row_tiles;
  for (const std::uint64_t columns : row_tile_columns) {
    ++row_tiles[std::min(most, round_up(packets_of(columns), step))];
  }
  std::vector<Length> lengths;
  std::uint64_t longer = 0;
  for (const auto& [packets, count] : row_tiles) {
    lengths.push_back({packets, count, longer});
    longer += count;
  }
  return lengths;
}

/// The best cuts of the first lengths, for each number of lengths and of classes.
class Cuts {
 public:
  Cuts(const std::vector<Length>& lengths, std::uint64_t warp_row_tiles)
      : lengths_(lengths), warp_row_tiles_(warp_row_tiles), best_(max_region_classes + 1) {
    best_[0].assign(lengths.size() + 1, {std::numeric_limits<std::uint64_t>::max() / 2, 0});
    best_[0][0].packets = 0;
    for (std::uint32_t classes = 1; classes <= max_region_classes; ++classes) {
      best_[classes] = best_[classes - 1];
      for (std::size_t end = 1; end <= lengths.size(); ++end) {
        for (std::size_t first = 0; first < end; ++first) {
          const std::uint64_t packets = best_[classes - 1][first].packets + packets_of_class(first, end);
          if (packets < best_[classes][end].packets) {
            best_[classes][end] = {packets, first, classes};
          }
        }
      }
    }
  }

  /// Packets of all row tiles when there may be so many classes.
  std::uint64_t packets(std::uint32_t classes) const { return best_[classes].back().packets; }

  void fill(std::uint32_t classes, RegionCounts& counts) const {
    std::size_t end = lengths_.size();
    counts.class_count = best_[classes][end].classes;
    for (std::uint32_t number = counts.class_count; number > 0; --number) {
      const std::size_t first = best_[number][end].first;
      counts.classes[number - 1] = {static_cast<std::uint32_t>(lengths_[first].packets),
                                    static_cast<std::uint32_t>(row_tiles(first, end))};
      end = first;
    }
  }

 private:
  struct Cut {
    std::uint64_t packets = 0;
    std::size_t first = 0;      ///< length of the last class
    std::uint32_t classes = 0;  ///< that there are
  };

  std::uint64_t row_tiles(std::size_t first, std::size_t end) const {
    return lengths_[end - 1].longer + lengths_[end - 1].row_tiles - lengths_[first].longer;
  }
  std::uint64_t packets_of_class(std::size_t first, std::size_t end) const {
    return lengths_[first].packets * round_up(row_tiles(first, end), warp_row_tiles_);
  }

  const std::vector<Length>& lengths_;
  std::uint64_t warp_row_tiles_;
  std::vector<std::vector<Cut>> best_;
};

RegionCounts with_every_column(const RegionShape& shape, RegionCounts counts) {
  std::ranges::fill(counts.classes, RegionClass{});
  counts.every_column = true;
  counts.class_count = 1;
  counts.classes[0] = {static_cast<std::uint32_t>(packets_of(static_cast<std::uint64_t>(shape.columns))),
                       static_cast<std::uint32_t>(shape.row_tiles())};
  return counts;
}

}  // namespace

void choose_classes(const RegionShape& shape, const std::vector<std::uint64_t>& row_tile_columns,
                    RegionCounts& counts) {
  const std::vector<Length> lengths = lengths_of(row_tile_columns);
  const Cuts cuts(lengths, shape.warp_row_tiles);
  const std::uint64_t fewest = cuts.packets(max_region_classes);
  std::uint32_t classes = 1;
  while (cuts.packets(classes) > fewest + fewest / 20) {
    ++classes;
  }
  cuts.fill(classes, counts);
  if (counts.columns == 0) {
    return;
  }
  constexpr std::uint64_t above_dense = 4096;
  const std::uint64_t most_bytes =
      static_cast<std::uint64_t>(shape.rows * shape.columns) * size_of(shape.element) + above_dense;
  if (describe(shape, counts).bytes > most_bytes) {
    cuts.fill(max_region_classes, counts);
  }
  const RegionFormat own = describe(shape, counts);
  const RegionFormat all = describe(shape, with_every_column(shape, counts));
  const bool much_smaller = 9 * all.bytes <= 8 * own.bytes;
  const bool hardly_longer = all.bytes <= own.bytes && 16 * all.packets() <= 17 * own.packets();
  if (much_smaller || hardly_longer || (own.bytes > most_bytes && all.bytes < own.bytes)) {
    counts = all.counts;
  }
}

}  // namespace esc::transformer
