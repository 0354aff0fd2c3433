// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generator/model/read_elements.h"
#include "tuner/records/journal.h"
#include "tuner/search/tune_item.h"

namespace esc::tuning {

/// A loop nest with what records say of it.
struct TunedNest {
  std::shared_ptr<const LoopNest> nest;
  NestFacts facts = {};
};

/// The facts of a nest. Throws UserError for one whose elements are none of measured_types, or that has groups.
TunedNest tuned_nest(const LoopNest& nest);

/// A layer with a number of columns of B, before it is known on which device.
struct ItemRequest {
  LayerFacts layer;
  std::int64_t bcol = 0;
  TunedNest nest = tuned_nest(spmm_nest());
  std::optional<CacheState> cache = {};  ///< absent: the run's
};

/// What becomes of items that the journal has decided.
enum class Retry {
  nothing,
  failed,   ///< what has failed of them is measured again, and their finals are held again
  missing,  ///< the same for candidates that are not recorded: a larger search space
};

/// What is to be tuned, and how.
struct RunRequest {
  std::vector<ItemRequest> items;
  CacheState cache = CacheState::warm;
  Retry retry = Retry::nothing;
  SearchOptions search;
  std::function<std::vector<Schedule>(const WorkItem&)> candidates;  ///< in the order in which they are tried
  std::function<Schedule(const WorkItem&)> incumbent;
  /// The matrix that a layer's file stands for, with elements of a type. Throws UserError where there is none.
  std::function<SparseMatrix(const std::string& file, ScalarType element)> matrix = read_elements;
};

/// The item of a request on a device.
WorkItem item_for(const RunRequest& request, const ItemRequest& asked, const DeviceKey& device);

/// Whether a run leaves an item alone of which so much is known: it is decided, and nothing of it is wanted again.
bool is_settled(const RunRequest& request, const WorkItem& item, const ItemResults& known);

/// What a run tells while it goes on; called from one thread at a time.
struct RunObserver {
  /// A lab is there; what it throws ends the run.
  std::function<void(const DeviceKey&, const Environment&)> started = [](const DeviceKey&, const Environment&) {};
  std::function<void(std::size_t candidates)> expects;  ///< so many candidates will be measured
  std::function<void(std::size_t candidates, const std::string& where)> measured;
  std::function<void(const DecisionRecord&)> decided;
  std::function<void(const std::string& problem)> failed;  ///< an item could not be tuned
};

struct RunSummary {
  std::size_t decided = 0;                  ///< items, by this run; measured where nothing is decided
  std::size_t known = 0;                    ///< items that the journal had decided
  std::size_t failed = 0;                   ///< items that could not be tuned
  std::size_t left = 0;                     ///< items that the run did not come to, or to the end of
  std::map<Outcome, std::size_t> outcomes;  ///< of the candidates of this run, peers and finals included
};

/// Starts a lab on the thread that will use it.
using LabFactory = std::function<std::unique_ptr<Lab>()>;

/// Tunes the items that the journal has not decided yet, each lab one after another. Stops, item and candidate in
/// flight finished to the next record, when `stop` says so. An item that cannot be tuned does not keep the others from
/// it. Throws what ends a lab (no GPU any more, a full disk) after the other labs have stopped.
RunSummary run_tuning(const RunRequest& request, const std::vector<LabFactory>& labs, Journal& journal,
                      const RunObserver& observer, const StopRequest& stop);

}  // namespace esc::tuning
