// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/ir/scalar_type.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/schedule_database.h"

namespace esc::bench {

/// On which edges our kernels are timed.
enum class EdgesTimed {
  plain,         ///< plain ones
  programmatic,  ///< programmatic ones where the schedule has them, plain ones elsewhere
  both,
};

/// One product to measure.
struct PairPlan {
  std::string matrix;  ///< its file
  std::int64_t bcol = 0;
};

/// What a run measures and how.
struct Options {
  std::vector<std::string> matrices;
  std::vector<std::int64_t> bcols;
  std::vector<Schedule> schedules;  ///< empty: for each pair the one that escgen chooses by itself
  ScalarType element = ScalarType::f32;
  EdgesTimed edges = EdgesTimed::both;
  bool cold = false;
  bool peers = true;                 ///< whether NVIDIA's libraries are measured
  std::vector<std::string> plugins;  ///< files of further libraries that are
  bool floor = true;
  std::optional<double> limit_seconds;
  std::string json;  ///< empty: none
  bool resume = false;
  bool quiet = false;

  /// The pairs, matrix by matrix.
  std::vector<PairPlan> pairs() const;
  /// What is to be measured for a layer. Each has several schedules, of which the first one counts that is legal for
  /// the matrix: one that the user names, or what escgen takes by itself, in its order.
  std::vector<std::vector<Schedule>> candidates_for(const LayerShape& shape) const;
};

/// Reads the command line. Gives nothing when it asked for help, which is printed. Throws UserError for what is wrong
/// with it or with the files of matrices and schedules that it names.
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace esc::bench
