// SPDX-License-Identifier: Apache-2.0
#include "transformer/choose_fragments.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "transformer/checked_shape.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

/// A packed tile to be: what a row tile has in a K tile.
struct SampledPackedTile {
  KTileRows rows;
  std::int64_t row_tile = 0;
  std::uint64_t k_tile = 0;
  std::array<std::uint32_t, max_fragment_rows> of_row = {};  ///< how many non-zeros
  std::vector<std::uint32_t> of_column = {};                 ///< of those that have any, ascending
};

/// The residuals that packed tiles of the sample need, and what that says of those outside it.
struct Needs {
  std::vector<std::uint32_t> residuals;
  std::vector<std::uint32_t> of_fullest;  ///< of them, in the row set that has most
  bool is_all = false;                    ///< whether the sample is all packed tiles

  /// How many a packed tile adds one after the other, where it has so many at most: the mean of the packed tiles.
  double serial(std::uint32_t allowed) const {
    const auto counted = [&](double sum, std::uint32_t fullest) { return sum + std::min(fullest, allowed); };
    return std::accumulate(of_fullest.begin(), of_fullest.end(), 0.0, counted) / static_cast<double>(of_fullest.size());
  }

  /// The share of packed tiles for which so many are too few. Beyond what the sample shows the share falls by a quarter
  /// each.
  double share_above(std::uint32_t allowed) const {
    const auto above = std::ranges::count_if(residuals, [&](std::uint32_t needed) { return needed > allowed; });
    const auto count = static_cast<double>(residuals.size());
    if (is_all) {
      return static_cast<double>(above) / count;
    }
    const std::uint32_t most = std::ranges::max(residuals);
    const double unseen = allowed < most ? 1 : std::pow(3.0 / 4, allowed - most);
    return (static_cast<double>(above) + unseen / 2) / (count + 1);
  }
};

/// A choice, and what a packed tile of it counts, with its share of further rounds.
struct Choice {
  FragmentCut cut;
  double bytes = 0;
  bool is_close = false;  ///< whether rare packed tiles decide, which a small sample lacks
};

double packed_tile_bytes(const FragmentShape& shape) {
  FragmentFormat format;
  format.shape = shape;
  return static_cast<double>(format.packed_tile_bytes());
}

std::uint64_t packed_tiles_of(const FragmentShape& shape) {
  return static_cast<std::uint64_t>(shape.row_tiles()) * k_tiles_of(shape);
}

SampledPackedTile counted(SampledPackedTile packed_tile) {
  for (const std::uint32_t rows : packed_tile.rows.of_column) {
    if (rows != 0) {
      packed_tile.of_column.push_back(popcount(rows));
    }
    for (std::uint32_t row = 0; row < max_fragment_rows; ++row) {
      packed_tile.of_row[row] += rows >> row & 1;
    }
  }
  std::ranges::sort(packed_tile.of_column);
  return packed_tile;
}

/// Packed tiles at equal distances; all where there are no more than `most`. The distance is odd, so that the K tiles
/// change.
std::vector<SampledPackedTile> sample(const CsrView& matrix, const FragmentShape& shape, std::uint64_t most) {
  const std::uint64_t packed_tiles = packed_tiles_of(shape);
  const std::uint64_t distance = packed_tiles <= most ? 1 : packed_tiles / most | 1;
  std::vector<SampledPackedTile> sampled(static_cast<std::size_t>((packed_tiles + distance - 1) / distance));
  tbb::parallel_for(std::size_t{0}, sampled.size(), [&](std::size_t number) {
    const std::uint64_t packed_tile = number * distance;
    const auto row_tile = static_cast<std::int64_t>(packed_tile / k_tiles_of(shape));
    const std::uint64_t k_tile = packed_tile % k_tiles_of(shape);
    sampled[number] = counted({read_rows(rows_of(matrix), shape, row_tile, k_tile), row_tile, k_tile});
  });
  return sampled;
}

/// The least that a packed tile with so many steps has left over, whatever is done: what its rows have beyond the
/// values that there is room for, or its columns beyond the slots, of which a column takes one at least.
std::uint32_t least_needed(const SampledPackedTile& packed_tile, std::uint32_t steps) {
  const std::uint32_t slots = steps * sparse_step_slots;
  const std::uint32_t room = steps * step_groups;
  std::uint32_t beyond = 0;
  for (const std::uint32_t count : packed_tile.of_row) {
    beyond += count > room ? count - room : 0;
  }
  std::uint32_t homeless = 0;
  for (std::size_t number = 0; number + slots < packed_tile.of_column.size(); ++number) {
    homeless += packed_tile.of_column[number];
  }
  return std::max(beyond, homeless);
}

FragmentShape with_steps(FragmentShape shape, std::uint32_t steps) {
  shape.steps = steps;
  return shape;
}

/// What a packed tile counts: its bytes, and as bytes what takes time besides. Steps that are left where warps take so
/// many at once take about twice as long, and so count twice.
double counted_bytes(const FragmentShape& shape, const FragmentWeights& weights, double serial_residuals) {
  const double of_step = static_cast<double>(packed_tile_bytes(shape)) / shape.steps;
  const std::uint32_t left = shape.steps % weights.steps_at_once;
  return packed_tile_bytes(shape) + of_step * left + weights.residual * serial_residuals;
}

/// A bound of what a packed tile counts with so many steps, below what any number of residuals gives.
double least_bytes(const std::vector<SampledPackedTile>& packed_tiles, const FragmentShape& of_matrix,
                   std::uint32_t steps, const FragmentWeights& weights) {
  FragmentShape shape = with_steps(of_matrix, steps);
  std::uint64_t sum = 0;
  for (const SampledPackedTile& packed_tile : packed_tiles) {
    sum += std::min(least_needed(packed_tile, steps), max_residuals);
  }
  shape.residuals = static_cast<std::uint32_t>(sum / packed_tiles.size());
  return counted_bytes(shape, weights, static_cast<double>(shape.residuals) / row_sets);
}

Needs needs_of(const std::vector<SampledPackedTile>& packed_tiles, std::uint32_t steps, bool is_all,
               FragmentSearches& searches) {
  Needs needs{std::vector<std::uint32_t>(packed_tiles.size()), std::vector<std::uint32_t>(packed_tiles.size()), is_all};
  tbb::parallel_for(std::size_t{0}, packed_tiles.size(), [&](std::size_t number) {
    const SampledPackedTile& packed_tile = packed_tiles[number];
    const PackedTileSlots& slots = searches.find(packed_tile.rows, steps, packed_tile.row_tile, packed_tile.k_tile);
    std::array<std::uint32_t, row_sets> of_set = {};
    for (const std::uint32_t left : slots.left.of_column) {
      for (std::uint32_t row = 0; row < max_fragment_rows; ++row) {
        of_set[row % row_sets] += left >> row & 1;
      }
    }
    needs.residuals[number] = std::accumulate(of_set.begin(), of_set.end(), 0U);
    needs.of_fullest[number] = std::ranges::max(of_set);
  });
  return needs;
}

/// How much longer the blocks take where so large a share of K tiles takes a further round. They run beside each other,
/// so that the one with the most counts, which has about twice the square root of what they have on average more; a
/// iteration is as long with one round as with all of them.
double time_of_rounds(double further, const FragmentShape& shape, std::uint32_t rounds_at_once) {
  const auto k_tiles = static_cast<double>(k_tiles_of(shape));
  const double of_block = further * k_tiles;
  const double of_fullest = std::max(1.0, of_block + 2 * std::sqrt(of_block));
  const double probability_of_any = 1 - std::exp(-of_block * static_cast<double>(blocks_of(shape)));
  const auto iterations = [&](double rounds) { return std::ceil(rounds / rounds_at_once); };
  return 1 + probability_of_any * (iterations(k_tiles + of_fullest) / iterations(k_tiles) - 1);
}

/// The best number of residuals beside such steps, among those that nearly all packed tiles can do with: what is left
/// of one takes a further round of its whole block, and of much that does not fit several.
Choice best_residuals(const Needs& needs, const FragmentShape& of_matrix, std::uint32_t steps,
                      const FragmentWeights& weights) {
  FragmentShape shape = with_steps(of_matrix, steps);
  constexpr std::uint32_t short_search =
      2;  ///< where packed tiles need no more, one takes so little time that many may be searched
  const bool is_close = !needs.is_all && std::ranges::max(needs.residuals) <= short_search;
  Choice best{shape, HUGE_VAL};
  for (shape.residuals = 0; shape.residuals <= max_residuals; ++shape.residuals) {
    constexpr double most_above = 0.1;
    const double above = needs.share_above(shape.residuals);
    if (above > most_above) {
      continue;
    }
    const double further = 1 - std::pow(1 - above, shape.block_row_tiles);
    const double bytes = counted_bytes(shape, weights, needs.serial(shape.residuals)) *
                         time_of_rounds(further, shape, weights.rounds_at_once);
    if (bytes < best.bytes) {
      best = {shape, bytes, is_close};
    }
  }
  return best;
}

/// The best cut with each number of steps that could be the best of all, by a sample.
std::vector<Choice> promising_choices(const std::vector<SampledPackedTile>& packed_tiles, const FragmentShape& shape,
                                      const FragmentWeights& weights, FragmentSearches& searches) {
  std::vector<std::pair<double, std::uint32_t>> candidates;
  for (std::uint32_t steps = 1; steps <= max_fragment_steps; ++steps) {
    candidates.emplace_back(least_bytes(packed_tiles, shape, steps, weights), steps);
  }
  std::ranges::sort(candidates);
  std::vector<Choice> choices;
  double best = HUGE_VAL;
  for (const auto& [least, steps] : candidates) {
    if (least >= best) {
      break;
    }
    const Needs needs = needs_of(packed_tiles, steps, packed_tiles.size() == packed_tiles_of(shape), searches);
    choices.push_back(best_residuals(needs, shape, steps, weights));
    best = std::min(best, choices.back().bytes);
  }
  std::ranges::stable_sort(choices, {}, &Choice::bytes);
  return choices;
}

/// Of each K tile of each block the values of the packed tile that has most. A share of a packed tile may have one
/// beside its non-zeros.
std::vector<std::uint32_t> fullest_packed_tiles(const CsrView& matrix, const FragmentShape& shape) {
  std::vector<std::uint32_t> fullest(static_cast<std::size_t>(blocks_of(shape) * k_tiles_of(shape)));
  tbb::parallel_for(std::size_t{0}, fullest.size(), [&](std::size_t number) {
    const std::uint64_t block = number / k_tiles_of(shape), k_tile = number % k_tiles_of(shape);
    for (std::uint32_t first = 0; first < shape.block_row_tiles; first += shape.joined) {
      std::uint32_t count = has_placed_values(shape) ? shape.shares : 0;
      for (std::uint32_t place = first; place < first + shape.joined; ++place) {
        const auto row_tile = static_cast<std::int64_t>(block * shape.block_row_tiles + place);
        count += row_tile < shape.row_tiles()
                     ? static_cast<std::uint32_t>(count_nonzeros(read_rows(rows_of(matrix), shape, row_tile, k_tile)))
                     : 0;
      }
      fullest[number] = std::max(fullest[number], count);
    }
  });
  return fullest;
}

/// The iterations of the block that has most of them, where a packed tile has so many places and a row tile that has
/// more takes further rounds.
std::uint64_t most_iterations(const std::vector<std::uint32_t>& fullest, std::uint64_t k_tiles, std::uint32_t places,
                              std::uint32_t rounds_at_once) {
  std::uint64_t most = 0;
  for (std::size_t block = 0; block < fullest.size(); block += k_tiles) {
    std::uint64_t rounds = 0;
    for (std::size_t k_tile = 0; k_tile < k_tiles; ++k_tile) {
      rounds += std::max(1u, (fullest[block + k_tile] + places - 1) / places);
    }
    most = std::max(most, (rounds + rounds_at_once - 1) / rounds_at_once);
  }
  return most;
}

/// The places of a packed tile with which the block that takes longest counts least. The shape has some.
std::uint32_t choose_listed(const CsrView& matrix, FragmentShape shape, const FragmentWeights& weights) {
  const std::vector<std::uint32_t> fullest = fullest_packed_tiles(matrix, shape);
  const std::uint32_t most = std::ranges::max(fullest);
  const std::uint32_t least_places = has_placed_values(shape) ? 2 : 1;  // which go in pairs
  std::uint32_t best = least_places;
  double least = HUGE_VAL;
  const auto bytes_with = [&](std::uint32_t places) {
    shape.listed = places;
    return packed_tile_bytes(shape);
  };
  for (std::uint32_t places = least_places; places <= max_listed; ++places) {
    const double bytes = bytes_with(places);
    if (places < max_listed && bytes_with(places + 1) == bytes) {
      continue;  // the same bytes have more
    }
    const std::uint32_t room = has_placed_values(shape) ? places / 2 * 2 : places;
    const auto iterations =
        static_cast<double>(most_iterations(fullest, k_tiles_of(shape), room, weights.rounds_at_once));
    const double counted = iterations * (bytes * (shape.block_row_tiles / shape.joined) + weights.round);
    if (counted <= least) {  // of equals that with fewer rounds
      least = counted;
      best = places;
    }
    if (room >= most) {
      break;
    }
  }
  return best;
}

/// Dense steps alone, as the block has them; listed values have the fewest places.
FragmentCut dense_cut(const FragmentBlock& block) {
  FragmentCut cut{.height = block.height, .block_row_tiles = block.row_tiles, .steps = max_fragment_steps, .dense = 1};
  if (block.listed_values) {
    cut.listed = 1;
    if (block.placed_values) {
      cut.placed = block.splits_values ? placed_halves : placed_words;
      cut.steps = placed_steps;
      cut.joined = block.joined;
      cut.shares = block.shares;
      cut.listed = 2;
    }
  }
  return cut;
}

}  // namespace

FragmentCut least_cut(const FragmentBlock& block) {
  return block.dense_steps ? dense_cut(block)
                           : FragmentCut{.height = block.height, .block_row_tiles = block.row_tiles, .steps = 1};
}

FragmentCut choose_fragments(const CsrView& matrix, const FragmentBlock& block, const FragmentWeights& weights,
                             FragmentSearches& searches) {
  constexpr std::uint64_t few = 128;
  constexpr std::uint64_t many = 2048;
  const FragmentShape shape =
      checked_shape(matrix, FragmentCut{.height = block.height, .block_row_tiles = block.row_tiles});
  if (block.dense_steps) {
    FragmentCut cut = dense_cut(block);
    if (block.listed_values) {
      cut.listed = choose_listed(matrix, {cut, shape.rows, shape.columns, shape.element}, weights);
    }
    return cut;
  }
  const std::vector<SampledPackedTile> packed_tiles = sample(matrix, shape, few);
  std::vector<SampledPackedTile> more;
  Choice best{{}, HUGE_VAL};
  for (Choice choice : promising_choices(packed_tiles, shape, weights, searches)) {
    if (choice.bytes >= best.bytes) {
      break;
    }
    if (choice.is_close) {
      if (more.empty()) {
        more = sample(matrix, shape, many);
      }
      const std::uint32_t steps = choice.cut.steps;
      choice =
          best_residuals(needs_of(more, steps, more.size() == packed_tiles_of(shape), searches), shape, steps, weights);
    }
    if (choice.bytes < best.bytes) {
      best = choice;
    }
  }
  return best.cut;
}

FragmentCut choose_fragments(const CsrView& matrix, const FragmentBlock& block, const FragmentWeights& weights) {
  FragmentSearches searches(checked_shape(matrix, FragmentCut{.height = block.height}));
  return choose_fragments(matrix, block, weights, searches);
}

}  // namespace esc::transformer
