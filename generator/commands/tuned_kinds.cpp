// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/tuned_kinds.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "generator/commands/quick_tuning.h"
#include "generator/ir/nest_json.h"
#include "generator/matrix/statistics.h"

namespace esc {

TunedKinds::Kind TunedKinds::kind_of(const std::vector<LayerRequest>& requests, const LoopNest& nest,
                                     const SparseMatrix& matrix) {
  const LengthStatistics lengths = row_statistics(matrix);
  const LayerClass like = class_of({.rows = matrix.rows,
                                    .columns = matrix.columns,
                                    .nonzeros = matrix.nonzeros(),
                                    .longest_row = lengths.longest,
                                    .row_variation = lengths.coefficient_of_variation});
  std::vector<std::int64_t> bcols;
  std::ranges::transform(requests, std::back_inserter(bcols), &LayerRequest::bcol);
  return {matrix.rows, matrix.columns, like, nest_json(nest), std::move(bcols)};
}

TunedKinds::Tuned TunedKinds::measure(const std::vector<LayerRequest>& requests, const LoopNest& nest,
                                      const SparseMatrix& matrix, const std::shared_ptr<PackingCache>& fragments) {
  Tuned tuned{.form = requests.front().form, .records = {}, .problem = {}};
  try {
    for (const LayerRequest& request : requests) {
      const std::vector<Schedule> candidates =
          first_usable_schedules(request, mode_, nest, matrix, fragments, quick_candidates);
      tuned.records.push_back(
          std::make_shared<const TuningRecord>(mode_.tuner->measure(request, nest, candidates, console_)));
    }
  } catch (const UserError& problem) {
    return {.form = {}, .records = {}, .problem = problem};
  }
  std::ranges::copy(tuned.records, std::back_inserter(records_));
  return tuned;
}

std::vector<LayerRequest> TunedKinds::tuned(std::vector<LayerRequest> requests, const LoopNest& nest,
                                            const SparseMatrix& matrix,
                                            const std::shared_ptr<PackingCache>& fragments) {
  const auto [kind, is_new] = kinds_.try_emplace(kind_of(requests, nest, matrix));
  Tuned& tuned = kind->second;
  if (is_new) {
    tuned = measure(requests, nest, matrix, fragments);
  }
  if (tuned.problem) {
    throw *tuned.problem;
  }
  for (std::size_t at = 0; at < requests.size(); ++at) {
    requests[at].form = tuned.form;
    requests[at].tuning = tuned.records[at];
  }
  return requests;
}

std::vector<TuningRecord> TunedKinds::records() const {
  std::vector<TuningRecord> records;
  std::ranges::transform(records_, std::back_inserter(records), [](const auto& record) { return *record; });
  return records;
}

}  // namespace esc
