// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/tuner/tuning_records.h"
#include "tuner/records/item_results.h"
#include "tuner/report/item_summary.h"

namespace esc::tuning {

inline constexpr const char* narrow_panel =
    "panel: tile=2x32, thread=2x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on";
inline constexpr const char* wide_panel =
    "panel: tile=4x32, thread=4x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on";
inline constexpr const char* paper_atomic = "atomic: thread=4x1, unroll_k=7, threads=32";
inline constexpr const char* plain_atomic = "atomic: thread=1x1, unroll_k=1, threads=32";

/// item_of_pattern with a file of its own.
inline WorkItem item_of_layer(const std::string& name, std::int64_t bcol = 32) {
  WorkItem item = item_of_pattern("pattern of " + name, bcol);
  item.layer.file = "/data/" + name;
  return item;
}

/// A right measurement: three samples about the time.
inline CandidateRecord timed(const WorkItem& item, const std::string& candidate, double microseconds,
                             Stage stage = Stage::search, Edge edge = Edge::plain) {
  CandidateRecord record =
      measured(item, candidate, {microseconds, 0.9 * microseconds, 1.1 * microseconds}, stage, edge);
  record.error = 3e-7;
  if (!record.is_peer()) {
    record.kernel =
        KernelFacts{.registers = 32, .shared_bytes = 1024, .threads = 256, .blocks = 256, .packed_bytes = 200000};
  }
  return record;
}

inline CandidateRecord failed(const WorkItem& item, const std::string& candidate, Outcome outcome,
                              const std::string& why) {
  CandidateRecord record = unmeasured(item, candidate, outcome);
  record.detail = why;
  return record;
}

inline DecisionRecord decided(const WorkItem& item, const std::string& winner, double microseconds, Verdict verdict) {
  DecisionRecord record;
  record.environment = {"0.1.0", "13.0", "NVIDIA H200", "13.0"};
  record.item = item;
  record.winner = winner;
  record.verdict = verdict;
  record.winner_microseconds = microseconds;
  return record;
}

/// Two layers at 32 columns of B. On "even" ours takes 2 us and the libraries FP32 4, TF32 3, cuSPARSE 8; on "odd" ours
/// takes 4 us, FP32 16, TF32 2, cuSPARSE 2.
inline std::vector<Record> two_layers() {
  const WorkItem even = item_of_layer("even.smtx");
  const WorkItem odd = item_of_layer("odd.smtx");
  return {timed(even, narrow_panel, 2.5),
          timed(even, narrow_panel, 2, Stage::final),
          timed(even, narrow_panel, 1, Stage::final, Edge::chain),
          timed(even, wide_panel, 3),
          timed(even, paper_atomic, 6),
          timed(even, plain_atomic, 12),
          timed(even, "cublas-fp32", 4),
          timed(even, "cublas-tf32", 3),
          timed(even, "cusparse", 8),
          decided(even, narrow_panel, 2, Verdict::better),
          timed(odd, wide_panel, 4),
          timed(odd, narrow_panel, 9),
          timed(odd, paper_atomic, 8),
          timed(odd, "cublas-fp32", 16),
          timed(odd, "cublas-tf32", 2),
          timed(odd, "cusparse", 2),
          failed(odd, plain_atomic, Outcome::wrong_result, "error 0.5 > 1e-6 & <b>rising</b>"),
          decided(odd, wide_panel, 4, Verdict::same)};
}

inline std::vector<ItemSummary> summaries_of(const std::vector<Record>& records) {
  return summarise(group_by_item(records));
}

}  // namespace esc::tuning
