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

/// A unit to be: what a panel has in a window.
struct SampledUnit {
  WindowRows rows;
  std::int64_t panel = 0;
  std::uint64_t window = 0;
};

/// The extras that units of the sample need, and what that says of those outside it.
struct Needs {
  std::vector<std::uint32_t> extras;
  std::vector<std::uint32_t> of_fullest;  ///< of them, in the row set that has most
  bool is_all = false;                    ///< whether the sample is all units

  /// How many a unit adds one after the other, where it has so many at most: the mean of the units.
  double serial(std::uint32_t allowed) const {
    const auto counted = [&](double sum, std::uint32_t fullest) { return sum + std::min(fullest, allowed); };
    return std::accumulate(of_fullest.begin(), of_fullest.end(), 0.0, counted) / static_cast<double>(of_fullest.size());
  }

  /// The share of units for which so many are too few. Beyond what the sample shows the share falls by a quarter each.
  double share_above(std::uint32_t allowed) const {
    const auto above = std::ranges::count_if(extras, [&](std::uint32_t needed) { return needed > allowed; });
    const auto count = static_cast<double>(extras.size());
    if (is_all) {
      return static_cast<double>(above) / count;
    }
    const std::uint32_t most = std::ranges::max(extras);
    const double unseen = allowed < most ? 1 : std::pow(3.0 / 4, allowed - most);
    return (static_cast<double>(above) + unseen / 2) / (count + 1);
  }
};

/// A choice, and what a unit of it counts, with its share of further rounds.
struct Choice {
  FragmentCut cut;
  double bytes = 0;
};

double unit_bytes(const FragmentShape& shape) {
  FragmentFormat format;
  format.shape = shape;
  return static_cast<double>(format.unit_bytes());
}

std::uint64_t units_of(const FragmentShape& shape) {
  return static_cast<std::uint64_t>(shape.panels()) * windows_of(shape);
}

/// Units at equal distances; all where there are no more than `most`. The distance is odd, so that the windows change.
std::vector<SampledUnit> sample(const CsrView& matrix, const FragmentShape& shape, std::uint64_t most) {
  const std::uint64_t units = units_of(shape);
  const std::uint64_t distance = units <= most ? 1 : units / most | 1;
  std::vector<SampledUnit> sampled(static_cast<std::size_t>((units + distance - 1) / distance));
  tbb::parallel_for(std::size_t{0}, sampled.size(), [&](std::size_t number) {
    const std::uint64_t unit = number * distance;
    const auto panel = static_cast<std::int64_t>(unit / windows_of(shape));
    const std::uint64_t window = unit % windows_of(shape);
    sampled[number] = {read_rows(rows_of(matrix), shape, panel, window), panel, window};
  });
  return sampled;
}

/// The least that a unit has left over, whatever is done: what its rows or its columns have beyond the slots, of which a
/// column takes one at least.
std::uint32_t least_needed(const WindowRows& window, std::uint32_t slots) {
  std::array<std::uint32_t, max_fragment_rows> of_row = {};
  std::vector<std::uint32_t> of_column;
  for (const std::uint32_t rows : window.of_column) {
    if (rows != 0) {
      of_column.push_back(popcount(rows));
    }
    for (std::uint32_t row = 0; row < max_fragment_rows; ++row) {
      of_row[row] += rows >> row & 1;
    }
  }
  std::uint32_t beyond = 0;
  for (const std::uint32_t count : of_row) {
    beyond += count > slots / 2 ? count - slots / 2 : 0;
  }
  std::uint32_t homeless = 0;
  std::ranges::sort(of_column);
  for (std::size_t number = 0; number + slots < of_column.size(); ++number) {
    homeless += of_column[number];
  }
  return std::max(beyond, homeless);
}

/// A bound of the bytes of a window of a block with so many steps, below what any number of extras gives.
double least_bytes(const std::vector<SampledUnit>& units, FragmentShape shape, std::uint32_t steps, double weight) {
  const std::uint32_t slots = steps * element_of(shape).step_slots();
  std::uint64_t sum = 0;
  for (const SampledUnit& unit : units) {
    sum += std::min(least_needed(unit.rows, slots), max_extras);
  }
  const auto extras = static_cast<std::uint32_t>(sum / units.size());
  shape.steps = steps;
  shape.extras = extras;
  return unit_bytes(shape) + weight * static_cast<double>(extras) / row_sets;
}

Needs needs_of(const std::vector<SampledUnit>& units, std::uint32_t steps, bool is_all, FragmentSearches& searches) {
  Needs needs{std::vector<std::uint32_t>(units.size()), std::vector<std::uint32_t>(units.size()), is_all};
  tbb::parallel_for(std::size_t{0}, units.size(), [&](std::size_t number) {
    const SampledUnit& unit = units[number];
    const UnitSlots& slots = searches.find(unit.rows, steps, unit.panel, unit.window);
    std::array<std::uint32_t, row_sets> of_set = {};
    for (const std::uint32_t left : slots.left.of_column) {
      for (std::uint32_t row = 0; row < max_fragment_rows; ++row) {
        of_set[row % row_sets] += left >> row & 1;
      }
    }
    needs.extras[number] = std::accumulate(of_set.begin(), of_set.end(), 0U);
    needs.of_fullest[number] = std::ranges::max(of_set);
  });
  return needs;
}

/// The best number of extras beside so many steps, among those that nearly all units can do with: what is left of one
/// takes a further round of its whole block, and of much that does not fit several.
Choice best_extras(const Needs& needs, FragmentShape shape, std::uint32_t steps, double weight) {
  shape.steps = steps;
  Choice best{shape, HUGE_VAL};
  for (shape.extras = 0; shape.extras <= max_extras; ++shape.extras) {
    constexpr double most_above = 0.1;
    const double above = needs.share_above(shape.extras);
    if (above > most_above) {
      continue;
    }
    const double further = 1 - std::pow(1 - above, shape.block_panels);
    const double bytes = (unit_bytes(shape) + weight * needs.serial(shape.extras)) * (1 + further);
    if (bytes < best.bytes) {
      best = {shape, bytes};
    }
  }
  return best;
}

}  // namespace

FragmentCut choose_fragments(const CsrView& matrix, const FragmentBlock& block, double weight,
                             FragmentSearches& searches) {
  constexpr std::uint64_t few = 128;
  constexpr std::uint64_t many = 2048;  ///< where the search is short, and it is rare units that decide
  constexpr std::uint32_t short_search = 2;
  const FragmentShape shape = checked_shape(matrix, FragmentCut{.height = block.height, .block_panels = block.panels});
  const std::vector<SampledUnit> units = sample(matrix, shape, few);
  std::vector<std::pair<double, std::uint32_t>> candidates;
  for (std::uint32_t steps = 1; steps <= max_fragment_steps; ++steps) {
    candidates.emplace_back(least_bytes(units, shape, steps, weight), steps);
  }
  std::ranges::sort(candidates);
  Choice best{{}, HUGE_VAL};
  for (const auto& [least, steps] : candidates) {
    if (least >= best.bytes) {
      break;
    }
    Needs needs = needs_of(units, steps, units.size() == units_of(shape), searches);
    if (!needs.is_all && std::ranges::max(needs.extras) <= short_search) {
      const std::vector<SampledUnit> more = sample(matrix, shape, many);
      needs = needs_of(more, steps, more.size() == units_of(shape), searches);
    }
    if (const Choice choice = best_extras(needs, shape, steps, weight);
        choice.bytes < best.bytes) {
      best = choice;
    }
  }
  return best.cut;
}

FragmentCut choose_fragments(const CsrView& matrix, const FragmentBlock& block, double weight) {
  FragmentSearches searches(checked_shape(matrix, FragmentCut{.height = block.height}));
  return choose_fragments(matrix, block, weight, searches);
}

}  // namespace esc::transformer
