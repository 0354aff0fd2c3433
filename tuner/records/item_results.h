// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/records/record.h"

namespace esc::tuning {

/// What is known of one candidate of one item, over all records of it.
struct CandidateResult {
  std::string candidate;
  std::string algorithm;  ///< of a peer
  Outcome outcome = Outcome::ok;
  std::string detail;
  double error = 0;
  double microseconds = 0;  ///< median of all samples
  double spread = 0;        ///< of all samples, relative
  std::optional<KernelFacts> kernel;
};

/// Whether the candidate need not be measured again: it is there and, where failures are tried again, right.
bool is_measured(const std::map<std::string, CandidateResult>& results, const std::string& candidate,
                 bool retry_failed);

/// Everything that was recorded of one item.
struct ItemResults {
  WorkItem item;
  Environment environment;
  std::map<std::string, CandidateResult> search;  ///< kernels, by schedule, as measured during the search
  std::map<std::string, CandidateResult> final;   ///< the finalists' kernels, plain edges
  std::map<std::string, CandidateResult> chain;   ///< the finalists' kernels, programmatic edges
  std::map<std::string, CandidateResult> peers;
  std::optional<DecisionRecord> decision;  ///< the one whose winner was the fastest, where there are several
  std::int64_t decided_on = 0;             ///< the most right measurements that a decision rests on

  /// How many candidates and peers were right, each stage and edge by itself.
  std::int64_t right() const;

  /// The best time known of a schedule, by plain edges: the final one, else that of the search; absent where it was not
  /// right.
  std::optional<double> time_of(const std::string& schedule) const;
  /// The fastest kernel by `time_of`, finalists first: a search's time counts only where there was no final.
  const CandidateResult* best() const;
  const CandidateResult* peer(const std::string& name) const;  ///< only where it was right
  /// The dense product with the item's elements and sums in float32: cublas-fp32, cublas-tf32, cublas-f16 or
  /// cublas-bf16.
  const CandidateResult* exact_dense_peer() const;
  /// That of fewer digits than the item's elements: cublas-tf32 beside those of f32.
  const CandidateResult* less_exact_dense_peer() const;
  /// cuSPARSELt, of matrices whose rows have its structure; of f32 it rounds factors to TF32 and is none.
  const CandidateResult* exact_structured_peer() const;
  /// The fastest one of those that are exact and cusparse.
  const CandidateResult* best_exact_peer() const;
};

/// The records by item, in the order of their keys. Does not depend on the order of the records.
std::map<ItemKey, ItemResults> group_by_item(const std::vector<Record>& records);

}  // namespace esc::tuning
