// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/records/item_results.h"

namespace esc::tuning {

/// What ours is compared with.
enum class Rival {
  best_exact,  ///< the fastest one of cuBLASLt FP32, cuSPARSE and, where it is exact, cuSPARSELt
  cublas_fp32,
  cublas_tf32,  ///< faster than float32 allows, and less exact
  cusparse,
};
inline constexpr std::array every_rival{Rival::best_exact, Rival::cublas_fp32, Rival::cublas_tf32, Rival::cusparse};

/// What a rival is for layers of this element type: "the best exact library", "cuBLAS FP32", "cuBLAS TF32" or "cuBLAS
/// f16", which multiplies in the layer's own type, "cuSPARSE".
std::string print(Rival rival, const std::string& dtype);

/// One item in a line: what holds for it from now on, and what the libraries take. Times are microseconds of a launch.
struct ItemSummary {
  WorkItem item;
  std::string
      name;  ///< of the layer: its file without the folders that all layers have in common, and the digest of a nest
  std::string winner;                        ///< schedule; empty where none was right
  std::optional<double> microseconds;        ///< of the winner, plain edges
  std::optional<double> chain_microseconds;  ///< of the winner, programmatic edges
  double spread = 0;                         ///< of the winner's plain samples, relative
  std::optional<KernelFacts> kernel;         ///< the winner's
  std::optional<double> fp32;                ///< cuBLASLt with sums in float32, of the item's elements
  std::optional<double> tf32;
  std::optional<double> cusparse;
  std::optional<double> cusparselt;  ///< where it is exact
  std::optional<Verdict>
      verdict;            ///< of the best challenger against `incumbent`; absent where the item was not decided
  std::string incumbent;  ///< the schedule that held before
};

/// What the rival takes; absent where it was not measured or not right.
std::optional<double> time_of(const ItemSummary& item, Rival rival);
/// The rival's time over ours, by plain edges; absent without both.
std::optional<double> speed_up(const ItemSummary& item, Rival rival);
/// "cuBLAS FP32", "cuBLAS TF32", "cuBLAS f16", "cuBLAS bf16", "cuSPARSE" or "cuSPARSELt", whichever is the fastest; "-"
/// where none was measured.
std::string best_exact_name(const ItemSummary& item);

/// A line for each item, ordered by device, element type, cache, columns of B and name. The winner is the one of the
/// decision, else the fastest so far. A time of 0 comes of a record without samples and counts as none.
std::vector<ItemSummary> summarise(const std::map<ItemKey, ItemResults>& items);

/// "NAME@BCOL", with "@LAYOUT" after it where that is not kn and "@DTYPE" where that is not f32: what an item is
/// called where one is picked out.
std::string label(const ItemSummary& item);

}  // namespace esc::tuning
