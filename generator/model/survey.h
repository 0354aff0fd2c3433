// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "generator/matrix/fingerprint.h"
#include "generator/model/model.h"
#include "generator/support/stage_progress.h"

namespace esc {

/// What the values of a matrix are like.
struct WeightSurvey {
  std::int64_t nonzeros = 0;
  std::int64_t nonfinite = 0;  ///< NaN and infinite ones among them
  std::int64_t shortest_row = 0;
  std::int64_t longest_row = 0;
  bool sparse24 = false;  ///< whether of four neighbours in a row two at most are not zero
  /// As `fingerprint` has it of the matrix in the type of the weight.
  Fingerprint fingerprint;
};

/// Reads every value once. Memory is taken for a bit of each element, not for the elements. Throws UserError as
/// `open_weight` does.
WeightSurvey survey_weight(const Weight& weight, StageProgress& progress = StageProgress::silent());

/// The same of all these, several at once, the largest first.
std::vector<WeightSurvey> survey_weights(const std::vector<const Weight*>& weights,
                                         StageProgress& progress = StageProgress::silent());

}  // namespace esc
