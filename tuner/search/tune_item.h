// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tuner/records/item_results.h"
#include "tuner/records/record.h"
#include "tuner/search/lab.h"

namespace esc::tuning {

/// By what an item is decided.
enum class DecidedBy {
  nothing,  ///< candidates are measured, without an incumbent
  search,   ///< its times
  final     ///< the fastest meet the incumbent once more, as built for a bundle
};

/// How an item is tuned.
struct SearchOptions {
  StopRule stop = {};
  double hopeless = 1.5;        ///< times the best time so far: a slower candidate is given up early
  std::size_t challengers = 3;  ///< that meet the incumbent in the final
  int least_rounds = 9;         ///< of the final, before it may be decided
  int most_rounds = 61;
  bool peers = true;
  bool retry_failed = false;  ///< measures again what was recorded as failed
  DecidedBy decided_by = DecidedBy::final;
};

/// What is tuned, with what is known of it already.
struct ItemPlan {
  WorkItem item;
  ItemProduct product;
  std::vector<Schedule> candidates;  ///< in the order in which they are tried; without the incumbent
  Schedule incumbent;                ///< what holds without this measurement
  ItemResults known;                 ///< of earlier runs
};

/// Gets a record to its journal; throws where that fails.
using RecordSink = std::function<void(const Record&)>;
/// Whether to stop after the candidate in flight.
using StopRequest = std::function<bool()>;
/// Told how many candidates of the item were measured.
using CandidateCounter = std::function<void(std::size_t)>;

/// How an item was left.
enum class ItemEnd {
  decided,
  measured,  ///< where nothing is to be decided
  interrupted,
};

/// Tunes one item: peers, then every candidate that is not recorded yet, then the final in turns between the fastest
/// few and the incumbent, then the decision. The incumbent holds unless a challenger is BETTER. Each record goes to
/// `write` as soon as it is there, so that a later call with those records as known goes on where this one ended.
/// Deterministic for a recorded lab.
ItemEnd tune_item(
    const ItemPlan& plan, const SearchOptions& options, Lab& lab, const RecordSink& write,
    const StopRequest& stop = [] { return false; }, const CandidateCounter& count = [](std::size_t) {});

}  // namespace esc::tuning
