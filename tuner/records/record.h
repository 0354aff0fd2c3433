// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "generator/schedule/device_key.h"
#include "generator/schedule/kernel_facts.h"
#include "generator/schedule/schedule_database.h"
#include "generator/support/means.h"

namespace esc::tuning {

/// The layer that was measured: what it is known by and what its speed depends on.
struct LayerFacts {
  std::string file;     ///< as the user gave it; information, not part of what it is known by
  std::string pattern;  ///< SHA-256 of its pattern, as in the manifest
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;
  std::int64_t longest_row = 0;  ///< non-zeros
  double row_variation = 0;      ///< coefficient of variation of the rows' lengths
  bool sparse24 = false;         ///< whether of four neighbours in a row two at most are not zero

  double sparsity() const {
    return 1.0 - static_cast<double>(nonzeros) / (static_cast<double>(rows) * static_cast<double>(columns));
  }
  bool operator==(const LayerFacts&) const = default;
};

/// What a measurement depends on of the loop nest. That of the plain product C = A x B, row-major, is what there is
/// without a word of it.
struct NestFacts {
  std::string layout = "kn";  ///< as layout_class names it: databases are made for each apart
  std::string digest =
      {};  ///< the first digits of the SHA-256 of its JSON; empty: of its layout the plain product, kn or nk
  std::int64_t item_columns = 1;  ///< columns of C for each of bCol's items: of an image the points
  bool contiguous = true;         ///< whether columns of a row of B are one after the other

  /// Whether it is A x B, with nothing done to the sums, so that libraries have it too.
  bool is_plain() const { return digest.empty(); }
  bool operator==(const NestFacts&) const = default;
};

/// What a schedule is tuned for.
struct WorkItem {
  LayerFacts layer;
  std::int64_t bcol = 0;
  std::string dtype = "f32";
  DeviceKey device;
  CacheState cache = CacheState::warm;
  NestFacts nest = {};

  /// The columns of C for which its schedule is to be legal.
  ProductColumns product() const { return {bcol * nest.item_columns, nest.contiguous}; }
  bool operator==(const WorkItem&) const = default;
};

/// What two work items have in common when their measurements may stand for each other.
struct ItemKey {
  DeviceKey device;
  std::string dtype;
  CacheState cache = CacheState::warm;
  std::int64_t bcol = 0;
  std::string pattern;
  std::string layout = "kn";
  std::string nest = {};  ///< NestFacts::digest
  auto operator<=>(const ItemKey&) const = default;
};
ItemKey key_of(const WorkItem& item);

/// "layer.smtx, bCol 64", and after it the element type where it is not f32, and the nest where it is not the plain
/// product: "layer.smtx, bCol 64, f16, nk 0f3a..".
std::string describe(const WorkItem& item);
/// " nk 0f3a..", what tells an item from that of the plain product; empty for that one.
std::string nest_suffix(const NestFacts& nest);

/// The item in the terms of a schedule database.
LayerShape shape_of(const WorkItem& item);

/// What else was there during a measurement: information, not part of any key.
struct Environment {
  std::string tool;         ///< version of ESC
  std::string toolkit;      ///< version of CUDA, "13.0"
  std::string device_name;  ///< "NVIDIA H200"
  std::string driver;       ///< the newest CUDA that it has, "13.0"
  bool operator==(const Environment&) const = default;
};

/// When a measurement was made.
enum class Stage {
  search,  ///< to choose among many candidates
  final,   ///< in turns with the other finalists, as built for a bundle
};

/// How launches follow each other.
enum class Edge {
  plain,  ///< each begins when the one before has ended
  chain,  ///< programmatic dependent launches: each may begin earlier
};

/// What became of a candidate.
enum class Outcome { ok, compile_failed, launch_failed, wrong_result, timed_out, skipped_by_limit };

/// One candidate, measured or not: a line of a journal.
struct CandidateRecord {
  Environment environment;
  WorkItem item;
  Stage stage = Stage::search;
  Edge edge = Edge::plain;
  std::string candidate;  ///< the schedule's canonical text, or a peer: "cublas-fp32", "cublas-tf32", "cublas-f16",
                          ///< "cublas-bf16", "cusparse", "cusparselt"
  std::string algorithm;  ///< of a peer: which of its algorithms was the fastest; else empty
  std::string builder;    ///< "nvrtc 13.0", "nvcc 13.0"; the library and its version for a peer
  std::string digest;     ///< SHA-256 of the kernel's text; empty for a peer
  std::optional<KernelFacts> kernel;
  Outcome outcome = Outcome::ok;
  std::string detail;           ///< why the outcome is not ok
  double error = 0;             ///< relative Frobenius error against float64
  std::vector<double> samples;  ///< microseconds of one launch, in the order in which they were taken
  int clock_megahertz = 0;      ///< of the multiprocessors beside the samples; 0: not known

  bool is_peer() const { return candidate.find(':') == std::string::npos; }
  bool operator==(const CandidateRecord&) const = default;
};

/// How a challenger compares with the incumbent.
enum class Verdict {
  better,  ///< faster, beyond noise
  worse,   ///< slower, beyond noise
  same,    ///< no difference that matters
  unsure,  ///< the noise hides whether there is one
};

/// What the tuning of one item came to: the last line that is written for it.
struct DecisionRecord {
  Environment environment;
  WorkItem item;
  std::string winner;               ///< schedule that holds from now on; empty where none was right
  std::string incumbent;            ///< schedule that held before
  Verdict verdict = Verdict::same;  ///< of the best challenger against the incumbent
  double ratio = 1;                 ///< time of the best challenger over that of the incumbent
  double winner_microseconds = 0;
  std::string fastest_peer;  ///< of the exact ones; empty where none was measured
  double peer_microseconds = 0;
  bool peer_wins = false;     ///< whether the peer is faster than the winner
  std::int64_t rests_on = 0;  ///< so many right measurements (ItemResults::right): later ones are not in it
  bool operator==(const DecisionRecord&) const = default;
};

using Record = std::variant<CandidateRecord, DecisionRecord>;

const WorkItem& item_of(const Record& record);
const Environment& environment_of(const Record& record);

/// "ok", "compile-failed", "launch-failed", "wrong-result", "timed-out", "skipped-by-limit"; "BETTER", "WORSE", "SAME",
/// "UNSURE".
std::string print(Outcome outcome);
std::string print(Verdict verdict);

}  // namespace esc::tuning
