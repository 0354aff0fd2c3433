// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "tuner/records/item_results.h"
#include "tuner/space/cuts.h"

namespace esc::tuning {

/// What leaving candidates out by the models would have lost, over items of which everything was measured.
struct CutLoss {
  std::size_t items = 0;
  std::size_t winners_cut = 0;  ///< items whose fastest schedule would have been left out
  double mean = 1;              ///< geometric mean of the best time of what is kept over the best time of all
  double worst = 1;             ///< the largest of these ratios
  std::size_t measured = 0;     ///< candidates of all items
  std::size_t kept = 0;         ///< those of them that would have been measured
};

/// Compares for each item the fastest of all right candidates with the fastest of those that neither
/// `choose_candidates`, with these limits, nor `occupancy_cut`, with the compiled kernel's figures, leaves out. By the
/// times of the search.
CutLoss cut_loss(const std::map<ItemKey, ItemResults>& items, const CutLimits& limits);

/// One line in words.
std::string print(const CutLoss& loss);

}  // namespace esc::tuning
