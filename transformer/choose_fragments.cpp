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
  std::array<std::uint32_t, max_fragment_rows> of_row = {};  ///< how many non-zeros
  std::vector<std::uint32_t> of_column = {};                 ///< of those that have any, ascending
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
  bool is_close = false;  ///< whether rare units decide, which a small sample lacks
};

double unit_bytes(const FragmentShape& shape) {
  FragmentFormat format;
  format.shape = shape;
  return static_cast<double>(format.unit_bytes());
}

std::uint64_t units_of(const FragmentShape& shape) {
  return static_cast<std::uint64_t>(shape.panels()) * windows_of(shape);
}

SampledUnit counted(SampledUnit unit) {
  for (const std::uint32_t rows : unit.rows.of_column) {
    if (rows != 0) {
      unit.of_column.push_back(popcount(rows));
    }
    for (std::uint32_t row = 0; row < max_fragment_rows; ++row) {
      unit.of_row[row] += rows >> row & 1;
    }
  }
  std::ranges::sort(unit.of_column);
  return unit;
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
    sampled[number] = counted({read_rows(rows_of(matrix), shape, panel, window), panel, window});
  });
  return sampled;
}

/// The least that a unit has left over, whatever is done: what its rows have beyond the values that there is room for,
/// or its columns beyond the slots, of which a column takes one at least.
std::uint32_t least_needed(const SampledUnit& unit, FragmentElement element, const UnitSteps& steps) {
  const std::uint32_t slots = steps.all * element.step_slots();
  const std::uint32_t room = slots / 2 - steps.quarter * step_groups;
  std::uint32_t beyond = 0;
  for (const std::uint32_t count : unit.of_row) {
    beyond += count > room ? count - room : 0;
  }
  std::uint32_t homeless = 0;
  for (std::size_t number = 0; number + slots < unit.of_column.size(); ++number) {
    homeless += unit.of_column[number];
  }
  return std::max(beyond, homeless);
}

FragmentShape with_steps(FragmentShape shape, const UnitSteps& steps) {
  shape.steps = steps.all;
  shape.quarter_steps = steps.quarter;
  return shape;
}

/// What a unit counts: its bytes, and as bytes what takes time besides. Steps that are left where warps take so many at
/// once take about twice as long, and so count twice.
double counted_bytes(const FragmentShape& shape, const FragmentWeights& weights, double serial_extras) {
  const double of_step = static_cast<double>(unit_bytes(shape)) / shape.steps;
  const std::uint32_t left = shape.steps % weights.steps_at_once;
  return unit_bytes(shape) + of_step * left + weights.step * shape.steps + weights.extra * serial_extras;
}

/// What a choice is among: how many of so many steps may be quarter steps, and what counts.
struct Wishes {
  bool quarter_steps;
  FragmentWeights weights;

  std::uint32_t most_quarter_steps(std::uint32_t steps) const { return quarter_steps ? steps : 0; }
};

/// A bound of what a unit counts with so many steps, however many of them are quarter steps, below what any number of
/// extras gives.
double least_bytes(const std::vector<SampledUnit>& units, const FragmentShape& of_matrix, std::uint32_t steps,
                   const Wishes& wishes) {
  double least = HUGE_VAL;
  for (std::uint32_t quarter = 0; quarter <= wishes.most_quarter_steps(steps); ++quarter) {
    FragmentShape shape = with_steps(of_matrix, {steps, quarter});
    std::uint64_t sum = 0;
    for (const SampledUnit& unit : units) {
      sum += std::min(least_needed(unit, element_of(shape), shape.unit_steps()), max_extras);
    }
    shape.extras = static_cast<std::uint32_t>(sum / units.size());
    least = std::min(least, counted_bytes(shape, wishes.weights, static_cast<double>(shape.extras) / row_sets));
  }
  return least;
}

Needs needs_of(const std::vector<SampledUnit>& units, const UnitSteps& steps, bool is_all, FragmentSearches& searches) {
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

/// How much longer the blocks take where so large a share of windows takes a further round. They run beside each other,
/// so that the one with the most counts, which has about twice the square root of what they have on average more; a
/// turn is as long with one round as with all of them.
double time_of_rounds(double further, const FragmentShape& shape, std::uint32_t rounds_at_once) {
  const auto windows = static_cast<double>(windows_of(shape));
  const double of_block = further * windows;
  const double of_fullest = std::max(1.0, of_block + 2 * std::sqrt(of_block));
  const double probability_of_any = 1 - std::exp(-of_block * static_cast<double>(blocks_of(shape)));
  const auto turns = [&](double rounds) { return std::ceil(rounds / rounds_at_once); };
  return 1 + probability_of_any * (turns(windows + of_fullest) / turns(windows) - 1);
}

/// The best number of extras beside such steps, among those that nearly all units can do with: what is left of one
/// takes a further round of its whole block, and of much that does not fit several.
Choice best_extras(const Needs& needs, const FragmentShape& of_matrix, const UnitSteps& steps,
                   const FragmentWeights& weights) {
  FragmentShape shape = with_steps(of_matrix, steps);
  constexpr std::uint32_t short_search =
      2;  ///< where units need no more, one takes so little time that many may be searched
  const bool is_close = !needs.is_all && std::ranges::max(needs.extras) <= short_search;
  Choice best{shape, HUGE_VAL};
  for (shape.extras = 0; shape.extras <= max_extras; ++shape.extras) {
    constexpr double most_above = 0.1;
    const double above = needs.share_above(shape.extras);
    if (above > most_above) {
      continue;
    }
    const double further = 1 - std::pow(1 - above, shape.block_panels);
    const double bytes = counted_bytes(shape, weights, needs.serial(shape.extras)) *
                         time_of_rounds(further, shape, weights.rounds_at_once);
    if (bytes < best.bytes) {
      best = {shape, bytes, is_close};
    }
  }
  return best;
}

/// The best cut with each number of steps of both kinds that could be the best of all, by a sample.
std::vector<Choice> promising_choices(const std::vector<SampledUnit>& units, const FragmentShape& shape,
                                      const Wishes& wishes, FragmentSearches& searches) {
  std::vector<std::pair<double, std::uint32_t>> candidates;
  for (std::uint32_t steps = 1; steps <= max_fragment_steps; ++steps) {
    candidates.emplace_back(least_bytes(units, shape, steps, wishes), steps);
  }
  std::ranges::sort(candidates);
  std::vector<Choice> choices;
  double best = HUGE_VAL;
  for (const auto& [least, steps] : candidates) {
    if (least >= best) {
      break;
    }
    // Each further quarter step takes fewer bytes, until what fits nowhere takes more.
    double before = HUGE_VAL;
    for (std::uint32_t quarter = 0; quarter <= wishes.most_quarter_steps(steps); ++quarter) {
      const Needs needs = needs_of(units, {steps, quarter}, units.size() == units_of(shape), searches);
      const Choice choice = best_extras(needs, shape, {steps, quarter}, wishes.weights);
      if (choice.bytes >= before) {
        break;
      }
      choices.push_back(choice);
      before = choice.bytes;
      best = std::min(best, choice.bytes);
    }
  }
  std::ranges::stable_sort(choices, {}, &Choice::bytes);
  return choices;
}

/// Of each window of each block the values of the unit that has most. A share of a unit may have one beside its
/// non-zeros.
std::vector<std::uint32_t> fullest_units(const CsrView& matrix, const FragmentShape& shape) {
  std::vector<std::uint32_t> fullest(static_cast<std::size_t>(blocks_of(shape) * windows_of(shape)));
  tbb::parallel_for(std::size_t{0}, fullest.size(), [&](std::size_t number) {
    const std::uint64_t block = number / windows_of(shape), window = number % windows_of(shape);
    for (std::uint32_t first = 0; first < shape.block_panels; first += shape.joined) {
      std::uint32_t count = has_placed_values(shape) ? shape.shares : 0;
      for (std::uint32_t place = first; place < first + shape.joined; ++place) {
        const auto panel = static_cast<std::int64_t>(block * shape.block_panels + place);
        count += panel < shape.panels()
                     ? static_cast<std::uint32_t>(count_nonzeros(read_rows(rows_of(matrix), shape, panel, window)))
                     : 0;
      }
      fullest[number] = std::max(fullest[number], count);
    }
  });
  return fullest;
}

/// The turns of the block that has most of them, where a unit has so many places and a panel that has more takes
/// further rounds.
std::uint64_t most_turns(const std::vector<std::uint32_t>& fullest, std::uint64_t windows, std::uint32_t places,
                         std::uint32_t rounds_at_once) {
  std::uint64_t most = 0;
  for (std::size_t block = 0; block < fullest.size(); block += windows) {
    std::uint64_t rounds = 0;
    for (std::size_t window = 0; window < windows; ++window) {
      rounds += std::max(1u, (fullest[block + window] + places - 1) / places);
    }
    most = std::max(most, (rounds + rounds_at_once - 1) / rounds_at_once);
  }
  return most;
}

/// The places of a unit with which the block that takes longest counts least. The shape has some.
std::uint32_t choose_listed(const CsrView& matrix, FragmentShape shape, const FragmentWeights& weights) {
  const std::vector<std::uint32_t> fullest = fullest_units(matrix, shape);
  const std::uint32_t most = std::ranges::max(fullest);
  const std::uint32_t least_places = has_placed_values(shape) ? 2 : 1;  // which go in pairs
  std::uint32_t best = least_places;
  double least = HUGE_VAL;
  const auto bytes_with = [&](std::uint32_t places) {
    shape.listed = places;
    return unit_bytes(shape);
  };
  for (std::uint32_t places = least_places; places <= max_listed; ++places) {
    const double bytes = bytes_with(places);
    if (places < max_listed && bytes_with(places + 1) == bytes) {
      continue;  // the same bytes have more
    }
    const std::uint32_t room = has_placed_values(shape) ? places / 2 * 2 : places;
    const auto turns = static_cast<double>(most_turns(fullest, windows_of(shape), room, weights.rounds_at_once));
    const double counted = turns * (bytes * (shape.block_panels / shape.joined) + weights.round);
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
  FragmentCut cut{.height = block.height, .block_panels = block.panels, .steps = max_fragment_steps, .dense = 1};
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
                           : FragmentCut{.height = block.height,
                                         .block_panels = block.panels,
                                         .steps = 1,
                                         .quarter_steps = block.quarter_steps ? 1U : 0U,
                                         .line_rows = block.line_rows};
}

FragmentCut choose_fragments(const CsrView& matrix, const FragmentBlock& block, const FragmentWeights& weights,
                             FragmentSearches& searches) {
  constexpr std::uint64_t few = 128;
  constexpr std::uint64_t many = 2048;
  const FragmentShape shape = checked_shape(
      matrix, FragmentCut{.height = block.height, .block_panels = block.panels, .line_rows = block.line_rows});
  check_steps(shape.element, block.quarter_steps, block.dense_steps && !block.listed_values, block.placed_values);
  if (block.dense_steps) {
    FragmentCut cut = dense_cut(block);
    if (block.listed_values) {
      cut.listed = choose_listed(matrix, {cut, shape.rows, shape.columns, shape.element}, weights);
    }
    return cut;
  }
  const std::vector<SampledUnit> units = sample(matrix, shape, few);
  std::vector<SampledUnit> more;
  Choice best{{}, HUGE_VAL};
  for (Choice choice : promising_choices(units, shape, {block.quarter_steps, weights}, searches)) {
    if (choice.bytes >= best.bytes) {
      break;
    }
    if (choice.is_close) {
      if (more.empty()) {
        more = sample(matrix, shape, many);
      }
      const UnitSteps steps = choice.cut.unit_steps();
      choice = best_extras(needs_of(more, steps, more.size() == units_of(shape), searches), shape, steps, weights);
    }
    if (choice.bytes < best.bytes) {
      best = choice;
    }
  }
  return best.cut;
}

FragmentCut choose_fragments(const CsrView& matrix, const FragmentBlock& block, const FragmentWeights& weights) {
  FragmentSearches searches(checked_shape(matrix, FragmentCut{.height = block.height, .line_rows = block.line_rows}));
  return choose_fragments(matrix, block, weights, searches);
}

}  // namespace esc::transformer
